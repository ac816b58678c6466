"""The board of a block puzzle: each block is written as a letter on all its squares."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from antipodes.errors import PositionError
from antipodes.puzzles.blocks.kinds import EMPTY, Block, Kind, blocks_on
from antipodes.puzzles.board import FRAME, HOLE, Board
from antipodes.puzzles.notation import rows_in
from antipodes.puzzles.outlines import OUTSIDE, outlined
from antipodes.puzzles.part import Part
from antipodes.puzzles.picture import (
    HOLLOW,
    INK,
    PAPER,
    SQUARE,
    Line,
    Picture,
    Rectangle,
    Shape,
    Text,
    colours_of,
    fitting,
    ink_on,
)
from antipodes.puzzles.square_names import Square
from antipodes.quoting import quote

REST = "+"
"""The symbol of a square that a block covers, but for its first square, which has the symbol of its kind."""
WALL = "░"


@dataclass(frozen=True, slots=True)
class BlockBoard(Board):
    """A board with blocks. The symbol of a place is that of a kind, for the first square of a block; REST; or EMPTY."""

    kinds: tuple[Kind, ...] = ()
    distinct: bool = False
    """Whether blocks of one shape are told apart."""

    def split(self, text: str, parts: Sequence[Part]) -> list[str]:
        """The symbol on each place; the letters of a text name its blocks, in any way if they are not distinct."""
        symbols = self.places_of(self.grid(text))
        return [symbol for row in symbols for symbol in row if symbol != HOLE]

    def grid(self, text: str) -> list[list[str]]:
        """The symbols ``[row][column]`` of a text; PositionError if it has another number, or other holes."""
        squares = self.rows * self.columns
        written = self.symbols_in(text)
        if len(written) not in (squares, self.places):
            found = len(written) if self.separator else len("".join(written))
            raise PositionError(f"expected {squares} symbols, found {found}")
        self.check_rows(rows_in(text, len(written)))
        if len(written) == squares:
            self._without_holes(written)
        elif HOLE in written:
            raise PositionError(f"expected all {squares} squares, or none that is a hole '#', found {len(written)}")
        remaining = iter(written)
        skipped = self.holes if len(written) < squares else frozenset()
        every = [HOLE if square in skipped else next(remaining) for square in range(squares)]
        return [every[first : first + self.columns] for first in range(0, squares, self.columns)]

    def places_of(self, rows: Sequence[Sequence[str]]) -> list[list[str]]:
        """The symbol of each square, from letters; PositionError if a block is none of the puzzle's."""
        symbols = [[symbol if symbol in (EMPTY, HOLE) else REST for symbol in row] for row in rows]
        for block in blocks_on(rows, EMPTY + HOLE):
            row, column = block.first
            symbols[row][column] = self.kind_of(block).letters[0]
        return symbols

    def kind_of(self, block: Block) -> Kind:
        """The kind of a block; PositionError if there is none."""
        for kind in self.kinds:
            if kind.has(block, self.distinct):
                return kind
        raise PositionError(f"expected blocks as in the start, found {quote(block.letter)} {_described(block, self)}")

    def letters(self, symbols: Sequence[str]) -> list[list[str]]:
        """The letter on each square ``[row][column]``: the blocks of a kind have its letters in reading order."""
        rows = self._rows(symbols)
        for block in list(self._blocks(rows)):
            for row, column in block.squares:
                if 0 <= row < self.rows and 0 <= column < self.columns:
                    rows[row][column] = block.letter
        return rows

    def _rows(self, symbols: Sequence[str]) -> list[list[str]]:
        """The symbols ``[row][column]``, with holes."""
        remaining = iter(symbols)
        every = [HOLE if square in self.holes else next(remaining) for square in range(self.rows * self.columns)]
        return [every[first : first + self.columns] for first in range(0, len(every), self.columns)]

    def _blocks(self, rows: Sequence[Sequence[str]]) -> Iterator[Block]:
        kinds = {kind.letters[0]: (kind, iter(kind.letters)) for kind in self.kinds}
        for row, symbols in enumerate(rows):
            for column, symbol in enumerate(symbols):
                if symbol in kinds:
                    kind, letters = kinds[symbol]
                    yield Block(next(letters, symbol), (row, column), kind.cells)

    def join(self, symbols: Sequence[str]) -> str:
        """The letters in one line, rows apart."""
        rows = (self.separator.join(row) for row in self.letters(symbols))
        return f"{self.separator}/{self.separator}".join(rows)

    def draw(self, symbols: Sequence[str]) -> str:
        """The blocks as outlines, each with its letter on its first square; walls are hatched."""
        rows = self.letters(symbols)

        def at(row: int, column: int) -> str:
            return rows[row][column] if 0 <= row < self.rows and 0 <= column < self.columns else OUTSIDE

        def divided(row: int, column: int, other_row: int, other_column: int) -> bool:
            return at(row, column) != at(other_row, other_column)

        seen = {EMPTY}
        texts = [[_text(symbol, seen) for symbol in row] for row in rows]
        width = max(len(text) for row in texts for text in row)
        return outlined([[WALL * width if text == HOLE else text for text in row] for row in texts], divided)

    def picture(self, symbols: Sequence[str]) -> Picture:
        """The blocks with outlines in a frame, equal ones in one colour, walls dark."""
        width, height = self.columns * SQUARE + 2 * FRAME, self.rows * SQUARE + 2 * FRAME
        shapes: list[Shape] = [Rectangle(1, 1, width - 2, height - 2, PAPER, INK, rounded=FRAME)]
        colours = colours_of([symbol for symbol in symbols if symbol not in (EMPTY, REST)])
        for row, column in (divmod(square, self.columns) for square in self.holes):
            shapes.append(Rectangle(FRAME + column * SQUARE, FRAME + row * SQUARE, SQUARE, SQUARE, HOLLOW))
        rows = self._rows(symbols)
        for block in self._blocks(rows):
            row, column = block.first
            shapes += _pictured(block, colours[rows[row][column]])
        return Picture(width, height, tuple(shapes))


def _pictured(block: Block, colour: str) -> Iterator[Shape]:
    """A block of a picture: its squares, lines around them, and its letter on the first."""
    squares = set(block.squares)
    for row, column in block.squares:
        x, y = FRAME + column * SQUARE, FRAME + row * SQUARE
        yield Rectangle(x, y, SQUARE, SQUARE, colour)
        yield from (line for (down, right), line in _edges(x, y).items() if (row + down, column + right) not in squares)
    row, column = block.first
    middle, centre = FRAME + (column + 0.5) * SQUARE, FRAME + (row + 0.5) * SQUARE
    yield Text(middle, centre, block.letter, fitting(block.letter, SQUARE - 10, SQUARE * 0.48), ink_on(colour))


def _edges(x: float, y: float) -> Mapping[Square, Line]:
    """The four sides of a square of a picture, by rows down and columns right."""
    right, below = x + SQUARE, y + SQUARE
    return {
        (-1, 0): Line(x, y, right, y, INK),
        (1, 0): Line(x, below, right, below, INK),
        (0, -1): Line(x, y, x, below, INK),
        (0, 1): Line(right, y, right, below, INK),
    }


def _text(symbol: str, seen: set[str]) -> str:
    """The text on a square; each letter once."""
    if symbol == HOLE:
        return HOLE
    new = symbol not in seen
    seen.add(symbol)
    return symbol if new else ""


def _described(block: Block, board: Board) -> str:
    return f"of {len(block.cells)} squares in row {block.first[0] + 1}"


def squares_covered(kind: Kind, first: Square) -> list[Square]:
    """The squares that a block of a kind covers, by its first square."""
    return [(first[0] + down, first[1] + right) for down, right in kind.cells]
