"""The check, for one partition, that depths are the distances of a puzzle.

Depths are distances if and only if the starts, and only the starts, have depth 0; no move leads from depth d to a
position that is unreached or deeper than d + 1; and every other reached position has a predecessor at depth d - 1.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from antipodes.bfs.arrays import UNREACHED, Depths
from antipodes.jit.compile import kernel
from antipodes.spaces.move_tables import ColumnMap, MoveTables


class Findings(NamedTuple):
    """The findings in a partition."""

    layers: NDArray[np.int64]
    """The number of positions at each depth; the last entry counts the unreached."""
    skipped: NDArray[np.int64]
    """Indices of positions more than one deeper than a predecessor."""
    unsupported: NDArray[np.int64]
    """Indices of reached positions, other than starts, without a less deep predecessor."""
    not_zero: NDArray[np.int64]
    """Indices of starts whose depth is not 0."""
    drawn: NDArray[np.int64]
    """The index of a random position at each depth, and of an unreached one; -1 if there is none."""


class Block(NamedTuple):
    """The depths of some rows."""

    first_row: int
    depths: Depths


def check_partition(
    block: Block,
    sources: Sequence[Block],
    tables: MoveTables,
    starts: NDArray[np.int64],
    deepest: int,
    expanded: int,
    seed: int,
) -> Findings:
    """Check all positions of a block against the blocks whose moves lead to it.

    Depths greater than ``deepest`` count as unreached. The successors of positions deeper than ``expanded`` may be
    unreached: ``expanded`` equals ``deepest`` in a finished table, and is one less in an unfinished one. The ``seed``,
    from 0 to 2^63 - 1, determines the random positions.
    """
    unreached = UNREACHED[block.depths.dtype.name]
    least = np.full_like(block.depths, unreached)
    for source in sources:
        rows = slice(source.first_row, source.first_row + len(source.depths))
        _find_least(
            least, block.first_row, source.depths,
            tables.target[rows], tables.column_map[rows], tables.column_maps, expanded, unreached,
        )  # fmt: skip
    first_index = block.first_row * block.depths.shape[1]
    depths = block.depths.ravel()
    skipped, unsupported = _compare(depths, least.ravel(), deepest)
    starts_here = starts[(starts >= first_index) & (starts < first_index + depths.size)] - first_index
    unsupported[starts_here] = False
    layers, drawn = _census(depths, deepest, np.uint64(first_index ^ seed))
    return Findings(
        layers,
        np.flatnonzero(skipped) + first_index,
        np.flatnonzero(unsupported) + first_index,
        starts_here[depths[starts_here] != 0] + first_index,
        np.where(drawn < 0, -1, drawn + first_index),
    )


@kernel
def _find_least(
    least: Depths,
    first_row: int,
    source: Depths,
    target: NDArray[np.int32],
    column_map: ColumnMap,
    column_maps: NDArray[np.int32],
    expanded: int,
    unreached: int,
) -> None:
    """Lower ``least`` to the depths of all predecessors in ``source`` that are at most ``expanded`` deep.

    No branch depends on depths, whose order no processor predicts.
    """
    before = np.empty(source.shape[1], dtype=source.dtype)
    for row in range(source.shape[0]):
        for column in range(source.shape[1]):
            before[column] = source[row, column] if source[row, column] <= expanded else unreached
        for move in range(target.shape[1]):
            if target[row, move] < 0:
                break
            to_row = target[row, move] - first_row
            if to_row < 0 or to_row >= least.shape[0]:
                continue
            number = column_map[row, move] if column_map.shape[1] else 0
            if number == 0:
                for column in range(source.shape[1]):
                    least[to_row, column] = min(least[to_row, column], before[column])
                continue
            for column in range(source.shape[1]):
                to_column = column_maps[number, column]
                if to_column >= 0:
                    least[to_row, to_column] = min(least[to_row, to_column], before[column])


@kernel
def _compare(depths: Depths, least: Depths, deepest: int) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Which of the ``depths`` are skipped, and which unsupported, given the ``least`` depth of any predecessor.

    A skipped position is supported: it has a predecessor that is less deep, though not just one.
    """
    skipped, unsupported = np.zeros(len(depths), dtype=np.bool_), np.zeros(len(depths), dtype=np.bool_)
    for place in range(len(depths)):
        depth, before = np.int64(depths[place]), np.int64(least[place])
        unreached = depth > deepest
        skipped[place] = before <= deepest and (unreached or depth > before + 1)
        unsupported[place] = not unreached and before >= depth
    return skipped, unsupported


@kernel
def _census(depths: Depths, deepest: int, seed: np.uint64) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The number of positions at each depth, and a random one of them.

    Reservoir sampling: the k-th position at a depth replaces the one drawn before with probability 1 / k. The random
    numbers are those of G. Marsaglia, Xorshift RNGs (2003).
    """
    layers = np.zeros(deepest + 2, dtype=np.int64)
    drawn = np.full(deepest + 2, -1, dtype=np.int64)
    random = seed * np.uint64(2) + np.uint64(0x9E3779B97F4A7C15)
    for place in range(depths.size):
        depth = np.int64(depths[place])
        layer = depth if depth <= deepest else np.int64(deepest + 1)
        layers[layer] += 1
        random ^= random << np.uint64(13)
        random ^= random >> np.uint64(7)
        random ^= random << np.uint64(17)
        if (random >> np.uint64(32)) * np.uint64(layers[layer]) < np.uint64(1 << 32):
            drawn[layer] = place
    return layers, drawn
