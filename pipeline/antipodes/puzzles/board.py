"""Boards: notations that read, write and draw positions on a rectangle of squares."""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence, Set
from dataclasses import dataclass
from itertools import product

from antipodes.drawing.picture import HOLLOW, INK, PAPER, SQUARE, Line, Picture, Rectangle, Shape, colours_of, tile
from antipodes.puzzles.drafts import EMPTY_LABEL, Form, form_of
from antipodes.puzzles.notation import (
    Lists,
    Notation,
    characters_in,
    check_symbols,
    rows_in,
    symbols_in,
    wrong_number_of_symbols,
)
from antipodes_tasks.base.errors import ConfigError, InputError, PositionError
from antipodes_tasks.base.quoting import counted, quote, shorten
from antipodes_tasks.base.values import SYMBOL
from antipodes_tasks.rules.parts import Part
from antipodes_tasks.rules.squares import Grid, Square, square_name, squares_of

HOLE = "#"
PIECE = re.compile(r"\w+")
FRAME = 4
"""Width of the margin around the squares of a picture."""


@dataclass(frozen=True, slots=True)
class Board(Notation):
    """A rectangle of squares, each of which is a place or a hole."""

    rows: int
    columns: int
    holes: frozenset[int] = frozenset()
    """Numbers, in reading order, of the squares that are not places."""
    empty_symbols: tuple[str, ...] = ("0", ".")
    """Symbols for an empty place; the first one is used in output."""
    separator: str = " "
    """The separator between two symbols in a line of text; "" if all symbols are single characters."""

    @property
    def places(self) -> int:
        """Number of places."""
        return self.rows * self.columns - len(self.holes)

    @property
    def layout(self) -> Grid:
        """Grid of the places."""
        return Grid(self.rows, self.columns, self.holes)

    def split(self, text: str, parts: Sequence[Part]) -> list[str]:
        """Return the symbol on each place; see `Notation`."""
        (part,) = parts
        written = self.symbols_in(text)
        rows = rows_in(text, len(written))
        if len(written) == self.rows * self.columns and self.holes:
            written = self._without_holes(written)
        if len(written) != self.places:
            close_together = len(written) == 1 and all(len(symbol) == 1 for symbol in part.symbols)
            found = list(written[0]) if close_together else written
            raise wrong_number_of_symbols(self.places, found, {*part.symbols, *self.empty_symbols, HOLE})
        self.check_rows(rows)
        written = [self.empty_symbols[0] if symbol in self.empty_symbols else symbol for symbol in written]
        check_symbols(written, part.symbols)
        return written

    def symbols_in(self, text: str) -> list[str]:
        """Return the symbols of a text that may or may not contain the holes; their number is not checked."""
        if not self.separator:
            return characters_in(text)
        return symbols_in(text, self.rows * self.columns, self.places)

    def check_rows(self, found: Sequence[int]) -> None:
        """Raise PositionError unless the lines of a text fit the board; ``found`` is the number of symbols per line.

        The lines must be the rows of the board (holes may be left out), a single line, or one line per symbol. Other
        lines were meant for a different board.
        """
        if len(found) > 1 and set(found) != {1} and list(found) != self.row_lengths(sum(found)):
            lengths = shorten(", ".join(map(str, found)))
            raise PositionError(
                f"expected {counted(self.rows, 'row')} of {self.columns}, or one line, found rows of {lengths}"
            )

    def row_lengths(self, symbols: int) -> list[int]:
        """Return the number of symbols in each row of a text that has ``symbols`` in total, with or without holes."""
        if symbols == self.rows * self.columns:
            return [self.columns] * self.rows
        holes = Counter(hole // self.columns for hole in self.holes)
        return [self.columns - holes[row] for row in range(self.rows) if holes[row] < self.columns]

    def _without_holes(self, written: list[str]) -> list[str]:
        for square, symbol in enumerate(written):
            if (symbol == HOLE) != (square in self.holes):
                raise PositionError(f"{self.described(square)}; found {quote(symbol)} there")
        return [symbol for square, symbol in enumerate(written) if square not in self.holes]

    def described(self, square: int) -> str:
        """Return a sentence that states whether a square is a hole."""
        kind = f"a hole, which is written {HOLE!r}" if square in self.holes else "not a hole"
        return f"square {square_name(divmod(square, self.columns), self.rows)} is {kind}"

    def join(self, symbols: Sequence[str]) -> str:
        """Return one line of text, which `split` can read."""
        return self.separator.join(symbols)

    def draw(self, symbols: Sequence[str]) -> str:
        """Draw the board in a box, with a dot on empty places and hatched holes."""
        width = max(len(symbol) for symbol in symbols)
        remaining = iter(symbols)
        lines = []
        for row in range(self.rows):
            squares = range(row * self.columns, (row + 1) * self.columns)
            drawn = ["░" * width if s in self.holes else self._piece(next(remaining), width) for s in squares]
            lines.append("│ " + " ".join(drawn) + " │")
        edge = "─" * (self.columns * (width + 1) + 1)
        return "\n".join([f"╭{edge}╮", *lines, f"╰{edge}╯"])

    def picture(self, symbols: Sequence[str]) -> Picture:
        """Return a picture of the framed board. Identical pieces have the same colour, and holes are dark."""
        width, height = self.columns * SQUARE + 2 * FRAME, self.rows * SQUARE + 2 * FRAME
        shapes: list[Shape] = [Rectangle(1, 1, width - 2, height - 2, PAPER, INK, rounded=FRAME)]
        colours = colours_of([symbol for symbol in symbols if symbol not in self.empty_symbols])
        remaining = iter(symbols)
        for square in range(self.rows * self.columns):
            x, y = FRAME + square % self.columns * SQUARE, FRAME + square // self.columns * SQUARE
            if square in self.holes:
                shapes.append(Rectangle(x, y, SQUARE, SQUARE, HOLLOW))
            elif (symbol := next(remaining)) in colours:
                shapes.extend(tile(symbol, x, y, colours[symbol]))
        return Picture(width, height, tuple(shapes))

    def form(self, parts: Sequence[Part]) -> Form:
        """Return the form with one field per square of the board, without holes."""
        squares = squares_of(self.rows, self.columns, self.holes)
        names = [f"square {square_name(square, self.rows)}" for square in squares]
        return form_of(parts, names, squares, dict.fromkeys(self.empty_symbols, EMPTY_LABEL))

    def _piece(self, symbol: str, width: int) -> str:
        return ("·" if symbol in self.empty_symbols else symbol).rjust(width)


EMPTY = "."
"""The symbol of a place that a `ShapedRow` draws as empty; 0 may be a piece or a value there."""


def board_of_shape(shape: tuple[int, int]) -> Board:
    """Return the board that draws symbols in ``shape = (rows, columns)``."""
    return Board(*shape, empty_symbols=(EMPTY,))


def check_shape(shape: Sequence[int], places: int, error: type[InputError] = InputError) -> None:
    """Raise an ``error`` unless the shape is ``(rows, columns)`` with one square for each place."""
    if len(shape) != 2 or min(shape) < 1 or shape[0] * shape[1] != places:
        raise error(f"shape: expected (rows, columns) with a product of {places}, found {quote(list(shape))}")


@dataclass(frozen=True, slots=True)
class ShapedRow(Lists):
    """A notation that reads and writes symbols in a row and draws them on a board."""

    shape: tuple[int, int]
    """Rows and columns of the board."""

    def draw(self, symbols: Sequence[str]) -> str:
        """Draw the board in a box."""
        return board_of_shape(self.shape).draw(symbols)

    def picture(self, symbols: Sequence[str]) -> Picture:
        """Return a picture of the framed board."""
        return board_of_shape(self.shape).picture(symbols)

    def form(self, parts: Sequence[Part]) -> Form:
        """Return the form with one field per square of the board."""
        return board_of_shape(self.shape).form(parts)


def drawn_rows(text: str, marks: Sequence[str], expected: str) -> list[list[str]]:
    """Return the symbols ``[row][column]`` of a start that draws its board with pieces and ``marks``.

    In a line that is a single word, each character is a symbol; a comma at the end makes the word one symbol.

    Raises ConfigError if the rows differ in length, or a symbol is neither a piece nor a mark. ``expected`` describes
    the valid symbols in the message.
    """
    lines = [line.strip() for line in re.split(r"[\n/]", text) if line.strip(" \t,")]
    rows = [list(line) if re.fullmatch(r"[^\s,]+", line) else re.findall(r"[^\s,]+", line) for line in lines]
    if not rows:
        raise ConfigError(f"start: the text is empty; expected {expected}")
    for row in rows:
        if len(row) != len(rows[0]):
            raise ConfigError(f"start: expected rows of {len(rows[0])} squares, found a row of {len(row)}")
        for symbol in row:
            if symbol not in marks and not PIECE.fullmatch(symbol):
                raise ConfigError(f"start: expected {expected}, found {quote(symbol)}")
            SYMBOL.check(symbol, "start")
    return rows


def common_holes(starts: Sequence[Sequence[str]]) -> frozenset[int]:
    """Return the holes from the symbols on all squares of each start; raise ConfigError if they differ."""
    first, *others = (frozenset(square for square, symbol in enumerate(start) if symbol == HOLE) for start in starts)
    if any(other != first for other in others):
        raise ConfigError("start: expected the same holes '#' in every position")
    return first


Divided = Callable[[int, int, int, int], bool]
"""Function that returns whether to draw a line between two adjacent squares (row, column, row, column), which may be
outside the board."""
OUTSIDE = ""
"""Content of a square outside the board."""
JOINTS = " ╴╶─╵╯╰┴╷╮╭┬│┤├┼"
"""Characters for the points at which lines meet. The index is the sum of 1 (left), 2 (right), 4 (up) and 8 (down)."""


def outlined(texts: Sequence[Sequence[str]], divided: Divided) -> str:
    """Draw the texts on the squares ``[row][column]``, with a line between two squares if they are ``divided``."""
    rows, columns = len(texts), len(texts[0])
    width = max(len(text) for row in texts for text in row)
    lines = []
    for row in range(rows + 1):
        edges = [divided(row - 1, column, row, column) for column in range(columns)]
        lines.append(_joints(row, columns, width, edges, divided))
        if row < rows:
            sides = ["│" if divided(row, column - 1, row, column) else " " for column in range(columns + 1)]
            squares = [text.center(width) for text in texts[row]]
            lines.append("".join(f"{side} {square} " for side, square in zip(sides, [*squares, ""], strict=True)))
    return "\n".join(line[: (width + 3) * columns + 1] for line in lines)


def characters(squares: Set[tuple[int, int]], width: int) -> Iterator[tuple[int, int]]:
    """Yield the line and column of each character inside the outline around ``squares``.

    ``width`` is the number of characters of the text on a square.
    """
    for (row, column), down, right in product(squares, (0, 1), (0, 1)):
        if {(row + a, column + b) for a in range(down + 1) for b in range(right + 1)} <= squares:
            first = (width + 3) * (column + right) + (not right)
            yield from ((2 * row + 1 + down, first + k) for k in range(1 if right else width + 2))


def _joints(row: int, columns: int, width: int, edges: Sequence[bool], divided: Divided) -> str:
    """Return the line of characters above a row of squares."""
    drawn = []
    for column in range(columns + 1):
        left, right = column > 0 and edges[column - 1], column < columns and edges[column]
        up, down = (divided(one, column - 1, one, column) for one in (row - 1, row))
        drawn.append(JOINTS[left + 2 * right + 4 * up + 8 * down])
        drawn.append(("─" if right else " ") * (width + 2))
    return "".join(drawn)


WALL_WIDTH = 5


def wall_line(square: Square, beyond: Square) -> Line:
    """Return the line of a picture between a square and the adjacent square to the right or below."""
    row, column = beyond
    x, y = FRAME + column * SQUARE, FRAME + row * SQUARE
    right, down = (SQUARE, 0) if row > square[0] else (0, SQUARE)
    return Line(x, y, x + right, y + down, INK, WALL_WIDTH)


@dataclass(frozen=True, slots=True)
class WalledBoard(Board):
    """A board that is drawn with its walls."""

    walls: frozenset[tuple[int, int]] = frozenset()
    """Pairs of places, in both orders, with a wall between them."""

    def draw(self, symbols: Sequence[str]) -> str:
        """Draw the board with its outline and walls, a dot on empty places and hatched holes."""
        width = max(len(symbol) for symbol in symbols)
        place = {square: number for number, square in enumerate(squares_of(self.rows, self.columns, self.holes))}
        squares = [[place.get((row, column)) for column in range(self.columns)] for row in range(self.rows)]
        texts = [["░" * width if at is None else self._piece(symbols[at], width) for at in row] for row in squares]

        def symbol_at(row: int, column: int) -> int | str:
            inside = row in range(self.rows) and column in range(self.columns)
            return place.get((row, column), HOLE if inside else OUTSIDE)

        def divided(row: int, column: int, other_row: int, other_column: int) -> bool:
            one, other = symbol_at(row, column), symbol_at(other_row, other_column)
            return (one, other) in self.walls if isinstance(one, int) and isinstance(other, int) else one != other

        return outlined(texts, divided)

    def picture(self, symbols: Sequence[str]) -> Picture:
        """Return the picture of the board with a thick line for each wall."""
        plain = Board.picture(self, symbols)
        squares = squares_of(self.rows, self.columns, self.holes)
        lines = [wall_line(squares[a], squares[b]) for a, b in sorted(self.walls) if a < b]
        return Picture(plain.width, plain.height, (*plain.shapes, *lines))
