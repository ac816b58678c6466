"""All sliding-block puzzles on a board: their number, and the hardest puzzle for each number of pieces.

``python -m benchmarks.block_boards 4 4`` counts and searches the puzzles of the 4x4 board.

A *board* fills all squares with pieces (connected sets of squares of any shape) and holes. The goal is to bring one
piece, the *marked piece*, from the upper left corner to the lower right corner: at the start it touches the left and
the upper edge, and at the end it covers the last square. Other pieces of the same shape are identical. A move takes one
piece along any path. N. Bickford counted the boards with which such a puzzle can end, the *just solved* boards, and
searched from all of them: the 4x4 board has 12,295,564, and the hardest puzzle takes 132 moves (Sliding Block Puzzles,
Part 3, nbickford.wordpress.com, 2012).

A board is just solved if it has a hole and the piece on the last square can move up or left. All boards with the same
number of pieces are searched together, backwards, from all just solved boards. Moves preserve the pieces, so positions
of different puzzles never meet, and the hardest puzzle is in the last layer that contains a position with the marked
piece in the upper left corner. A position is a 64-bit word: three bits per square store whether the square is a hole
and whether its piece continues to the right and down; the highest bits store the first square of the marked piece.
"""

import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from antipodes_tasks.base.array_types import Numbers, Words
from antipodes_tasks.base.jit import kernel, popcount
from antipodes_tasks.keys.sorted_keys import difference, sorted_unique

BITS = 3
"""Bits per square; their value is 0 for a hole, else 1, plus 1 if the piece continues to the right, plus 2 if down."""
MAX_SQUARES = 16
MARK = BITS * MAX_SQUARES
"""Position in a word of the lowest bit of the marked piece's first square."""
BATCH = 1 << 18
"""Number of positions expanded together."""
ROOM = 1 << 22
"""Maximum number of successors that one call of the kernel writes."""


class Board(NamedTuple):
    """An empty board and the pieces that fit on it, as bitmaps of squares in reading order."""

    rows: int
    columns: int
    begins: Numbers
    """Number of the first shape with each first square, ``(squares + 1,)``."""
    shapes: Numbers
    """The connected sets of squares, sorted by their first square."""
    spread: Words
    """For each set of squares, the mask of their bits in a word, ``(2^squares,)``."""


class Count(NamedTuple):
    """Numbers of boards."""

    boards: int
    just_solved: int


@dataclass(frozen=True)
class Hardest:
    """The hardest puzzle with some number of pieces."""

    pieces: int
    just_solved: int
    positions: int
    """Number of positions reachable from just solved boards, with the marked piece anywhere."""
    moves: int
    start: str
    """A position that needs this many moves; the marked piece is A."""


def board_of(rows: int, columns: int) -> Board:
    """Return a board, which has at most MAX_SQUARES squares."""
    squares = rows * columns
    assert squares <= MAX_SQUARES
    found = _connected(rows, columns)
    first = np.array([(shape & -shape).bit_length() - 1 for shape in found.tolist()])
    order = np.argsort(first, kind="stable")
    bit = np.arange(1 << squares)[:, np.newaxis] >> np.arange(squares) & 1
    spread = (bit.astype(np.uint64) * np.uint64((1 << BITS) - 1)) << (BITS * np.arange(squares)).astype(np.uint64)
    begins = np.searchsorted(first[order], np.arange(squares + 1))
    return Board(rows, columns, begins, found[order], np.bitwise_or.reduce(spread, axis=1))


@kernel
def _connected(rows: int, columns: int) -> Numbers:
    """Return all connected, non-empty sets of squares."""
    found, count = np.empty(1 << (rows * columns), dtype=np.int64), 0
    for squares in range(1, 1 << (rows * columns)):
        if _grown(squares & -squares, squares, rows, columns) == squares:
            found[count] = squares
            count += 1
    return found[:count].copy()


@kernel
def _grown(part: int, squares: int, rows: int, columns: int) -> int:
    """Return the connected component of ``squares`` that contains ``part``."""
    left, right = 0, 0
    for row in range(rows):
        left, right = left | 1 << row * columns, right | 1 << (row * columns + columns - 1)
    before = 0
    while part != before:
        before = part
        part |= part << columns | part >> columns | (part & ~right) << 1 | (part & ~left) >> 1
        part &= squares
    return part


def count_of(board: Board) -> Count:
    """Count all boards, including the board of holes only, and the just solved boards."""
    none = np.empty(0, dtype=np.uint64)
    return Count(*_boards(*board, 0, board.rows * board.columns, none))


def just_solved_of(board: Board, pieces: int) -> Words:
    """Return the just solved positions with this many pieces, sorted; the piece on the last square is marked."""
    found = np.empty(_boards(*board, pieces, pieces, np.empty(0, dtype=np.uint64))[1], dtype=np.uint64)
    _boards(*board, pieces, pieces, found)
    return sorted_unique(found)


@kernel
def _boards(
    rows: int, columns: int, begins: Numbers, shapes: Numbers, spread: Words, fewest: int, most: int, found: Words
) -> tuple[int, int]:
    """Count the boards with ``fewest`` to ``most`` pieces, and the just solved boards; write those while there is room.

    The first square that is not decided yet becomes a hole or the first square of a shape that fits.
    """
    squares = rows * columns
    whole = (1 << squares) - 1
    decided, holes, count, corner = np.zeros((4, squares + 2), dtype=np.int64)
    tried = np.full(squares + 2, -1)
    word = np.zeros(squares + 2, dtype=np.uint64)
    level, boards, solved = 0, 0, 0
    while level >= 0:
        if decided[level] == whole:
            boards += 1
            if _can_leave(corner[level], holes[level], rows, columns):
                if solved < len(found):
                    found[solved] = word[level] | np.uint64(_first(corner[level])) << np.uint64(MARK)
                solved += 1
            level -= 1
            continue
        square, shape = _first(~decided[level]), 0
        if tried[level] < 0:
            tried[level] = begins[square]
        else:
            number = tried[level]
            while number < begins[square + 1] and shapes[number] & decided[level]:
                number += 1
            if number == begins[square + 1] or count[level] == most:
                level -= 1
                continue
            tried[level], shape = number + 1, shapes[number]
        new = level + 1
        tried[new], count[new] = -1, count[level] + (shape != 0)
        decided[new] = decided[level] | (shape if shape else 1 << square)
        holes[new] = holes[level] | (0 if shape else 1 << square)
        corner[new] = shape if shape >> (squares - 1) & 1 else corner[level]
        word[new] = word[level] | _coded(shape, columns, squares)
        if count[new] + np.int64(popcount(np.uint64(whole & ~decided[new]))) >= fewest:
            level = new
    return boards, solved


@kernel
def _first(squares: int) -> int:
    """Return the first square of a set."""
    square = 0
    while not squares >> square & 1:
        square += 1
    return square


@kernel
def _coded(shape: int, columns: int, squares: int) -> np.uint64:
    """Return the bits of a piece's squares in a word."""
    word = np.uint64(0)
    for square in range(squares):
        if shape >> square & 1:
            right = (square + 1) % columns != 0 and shape >> (square + 1) & 1
            down = square + columns < squares and shape >> (square + columns) & 1
            word |= np.uint64(1 + right + 2 * down) << np.uint64(BITS * square)
    return word


@kernel
def _can_leave(piece: int, holes: int, rows: int, columns: int) -> bool:
    """Return whether the piece is not empty and can move up or left."""
    left = 0
    for row in range(rows):
        left |= 1 << row * columns
    free = holes | piece
    up = not piece & ((1 << columns) - 1) and not piece >> columns & ~free
    return piece != 0 and (up or (not piece & left and not piece >> 1 & ~free))


def hardest_of(board: Board, pieces: int) -> Hardest | None:
    """Return the hardest puzzle with this many pieces, or None if there is none."""
    solved = just_solved_of(board, pieces)
    positions, moves, start = 0, -1, np.uint64(0)
    for depth, layer in enumerate(_layers(board, solved)):
        positions += len(layer)
        found = _starting(*board, layer)
        if found >= 0:
            moves, start = depth, layer[found]
    return Hardest(pieces, len(solved), positions, moves, drawn(board, int(start))) if moves >= 0 else None


def _layers(board: Board, layer: Words) -> Iterator[Words]:
    """Yield the sorted positions at each depth. Moves are reversible, so it is enough to remove the last two layers."""
    before = layer[:0]
    while len(layer):
        yield layer
        parts = [_successors(board, layer[begin : begin + BATCH]) for begin in range(0, len(layer), BATCH)]
        before, layer = layer, difference(sorted_unique(np.concatenate(parts)), layer, before)


def _successors(board: Board, positions: Words) -> Words:
    """Return the sorted successors of the positions."""
    found, room, begin = [positions[:0]], np.empty(ROOM, dtype=np.uint64), 0
    while begin < len(positions):
        begin, count = _expand(*board, positions, begin, room)
        found.append(sorted_unique(room[:count].copy()))
    return sorted_unique(np.concatenate(found))


@kernel
def _expand(
    rows: int,
    columns: int,
    begins: Numbers,
    shapes: Numbers,
    spread: Words,
    positions: Words,
    begin: int,
    after: Words,
) -> tuple[int, int]:
    """Write the successors of the positions from ``begin`` on while there is room.

    Return the number of the next position to expand, and the number of successors.
    """
    squares, count = rows * columns, 0
    whole, most = (1 << squares) - 1, squares * squares
    piece, reached = np.empty(squares, dtype=np.int64), np.empty(squares, dtype=np.int64)
    while begin < len(positions) and count + most <= len(after):
        position = positions[begin]
        begin += 1
        taken, marked = _pieces(position, columns, squares, piece), np.int64(position >> np.uint64(MARK))
        covered = 0
        for number in range(taken):
            covered |= piece[number]
        for number in range(taken):
            shape, code = piece[number], position & spread[piece[number]]
            first, free = _first(shape), whole & ~covered | shape
            others = (position & ~spread[shape]) & ((np.uint64(1) << np.uint64(MARK)) - np.uint64(1))
            for way in range(1, _reached(shape, free, rows, columns, reached)):
                there = _first(reached[way])
                moved = (
                    code << np.uint64(BITS * (there - first))
                    if there > first
                    else code >> np.uint64(BITS * (first - there))
                )
                mark = there if marked == first else marked
                after[count] = others | moved | np.uint64(mark) << np.uint64(MARK)
                count += 1
    return begin, count


@kernel
def _pieces(position: np.uint64, columns: int, squares: int, piece: Numbers) -> int:
    """Write the pieces of a position as sets of squares, and return their number.

    Squares are visited in reading order; each joins the one or two pieces that continue to it.
    """
    count = 0
    for square in range(squares):
        code = np.int64(position >> np.uint64(BITS * square)) & 7
        if code == 0:
            continue
        joined = 1 << square
        for back, bit in ((1, 1), (columns, 2)):
            other = np.int64(position >> np.uint64(BITS * (square - back))) & 7 if square >= back else 0
            if other and (other - 1) & bit and not joined >> (square - back) & 1:
                number = 0
                while not piece[number] >> (square - back) & 1:
                    number += 1
                joined |= piece[number]
                count -= 1
                piece[number] = piece[count]
        piece[count] = joined
        count += 1
    return count


@kernel
def _reached(shape: int, free: int, rows: int, columns: int, reached: Numbers) -> int:
    """Write all places to which a piece can move over free squares, its own place first; return their number."""
    left, right = 0, 0
    for row in range(rows):
        left, right = left | 1 << row * columns, right | 1 << (row * columns + columns - 1)
    top, bottom = (1 << columns) - 1, ((1 << columns) - 1) << (rows - 1) * columns
    reached[0], count, at = shape, 1, 0
    while at < count:
        here = reached[at]
        at += 1
        for edge, by in ((top, -columns), (bottom, columns), (left, -1), (right, 1)):
            there = 0 if here & edge else here << by if by > 0 else here >> -by
            new = there != 0 and not there & ~free
            for known in range(count):
                new = new and reached[known] != there
            if new:
                reached[count] = there
                count += 1
    return count


@kernel
def _starting(rows: int, columns: int, begins: Numbers, shapes: Numbers, spread: Words, positions: Words) -> int:
    """Return the number of the first position whose marked piece touches the upper and the left edge, or -1."""
    left, top = 0, (1 << columns) - 1
    for row in range(rows):
        left |= 1 << row * columns
    piece = np.empty(rows * columns, dtype=np.int64)
    for number in range(len(positions)):
        marked = np.int64(positions[number] >> np.uint64(MARK))
        if marked >= columns:
            continue
        for one in piece[: _pieces(positions[number], columns, rows * columns, piece)]:
            if one >> marked & 1 and one & left and one & top:
                return number
    return -1


def drawn(board: Board, position: int) -> str:
    """Return a position in the notation of `antipodes`: the marked piece is A, each other piece has its own letter."""
    squares, piece = board.rows * board.columns, np.empty(MAX_SQUARES, dtype=np.int64)
    count = _pieces(np.uint64(position), board.columns, squares, piece)
    by_mark = sorted(piece[:count].tolist(), key=lambda one: (not one >> (position >> MARK) & 1, one & -one))
    letters = ["."] * squares
    for letter, one in zip("ABCDEFGHIJKLMNOP", by_mark, strict=False):
        for square in range(squares):
            letters[square] = letter if one >> square & 1 else letters[square]
    return "/".join("".join(letters[row * board.columns : (row + 1) * board.columns]) for row in range(board.rows))


def main(rows: int, columns: int, *numbers: int) -> None:
    """Print the numbers of boards, and the hardest puzzle for each number of pieces."""
    board = board_of(rows, columns)
    count = count_of(board)
    print(f"{count.boards:,} boards, {count.just_solved:,} just solved", flush=True)
    for pieces in numbers or range(1, rows * columns):
        begin = time.perf_counter()
        found = hardest_of(board, pieces)
        seconds = f"{time.perf_counter() - begin:.1f} s"
        if found is not None:
            print(
                f"{pieces:>2} pieces: {found.just_solved:>9,} just solved, {found.positions:>10,} positions, "
                f"{found.moves:>3} moves from {found.start}, {seconds}",
                flush=True,
            )


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
