"""Splits of a table's positions into ``train`` and ``test``, by symmetry class and the same in every bridge."""

import numpy as np

from antipodes.tables.table import Table
from antipodes.tables.up_to_symmetry import acting, classes_of
from antipodes_tasks.base.array_types import Labels, Mask, Numbers

SPLITS = ("train", "test")
TEST_PERCENT = 10
"""Percentage of the symmetry classes in the test split."""
FNV_OFFSET, FNV_PRIME = 0xCBF29CE484222325, 0x100000001B3
"""The constants of the hash function FNV-1a of 64 bits."""


def symmetries_of_classes(table: Table) -> int | None:
    """Return the number of symmetries by which positions are divided into classes; None if they are unknown."""
    return None if table.puzzle.moves.are_functions else len(acting(table.space.stored))


def in_test(table: Table, labels: Labels) -> tuple[Mask, Numbers]:
    """Return the mask ``(n,)`` of the positions in the test split, and the size of each symmetry class, ``(n,)``.

    If the symmetries are unknown, each position is a class by itself.
    """
    known = not table.puzzle.moves.are_functions
    first, sizes = classes_of(table.space.stored, labels) if known else (labels, np.ones(len(labels), dtype=np.int64))
    hashes = np.full(len(first), FNV_OFFSET, dtype=np.uint64)
    for place in range(first.shape[1]):
        hashes = (hashes ^ first[:, place]) * np.uint64(FNV_PRIME)
    return (hashes >> np.uint64(32)) % np.uint64(100) < TEST_PERCENT, sizes
