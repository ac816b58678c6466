"""Operations on segments for layers on disk, which decode only dense segments to the bitmap of a whole chunk.

Such a bitmap is filled with zeros, written and read once for each segment, although most segments of a search with many
layers set only a few bits of each row.
"""

import threading

import numpy as np
from numpy.typing import NDArray

from antipodes_tasks.base.jit import integer, kernel, popcount, trailing_zeros
from antipodes_tasks.bfs.bitmaps import WORD, Bitmap, expand, words
from antipodes_tasks.bfs.segments import GAPS, Bytes, Segment, read_bitmap, read_gap, set_bits
from antipodes_tasks.move_tables import ColumnMap, ColumnMaps, MoveTables

DENSE_ROW, DENSE_WORD = 8, 0.5
"""Positions per row, and per word of a row, from which it is faster to decode a segment before pushing its positions.

Measured with 420 and 2,520 columns. With 2.4 positions per word this took 0.73 times as long, with 1.6 0.53 times, with
0.6 0.88 times, with 0.3 1.06 times.
"""
_of_thread = threading.local()


def push(one: Segment, rows: range, width: int, incoming: Bitmap, first_row: int, tables: MoveTables) -> bool:
    """Set the bits of ``incoming`` for all successors of a segment's positions in the rows that ``incoming`` covers.

    ``rows`` are the rows of the segment's chunk, and ``incoming`` ``(rows, words)`` covers the rows from ``first_row``
    on. Return False if the segment does not contain its number of positions; some bits may have been set then.
    """
    moves = tables.target, tables.column_map, tables.column_maps
    if one.kind == GAPS and not is_dense(one.positions, len(rows), width):
        places, bits = _row_buffer(words(width))
        return bool(
            _push_gaps(one.data, one.positions, rows.start, rows.stop, incoming, first_row, *moves, places, bits)
        )
    layer = np.zeros((len(rows), words(width)), dtype=np.uint64)
    if not set_bits(one.kind, one.data, one.positions, width, layer):
        return False
    expand(incoming, first_row, layer, None, np.arange(rows.start, rows.stop, dtype=np.int32), *moves)
    return True


def remove(one: Segment, width: int, layer: Bitmap) -> bool:
    """Clear the bits of a segment's positions in a bitmap of its chunk, ``(rows, words)``.

    Return False if the segment does not contain its number of positions; some bits may have been cleared then.
    """
    if one.kind == GAPS:
        return bool(_clear_gaps(one.data, one.positions, width, layer))
    found = read_bitmap(one.kind, one.data, one.positions, width, layer.shape)
    if found is None:
        return False
    np.bitwise_and(layer, np.invert(found, out=found), out=layer)
    return True


def is_dense(positions: int, rows: int, width: int) -> bool:
    """Return whether it is faster to decode a segment of some rows before its positions are pushed."""
    return positions >= rows * max(DENSE_ROW, DENSE_WORD * words(width))


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


def _row_buffer(size: int) -> tuple[NDArray[np.int32], Bitmap]:
    """Return memory for the words of a row, and their places in the row, which each thread reuses."""
    held = getattr(_of_thread, "row", None)
    if held is None or len(held[0]) < size:
        held = _of_thread.row = np.empty(size, dtype=np.int32), np.empty(size, dtype=np.uint64)
    found: tuple[NDArray[np.int32], Bitmap] = held
    return found


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
    places: NDArray[np.int32],
    bits: NDArray[np.uint64],
) -> bool:
    """Push the positions of a GAPS segment, whose chunk has the rows from ``row`` to ``end_row - 1``; see `push`.

    ``places`` and ``bits`` ``(words,)`` are a buffer for the nonempty words of a row. All words of a row follow a move
    before the next move, so that few rows of ``incoming`` and few column maps are in use at a time.
    """
    width, column, end, filled = column_maps.shape[1], -1, 0, integer(0)
    while end < len(data):
        gap, end = read_gap(data, end)
        if gap == 0:
            return False
        column += gap
        if column >= width:
            _push_row(row, filled, incoming, first_row, target, column_map, column_maps, places, bits)
            filled = integer(0)
            row += column // width
            column %= width
            if row >= end_row:
                return False
        bit = np.uint64(1) << np.uint64(column & 63)
        if filled > 0 and places[np.uint64(filled - 1)] == column >> 6:
            bits[np.uint64(filled - 1)] |= bit
        else:
            places[np.uint64(filled)] = column >> 6
            bits[np.uint64(filled)] = bit
            filled += 1
        count -= 1
    _push_row(row, filled, incoming, first_row, target, column_map, column_maps, places, bits)
    return count == 0


@kernel
def _push_row(
    row: int,
    filled: int,
    incoming: Bitmap,
    first_row: int,
    target: NDArray[np.int32],
    column_map: ColumnMap,
    column_maps: ColumnMaps,
    places: NDArray[np.int32],
    bits: NDArray[np.uint64],
) -> None:
    """Push ``filled`` words of a row; see `_push_gaps`."""
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
            rest = bits[at]
            if number == 0:
                incoming[to_row, places[at]] |= rest
                continue
            while rest != 0:
                column = column_maps[number, places[at] * WORD + trailing_zeros(rest)]
                rest &= rest - one
                if column >= 0:
                    incoming[to_row, column >> 6] |= one << np.uint64(column & 63)


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
