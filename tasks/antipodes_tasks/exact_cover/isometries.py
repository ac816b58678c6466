"""The rotations and reflections of the cubic lattice, as integer matrices on ``(layer, row, column)``."""

import itertools

import numpy as np
from numpy.typing import NDArray

Coordinates = NDArray[np.int64]
"""Cells as ``(cells, 3)``: layer, row and column of each."""


def _signed_permutations() -> NDArray[np.int64]:
    matrices = [
        np.diag(signs)[list(order)]
        for order in itertools.permutations(range(3))
        for signs in itertools.product((1, -1), repeat=3)
    ]
    return np.array(matrices, dtype=np.int64)


ISOMETRIES: NDArray[np.int64] = _signed_permutations()
"""All 48 symmetries of the cube, reflections included, ``(48, 3, 3)``."""

ROTATIONS: NDArray[np.int64] = ISOMETRIES[np.linalg.det(ISOMETRIES) > 0]
"""The 24 of them that a solid can be moved by, ``(24, 3, 3)``. Turning a flat piece over is one of these."""

TURNS: NDArray[np.int64] = ROTATIONS[ROTATIONS[:, 0, 0] == 1]
"""The 4 of these that keep the upper side up, ``(4, 3, 3)``: quarter turns within a layer."""


def to_origin(cells: Coordinates) -> Coordinates:
    """The cells moved so that the smallest layer, row and column are 0."""
    moved: Coordinates = cells - cells.min(axis=0)
    return moved


def scan_axes(extent: tuple[int, int, int]) -> tuple[int, int, int]:
    """The axes of a box from the slowest to the fastest: the long side first, the short side last.

    On a board of 6 rows and 10 columns that is column by column, and down each: the order of the textbooks.
    """
    fast_to_slow = sorted(range(3), key=lambda axis: (extent[axis], axis))
    return fast_to_slow[2], fast_to_slow[1], fast_to_slow[0]


def in_scan_order(cells: Coordinates, axes: tuple[int, int, int]) -> Coordinates:
    """The same cells sorted along the axes, the first named changing slowest."""
    slow, middle, fast = (cells[:, axis] for axis in axes)
    ordered: Coordinates = cells[np.lexsort((fast, middle, slow))]
    return ordered
