"""A push or pull of many rows in the order of column maps, for column maps that do not fit in the caches.

In the order of rows, such a search reads another column map for each row and move. With 153,090 columns, a map takes
600 KB, and reading maps from memory takes most of the time. In the order of maps, each map stays in the second-level
cache while all rows that need it are processed.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from antipodes_tasks.base.jit import kernel
from antipodes_tasks.bfs.bitmaps import Bitmap, pull_line, push_line
from antipodes_tasks.move_tables import CACHED_BYTES, ColumnMap, ColumnMaps, MoveTables, index_type

FAST_CACHE_BYTES = 1 << 15
"""Size of the first-level cache for data in bytes."""


class OrderedMoves(NamedTuple):
    """The moves from some rows to some targets, sorted by the numbers of their column maps."""

    rows: NDArray[np.int32]
    """``(n,)``: the row of each move."""
    targets: NDArray[np.int32]
    """``(n,)``: the target of each move."""
    numbers: NDArray[np.int32]
    """``(n,)``: the number of each move's column map, ascending."""


def is_worthwhile(maps: int, width: int) -> bool:
    """Return whether neither one map of ``width`` columns fits in the first-level cache nor all maps in the last-level.

    With six maps of 207,900 columns (5 MB), a push in the order of rows was as fast as one in the order of maps.
    """
    each = width * index_type(width).itemsize
    return each > FAST_CACHE_BYTES and maps * each > CACHED_BYTES


def push(incoming: Bitmap, first_row: int, frontier: Bitmap, first_line: int, tables: MoveTables) -> None:
    """Set the bits of ``incoming`` for all successors of the ``frontier`` in the rows that ``incoming`` covers.

    ``incoming`` covers the rows from ``first_row`` on, and ``frontier`` covers the rows from ``first_line`` on.
    """
    lines, rows = range(first_line, first_line + len(frontier)), range(first_row, first_row + len(incoming))
    _push(incoming, first_row, frontier, first_line, moves_between(lines, rows, tables), tables.column_maps)


def pull(incoming: Bitmap, first_row: int, frontier: Bitmap, first_line: int, tables: MoveTables) -> None:
    """Set the bits of ``incoming`` for all predecessors of the ``frontier`` in the rows that ``incoming`` covers.

    It skips the bits that are already set. `push` describes the arguments.
    """
    lines, rows = range(first_line, first_line + len(frontier)), range(first_row, first_row + len(incoming))
    _pull(incoming, first_row, frontier, first_line, moves_between(rows, lines, tables), tables.column_maps)


def moves_between(rows: range, targets: range, tables: MoveTables) -> OrderedMoves:
    """Return the moves of some rows whose targets are in ``targets``."""
    ends = np.zeros(len(tables.column_maps), dtype=np.int64)
    between = rows.start, rows.stop, targets.start, targets.stop, tables.target, tables.column_map
    _sort(*between, ends, 1, *_room_for(0))
    found = _room_for(int(ends.sum()))
    np.cumsum(ends, out=ends)
    _sort(*between, ends, -1, *found)
    return found


def _room_for(moves: int) -> OrderedMoves:
    return OrderedMoves(*(np.empty(moves, dtype=np.int32) for _ in OrderedMoves._fields))


@kernel
def _sort(
    row: int,
    end_row: int,
    first_target: int,
    end_target: int,
    target: NDArray[np.int32],
    column_map: ColumnMap,
    ends: NDArray[np.int64],
    step: int,
    rows: NDArray[np.int32],
    targets: NDArray[np.int32],
    numbers: NDArray[np.int32],
) -> None:
    """Count the moves between some rows by column map, or write them in the order of their column maps.

    ``ends`` has an entry for each column map. If ``step`` is 1, the number of its moves is added to the entry. If
    ``step`` is -1, the moves are written; the entry is the place after the map's last move, and on return the place of
    its first move.
    """
    for source in range(row, end_row):
        for move in range(target.shape[1]):
            to_row = target[source, move]
            if first_target <= to_row < end_target:
                number = column_map[source, move]
                ends[number] += step
                if step < 0:
                    place = ends[number]
                    rows[place], targets[place], numbers[place] = source, to_row, number


@kernel
def _push(
    incoming: Bitmap, first_row: int, frontier: Bitmap, first_line: int, moves: OrderedMoves, column_maps: ColumnMaps
) -> None:
    rows, targets, numbers = moves
    for at in range(len(numbers)):
        line, to_row = rows[at] - first_line, targets[at] - first_row
        push_line(incoming, to_row, frontier, None, line, numbers[at], column_maps)


@kernel
def _pull(
    incoming: Bitmap, first_row: int, frontier: Bitmap, first_line: int, moves: OrderedMoves, column_maps: ColumnMaps
) -> None:
    rows, targets, numbers = moves
    for at in range(len(numbers)):
        row, line = rows[at] - first_row, targets[at] - first_line
        pull_line(incoming, incoming, row, frontier, None, line, numbers[at], column_maps)
