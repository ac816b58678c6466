"""The board of a block puzzle: each block is written as a letter on all its squares."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from antipodes.puzzles.board import FRAME, HOLE, OUTSIDE, Board, characters, outlined
from antipodes.puzzles.drafts import BLOCKS, EMPTY_LABEL, DraftError, Form, FormField, FormGroup, FormSymbol, listed
from antipodes.puzzles.notation import rows_in
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
from antipodes_tasks.errors import PositionError
from antipodes_tasks.quoting import counted, quote
from antipodes_tasks.rules.parts import Part
from antipodes_tasks.rules.squares import Square, square_name, squares_of

EMPTY = "."
Cells = tuple[tuple[int, int], ...]
"""Rows down and columns right of each cell from the first one in reading order, ascending."""


@dataclass(frozen=True, slots=True)
class Block:
    """A block on a board."""

    letter: str
    first: Square
    """Its first cell in reading order."""
    cells: Cells

    @property
    def squares(self) -> Iterator[Square]:
        """The squares that it covers."""
        row, column = self.first
        return ((row + down, column + right) for down, right in self.cells)


@dataclass(frozen=True, slots=True)
class BlockKind:
    """Blocks of one shape."""

    letters: tuple[str, ...]
    """A name for each block of the kind, in reading order where several are on a board."""
    cells: Cells
    line: int | None = None
    """The row or the column that the blocks keep to, if they move along their length only."""

    def may_stand(self, first: Square) -> bool:
        """Whether the line of the kind allows a first square."""
        return self.line is None or self.line == line_of(self.cells, first)

    def has(self, block: Block, distinct: bool) -> bool:
        """Whether a block is of this kind; where blocks are ``distinct``, its letter counts."""
        same = self.cells == block.cells and self.may_stand(block.first)
        return same and (not distinct or block.letter in self.letters)


def length_of(cells: Cells) -> int:
    """How many columns a shape has more than rows: it lies if that is positive, and stands if negative."""
    columns = [right for _, right in cells]
    return max(columns) - min(columns) - cells[-1][0]


def line_of(cells: Cells, first: Square) -> int:
    """The row or the column that a block keeps to when it moves along its length."""
    row, column = first
    return row if length_of(cells) > 0 else column


def blocks_on(rows: Sequence[Sequence[str]], background: str) -> list[Block]:
    """The blocks of a board in the order of their first cells: each is a symbol, on squares that touch.

    PositionError if one is in several pieces. Symbols of the ``background`` are no blocks.
    """
    covered: dict[str, list[Square]] = {}
    for row, symbols in enumerate(rows):
        for column, symbol in enumerate(symbols):
            if symbol not in background:
                covered.setdefault(symbol, []).append((row, column))
    return [_block(letter, squares) for letter, squares in covered.items()]


def _block(letter: str, squares: list[Square]) -> Block:
    first = squares[0]
    reached, waiting = {first}, [first]
    while waiting:
        row, column = waiting.pop()
        around = {(row - 1, column), (row + 1, column), (row, column - 1), (row, column + 1)}
        new = around & set(squares) - reached
        reached |= new
        waiting += new
    if len(reached) < len(squares):
        raise PositionError(f"expected one block {quote(letter)} of squares that touch, found it in several pieces")
    return Block(letter, first, tuple((row - first[0], column - first[1]) for row, column in squares))


def kinds_of(blocks: Sequence[Block], distinct: bool, axis: bool) -> tuple[BlockKind, ...]:
    """The kinds of the blocks of a start; with ``axis``, blocks of one shape on different lines are never exchanged.

    PositionError if a block has no length to move along.
    """
    groups: dict[tuple[str, Cells, int | None], list[Block]] = {}
    for block in blocks:
        if axis and not length_of(block.cells):
            raise PositionError(f"axis: expected blocks longer one way than the other, found {quote(block.letter)}")
        line = line_of(block.cells, block.first) if axis else None
        groups.setdefault((block.letter if distinct else "", block.cells, line), []).append(block)
    return tuple(
        BlockKind(tuple(block.letter for block in group), cells, line) for (_, cells, line), group in groups.items()
    )


REST = "+"
"""The symbol of a square that a block covers, but for its first square, which has the symbol of its kind."""
WALL = "░"
TARGET = "#c1121f"
"""The colour of the blocks of a goal, which no other block has."""


@dataclass(frozen=True, slots=True)
class BlockBoard(Board):
    """A board with blocks. The symbol of a place is that of a kind, for the first square of a block; REST; or EMPTY."""

    kinds: tuple[BlockKind, ...] = ()
    distinct: bool = False
    """Whether blocks of one shape are told apart."""
    targets: frozenset[str] = frozenset()
    """The symbols of the kinds that a goal is about: they are drawn in a colour of their own."""
    named: tuple[tuple[Square, str], ...] = ()
    """First squares of blocks, and the letters that these had on an earlier position; see `followed`."""

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
            raise PositionError(f"expected {counted(squares, 'symbol')}, found {found}")
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

    def kind_of(self, block: Block) -> BlockKind:
        """The kind of a block; PositionError if there is none."""
        for kind in self.kinds:
            if kind.has(block, self.distinct):
                return kind
        alike = [kind for kind in self.kinds if replace(kind, line=None).has(block, self.distinct)]
        if not alike:
            raise PositionError(f"expected blocks as in the start, found {quote(block.letter)} {_described(block)}")
        across = "row" if length_of(block.cells) > 0 else "column"
        lines = " or ".join(str(line + 1) for line in sorted({kind.line or 0 for kind in alike}))
        raise PositionError(
            f"expected {quote(block.letter)} in {across} {lines}, where axis keeps blocks of its shape, "
            f"found it in {across} {line_of(block.cells, block.first) + 1}"
        )

    def letters(self, symbols: Sequence[str]) -> list[list[str]]:
        """The letter on each square ``[row][column]``.

        The blocks of a kind have the letters that `named` gives them, and else those of the kind in reading order.
        """
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

    def followed(self, before: Sequence[str], after: Sequence[str]) -> "BlockBoard":
        """The board on which each block has the letter that it has here before a move; see `Notation.followed`."""
        letters = {block.first: block.letter for block in self._blocks(self._rows(before))}
        old, new = (self._first_squares(self._rows(symbols)) for symbols in (before, after))
        stay = {first for first in old if old[first] == new.get(first)}
        named = {first: letters[first] for first in stay}
        for kind in self.kinds:
            left, entered = ([one for one in at if at[one] == kind and one not in stay] for at in (old, new))
            named |= {to: letters[come_from] for come_from, to in zip(left, entered, strict=False)}
        return replace(self, named=tuple(named.items()))

    def _first_squares(self, rows: Sequence[Sequence[str]]) -> dict[Square, BlockKind]:
        """The first square of each block in reading order, and its kind."""
        kinds = {kind.letters[0]: kind for kind in self.kinds}
        squares = {(row, column): symbol for row, symbols in enumerate(rows) for column, symbol in enumerate(symbols)}
        return {square: kinds[symbol] for square, symbol in squares.items() if symbol in kinds}

    def _blocks(self, rows: Sequence[Sequence[str]]) -> Iterator[Block]:
        firsts, named = self._first_squares(rows), dict(self.named)
        kept = {first: named[first] for first, kind in firsts.items() if named.get(first) in kind.letters}
        taken = set(kept.values())
        free = {kind: iter([one for one in kind.letters if one not in taken]) for kind in self.kinds}
        for first, kind in firsts.items():
            yield Block(kept.get(first) or next(free[kind], kind.letters[0]), first, kind.cells)

    def join(self, symbols: Sequence[str]) -> str:
        """The letters in one line, rows apart."""
        rows = (self.separator.join(row) for row in self.letters(symbols))
        return f"{self.separator}/{self.separator}".join(rows)

    def draw(self, symbols: Sequence[str]) -> str:
        """The blocks as outlines, each with its letter on its first square; walls are hatched."""
        rows = self.letters(symbols)

        def symbol_at(row: int, column: int) -> str:
            return rows[row][column] if 0 <= row < self.rows and 0 <= column < self.columns else OUTSIDE

        def divided(row: int, column: int, other_row: int, other_column: int) -> bool:
            return symbol_at(row, column) != symbol_at(other_row, other_column)

        seen = {EMPTY}
        texts = [[_text(symbol, seen) for symbol in row] for row in rows]
        width = max(len(text) for row in texts for text in row)
        return outlined([[WALL * width if text == HOLE else text for text in row] for row in texts], divided)

    def picture(self, symbols: Sequence[str]) -> Picture:
        """The blocks with outlines in a frame, equal ones in one colour, those of a goal in TARGET, walls dark."""
        width, height = self.columns * SQUARE + 2 * FRAME, self.rows * SQUARE + 2 * FRAME
        shapes: list[Shape] = [Rectangle(1, 1, width - 2, height - 2, PAPER, INK, rounded=FRAME)]
        others = [symbol for symbol in symbols if symbol not in (EMPTY, REST) and symbol not in self.targets]
        colours = {**colours_of(others), **dict.fromkeys(self.targets, TARGET)}
        for row, column in (divmod(square, self.columns) for square in self.holes):
            shapes.append(Rectangle(FRAME + column * SQUARE, FRAME + row * SQUARE, SQUARE, SQUARE, HOLLOW))
        rows = self._rows(symbols)
        for block in self._blocks(rows):
            row, column = block.first
            shapes += _pictured(block, colours[rows[row][column]])
        return Picture(width, height, tuple(shapes))

    def form(self, parts: Sequence[Part]) -> Form:
        """The squares, each with the letter of the block on it."""
        places = squares_of(self.rows, self.columns, self.holes)
        fields = (FormField(f"square {square_name(square, self.rows)}", 0, (square,)) for square in places)
        others = [kind.letters[0] for kind in self.kinds for _ in kind.letters if kind.letters[0] not in self.targets]
        colours = {**colours_of(others), **dict.fromkeys(self.targets, TARGET)}
        blocks = (
            FormSymbol(letter, letter, None, colours[kind.letters[0]]) for kind in self.kinds for letter in kind.letters
        )
        group = FormGroup(BLOCKS, (FormSymbol(EMPTY, EMPTY_LABEL), *blocks))
        return BlockForm((group,), tuple(fields), self)

    def highlighted(self, symbols: Sequence[str]) -> frozenset[tuple[int, int]]:
        """Line and column of each character of `draw` inside a block of the goal."""
        if not self.targets:
            return frozenset()
        rows = self._rows(symbols)
        blocks = list(self._blocks(rows))
        width = max(len(block.letter) for block in blocks)
        targets = [block for block in blocks if rows[block.first[0]][block.first[1]] in self.targets]
        return frozenset(place for block in targets for place in characters(set(block.squares), width))


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


def _described(block: Block) -> str:
    return f"of {counted(len(block.cells), 'square')} in row {block.first[0] + 1}"


def squares_covered(kind: BlockKind, first: Square) -> list[Square]:
    """The squares that a block of a kind covers, by its first square."""
    return [(first[0] + down, first[1] + right) for down, right in kind.cells]


@dataclass(frozen=True)
class BlockForm(Form):
    """The squares of a board of blocks. A draft has the letter of a block on each square, or EMPTY."""

    board: BlockBoard

    @property
    def blocks(self) -> Mapping[str, Cells]:
        """See `Form.blocks`."""
        return {letter: kind.cells for kind in self.board.kinds for letter in kind.letters}

    def draft_of(self, written: Sequence[str]) -> list[str]:
        """See `Form.draft_of`."""
        return [letter for row in self.board.letters(written) for letter in row if letter != HOLE]

    def written(self, draft: Sequence[str]) -> list[str]:
        """See `Form.written`."""
        remaining = iter(draft)
        squares = range(self.board.rows * self.board.columns)
        every = [HOLE if square in self.board.holes else next(remaining) for square in squares]
        columns = self.board.columns
        letters = [every[first : first + columns] for first in squares[::columns]]
        try:
            blocks = blocks_on(letters, EMPTY + HOLE)
        except PositionError as error:
            raise DraftError(str(error)) from None
        try:
            found = [symbol for row in self.board.places_of(letters) for symbol in row if symbol != HOLE]
        except PositionError:
            raise self._wrong_blocks(draft, blocks) from None
        if any(found.count(kind.letters[0]) != len(kind.letters) for kind in self.board.kinds):
            raise self._wrong_blocks(draft, blocks)
        return found

    def _wrong_blocks(self, draft: Sequence[str], blocks: Sequence[Block]) -> DraftError:
        """The error of a draft in which a block is missing, or not of the kind of its letter."""
        kind_of = {letter: kind for kind in self.board.kinds for letter in kind.letters}
        wrong = [block for block in blocks if not kind_of[block.letter].has(block, distinct=False)]
        reasons = [_wrong_block(block, kind_of[block.letter]) for block in wrong]
        reasons += [f"block {letter} is missing" for letter in kind_of if letter not in draft]
        letters = {block.letter for block in wrong}
        return DraftError(listed(reasons), [at for at, letter in enumerate(draft) if letter in letters])


def _wrong_block(block: Block, kind: BlockKind) -> str:
    """Why a block is not of the kind of its letter."""
    if kind.line is None or block.cells != kind.cells:
        return f"block {block.letter} has another shape"
    return f"block {block.letter} keeps to {'row' if length_of(kind.cells) > 0 else 'column'} {kind.line + 1}"
