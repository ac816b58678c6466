"""A cut solid: its stickers and pieces, and the places to which turns move them."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from math import pi

import numpy as np
from numpy.typing import NDArray

from workshop.geometry.solids import Point, Solid

Layers = frozenset[int]
Sticker = tuple[str, Layers]
"""The colour of a face, and the numbers of the layers that contain this part of the face."""


@dataclass(frozen=True)
class Layer:
    """A part of a solid that turns about its axis as a whole."""

    axis: Point
    """Unit vector that points out of the solid."""
    depth: float
    """Distance of the cut from the centre of the solid; for a round cut, the radius of the sphere."""
    is_round: bool = False
    """Whether the cut is a sphere, whose centre is the corner of a cube to which the axis points, not a plane."""

    def contains(self, point: Point) -> bool:
        """Return whether a point turns with the layer."""
        if self.is_round:
            return bool(np.linalg.norm(point - np.sqrt(3) * self.axis) < self.depth)
        return bool(point @ self.axis > self.depth)

    def turned(self, rotation: NDArray[np.float64]) -> "Layer":
        """Return the layer after a rotation of the whole solid."""
        return Layer(rotation @ self.axis, self.depth, self.is_round)

    def equals(self, other: "Layer") -> bool:
        """Return whether two layers are the same."""
        return np.allclose([*self.axis, self.depth], [*other.axis, other.depth])


@dataclass(frozen=True)
class Turn:
    """A turn of one or several layers on an axis, clockwise for a viewer outside."""

    layers: tuple[int, ...]
    """Numbers of the layers; the turn is about the axis of the first one."""
    fraction: int
    """Denominator of the turn: 4 is a quarter turn."""


@dataclass(frozen=True)
class CutSolid:
    """A solid with layers and their turns."""

    solid: Solid
    layers: tuple[Layer, ...]
    """All layers whose cuts divide stickers, including the images of each layer under turns."""
    turns: Mapping[str, Turn]

    @cached_property
    def stickers(self) -> tuple[Sticker, ...]:
        """The stickers, sorted by colour in the order of the solid's faces."""
        return tuple(dict.fromkeys(self.sticker_at(colour, point) for colour, point in self.solid.points()))

    def sticker_at(self, colour: str, point: Point) -> Sticker:
        """Return the sticker at a point of a face."""
        return colour, frozenset(k for k, layer in enumerate(self.layers) if layer.contains(point))

    @cached_property
    def pieces(self) -> dict[Layers, tuple[Sticker, ...]]:
        """The stickers of each piece, clockwise for a viewer outside.

        Pieces are sorted from top to bottom, from front to back, and from left to right.
        """
        pieces: dict[Layers, list[Sticker]] = {}
        for sticker in self.stickers:
            pieces.setdefault(sticker[1], []).append(sticker)
        order = sorted(pieces, key=lambda layers: self._reading_order(pieces[layers]))
        return {layers: self._clockwise(pieces[layers]) for layers in order}

    def _reading_order(self, stickers: list[Sticker]) -> tuple[float, ...]:
        """Return the sort key of a piece's place, which follows exactly from the directions of its layers and faces."""
        axes = [self.layers[k].axis for k in stickers[0][1]]
        x, y, z = np.sum([*axes, *(self.solid.normal(colour) for colour, _ in stickers)], axis=0).round(6)
        return -y, -z, x

    def _clockwise(self, stickers: list[Sticker]) -> tuple[Sticker, ...]:
        """Return the stickers of a piece in clockwise order, beginning with the first one."""
        normals = np.array([self.solid.normal(colour) for colour, _ in stickers])
        outwards = normals.sum(axis=0)
        if len(stickers) < 3:
            return tuple(stickers)
        right = normals[0] - (normals[0] @ outwards) / (outwards @ outwards) * outwards
        down = np.cross(right, outwards)
        angles = np.arctan2(normals @ down / np.linalg.norm(down), normals @ right / np.linalg.norm(right))
        order = np.argsort(np.round(angles % (2 * pi), 6) % round(2 * pi, 6))
        return tuple(stickers[k] for k in order)

    def images(self, name: str) -> dict[Sticker, Sticker]:
        """Return, for each sticker, the sticker whose place it takes in a turn."""
        turn = self.turns[name]
        rotation = _clockwise_rotation(self.layers[turn.layers[0]].axis, turn.fraction)
        layer = {k: self._layer_number(one.turned(rotation)) for k, one in enumerate(self.layers)}
        face = {
            colour: self.solid.face_towards(rotation @ self.solid.normal(colour))
            for colour in self.solid.faces
            if self._turns_into_a_face(colour, rotation)
        }
        images = {}
        for colour, layers in self.stickers:
            image = colour, layers
            if layers & set(turn.layers):
                image = face[colour], frozenset(layer[k] for k in layers)
                assert image in self.stickers, f"{name} moves a sticker of {colour} to a place without a sticker"
            images[colour, layers] = image
        assert sorted(map(str, images.values())) == sorted(map(str, self.stickers)), f"{name} is not a permutation"
        return images

    def _turns_into_a_face(self, colour: str, rotation: NDArray[np.float64]) -> bool:
        turned = rotation @ self.solid.normal(colour)
        return any(np.allclose(self.solid.normal(other), turned) for other in self.solid.faces)

    def _layer_number(self, turned: Layer) -> int:
        """Return the number of a layer, or -1 if the solid has no such layer."""
        return next((k for k, layer in enumerate(self.layers) if layer.equals(turned)), -1)


def _clockwise_rotation(axis: Point, fraction: int) -> NDArray[np.float64]:
    """Return the rotation by a fraction of a full turn, clockwise when viewed from the tip of the axis (Rodrigues)."""
    angle = -2 * pi / fraction
    x, y, z = axis
    cross = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    rotation: NDArray[np.float64] = np.eye(3) + np.sin(angle) * cross + (1 - np.cos(angle)) * cross @ cross
    return rotation
