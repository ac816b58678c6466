"""The check, for a block of rows, that the stored depths are the distances of a puzzle.

The depths are the distances if and only if three conditions hold: exactly the starts have depth 0; no move leads from
depth d to a position that is unreached or deeper than d + 1; and every other reached position has a predecessor at
depth d - 1.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from antipodes_tasks.base.jit import kernel
from antipodes_tasks.bfs.bitmaps import UNREACHED, Depths
from antipodes_tasks.move_tables import ColumnMap, ColumnMaps, MoveTables

MAX_EXAMPLES = 5
"""Maximum number of examples stored for each kind of problem, since a table may be wrong everywhere."""
SEGMENT = 4096
"""Number of positions compared at a time, without branches. If there is a problem, they are examined one by one."""


@dataclass(frozen=True)
class Wrong:
    """The positions with one kind of problem."""

    count: int
    first: NDArray[np.int64]
    """Indices of the first positions, ascending, at most MAX_EXAMPLES."""


class Findings(NamedTuple):
    """The result of checking a block."""

    layers: NDArray[np.int64]
    """Number of positions at each depth; the last entry is the number of unreached positions."""
    skipped: Wrong
    """Positions whose depth exceeds the depth of a predecessor by more than one."""
    unsupported: Wrong
    """Reached positions, other than starts, without a predecessor at a smaller depth."""
    not_zero: Wrong
    """Starts whose depth is not 0."""
    drawn: NDArray[np.int64]
    """Index of a random position at each depth, and of a random unreached position; -1 if there is none."""


class RowDepths(NamedTuple):
    """The depths of some rows."""

    first_row: int
    depths: Depths


def least_before(
    first_row: int, end_row: int, before: Iterable[RowDepths], tables: MoveTables, expanded: int, dtype: str
) -> Depths:
    """Return, for each position in some rows, the minimum depth of its predecessors, ``(rows, width)``.

    It is the depth of unreached positions if there is no predecessor. A predecessor of an entry counts as a predecessor
    of all equivalent entries of the row. Predecessors deeper than ``expanded`` are ignored, since their successors may
    be unreached. The blocks of predecessors are processed one by one, so at most one has to be in memory.
    """
    unreached = UNREACHED[dtype]
    min_depths: Depths = np.full((end_row - first_row, tables.column_maps.shape[1]), unreached, dtype=dtype)
    for source in before:
        rows = slice(source.first_row, source.first_row + len(source.depths))
        _find_min_depths(
            min_depths, first_row, source.depths,
            tables.target[rows], tables.column_map[rows], tables.column_maps, expanded, unreached,
        )  # fmt: skip
    if tables.closing is not None:
        _close_min_depths(min_depths, first_row, *tables.closing, tables.column_maps)
    return min_depths


def check_block(block: RowDepths, min_depths: Depths, starts: NDArray[np.int64], deepest: int, seed: int) -> Findings:
    """Check all positions of a block against the minimum depths ``(rows, width)`` of their predecessors.

    Depths greater than ``deepest`` count as unreached. The ``starts`` are indices in ascending order. The ``seed``,
    from 0 to 2^63 - 1, determines the random positions.
    """
    depths = block.depths.ravel()
    first_index = block.first_row * block.depths.shape[1]
    starts_here = starts[np.searchsorted(starts, first_index) : np.searchsorted(starts, first_index + depths.size)]
    starts_here = starts_here - first_index
    counts, first = _compare(depths, min_depths.ravel(), starts_here, deepest)
    skipped, unsupported = (
        Wrong(count, which[:count] + first_index) for count, which in zip(counts.tolist(), first, strict=True)
    )
    not_zero = starts_here[depths[starts_here] != 0] + first_index
    layers, drawn = _census(depths, deepest, np.uint64(first_index ^ seed))
    return Findings(
        layers,
        skipped,
        unsupported,
        Wrong(len(not_zero), not_zero[:MAX_EXAMPLES]),
        np.where(drawn < 0, -1, drawn + first_index),
    )


@kernel
def _find_min_depths(
    min_depths: Depths,
    first_row: int,
    source: Depths,
    target: NDArray[np.int32],
    column_map: ColumnMap,
    column_maps: ColumnMaps,
    expanded: int,
    unreached: int,
) -> None:
    """Lower ``min_depths`` to the depths of all predecessors in ``source`` whose depth is at most ``expanded``.

    No branch depends on a depth, because it would often be mispredicted.
    """
    before = np.empty(source.shape[1], dtype=source.dtype)
    # `before` contains the depths of one row. Depths greater than `expanded` are replaced by `unreached`, which is
    # larger than any depth, so they never lower a minimum. The legal moves of a row come first.
    for row in range(source.shape[0]):
        begun = False
        for move in range(target.shape[1]):
            if target[row, move] < 0:
                break
            to_row = target[row, move] - first_row
            if to_row < 0 or to_row >= min_depths.shape[0]:
                continue
            if not begun:
                begun = True
                for column in range(source.shape[1]):
                    before[column] = source[row, column] if source[row, column] <= expanded else unreached
            number = column_map[row, move] if column_map.shape[1] else 0
            if number == 0:
                for column in range(source.shape[1]):
                    min_depths[to_row, column] = min(min_depths[to_row, column], before[column])
                continue
            for column in range(source.shape[1]):
                to_column = column_maps[number, column]
                if to_column >= 0:
                    min_depths[to_row, to_column] = min(min_depths[to_row, to_column], before[column])


@kernel
def _close_min_depths(
    min_depths: Depths,
    first_row: int,
    rows: NDArray[np.int32],
    begins: NDArray[np.int64],
    maps: NDArray[np.int32],
    column_maps: ColumnMaps,
) -> None:
    """Lower ``min_depths`` to the minimum over all equivalent entries of a row, which have the same distance."""
    for line in range(len(rows)):
        row = rows[line] - first_row
        if row < 0 or row >= min_depths.shape[0]:
            continue
        for column in range(min_depths.shape[1]):
            lowest = min_depths[row, column]
            for at in range(begins[line], begins[line + 1]):
                lowest = min(lowest, min_depths[row, column_maps[maps[at], column]])
            for at in range(begins[line], begins[line + 1]):
                min_depths[row, column_maps[maps[at], column]] = lowest
            min_depths[row, column] = lowest


@kernel
def _compare(
    depths: Depths, min_depths: Depths, starts: NDArray[np.int64], deepest: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Compare ``depths`` with the minimum depths of predecessors, ``min_depths``.

    Return the numbers of skipped and of unsupported positions, see `Findings`, and the first indices of each kind. The
    ``starts``, in ascending order, need no predecessor.
    """
    counts, first = np.zeros(2, dtype=np.int64), np.zeros((2, MAX_EXAMPLES), dtype=np.int64)
    for begin in range(0, depths.size, SEGMENT):
        end = min(begin + SEGMENT, depths.size)
        differing = 0
        for place in range(begin, end):
            depth, before = np.int64(depths[place]), np.int64(min_depths[place])
            right = depth == before + 1 if depth <= deepest else before > deepest
            differing += not right
        if differing == 0:
            continue
        for place in range(begin, end):
            depth, before = np.int64(depths[place]), np.int64(min_depths[place])
            if before <= deepest and (depth > deepest or depth > before + 1):
                kind = 0
            elif depth <= deepest and before >= depth and not _holds(starts, place):
                kind = 1
            else:
                continue
            if counts[kind] < MAX_EXAMPLES:
                first[kind, counts[kind]] = place
            counts[kind] += 1
    return counts, first


@kernel
def _holds(ascending: NDArray[np.int64], value: int) -> bool:
    """Return whether ``ascending`` contains the value."""
    low, high = 0, len(ascending)
    while low < high:
        middle = (low + high) // 2
        if ascending[middle] < value:
            low = middle + 1
        else:
            high = middle
    return low < len(ascending) and ascending[low] == value


@kernel
def _census(depths: Depths, deepest: int, seed: np.uint64) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the number of positions at each depth, and the index of a random position at each depth.

    This is reservoir sampling: the k-th position at a depth replaces the previous sample with probability 1 / k. A
    sample drawn at the k-th position is still the sample at the n-th with probability k / n. So one random number u in
    (0, 1] determines the next replacement: the first position after k / u. The random numbers follow G. Marsaglia,
    Xorshift RNGs (2003).
    """
    layers = np.zeros(deepest + 2, dtype=np.int64)
    drawn = np.full(deepest + 2, -1, dtype=np.int64)
    next_drawn = np.ones(deepest + 2, dtype=np.int64)
    random = (seed * np.uint64(2) + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)  # odd, and never 0
    for place in range(depths.size):
        layer = min(np.int64(depths[place]), np.int64(deepest + 1))
        layers[layer] += 1
        if layers[layer] == next_drawn[layer]:
            drawn[layer] = place
            random ^= random << np.uint64(13)
            random ^= random >> np.uint64(7)
            random ^= random << np.uint64(17)
            uniform = ((random >> np.uint64(11)) + 1) * 2.0**-53
            next_drawn[layer] = np.int64(min(layers[layer] / uniform, 2.0**62)) + 1
    return layers, drawn
