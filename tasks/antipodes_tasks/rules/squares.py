"""Names of squares, as in chess, and names of moves on boards."""

import re
from collections.abc import Collection
from dataclasses import dataclass

LETTERS = "abcdefghijklmnopqrstuvwxyz"
DIRECTIONS = {(0, -1): "left", (0, 1): "right", (-1, 0): "up", (1, 0): "down"}
"""Name of each step (rows down, columns right)."""
Square = tuple[int, int]
"""Row from the top and column from the left, both from 0."""


@dataclass(frozen=True, slots=True)
class Grid:
    """The squares of a board, each of which is a place or a hole."""

    rows: int
    columns: int
    holes: frozenset[int] = frozenset()
    """Squares that are holes, numbered in reading order."""

    @property
    def places(self) -> int:
        """Number of places."""
        return self.rows * self.columns - len(self.holes)


def squares_of(rows: int, columns: int, holes: Collection[int] = ()) -> tuple[Square, ...]:
    """Return the square of each place of a board, in reading order."""
    return tuple(divmod(square, columns) for square in range(rows * columns) if square not in holes)


def square_name(square: Square, rows: int) -> str:
    """Return the name of a square, such as ``a1``: columns are letters, and rows are numbered from the bottom."""
    row, column = square
    letters = LETTERS[column % len(LETTERS)]
    while column := column // len(LETTERS):
        column -= 1
        letters = LETTERS[column % len(LETTERS)] + letters
    return f"{letters}{rows - row}"


NAME = re.compile("([a-z]{1,4})([1-9][0-9]{0,3})")
"""Pattern of square names; boards have at most 1,024 places."""


def square_of(name: str, rows: int) -> Square | None:
    """Return the square with this name, or None if the string is not the name of a square.

    This is the inverse of `square_name`. The square may lie outside the board.
    """
    match = NAME.fullmatch(name)
    if match is None:
        return None
    letters, number = match.groups()
    column = 0
    for letter in letters:
        column = column * len(LETTERS) + LETTERS.index(letter) + 1
    return rows - int(number), column - 1


@dataclass(frozen=True)
class FromTo:
    """A naming scheme: the name of a move consists of its two squares, as in ``b1-c3``."""

    squares: tuple[Square, ...]
    rows: int

    def __call__(self, origin: int, destination: int) -> str:
        """Return the name of the move between two places."""
        return f"{square_name(self.squares[origin], self.rows)}-{square_name(self.squares[destination], self.rows)}"


@dataclass(frozen=True)
class TileStep:
    """A naming scheme: the name of a move is the direction in which the tile moves, ``L``, ``R``, ``U`` or ``D``.

    With several empty squares, several moves can have the same direction, so names begin with the tile's square:
    ``b1-left``.
    """

    squares: tuple[Square, ...]
    rows: int
    single: bool

    def __call__(self, origin: int, destination: int) -> str:
        """Return the name of the move between two adjacent places."""
        (row, column), (to_row, to_column) = self.squares[origin], self.squares[destination]
        direction = DIRECTIONS[to_row - row, to_column - column]
        return direction[0].upper() if self.single else f"{square_name((row, column), self.rows)}-{direction}"
