"""The moves of a state space as three arrays: rows, column maps, and their numbers."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

MAPS_OF_INT16 = 1 << 15
ILLEGAL = -1
COLUMNS_AT_ONCE = 64
"""Columns that are filled together, so that a cache line of each column map is written at once."""
ColumnMap = NDArray[np.int16] | NDArray[np.int32]
Fill = Callable[[], None]
"""Fills a block of the tables. It takes some 20 ms, and may run in any thread and in any order."""


class MoveTables(NamedTuple):
    """The successor of ``(row, column)`` by move ``m`` is ``target[row, m], column_maps[column_map[row, m], column]``.

    The legal moves of a row come first; their numbers among the puzzle's moves are not kept.
    """

    target: NDArray[np.int32]
    """``(rows, moves)``: the row that a move leads to; ILLEGAL past the last legal move."""
    column_map: ColumnMap
    """``(rows, moves)``: which of the column maps applies, 0 is the identity; ``(rows, 0)`` where there is one column.

    The numbers have as many bytes as the count of column maps needs.
    """
    column_maps: NDArray[np.int32]
    """``(column maps, width)``: the column that each column goes to; ILLEGAL where the move is not legal in it."""
    undirected: bool = False
    """Whether every move can be undone by a move: then the successors of a position are its predecessors."""


def map_type(count: int) -> Any:
    """The dtype of the numbers of ``count`` column maps; OverflowError if 32 bits are too few."""
    if count - 1 > np.iinfo(np.int32).max:
        raise OverflowError(f"expected column maps that 32 bits number, found {count}")
    return np.int16 if count <= MAPS_OF_INT16 else np.int32
