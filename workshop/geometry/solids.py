"""Solids with coloured faces, and points on them."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

Point = NDArray[np.float64]
"""Coordinates ``(3,)``: x to the right, y up, z towards the viewer."""

STEPS = 48
"""Number of sample points along an edge of a triangle; the smallest sticker is about ten steps wide."""


@dataclass(frozen=True)
class Solid:
    """A convex solid, given by its faces."""

    faces: dict[str, NDArray[np.float64]]
    """For the colour of each face, its corners in cyclic order, ``(corners, 3)``."""

    def normal(self, colour: str) -> Point:
        """Return the unit normal of a face, which points outwards."""
        a, b, c = self.faces[colour][:3]
        normal: Point = np.cross(b - a, c - a)
        normal *= np.sign(normal @ a) / np.linalg.norm(normal)
        return normal

    def face_towards(self, direction: Point) -> str:
        """Return the face with this outward normal."""
        return next(colour for colour in self.faces if np.allclose(self.normal(colour), direction))

    def points(self) -> Iterator[tuple[str, Point]]:
        """Yield points spread over all faces, none of them on an edge or a cut."""
        for colour, corners in self.faces.items():
            for one, other in pairwise(corners[1:]):
                for weights in _inner_weights():
                    yield colour, weights @ np.array([corners[0], one, other])


def box(x: float, y: float, z: float) -> Solid:
    """Return a box from -x to x, -y to y and -z to z, with white on top, green in front and red on the right."""
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
    """Return a regular tetrahedron on its yellow face, with green in front, red on the left and blue on the right."""
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
    """Return a regular octahedron with a corner at the top, so that four faces are above four others."""
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
"""The corners of the octahedron between its upper and lower half, in cyclic order."""
UPPER, LOWER = "WGRB", "OYPS"
"""The colours of the upper and lower faces, in the order of the equator's edges; P is pink, S is silver."""


def diagonals() -> dict[str, Point]:
    """Return the directions to the corners of a cube by name; UFR is up, front, right."""
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
            a, b = (i + 0.31830988) / STEPS, (j + 0.57721566) / STEPS  # irrational shifts keep the points off the cuts
            yield np.array([a, b, 1 - a - b])
