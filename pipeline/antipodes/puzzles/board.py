"""The board of a puzzle: positions are read, written and drawn on it."""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence, Set
from dataclasses import dataclass
from itertools import product

from antipodes.puzzles.drafts import EMPTY_LABEL, Form, form_of
from antipodes.puzzles.notation import Lists, Notation, characters_in, check_symbols, rows_in, symbols_in
from antipodes.puzzles.picture import HOLLOW, INK, PAPER, SQUARE, Line, Picture, Rectangle, Shape, colours_of, tile
from antipodes_tasks.errors import ConfigError, InputError, PositionError
from antipodes_tasks.quoting import counted, quote, shorten
from antipodes_tasks.rules.parts import Part
from antipodes_tasks.rules.squares import Grid, Square, square_name, squares_of
from antipodes_tasks.values import SYMBOL

HOLE = "#"
PIECE = re.compile(r"\w+")
FRAME = 4
"""The space around the squares of a picture."""


@dataclass(frozen=True, slots=True)
class Board(Notation):
    """A rectangle of squares; each is a place or a hole."""

    rows: int
    columns: int
    holes: frozenset[int] = frozenset()
    """Squares, in reading order, that are not places."""
    empty_symbols: tuple[str, ...] = ("0", ".")
    """Symbols for an empty place; the first one is used in output."""
    separator: str = " "
    """The separator between two symbols in a line of text; "" if all symbols are single characters."""

    @property
    def places(self) -> int:
        """The number of places."""
        return self.layout.places

    @property
    def layout(self) -> Grid:
        """Where the places are."""
        return Grid(self.rows, self.columns, self.holes)

    def split(self, text: str, parts: Sequence[Part]) -> list[str]:
        """The symbol on each place; see `Notation`."""
        (part,) = parts
        written = self.symbols_in(text)
        rows = rows_in(text, len(written))
        if len(written) == self.rows * self.columns and self.holes:
            written = self._without_holes(written)
        if len(written) != self.places:
            close_together = len(written) == 1 and all(len(symbol) == 1 for symbol in part.symbols)
            found = len(written[0]) if close_together else len(written)
            raise PositionError(f"expected {counted(self.places, 'symbol')}, found {found}")
        self.check_rows(rows)
        written = [self.empty_symbols[0] if symbol in self.empty_symbols else symbol for symbol in written]
        check_symbols(written, part.symbols)
        return written

    def symbols_in(self, text: str) -> list[str]:
        """The symbols of a text, with or without holes; of another number if it is no position."""
        if not self.separator:
            return characters_in(text)
        return symbols_in(text, self.rows * self.columns, self.places)

    def check_rows(self, found: Sequence[int]) -> None:
        """Raise PositionError unless lines of so many symbols are the rows, or one line, or a line for each symbol.

        Lines that end elsewhere were meant for another board. Holes may be left out.
        """
        if len(found) > 1 and set(found) != {1} and list(found) != self.row_lengths(sum(found)):
            lengths = shorten(", ".join(map(str, found)))
            raise PositionError(
                f"expected {counted(self.rows, 'row')} of {self.columns}, or one line, found rows of {lengths}"
            )

    def row_lengths(self, symbols: int) -> list[int]:
        """The number of symbols in each row of so many: of all squares, or of all places."""
        if symbols == self.rows * self.columns:
            return [self.columns] * self.rows
        holes = Counter(hole // self.columns for hole in self.holes)
        return [self.columns - holes[row] for row in range(self.rows) if holes[row] < self.columns]

    def _without_holes(self, written: list[str]) -> list[str]:
        for square, symbol in enumerate(written):
            if (symbol == HOLE) != (square in self.holes):
                expected = "a hole '#'" if square in self.holes else "a piece"
                raise PositionError(f"expected {expected} on square {square}, found {quote(symbol)}")
        return [symbol for square, symbol in enumerate(written) if square not in self.holes]

    def join(self, symbols: Sequence[str]) -> str:
        """One line of text, which `split` reads back."""
        return self.separator.join(symbols)

    def draw(self, symbols: Sequence[str]) -> str:
        """The board in a box, empty places blank or dotted, holes hatched."""
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
        """The board in a frame, equal pieces in one colour, holes dark."""
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
        """The squares of the board, without holes."""
        squares = squares_of(self.rows, self.columns, self.holes)
        names = [f"square {square_name(square, self.rows)}" for square in squares]
        return form_of(parts, names, squares, dict.fromkeys(self.empty_symbols, EMPTY_LABEL))

    def _piece(self, symbol: str, width: int) -> str:
        return ("·" if symbol in self.empty_symbols else symbol).rjust(width)


EMPTY = "."
"""The symbol of a place that is drawn empty in a `ShapedRow`; there, 0 may be a piece or a value."""


def shaped(shape: tuple[int, int]) -> Board:
    """Return the board that draws symbols in some rows and columns."""
    return Board(*shape, empty_symbols=(EMPTY,))


def check_shape(shape: Sequence[int], places: int, error: type[InputError] = InputError) -> None:
    """Raise an ``error`` unless the shape is a number of rows and one of columns, with as many squares as places."""
    if len(shape) != 2 or min(shape) < 1 or shape[0] * shape[1] != places:
        raise error(f"shape: expected rows and columns of {counted(places, 'place')}, found {quote(list(shape))}")


@dataclass(frozen=True, slots=True)
class ShapedRow(Lists):
    """Symbols that are read and written in a row, and drawn on the squares of a board."""

    shape: tuple[int, int]
    """Rows and columns of the board."""

    def draw(self, symbols: Sequence[str]) -> str:
        """The board in a box."""
        return shaped(self.shape).draw(symbols)

    def picture(self, symbols: Sequence[str]) -> Picture:
        """The board in a frame."""
        return shaped(self.shape).picture(symbols)

    def form(self, parts: Sequence[Part]) -> Form:
        """The squares of the board."""
        return shaped(self.shape).form(parts)


def drawn_rows(text: str, marks: Sequence[str], expected: str) -> list[list[str]]:
    """The symbols ``[row][column]`` of a start that draws its board: pieces, or some ``marks``.

    A line of one word has a symbol for each character; a comma at its end makes the word one symbol.

    ConfigError if the rows differ in length, or a symbol is neither; the message says what is ``expected``.
    """
    lines = [line.strip() for line in re.split(r"[\n/]", text) if line.strip(" \t,")]
    rows = [list(line) if re.fullmatch(r"[^\s,]+", line) else re.findall(r"[^\s,]+", line) for line in lines]
    if not rows:
        raise ConfigError(f"start: expected {expected}, found no row")
    for row in rows:
        if len(row) != len(rows[0]):
            raise ConfigError(f"start: expected rows of {len(rows[0])} squares, found one of {len(row)}")
        for symbol in row:
            if symbol not in marks and not PIECE.fullmatch(symbol):
                raise ConfigError(f"start: expected {expected}, found {quote(symbol)}")
            SYMBOL.check(symbol, "start")
    return rows


def common_holes(starts: Sequence[Sequence[str]]) -> frozenset[int]:
    """The squares that are holes, from the symbols on all squares of each start; ConfigError unless all have them."""
    first, *others = (frozenset(square for square, symbol in enumerate(start) if symbol == HOLE) for start in starts)
    if any(other != first for other in others):
        raise ConfigError("start: expected the same holes '#' in every position")
    return first


Divided = Callable[[int, int, int, int], bool]
"""Whether there is a line between two squares that touch: row, column, row, column; squares off the board, too."""
OUTSIDE = ""
"""Instead of the content of a square: it is not on the board."""
JOINTS = " ╴╶─╵╯╰┴╷╮╭┬│┤├┼"
"""Where lines meet: those to the left, right, up and down count 1, 2, 4 and 8."""


def outlined(texts: Sequence[Sequence[str]], divided: Divided) -> str:
    """The texts on the squares ``[row][column]``, with lines where squares are divided."""
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
    """Line and column of each character that a drawing with texts of a ``width`` has within an outline of squares."""
    for (row, column), down, right in product(squares, (0, 1), (0, 1)):
        if {(row + a, column + b) for a in range(down + 1) for b in range(right + 1)} <= squares:
            first = (width + 3) * (column + right) + (not right)
            yield from ((2 * row + 1 + down, first + k) for k in range(1 if right else width + 2))


def _joints(row: int, columns: int, width: int, edges: Sequence[bool], divided: Divided) -> str:
    """The line above a row of squares."""
    drawn = []
    for column in range(columns + 1):
        left, right = column > 0 and edges[column - 1], column < columns and edges[column]
        up, down = (divided(one, column - 1, one, column) for one in (row - 1, row))
        drawn.append(JOINTS[left + 2 * right + 4 * up + 8 * down])
        drawn.append(("─" if right else " ") * (width + 2))
    return "".join(drawn)


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

        def symbol_at(row: int, column: int) -> int | str:
            inside = row in range(self.rows) and column in range(self.columns)
            return place.get((row, column), HOLE if inside else OUTSIDE)

        def divided(row: int, column: int, other_row: int, other_column: int) -> bool:
            one, other = symbol_at(row, column), symbol_at(other_row, other_column)
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
