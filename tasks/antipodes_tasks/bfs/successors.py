"""The successor of a single entry, for kernels that proceed entry by entry."""

import numpy as np
from numpy.typing import NDArray

from antipodes_tasks.base.jit import kernel
from antipodes_tasks.move_tables import ILLEGAL, ColumnMap, ColumnMaps

ENDED = -2
"""Returned instead of an entry if the row has no move with this or a higher number."""


@kernel
def successor(target: NDArray[np.int32], column_map: ColumnMap, column_maps: ColumnMaps, entry: int, move: int) -> int:
    """Return the entry after a move, from the arrays of `MoveTables`; ILLEGAL or ENDED if there is none."""
    width = column_maps.shape[1]
    row, column = entry // width, entry % width
    to_row = np.int64(target[row, move])
    if to_row == ILLEGAL:
        return ENDED
    to_column = np.int64(column_maps[column_map[row, move], column]) if column_map.shape[1] > 0 else column
    return to_row * width + to_column if to_column != ILLEGAL else ILLEGAL
