"""Solids with coloured faces, and points on them."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

Point = NDArray[np.float64]
"""``(3,)``: x to the right, y up, z towards the viewer."""

STEPS = 48
"""Along an edge of a triangle; the smallest sticker here is some ten steps wide."""


@dataclass(frozen=True)
class Solid:
    """A convex solid: the corners of each face, in order around it, by the letter of its colour."""

    faces: dict[str, NDArray[np.float64]]
    """``(corners, 3)`` for each colour; in a sticker's name the first face comes first."""

    def normal(self, colour: str) -> Point:
        """The unit vector that points out of a face."""
        a, b, c = self.faces[colour][:3]
        normal: Point = np.cross(b - a, c - a)
        normal *= np.sign(normal @ a) / np.linalg.norm(normal)
        return normal

    def face_towards(self, direction: Point) -> str:
        """The face that a direction points out of."""
        return next(colour for colour in self.faces if np.allclose(self.normal(colour), direction))

    def points(self) -> Iterator[tuple[str, Point]]:
        """Points spread over all faces, none on an edge or on a line through simple fractions of the edges."""
        for colour, corners in self.faces.items():
            for one, other in pairwise(corners[1:]):
                for weights in _inner_weights():
                    yield colour, weights @ np.array([corners[0], one, other])


def box(x: float, y: float, z: float) -> Solid:
    """A box with half the given extents, in the usual colours: white on top, green in front, red on the right."""
    axes = {"W": (1, y), "Y": (1, -y), "G": (2, z), "B": (2, -z), "R": (0, x), "O": (0, -x)}
    around = np.array([(1, 1), (1, -1), (-1, -1), (-1, 1)])
    faces = {}
    for colour, (axis, distance) in axes.items():
        others = [k for k in range(3) if k != axis]
        corners = np.empty((4, 3))
        corners[:, axis] = distance
        corners[:, others] = around * np.array([x, y, z])[others]
        faces[colour] = corners
    return Solid(faces)


def tetrahedron() -> Solid:
    """A regular tetrahedron on its yellow face, green in front, red on the left, blue on the right."""
    up, left, right, back = TETRAHEDRON.values()
    faces = {"G": (up, left, right), "R": (up, back, left), "B": (up, right, back), "Y": (left, back, right)}
    return Solid({colour: np.array(corners) for colour, corners in faces.items()})


TETRAHEDRON: dict[str, Point] = {
    "U": np.array([0, 3, 0]) / 3,
    "L": np.array([-np.sqrt(6), -1, np.sqrt(2)]) / 3,
    "R": np.array([np.sqrt(6), -1, np.sqrt(2)]) / 3,
    "B": np.array([0, -1, -2 * np.sqrt(2)]) / 3,
}
"""The corners of the tetrahedron, at distance 1 from its centre: up, left, right, back."""


def octahedron() -> Solid:
    """A regular octahedron with a corner up: four faces above, below them four others, from the front right around."""
    faces = {}
    for letters, apex in ((UPPER, "U"), (LOWER, "D")):
        for letter, one, other in zip(letters, EQUATOR, EQUATOR[1:] + EQUATOR[:1], strict=True):
            faces[letter] = np.array([OCTAHEDRON[corner] for corner in (apex, one, other)])
    return Solid(faces)


OCTAHEDRON: dict[str, Point] = {
    "U": np.array([0.0, 1, 0]),
    "D": np.array([0.0, -1, 0]),
    "F": np.array([0.0, 0, 1]),
    "R": np.array([1.0, 0, 0]),
    "B": np.array([0.0, 0, -1]),
    "L": np.array([-1.0, 0, 0]),
}
"""The corners of the octahedron."""
EQUATOR = "FRBL"
"""The corners around it, from one face to the next."""
UPPER, LOWER = "WGRB", "OYPS"
"""The colours of the faces above and below, each pair from one corner of the equator to the next: pink, silver."""


def diagonals() -> dict[str, Point]:
    """The directions to the corners of a cube, by the names of corners: up or down, front or back, right or left."""
    signs = {"U": (1, 1), "D": (1, -1), "F": (2, 1), "B": (2, -1), "R": (0, 1), "L": (0, -1)}
    found = {}
    for name in ("UFR", "UFL", "UBL", "UBR", "DFR", "DFL", "DBL", "DBR"):
        direction = np.zeros(3)
        for letter in name:
            direction[signs[letter][0]] = signs[letter][1]
        found[name] = direction / np.sqrt(3)
    return found


def _inner_weights() -> Iterator[NDArray[np.float64]]:
    for i in range(STEPS):
        for j in range(STEPS - i - 1):
            a, b = (i + 0.31830988) / STEPS, (j + 0.57721566) / STEPS  # shifts that keep points off the cuts
            yield np.array([a, b, 1 - a - b])
