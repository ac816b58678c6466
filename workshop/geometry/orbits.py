"""Converts stickers to orbits of pieces with orientations, as in puzzle files."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from math import gcd

from workshop.geometry.cutting import CutSolid, Layers, Sticker

Images = Mapping[Sticker, Sticker]


@dataclass(frozen=True)
class PlacesOfOrbit:
    """The places of an orbit, with the facelets of each in clockwise order; facelet 0 defines orientation 0."""

    facelets: tuple[tuple[Sticker, ...], ...]
    orientations: int

    @cached_property
    def place_of(self) -> dict[Sticker, tuple[int, int]]:
        """For each facelet, its place and its number on the place."""
        return {one: (place, k) for place, found in enumerate(self.facelets) for k, one in enumerate(found)}

    @property
    def step(self) -> int:
        """Facelets per orientation; an edge of the dino cube has two facelets, but only one orientation."""
        return len(self.facelets[0]) // self.orientations

    def turn(self, images: Images) -> tuple[list[int], list[int]]:
        """Return the place from which each place gets its piece, and the piece's clockwise twist there."""
        origin, twist = [0] * len(self.facelets), [0] * len(self.facelets)
        for place, facelets in enumerate(self.facelets):
            destination, number = self.place_of[images[facelets[0]]]
            origin[destination], twist[destination] = place, number // self.step
        return origin, twist


def orbits_of(cut: CutSolid) -> list[PlacesOfOrbit]:
    """Return the orbits of the pieces that turns move, sorted by facelets per piece, the most first.

    Pieces of one kind that turns only twist in place form one orbit.
    """
    images: list[Images] = [cut.images(name) for name in cut.turns]
    found = [_orbit(cut, layers, images) for layers in _transitive(cut, images)]
    moving = [orbit for orbit in found if len(orbit.facelets) > 1]
    twisting: dict[tuple[int, ...], list[PlacesOfOrbit]] = {}
    for orbit in found:
        if len(orbit.facelets) == 1 and orbit.orientations > 1:
            (facelets,) = orbit.facelets
            kind = orbit.orientations, len(facelets), len(facelets[0][1])
            twisting.setdefault(kind, []).append(orbit)
    for (orientations, *_), single in twisting.items():
        moving.append(PlacesOfOrbit(tuple(orbit.facelets[0] for orbit in single), orientations))
    return sorted(moving, key=lambda orbit: -len(orbit.facelets[0]))


def _transitive(cut: CutSolid, images: list[Images]) -> list[list[Layers]]:
    """Return lists of the pieces that turns can move to each other's places."""
    orbit = {layers: number for number, layers in enumerate(cut.pieces)}
    for moved in images:
        for sticker, image in moved.items():
            one, other = sorted((orbit[sticker[1]], orbit[image[1]]))
            orbit = {layers: one if number == other else number for layers, number in orbit.items()}
    return [[layers for layers in orbit if orbit[layers] == number] for number in sorted(set(orbit.values()))]


def _orbit(cut: CutSolid, pieces: list[Layers], images: list[Images]) -> PlacesOfOrbit:
    """Return the places of an orbit; facelets are numbered so that pieces without orientations are never twisted."""
    size = len(cut.pieces[pieces[0]])
    carried = PlacesOfOrbit(_carried(cut, pieces, images), size)
    shifts = [shift for moved in images for shift in carried.turn(moved)[1]]
    orientations = size // gcd(size, *shifts)
    if orientations < size:
        return PlacesOfOrbit(carried.facelets, orientations)
    return PlacesOfOrbit(tuple(cut.pieces[layers] for layers in pieces), size)


def _carried(cut: CutSolid, pieces: list[Layers], images: list[Images]) -> tuple[tuple[Sticker, ...], ...]:
    """Return the facelets of each place, beginning with an image of the first facelet of the first place."""
    first = {pieces[0]: cut.pieces[pieces[0]][0]}
    reached = [pieces[0]]
    for layers in reached:
        for moved in images:
            image = moved[first[layers]]
            if image[1] not in first:
                first[image[1]] = image
                reached.append(image[1])
    return tuple(_from(cut.pieces[layers], first[layers]) for layers in pieces)


def _from(facelets: tuple[Sticker, ...], first: Sticker) -> tuple[Sticker, ...]:
    """Return the facelets in the same cyclic order, beginning with ``first``."""
    k = facelets.index(first)
    return facelets[k:] + facelets[:k]
