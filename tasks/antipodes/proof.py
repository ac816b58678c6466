"""What makes depths the distances of a puzzle, checked for one partition.

Depths are right if and only if the starts, and they alone, have depth 0; no move leads from depth d to a position
deeper than d + 1 or unreached; and every other reached position has a predecessor one less deep.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from antipodes.arrays import Depths
from antipodes.compile import kernel
from antipodes.moves import MoveTables


class Findings(NamedTuple):
    """What was found in a partition."""

    layers: NDArray[np.int64]
    """How many positions have each depth, the last number counts the unreached."""
    skipped: NDArray[np.int64]
    """Indices of positions that are deeper than a predecessor allows."""
    unsupported: NDArray[np.int64]
    """Indices of positions without a predecessor one less deep, which are no starts."""
    not_zero: NDArray[np.int64]
    """Indices of starts whose depth is not 0."""


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
) -> Findings:
    """Check all positions of a block against the blocks whose moves lead into it.

    Depths greater than ``deepest`` count as unreached. Of positions deeper than ``expanded`` the successors need not
    be known: the two are equal in a finished table, one apart in an unfinished one.
    """
    skipped = np.zeros(block.depths.shape, dtype=np.bool_)
    supported = np.zeros(block.depths.shape, dtype=np.bool_)
    for source in sources:
        rows = slice(source.first_row, source.first_row + len(source.depths))
        _compare(
            block.depths, block.first_row, skipped, supported, source.depths,
            tables.target[rows], tables.shuffle[rows], tables.shuffles, deepest, expanded,
        )  # fmt: skip
    first_index = block.first_row * block.depths.shape[1]
    depths = block.depths.ravel()
    starts_here = starts[(starts >= first_index) & (starts < first_index + depths.size)] - first_index
    supported.ravel()[starts_here] = True
    return Findings(
        _census(depths, deepest),
        np.flatnonzero(skipped) + first_index,
        np.flatnonzero((depths <= deepest) & ~supported.ravel()) + first_index,
        starts_here[depths[starts_here] != 0] + first_index,
    )


@kernel
def _compare(
    depths: Depths,
    first_row: int,
    skipped: NDArray[np.bool_],
    supported: NDArray[np.bool_],
    source: Depths,
    target: NDArray[np.int32],
    shuffle: NDArray[np.int16],
    shuffles: NDArray[np.int32],
    deepest: int,
    expanded: int,
) -> None:
    for row in range(source.shape[0]):
        for move in range(target.shape[1]):
            to_row = target[row, move] - first_row
            if to_row < 0 or to_row >= depths.shape[0]:
                continue
            number = shuffle[row, move]
            for column in range(source.shape[1]):
                depth = np.int64(source[row, column])
                if depth > expanded:
                    continue
                to_column = shuffles[number, column]
                reached = np.int64(depths[to_row, to_column])
                if reached > deepest or reached > depth + 1:
                    skipped[to_row, to_column] = True
                elif reached == depth + 1:
                    supported[to_row, to_column] = True


@kernel
def _census(depths: Depths, deepest: int) -> NDArray[np.int64]:
    layers = np.zeros(deepest + 2, dtype=np.int64)
    for place in range(depths.size):
        depth = np.int64(depths[place])
        layers[depth if depth <= deepest else deepest + 1] += 1
    return layers
