"""All sliding-block puzzles of a board, against brute force and what is published of the 4x4 board."""

from collections import defaultdict
from collections.abc import Iterator
from itertools import pairwise

import numpy as np
import pytest

import antipodes
from antipodes.puzzles.families import puzzle_from
from benchmarks.block_boards import MARK, Board, Count, board_of, count_of, drawn, hardest_of, just_solved_of

pytestmark = pytest.mark.slow
Squares = frozenset[int]
PUBLISHED = [1, 4, 9, 19, 36, 51, 62, 89, 132, 81, 64, 73, 61, 25, 21]
"""The moves of the hardest 4x4 puzzles of 1 to 15 pieces: N. Bickford, Sliding Block Puzzles, Part 3, 2012."""


def neighbours(square: int, rows: int, columns: int) -> Iterator[int]:
    row, column = divmod(square, columns)
    for there, right in ((row - 1, column), (row + 1, column), (row, column - 1), (row, column + 1)):
        if 0 <= there < rows and 0 <= right < columns:
            yield there * columns + right


def connected(squares: Squares, rows: int, columns: int) -> bool:
    reached, waiting = set[int](), [min(squares)]
    while waiting:
        here = waiting.pop()
        if here not in reached:
            reached.add(here)
            waiting += squares.intersection(neighbours(here, rows, columns))
    return reached == squares


def boards(rows: int, columns: int) -> set[frozenset[Squares]]:
    """The pieces of all boards: each square joins a piece that is there, begins one, or is a hole."""
    found: list[list[Squares]] = [[]]
    for square in range(rows * columns):
        joined = [
            [*others, piece | {square}]
            for pieces in found
            for number, piece in enumerate(pieces)
            for others in [pieces[:number] + pieces[number + 1 :]]
        ]
        found = [*found, *[[*pieces, frozenset({square})] for pieces in found], *joined]
    return {frozenset(pieces) for pieces in found if all(connected(piece, rows, columns) for piece in pieces)}


def text_of(pieces: list[Squares], rows: int, columns: int) -> str:
    letters = ["."] * (rows * columns)
    for letter, piece in zip("ABCDEFGH", pieces, strict=False):
        for square in piece:
            letters[square] = letter
    return "/".join("".join(letters[begin:end]) for begin, end in pairwise(range(0, len(letters) + 1, columns)))


def with_one_piece(piece: Squares, rows: int, columns: int) -> str:
    return text_of([piece], rows, columns).replace(".", "?")


def in_corner(piece: Squares, rows: int, columns: int, last: bool) -> Squares:
    """The piece at the edges of the first or the last square."""
    down = (rows - 1 - max(one // columns for one in piece)) if last else -min(one // columns for one in piece)
    right = (columns - 1 - max(one % columns for one in piece)) if last else -min(one % columns for one in piece)
    return frozenset(one + down * columns + right for one in piece)


def hardest_by_runs(rows: int, columns: int) -> dict[int, int]:
    """The moves of the hardest puzzle of each number of pieces: each set of pieces and goal piece is a puzzle."""
    puzzles: dict[tuple[object, object], list[Squares]] = {}
    for pieces in boards(rows, columns):
        if sum(map(len, pieces)) == rows * columns:
            continue
        for marked in pieces:
            others = [one for one in pieces if one != marked]
            shapes = sorted(sorted(in_corner(one, rows, columns, False)) for one in others)
            kind = tuple(sorted(in_corner(marked, rows, columns, False))), tuple(map(tuple, shapes))
            puzzles.setdefault(kind, [marked, *others])
    found: dict[int, int] = defaultdict(int)
    for marked, *others in puzzles.values():
        last = in_corner(marked, rows, columns, True)
        if rows * columns - 1 not in last:
            continue
        text = text_of([marked, *others], rows, columns)
        puzzle = puzzle_from({"name": "p", "family": "blocks", "start": text, "moves": "slides", "distinct": True})
        goal, start = (with_one_piece(in_corner(marked, rows, columns, end), rows, columns) for end in (True, False))
        try:
            moves = antipodes.hardest_starts(puzzle, goal, among=start).distance
        except antipodes.errors.InputError:  # the pieces cannot stand like this, or do not reach it
            continue
        found[len(others) + 1] = max(found[len(others) + 1], moves)
    return found


@pytest.fixture(scope="module")
def small() -> Board:
    return board_of(2, 3)


def test_boards_by_brute_force(small: Board) -> None:
    assert count_of(small).boards == len(boards(2, 3))
    assert count_of(board_of(3, 3)) == Count(len(boards(3, 3)), 3026)


def test_just_solved_boards_are_those_whose_last_piece_can_leave(small: Board) -> None:
    for pieces in range(1, 6):
        found = {drawn(small, position) for position in just_solved_of(small, pieces).tolist()}
        expected = set[str]()
        for board in boards(2, 3):
            holes = frozenset(range(6)).difference(*board)
            for piece in board:
                up, left = (frozenset(one - by for one in piece) for by in (3, 1))
                may_go_up = not piece & {0, 1, 2} and up <= piece | holes
                may_go_left = not piece & {0, 3} and left <= piece | holes
                if len(board) == pieces and 5 in piece and (may_go_up or may_go_left):
                    expected.add(text_of([piece, *sorted(board - {piece}, key=min)], 2, 3))
        assert found == expected


def test_the_hardest_of_all_by_a_search_of_each(small: Board) -> None:
    found = {pieces: one.moves for pieces in range(1, 6) if (one := hardest_of(small, pieces)) is not None}
    assert found == hardest_by_runs(2, 3)


def test_a_position_is_drawn_with_the_marked_piece_first() -> None:
    board = board_of(2, 2)
    (position,) = (one for one in just_solved_of(board, 2).tolist() if one >> MARK == 3 and one & 7 == 1 + 1)
    assert drawn(board, position) == "BB/.A"
    assert np.array_equal(just_solved_of(board, 4), [])


def test_the_published_puzzles_of_the_4x4_board() -> None:
    board = board_of(4, 4)
    assert count_of(board) == Count(55_807_716, 12_295_564)
    for pieces in (1, 2, 13, 14, 15):
        found = hardest_of(board, pieces)
        assert found is not None
        assert found.moves == PUBLISHED[pieces - 1]
