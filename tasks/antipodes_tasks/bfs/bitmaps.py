"""Layers as bitmaps, and the kernels of the search: push or pull a frontier, and visit the positions it reaches."""

import threading

import numpy as np
from numpy.typing import NDArray

from antipodes_tasks.base.jit import integer, kernel, popcount, trailing_zeros
from antipodes_tasks.move_tables import ColumnMap, ColumnMaps

WORD = 64
Bitmap = NDArray[np.uint64]
"""A layer ``(rows, words)``: column ``c`` of a row is bit ``c % 64`` of word ``c // 64``."""
Depths = NDArray[np.uint8] | NDArray[np.uint16]
"""``(rows, columns)``: the depth of each position."""
UNREACHED = {"uint8": 255, "uint16": 65535}
"""Depth of an unreached position for each dtype: its maximum value."""


def words(width: int) -> int:
    """Return the number of words of a row with ``width`` columns."""
    return -(-width // WORD)


def bitmap_bytes(rows: int, width: int) -> int:
    """Return the bytes of a bitmap of ``rows`` rows with ``width`` columns; no segment of these rows is larger."""
    return rows * words(width) * (WORD // 8)


def empty_bits(of_thread: threading.local, rows: int, width: int) -> Bitmap:
    """Return an empty bitmap ``(rows, words)`` in memory that each thread reuses, as the attribute ``bits``."""
    size = rows * words(width)
    held = getattr(of_thread, "bits", None)
    if held is None or held.size < size:
        of_thread.bits = held = None  # frees the old memory before the new memory is taken
        held = of_thread.bits = np.empty(size, dtype=np.uint64)
    bits: Bitmap = held[:size].reshape(rows, words(width))
    bits.fill(0)
    return bits


@kernel
def _word(bits: Bitmap, mask: Bitmap | None, line: int, word: int) -> np.uint64:
    """Return the bits of a word, without the bits outside the ``mask`` if there is one. Numba compiles only the case
    that is used.
    """
    found: np.uint64 = bits[line, word]
    return found if mask is None else found & mask[line, word]


@kernel
def _any_bit(bits: Bitmap, mask: Bitmap | None, line: int) -> bool:
    for word in range(bits.shape[1]):  # noqa: SIM110  (numba has no any() over a generator)
        if bits[line, word] != 0 and _word(bits, mask, line, word) != 0:  # do not read the mask of an empty word
            return True
    return False


@kernel
def expand(
    incoming: Bitmap,
    first_row: int,
    frontier: Bitmap,
    mask: Bitmap | None,
    rows: NDArray[np.int32],
    target: NDArray[np.int32],
    column_map: ColumnMap,
    column_maps: ColumnMaps,
) -> None:
    """Set the bits of ``incoming`` for all successors of the ``frontier`` in the rows that ``incoming`` covers.

    ``incoming`` covers the rows from ``first_row`` on. Line ``i`` of the ``frontier`` is row ``rows[i]``. If there is a
    ``mask``, only bits that are also set in the mask belong to the frontier.
    """
    for line in range(frontier.shape[0]):
        if not _any_bit(frontier, mask, line):
            continue
        row = rows[line]
        for move in range(target.shape[1]):
            if target[row, move] < 0:
                break
            to_row = target[row, move] - first_row
            if to_row < 0 or to_row >= incoming.shape[0]:
                continue
            number = column_map[row, move] if column_map.shape[1] else 0
            push_line(incoming, to_row, frontier, mask, line, number, column_maps)


@kernel
def push_line(
    incoming: Bitmap,
    to_row: int,
    frontier: Bitmap,
    mask: Bitmap | None,
    line: int,
    number: int,
    column_maps: ColumnMaps,
) -> None:
    """Set the bits of row ``to_row`` of ``incoming`` for all images of a line of the frontier under a column map."""
    one = np.uint64(1)
    for word in range(frontier.shape[1]):
        rest = _word(frontier, mask, line, word)
        if number == 0:
            incoming[to_row, word] |= rest
            continue
        while rest != 0:
            column = column_maps[number, word * 64 + trailing_zeros(rest)]
            rest &= rest - one
            if column >= 0:  # costs nothing, since numba then omits the check for negative indices
                incoming[to_row, column >> 6] |= one << np.uint64(column & 63)


@kernel
def _last_at_most(ascending: NDArray[np.int32], value: int) -> int:
    """Return the index of the last number that is at most ``value``; the first number must be.

    np.searchsorted would take longer to compile.
    """
    place, end = 0, len(ascending)
    while end - place > 1:
        middle = (place + end) >> 1
        if ascending[middle] <= value:
            place = middle
        else:
            end = middle
    return place


@kernel
def _line_of(rows: NDArray[np.int32], row: int) -> int:
    """Return the index of a row in the ascending ``rows``, or -1. It takes constant time if the rows have no gaps."""
    guess = row - integer(rows[0])
    if guess < 0 or row > rows[-1]:
        return -1
    if guess < len(rows) and rows[guess] == row:
        return guess
    line = _last_at_most(rows, row)
    return line if rows[line] == row else -1


@kernel
def pull(
    incoming: Bitmap,
    visited: Bitmap,
    first_row: int,
    frontier: Bitmap,
    mask: Bitmap | None,
    rows: NDArray[np.int32],
    target: NDArray[np.int32],
    column_map: ColumnMap,
    column_maps: ColumnMaps,
) -> None:
    """Set the bits of ``incoming`` for all unvisited positions from which a move leads to the ``frontier``.

    ``incoming`` and ``visited`` cover the rows from ``first_row`` on. Line ``i`` of the ``frontier`` is row
    ``rows[i]``; the rows ascend. If there is a ``mask``, only bits that are also set in the mask belong to the
    frontier. If moves are reversible, these positions are the unvisited positions that `expand` would set.
    """
    if len(rows) == 0:
        return
    for row in range(incoming.shape[0]):
        for move in range(target.shape[1]):
            to_row = target[first_row + row, move]
            if to_row < 0:
                break
            line = _line_of(rows, to_row)
            if line < 0:
                continue
            number = column_map[first_row + row, move] if column_map.shape[1] else 0
            if pull_line(incoming, visited, row, frontier, mask, line, number, column_maps) == 0:
                break


@kernel
def pull_line(
    incoming: Bitmap,
    visited: Bitmap,
    row: int,
    frontier: Bitmap,
    mask: Bitmap | None,
    line: int,
    number: int,
    column_maps: ColumnMaps,
) -> np.uint64:
    """Set the bits of a row of ``incoming`` for all unvisited positions that a column map takes to the frontier's line.

    Return 0 if the row had no other unvisited positions.
    """
    one, every = np.uint64(1), ~np.uint64(0)
    last = every >> np.uint64(-column_maps.shape[1] % 64)
    missing = np.uint64(0)
    for word in range(incoming.shape[1]):
        rest = ~(visited[row, word] | incoming[row, word]) & (last if word == incoming.shape[1] - 1 else every)
        missing |= rest
        if number == 0:
            incoming[row, word] |= rest & _word(frontier, mask, line, word)
            continue
        hits = np.uint64(0)
        while rest != 0:
            bit = trailing_zeros(rest)
            column = column_maps[number, word * 64 + bit]
            rest &= rest - one
            if column >= 0:
                hits |= (_word(frontier, mask, line, column >> 6) >> np.uint64(column & 63) & one) << bit
        incoming[row, word] |= hits
    return missing


@kernel
def close(
    incoming: Bitmap,
    visited: Bitmap | None,
    first_row: int,
    rows: NDArray[np.int32],
    begins: NDArray[np.int64],
    maps: NDArray[np.int32],
    column_maps: ColumnMaps,
) -> None:
    """Set the bits of ``incoming`` for all entries that are equivalent to an unvisited entry whose bit is set.

    Both bitmaps cover the rows from ``first_row`` on; `Closing` describes the other arrays. The entries equivalent to a
    visited entry are already visited. ``visited`` is None if no visited entry is set in ``incoming``.
    """
    one = np.uint64(1)
    for line in range(len(rows)):
        row = rows[line] - first_row
        if row < 0 or row >= incoming.shape[0]:
            continue
        for word in range(incoming.shape[1]):
            rest = incoming[row, word]
            if visited is not None:
                rest &= ~visited[row, word]
            while rest != 0:
                column = word * 64 + trailing_zeros(rest)
                rest &= rest - one
                for at in range(begins[line], begins[line + 1]):
                    image = column_maps[maps[at], column]
                    incoming[row, image >> 6] |= one << np.uint64(image & 63)


def filled_lines(bits: Bitmap, max_lines: int) -> NDArray[np.int64]:
    """Return the indices of the nonempty lines, ascending; there must be at most ``max_lines`` such lines."""
    lines = np.empty(max_lines, dtype=np.int64)
    return lines[: _filled_lines(bits, lines)]


@kernel
def _filled_lines(bits: Bitmap, lines: NDArray[np.int64]) -> int:
    """Write the numbers of the nonempty lines to ``lines``; return their number. (np.empty compiles slowly.)"""
    count = integer(0)
    for line in range(bits.shape[0]):
        if _any_bit(bits, None, line):
            lines[np.uint64(count)] = line
            count += 1
    return count


@kernel
def boundary_lines(
    frontier: Bitmap, rows: NDArray[np.int32], target: NDArray[np.int32], ranges: NDArray[np.int32]
) -> NDArray[np.int64]:
    """Return the nonempty lines of ``frontier`` with a move into one of the ``ranges`` of rows ``(ranges, 2)``.

    A range is its first row and the row after its last.
    """
    lines = np.empty(frontier.shape[0], dtype=np.int64)
    count = 0
    for line in range(frontier.shape[0]):
        if _leads_into(target, rows[line], ranges) and _any_bit(frontier, None, line):
            lines[count] = line
            count += 1
    return lines[:count]


@kernel
def _leads_into(target: NDArray[np.int32], row: int, ranges: NDArray[np.int32]) -> bool:
    for move in range(target.shape[1]):
        to_row = target[row, move]
        if to_row < 0:
            break
        for number in range(ranges.shape[0]):
            if ranges[number, 0] <= to_row < ranges[number, 1]:
                return True
    return False


@kernel
def settle(incoming: Bitmap, visited: Bitmap) -> np.int64:
    """Remove the visited positions from ``incoming``, and mark the rest as visited; return the number of the rest."""
    count = np.int64(0)
    for row in range(incoming.shape[0]):
        for word in range(incoming.shape[1]):
            new = incoming[row, word] & ~visited[row, word]
            incoming[row, word] = new
            visited[row, word] |= new
            count += np.int64(popcount(new))
    return count


@kernel
def mark(incoming: Bitmap, visited: Bitmap, marks: Bitmap) -> np.int64:
    """Remove the visited positions from ``incoming``, and set the marks of the rest; return the number of the rest."""
    count = np.int64(0)
    for row in range(incoming.shape[0]):
        for word in range(incoming.shape[1]):
            if incoming[row, word] == 0:  # for a small layer, this avoids reading the other arrays
                continue
            new = incoming[row, word] & ~visited[row, word]
            incoming[row, word] = new
            if new != 0:
                marks[row, word] |= new
                count += np.int64(popcount(new))
    return count


@kernel
def visit_marked(visited: Bitmap, marks: Bitmap) -> None:
    """Set the marked positions as visited, and remove the marks of positions that had been visited before."""
    for row in range(visited.shape[0]):
        for word in range(visited.shape[1]):
            before, marked = visited[row, word], marks[row, word]
            if marked != 0:
                visited[row, word] = before | marked
                marks[row, word] = marked & ~before


def count_bits(bits: Bitmap) -> int:
    """Return the number of bits that are set."""
    return int(np.bitwise_count(bits).sum(dtype=np.int64))


def first_positions(bits: Bitmap, width: int, limit: int) -> NDArray[np.int64]:
    """Return the flat indices ``row * width + column`` of the first set bits, at most ``limit`` of them, ascending."""
    row, word = (place[:limit] for place in np.nonzero(bits))
    flags = np.unpackbits(bits[row, word, np.newaxis].view(np.uint8), axis=1, bitorder="little")
    number, bit = np.nonzero(flags)
    found: NDArray[np.int64] = (row * width + word * WORD)[number] + bit
    return found[:limit]
