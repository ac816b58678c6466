"""A cut solid: its stickers and pieces, and where turns take them."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from math import pi

import numpy as np
from numpy.typing import NDArray

from workshop.geometry.solids import Point, Solid

Layers = frozenset[int]
Sticker = tuple[str, Layers]
"""The colour of a face, and the layers that a part of it belongs to."""


@dataclass(frozen=True)
class Layer:
    """The part of a solid that turns together, which is round about its axis."""

    axis: Point
    """Its unit vector points out of the solid."""
    depth: float
    """The distance of the cut from the centre of the solid; of a round cut its radius about the end of the axis."""
    is_round: bool = False
    """Whether the cut is a sphere about the corner of a cube that the axis points to, and not a plane."""

    def contains(self, point: Point) -> bool:
        """Whether a point turns with the layer."""
        if self.is_round:
            return bool(np.linalg.norm(point - np.sqrt(3) * self.axis) < self.depth)
        return bool(point @ self.axis > self.depth)

    def turned(self, rotation: NDArray[np.float64]) -> "Layer":
        """The layer after a rotation of the whole solid."""
        return Layer(rotation @ self.axis, self.depth, self.is_round)

    def equals(self, other: "Layer") -> bool:
        """Whether two layers are one."""
        return np.allclose([*self.axis, self.depth], [*other.axis, other.depth])


@dataclass(frozen=True)
class Turn:
    """A clockwise turn, seen from outside, of one layer or of several on one axis."""

    layers: tuple[int, ...]
    """Their numbers; the first one has the axis."""
    fraction: int
    """The part of a full turn: 4 is a quarter."""


@dataclass(frozen=True)
class CutSolid:
    """A solid with layers, and the turns of them."""

    solid: Solid
    layers: tuple[Layer, ...]
    """All layers that cut stickers apart; with each layer those that turns take it to."""
    turns: Mapping[str, Turn]

    @cached_property
    def stickers(self) -> tuple[Sticker, ...]:
        """The stickers, in the order of colours."""
        return tuple(dict.fromkeys(self.sticker_at(colour, point) for colour, point in self.solid.points()))

    def sticker_at(self, colour: str, point: Point) -> Sticker:
        """The sticker at a point of a face."""
        return colour, frozenset(k for k, layer in enumerate(self.layers) if layer.contains(point))

    @cached_property
    def pieces(self) -> dict[Layers, tuple[Sticker, ...]]:
        """The stickers of each piece clockwise, seen from outside.

        Pieces come from top to bottom, from front to back, from left to right.
        """
        pieces: dict[Layers, list[Sticker]] = {}
        for sticker in self.stickers:
            pieces.setdefault(sticker[1], []).append(sticker)
        order = sorted(pieces, key=lambda layers: self._reading_order(pieces[layers]))
        return {layers: self._clockwise(pieces[layers]) for layers in order}

    def _reading_order(self, stickers: list[Sticker]) -> tuple[float, ...]:
        """What sorts pieces by where they are, exactly: the directions of their layers and faces tell that."""
        axes = [self.layers[k].axis for k in stickers[0][1]]
        x, y, z = np.sum([*axes, *(self.solid.normal(colour) for colour, _ in stickers)], axis=0).round(6)
        return -y, -z, x

    def _clockwise(self, stickers: list[Sticker]) -> tuple[Sticker, ...]:
        """The stickers of a piece around the middle of its faces, the first one first."""
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
        """The sticker whose place each sticker takes after a turn."""
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
                assert image in self.stickers, f"{name} takes a sticker of {colour} to no sticker"
            images[colour, layers] = image
        assert sorted(map(str, images.values())) == sorted(map(str, self.stickers)), f"{name} is no permutation"
        return images

    def _turns_into_a_face(self, colour: str, rotation: NDArray[np.float64]) -> bool:
        turned = rotation @ self.solid.normal(colour)
        return any(np.allclose(self.solid.normal(other), turned) for other in self.solid.faces)

    def _layer_number(self, turned: Layer) -> int:
        """The number of a layer, or -1 if the solid has none there."""
        return next((k for k, layer in enumerate(self.layers) if layer.equals(turned)), -1)


def _clockwise_rotation(axis: Point, fraction: int) -> NDArray[np.float64]:
    """The rotation by a part of a full turn, clockwise as seen from the end of the axis (Rodrigues' formula)."""
    angle = -2 * pi / fraction
    x, y, z = axis
    cross = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    rotation: NDArray[np.float64] = np.eye(3) + np.sin(angle) * cross + (1 - np.cos(angle)) * cross @ cross
    return rotation
