"""The check, for one partition, that depths are the distances of a puzzle.

Depths are distances if and only if the starts, and only the starts, have depth 0; no move leads from depth d to a
position that is unreached or deeper than d + 1; and every other reached position has a predecessor at depth d - 1.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from antipodes.bfs.arrays import Depths
from antipodes.jit.compile import kernel
from antipodes.spaces.move_tables import ColumnMap, MoveTables


class Findings(NamedTuple):
    """The findings in a partition."""

    layers: NDArray[np.int64]
    """The number of positions at each depth; the last entry counts the unreached."""
    skipped: NDArray[np.int64]
    """Indices of positions more than one deeper than a predecessor."""
    unsupported: NDArray[np.int64]
    """Indices of positions, other than starts, without a predecessor one less deep."""
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
    skipped = np.zeros(block.depths.shape, dtype=np.bool_)
    supported = np.zeros(block.depths.shape, dtype=np.bool_)
    for source in sources:
        rows = slice(source.first_row, source.first_row + len(source.depths))
        _compare(
            block.depths, block.first_row, skipped, supported, source.depths,
            tables.target[rows], tables.column_map[rows], tables.column_maps, deepest, expanded,
        )  # fmt: skip
    first_index = block.first_row * block.depths.shape[1]
    depths = block.depths.ravel()
    starts_here = starts[(starts >= first_index) & (starts < first_index + depths.size)] - first_index
    supported.ravel()[starts_here] = True
    layers, drawn = _census(depths, deepest, np.uint64(first_index ^ seed))
    return Findings(
        layers,
        np.flatnonzero(skipped) + first_index,
        np.flatnonzero((depths <= deepest) & ~supported.ravel()) + first_index,
        starts_here[depths[starts_here] != 0] + first_index,
        np.where(drawn < 0, -1, drawn + first_index),
    )


@kernel
def _compare(
    depths: Depths,
    first_row: int,
    skipped: NDArray[np.bool_],
    supported: NDArray[np.bool_],
    source: Depths,
    target: NDArray[np.int32],
    column_map: ColumnMap,
    column_maps: NDArray[np.int32],
    deepest: int,
    expanded: int,
) -> None:
    for row in range(source.shape[0]):
        for move in range(target.shape[1]):
            if target[row, move] < 0:
                break
            to_row = target[row, move] - first_row
            if to_row < 0 or to_row >= depths.shape[0]:
                continue
            number = column_map[row, move] if column_map.shape[1] else 0
            for column in range(source.shape[1]):
                depth = np.int64(source[row, column])
                if depth > expanded:
                    continue
                to_column = column_maps[number, column]
                if to_column < 0:
                    continue
                reached = np.int64(depths[to_row, to_column])
                if reached > deepest or reached > depth + 1:
                    skipped[to_row, to_column] = True
                elif reached == depth + 1:
                    supported[to_row, to_column] = True


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
