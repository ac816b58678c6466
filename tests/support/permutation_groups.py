"""Permutation groups of known order, from their literature or from geometry, and groups by brute force."""

from collections.abc import Sequence
from itertools import product
from typing import Any

import numpy as np

Group = list[list[int]]
Vector = tuple[int, ...]


def permutation(points: int, *cycles: Sequence[int]) -> list[int]:
    """The image of each point from 0; cycles name points from 1, as tables in books do."""
    images = list(range(points))
    for cycle in cycles:
        for point, image in zip(cycle, [*cycle[1:], cycle[0]], strict=True):
            images[point - 1] = image - 1
    return images


# J. H. Conway and N. J. A. Sloane, Sphere Packings, Lattices and Groups (1988), chapters 10 and 11.
M11 = [permutation(11, range(1, 12)), permutation(11, [3, 7, 11, 8], [4, 10, 5, 6])]
M12 = [
    permutation(12, range(1, 12)),
    permutation(12, [3, 7, 11, 8], [4, 10, 5, 6]),
    permutation(12, [1, 12], [2, 11], [3, 6], [4, 8], [5, 9], [7, 10]),
]
M24 = [
    permutation(24, range(1, 24)),
    permutation(24, [3, 17, 10, 7, 9], [4, 13, 14, 19, 5], [8, 18, 11, 12, 23], [15, 20, 22, 21, 16]),
    permutation(
        24, *([1, 24], [2, 23], [3, 12], [4, 16], [5, 18], [6, 10], [7, 20], [8, 14], [9, 21], [11, 17], [13, 22]), [15, 19]
    ),
]
CORNERS = list(product((-1, 1), repeat=3))


def skewb() -> Group:
    """A third of a turn about each corner, for the half of the cube around it: 24 corner facelets and 6 centres."""
    faces = [tuple(sign * (axis == k) for k in range(3)) for axis in range(3) for sign in (-1, 1)]
    facelets = [(corner, face) for corner in CORNERS for face in faces if np.dot(corner, face) > 0]
    return _corner_turns([*facelets, *((face, face) for face in faces)], lambda corner, where: np.dot(corner, where) > 0)


def dino() -> Group:
    """A third of a turn about each corner for the three edges that meet there: 12 edges."""
    edges = [edge for edge in product((-1, 0, 1), repeat=3) if sum(map(abs, edge)) == 2]
    return _corner_turns([(edge, edge) for edge in edges], lambda corner, where: np.dot(corner, where) == 2)


def cube_corners() -> Group:
    """A quarter turn of each face for its four corners: 24 facelets of the 2x2x2, with its rotations."""
    facelets = [(corner, axis) for corner in CORNERS for axis in range(3)]
    turns = []
    for axis, side in product(range(3), (-1, 1)):
        turns.append([facelets.index(_quarter(facelet, axis, side)) for facelet in facelets])
    return turns


def _quarter(facelet: tuple[Vector, int], axis: int, side: int) -> tuple[Vector, int]:
    corner, facing = facelet
    if corner[axis] != side:
        return facelet
    first, second = [other for other in range(3) if other != axis]
    turned = list(corner)
    turned[first], turned[second] = -corner[second], corner[first]
    return tuple(turned), {first: second, second: first}.get(facing, facing)


def _corner_turns(points: list[tuple[Vector, Vector]], moves: Any) -> Group:
    turned = [
        [(_third(corner, where), _third(corner, facing)) if moves(corner, where) else (where, facing) for where, facing in points]
        for corner in CORNERS
    ]
    return [[points.index(point) for point in turn] for turn in turned]


def _third(corner: Vector, vector: Vector) -> Vector:
    """A third of a turn about a corner: x to y to z to x, with the signs of the corner."""
    return tuple(corner[axis] * corner[axis - 1] * vector[axis - 1] for axis in range(3))


def elements(generators: Group) -> set[tuple[int, ...]]:
    """All products of the generators, by brute force."""
    identity = tuple(range(len(generators[0])))
    found, waiting = {identity}, [identity]
    while waiting:
        one = waiting.pop()
        for generator in generators:
            new = tuple(generator[image] for image in one)
            if new not in found:
                found.add(new)
                waiting.append(new)
    return found
