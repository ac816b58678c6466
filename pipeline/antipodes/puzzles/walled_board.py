"""A board with walls between some squares."""

from collections.abc import Sequence
from dataclasses import dataclass

from antipodes.puzzles.board import FRAME, HOLE, Board
from antipodes.puzzles.outlines import OUTSIDE, outlined
from antipodes.puzzles.picture import INK, SQUARE, Line, Picture
from antipodes_tasks.rules.squares import Square, squares_of

WALL_WIDTH = 5


@dataclass(frozen=True, slots=True)
class WalledBoard(Board):
    """A board that is drawn with its walls."""

    walls: frozenset[tuple[int, int]] = frozenset()
    """Pairs of places, in both orders, between which nothing passes."""

    def draw(self, symbols: Sequence[str]) -> str:
        """The board with lines around it, and where walls are; empty places dotted, holes hatched."""
        width = max(len(symbol) for symbol in symbols)
        place = {square: number for number, square in enumerate(squares_of(self.rows, self.columns, self.holes))}
        squares = [[place.get((row, column)) for column in range(self.columns)] for row in range(self.rows)]
        texts = [["░" * width if at is None else self._piece(symbols[at], width) for at in row] for row in squares]

        def at(row: int, column: int) -> int | str:
            inside = row in range(self.rows) and column in range(self.columns)
            return place.get((row, column), HOLE if inside else OUTSIDE)

        def divided(row: int, column: int, other_row: int, other_column: int) -> bool:
            one, other = at(row, column), at(other_row, other_column)
            return (one, other) in self.walls if isinstance(one, int) and isinstance(other, int) else one != other

        return outlined(texts, divided)

    def picture(self, symbols: Sequence[str]) -> Picture:
        """The board as without walls, and a thick line for each wall."""
        plain = Board.picture(self, symbols)
        squares = squares_of(self.rows, self.columns, self.holes)
        lines = [self._wall(squares[a], squares[b]) for a, b in sorted(self.walls) if a < b]
        return Picture(plain.width, plain.height, (*plain.shapes, *lines))

    def _wall(self, square: Square, beyond: Square) -> Line:
        """The line between a square and the one to the right of it, or below."""
        row, column = beyond
        x, y = FRAME + column * SQUARE, FRAME + row * SQUARE
        right, down = (SQUARE, 0) if row > square[0] else (0, SQUARE)
        return Line(x, y, x + right, y + down, INK, WALL_WIDTH)
