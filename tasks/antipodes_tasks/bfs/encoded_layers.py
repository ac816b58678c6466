"""Operations on segments for layers on disk.

Lists of gaps are not decoded to the bitmap of a whole chunk. Such a bitmap would be filled with zeros, written and read
once for each segment, although most segments of a search with many layers set only a few bits of each row.
"""

import numpy as np
from numpy.typing import NDArray

from antipodes_tasks.base.array_types import Bytes
from antipodes_tasks.base.jit import integer, kernel, popcount
from antipodes_tasks.bfs.bitmaps import Bitmap, expand, words
from antipodes_tasks.bfs.segments import Segment, read_gap
from antipodes_tasks.move_tables import ColumnMap, ColumnMaps, MoveTables

MAX_COLUMNS = 1 << 12
"""Maximum number of positions of a row that follow a move together. Their columns fit in the first-level cache."""


def push(one: Segment, rows: range, width: int, incoming: Bitmap, first_row: int, tables: MoveTables) -> bool:
    """Set the bits of ``incoming`` for all successors of a segment's positions in the rows that ``incoming`` covers.

    ``rows`` are the rows of the segment's chunk, and ``incoming`` ``(rows, words)`` covers the rows from ``first_row``
    on. Return False if the segment does not contain its number of positions; some bits may have been set then.
    """
    moves = tables.target, tables.column_map, tables.column_maps
    where = rows.start, rows.stop, incoming, first_row
    return one.decode(
        width,
        (len(rows), words(width)),
        lambda: _push_gaps(one.data, one.positions, *where, *moves, np.empty(MAX_COLUMNS, dtype=np.int32)),
        lambda layer: expand(
            incoming, first_row, layer, None, np.arange(rows.start, rows.stop, dtype=np.int32), *moves
        ),
    )


def remove(one: Segment, width: int, layer: Bitmap) -> bool:
    """Clear the bits of a segment's positions in a bitmap of its chunk, ``(rows, words)``.

    Return False if the segment does not contain its number of positions; some bits may have been cleared then.
    """
    return one.decode(
        width,
        layer.shape,
        lambda: _clear_gaps(one.data, one.positions, width, layer),
        lambda found: np.bitwise_and(layer, np.invert(found, out=found), out=layer),
    )


@kernel
def has_bits(bits: Bitmap) -> bool:
    """Return whether any bit is set; ``bits`` has two dimensions."""
    for row in range(bits.shape[0]):
        for word in range(bits.shape[1]):
            if bits[row, word] != 0:
                return True
    return False


@kernel
def tally(bits: Bitmap, weights: NDArray[np.int64] | None) -> tuple[int, int]:
    """Return the number of bits ``(rows, words)`` that are set, and the sum of the weights of their rows.

    ``weights`` ``(rows,)`` are the weights, None if all are 1.
    """
    count, weighed = integer(0), integer(0)
    for row in range(bits.shape[0]):
        here = integer(0)
        for word in range(bits.shape[1]):
            here += integer(popcount(bits[row, word]))
        count += here
        weighed += here if weights is None else here * weights[row]
    return count, weighed


@kernel
def _push_gaps(
    data: Bytes,
    count: int,
    row: int,
    end_row: int,
    incoming: Bitmap,
    first_row: int,
    target: NDArray[np.int32],
    column_map: ColumnMap,
    column_maps: ColumnMaps,
    columns: NDArray[np.int32],
) -> bool:
    """Push the positions of a GAPS segment, whose chunk has the rows from ``row`` to ``end_row - 1``; see `push`.

    ``columns`` ``(n,)`` is a buffer. Its columns, all of the same row, follow a move before the next move, so that few
    rows of ``incoming`` and few column maps are in use at a time. A list of columns is faster than the bits of words,
    because a loop over the bits of a word, whose number varies, costs a mispredicted branch.
    """
    width, column, end, filled = column_maps.shape[1], -1, 0, integer(0)
    # A gap may lead past the end of a row. The buffer does not store rows, so it is emptied before the row changes.
    while end < len(data):
        gap, end = read_gap(data, end)
        if gap == 0:
            return False
        column += gap
        if column >= width or filled == len(columns):
            _push_columns(row, columns, filled, incoming, first_row, target, column_map, column_maps)
            filled = integer(0)
        if column >= width:
            row += column // width
            column %= width
            if row >= end_row:
                return False
        columns[np.uint64(filled)] = column
        filled += 1
        count -= 1
    _push_columns(row, columns, filled, incoming, first_row, target, column_map, column_maps)
    return count == 0


@kernel
def _push_columns(
    row: int,
    columns: NDArray[np.int32],
    filled: int,
    incoming: Bitmap,
    first_row: int,
    target: NDArray[np.int32],
    column_map: ColumnMap,
    column_maps: ColumnMaps,
) -> None:
    """Push the positions of a row in its first ``filled`` ``columns``; see `_push_gaps`."""
    one = np.uint64(1)
    if filled == 0:
        return
    for move in range(target.shape[1]):
        if target[row, move] < 0:
            break
        to_row = target[row, move] - first_row
        if to_row < 0 or to_row >= incoming.shape[0]:
            continue
        number = column_map[row, move] if column_map.shape[1] else 0
        for at in range(filled):
            column = integer(columns[np.uint64(at)])
            if number != 0:
                column = integer(column_maps[number, np.uint64(column)])
                if column < 0:
                    continue
            incoming[to_row, np.uint64(column >> 6)] |= one << np.uint64(column & 63)


@kernel
def _clear_gaps(data: Bytes, count: int, width: int, layer: Bitmap) -> bool:
    """Clear the positions of a GAPS segment, as `remove` does."""
    # Not one kernel with `_set_gaps`: an argument that chooses between setting and clearing doubles the time.
    row, column, end = 0, -1, 0
    while end < len(data):
        gap, end = read_gap(data, end)
        column += gap
        if column >= width:
            row += column // width
            column %= width
        if gap == 0 or row >= layer.shape[0]:
            return False
        layer[np.uint64(row), np.uint64(column >> 6)] &= ~(np.uint64(1) << np.uint64(column & 63))
        count -= 1
    return count == 0
