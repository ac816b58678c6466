"""Names of squares as in chess, and the names of moves on boards."""

import re
from collections.abc import Collection
from dataclasses import dataclass

LETTERS = "abcdefghijklmnopqrstuvwxyz"
DIRECTIONS = {(0, -1): "left", (0, 1): "right", (-1, 0): "up", (1, 0): "down"}
"""The names of steps, by rows down and columns right."""
Square = tuple[int, int]
"""The row, from the top, and the column."""


@dataclass(frozen=True, slots=True)
class Grid:
    """The squares of a board: each is a place, or a hole."""

    rows: int
    columns: int
    holes: frozenset[int] = frozenset()
    """Squares, in reading order, that are not places."""

    @property
    def places(self) -> int:
        """The number of places."""
        return self.rows * self.columns - len(self.holes)


def squares_of(rows: int, columns: int, holes: Collection[int] = ()) -> tuple[Square, ...]:
    """The square of each place of a board, in reading order."""
    return tuple(divmod(square, columns) for square in range(rows * columns) if square not in holes)


def square_name(square: Square, rows: int) -> str:
    """The name of a square: columns are letters from the left, and rows are counted from the bottom, ``a1``."""
    row, column = square
    letters = LETTERS[column % len(LETTERS)]
    while column := column // len(LETTERS):
        column -= 1
        letters = LETTERS[column % len(LETTERS)] + letters
    return f"{letters}{rows - row}"


NAME = re.compile("([a-z]{1,4})([1-9][0-9]{0,3})")
"""Names of squares; boards have at most 1,024 places."""


def square_of(name: str, rows: int) -> Square | None:
    """Return the square of a name, the inverse of `square_name`; None if the text is no such name.

    The square may lie outside of the board.
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
    """Names moves by the squares of their ends: ``b1-c3``."""

    squares: tuple[Square, ...]
    rows: int

    def __call__(self, origin: int, destination: int) -> str:
        """The name of the move between two places."""
        return f"{square_name(self.squares[origin], self.rows)}-{square_name(self.squares[destination], self.rows)}"


@dataclass(frozen=True)
class TileStep:
    """Names moves by the direction in which the tile goes: ``L``, ``R``, ``U``, ``D``.

    Several empty squares allow several moves in one direction, so the square of the tile comes first: ``b1-left``.
    """

    squares: tuple[Square, ...]
    rows: int
    single: bool

    def __call__(self, origin: int, destination: int) -> str:
        """The name of the move between two places, which touch."""
        (row, column), (to_row, to_column) = self.squares[origin], self.squares[destination]
        direction = DIRECTIONS[to_row - row, to_column - column]
        return direction[0].upper() if self.single else f"{square_name((row, column), self.rows)}-{direction}"
