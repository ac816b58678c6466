"""The board of a block puzzle: each block is written as a letter on all its squares."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from antipodes.drawing.picture import (
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
from antipodes.puzzles.board import FRAME, HOLE, OUTSIDE, Board, characters, outlined, wall_line
from antipodes.puzzles.drafts import BLOCKS, EMPTY_LABEL, DraftError, Form, FormField, FormGroup, FormSymbol, summary_of
from antipodes.puzzles.notation import rows_in
from antipodes_tasks.base.errors import PositionError
from antipodes_tasks.base.quoting import counted, quote
from antipodes_tasks.rules.parts import Part
from antipodes_tasks.rules.squares import Square, square_name, squares_of

EMPTY = "."
Walls = frozenset[tuple[Square, Square]]
"""Pairs of adjacent squares, in both orders, with a wall between them."""
Cells = tuple[tuple[int, int], ...]
"""Offset (rows down, columns right) of each cell from the first cell in reading order, ascending."""


@dataclass(frozen=True, slots=True)
class Block:
    """A block on a board."""

    letter: str
    first: Square
    """The square of the first cell in reading order."""
    cells: Cells

    @property
    def squares(self) -> Iterator[Square]:
        """The squares that the block covers."""
        row, column = self.first
        return ((row + down, column + right) for down, right in self.cells)


@dataclass(frozen=True, slots=True)
class BlockKind:
    """Blocks of one shape."""

    letters: tuple[str, ...]
    """A letter for each block of the kind, in reading order."""
    cells: Cells
    line: int | None = None
    """The row or column in which the blocks stay if they only move lengthwise."""

    def may_stand(self, first: Square) -> bool:
        """Return whether a block of this kind may have its first cell on this square."""
        return self.line is None or self.line == line_of(self.cells, first)

    def has(self, block: Block, distinct: bool) -> bool:
        """Return whether a block is of this kind; if blocks are ``distinct``, its letter must match, too."""
        same = self.cells == block.cells and self.may_stand(block.first)
        return same and (not distinct or block.letter in self.letters)


def length_of(cells: Cells) -> int:
    """Return a shape's number of columns minus its number of rows: positive if horizontal, negative if vertical."""
    columns = [right for _, right in cells]
    return max(columns) - min(columns) - cells[-1][0]


def line_of(cells: Cells, first: Square) -> int:
    """Return the row or column in which a block stays when it moves lengthwise."""
    row, column = first
    return row if length_of(cells) > 0 else column


def blocks_on(rows: Sequence[Sequence[str]], background: str) -> list[Block]:
    """Return the blocks of a board in the order of their first cells; the squares of a block share one symbol.

    Symbols of the ``background`` are ignored. Raises PositionError if the squares of a block are not connected.
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
        raise PositionError(f"the squares of block {quote(letter)} are not connected; give each block its own letter")
    return Block(letter, first, tuple((row - first[0], column - first[1]) for row, column in squares))


def kinds_of(blocks: Sequence[Block], distinct: bool, axis: bool) -> tuple[BlockKind, ...]:
    """Return the kinds of the blocks of a start.

    With ``axis``, each block stays in its row or column, so blocks of one shape on different lines have different
    kinds.

    Raises PositionError if ``axis`` is set and a block is as long as it is wide.
    """
    groups: dict[tuple[str, Cells, int | None], list[Block]] = {}
    for block in blocks:
        if axis and not length_of(block.cells):
            found = f"block {quote(block.letter)} is as long as it is wide"
            raise PositionError(f"axis: each block must be longer in one direction, but {found}")
        line = line_of(block.cells, block.first) if axis else None
        groups.setdefault((block.letter if distinct else "", block.cells, line), []).append(block)
    return tuple(
        BlockKind(tuple(block.letter for block in group), cells, line) for (_, cells, line), group in groups.items()
    )


REST = "+"
"""The symbol of every square of a block except its first, which has the symbol of the block's kind."""
WALL = "░"
TARGET = "#c1121f"
"""The colour reserved for the blocks of a goal."""


@dataclass(frozen=True, slots=True)
class BlockBoard(Board):
    """A board with blocks.

    The first square of a block has the symbol of the block's kind, its other squares have REST, and all remaining
    squares have EMPTY.
    """

    kinds: tuple[BlockKind, ...] = ()
    distinct: bool = False
    """Whether blocks of one shape are distinguished."""
    targets: frozenset[str] = frozenset()
    """The symbols of the kinds that a goal mentions; their blocks are drawn in the colour TARGET."""
    walls: Walls = frozenset()
    named: tuple[tuple[Square, str], ...] = ()
    """First squares of blocks and their letters, carried over from the position before a move; see `followed`."""

    def split(self, text: str, parts: Sequence[Part]) -> list[str]:
        """Return the symbol on each place. Unless blocks are distinct, the text may give them any letters."""
        symbols = self.places_of(self.grid(text))
        return [symbol for row in symbols for symbol in row if symbol != HOLE]

    def grid(self, text: str) -> list[list[str]]:
        """Return the symbols ``[row][column]`` of a text; raise PositionError if they do not fit the board."""
        squares = self.rows * self.columns
        written = self.symbols_in(text)
        if len(written) not in (squares, self.places):
            found = len(written) if self.separator else len("".join(written))
            raise PositionError(f"expected {counted(squares, 'symbol')}, found {found}")
        self.check_rows(rows_in(text, len(written)))
        if len(written) == squares:
            self._without_holes(written)
        elif HOLE in written:
            raise PositionError(
                f"write all {squares} squares with the holes '#', or only the {self.places} squares without holes; "
                f"found {counted(len(written), 'square')}, some of them holes"
            )
        return self.rows_of(written, self.holes if len(written) < squares else ())

    def places_of(self, rows: Sequence[Sequence[str]]) -> list[list[str]]:
        """Convert the letter on each square to a symbol; raise PositionError if a block is not in the puzzle."""
        symbols = [[symbol if symbol in (EMPTY, HOLE) else REST for symbol in row] for row in rows]
        for block in blocks_on(rows, EMPTY + HOLE):
            row, column = block.first
            symbols[row][column] = self.kind_of(block).letters[0]
            if crossed := walled_pairs(block.squares, self.walls):
                between = " and ".join(square_name(square, self.rows) for square in crossed[0])
                raise PositionError(f"block {quote(block.letter)} lies across the wall between {between}")
        return symbols

    def kind_of(self, block: Block) -> BlockKind:
        """Return the kind of a block; raise PositionError if the puzzle has no such block."""
        for kind in self.kinds:
            if kind.has(block, self.distinct):
                return kind
        same_shape = [kind for kind in self.kinds if replace(kind, line=None).has(block, self.distinct)]
        if not same_shape:
            raise PositionError(f"the start has no block like {quote(block.letter)}, {_described(block)}")
        across = "row" if length_of(block.cells) > 0 else "column"
        lines = " or ".join(str(line + 1) for line in sorted({kind.line or 0 for kind in same_shape}))
        raise PositionError(
            f"block {quote(block.letter)} is in {across} {line_of(block.cells, block.first) + 1}, "
            f"but because of the key 'axis', blocks of its shape must stay in {across} {lines}"
        )

    def letters(self, symbols: Sequence[str]) -> list[list[str]]:
        """Return the letter on each square ``[row][column]``.

        A block has the letter that `named` assigns to it, if any. The other blocks of its kind take the kind's
        remaining letters in reading order.
        """
        rows = self.rows_of(symbols)
        for block in list(self._blocks(rows)):
            for row, column in block.squares:
                if 0 <= row < self.rows and 0 <= column < self.columns:
                    rows[row][column] = block.letter
        return rows

    def rows_of(self, symbols: Sequence[str], holes: Collection[int] | None = None) -> list[list[str]]:
        """Return the symbols ``[row][column]``, with the ``holes`` added that they lack, by default all holes."""
        remaining, added = iter(symbols), self.holes if holes is None else holes
        every = [HOLE if square in added else next(remaining) for square in range(self.rows * self.columns)]
        return [every[first : first + self.columns] for first in range(0, len(every), self.columns)]

    def followed(self, before: Sequence[str], after: Sequence[str]) -> "BlockBoard":
        """Return the board that keeps each block's letter across a move; see `Notation.followed`."""
        letters = {block.first: block.letter for block in self._blocks(self.rows_of(before))}
        old, new = (self._first_squares(self.rows_of(symbols)) for symbols in (before, after))
        stay = {first for first in old if old[first] == new.get(first)}
        named = {first: letters[first] for first in stay}
        for kind in self.kinds:
            left, entered = ([one for one in at if at[one] == kind and one not in stay] for at in (old, new))
            named |= {to: letters[come_from] for come_from, to in zip(left, entered, strict=False)}
        return replace(self, named=tuple(named.items()))

    def _first_squares(self, rows: Sequence[Sequence[str]]) -> dict[Square, BlockKind]:
        """Return the first square of each block in reading order, and its kind."""
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
        """Return the letters in one line, with ``/`` between rows."""
        rows = (self.separator.join(row) for row in self.letters(symbols))
        return f"{self.separator}/{self.separator}".join(rows)

    def draw(self, symbols: Sequence[str]) -> str:
        """Draw the blocks as outlines, each with its letter on its first square; holes are hatched."""
        rows = self.letters(symbols)

        def symbol_at(row: int, column: int) -> str:
            return rows[row][column] if 0 <= row < self.rows and 0 <= column < self.columns else OUTSIDE

        def divided(row: int, column: int, other_row: int, other_column: int) -> bool:
            walled = ((row, column), (other_row, other_column)) in self.walls
            return walled or symbol_at(row, column) != symbol_at(other_row, other_column)

        seen = {EMPTY}
        texts = [[_text(symbol, seen) for symbol in row] for row in rows]
        width = max(len(text) for row in texts for text in row)
        return outlined([[WALL * width if text == HOLE else text for text in row] for row in texts], divided)

    def picture(self, symbols: Sequence[str]) -> Picture:
        """Return a picture of outlined blocks in the colours of their kinds (TARGET for goals). Holes are dark."""
        width, height = self.columns * SQUARE + 2 * FRAME, self.rows * SQUARE + 2 * FRAME
        shapes: list[Shape] = [Rectangle(1, 1, width - 2, height - 2, PAPER, INK, rounded=FRAME)]
        others = [symbol for symbol in symbols if symbol not in (EMPTY, REST) and symbol not in self.targets]
        colours = {**colours_of(others), **dict.fromkeys(self.targets, TARGET)}
        for row, column in (divmod(square, self.columns) for square in self.holes):
            shapes.append(Rectangle(FRAME + column * SQUARE, FRAME + row * SQUARE, SQUARE, SQUARE, HOLLOW))
        rows = self.rows_of(symbols)
        for block in self._blocks(rows):
            row, column = block.first
            shapes += _pictured(block, colours[rows[row][column]])
        shapes += (wall_line(*wall) for wall in sorted(self.walls) if wall[0] < wall[1])
        return Picture(width, height, tuple(shapes))

    def form(self, parts: Sequence[Part]) -> Form:
        """Return the form with one field per square, which holds the letter of a block or EMPTY."""
        places = squares_of(self.rows, self.columns, self.holes)
        fields = (FormField(f"square {square_name(square, self.rows)}", 0, (square,)) for square in places)
        others = [kind.letters[0] for kind in self.kinds for _ in kind.letters if kind.letters[0] not in self.targets]
        colours = {**colours_of(others), **dict.fromkeys(self.targets, TARGET)}
        blocks = (
            FormSymbol(letter, letter, None, colours[kind.letters[0]]) for kind in self.kinds for letter in kind.letters
        )
        group = FormGroup(BLOCKS, (FormSymbol(EMPTY, EMPTY_LABEL, None, None), *blocks))
        return BlockForm((group,), tuple(fields), self)

    def highlighted(self, symbols: Sequence[str]) -> frozenset[tuple[int, int]]:
        """Return the line and column of each character of `draw` that is inside a block of the goal."""
        if not self.targets:
            return frozenset()
        rows = self.rows_of(symbols)
        blocks = list(self._blocks(rows))
        width = max(len(block.letter) for block in blocks)
        targets = [block for block in blocks if rows[block.first[0]][block.first[1]] in self.targets]
        return frozenset(place for block in targets for place in characters(set(block.squares), width))


def _pictured(block: Block, colour: str) -> Iterator[Shape]:
    """Yield the shapes of a block: its squares, its outline, and its letter on the first square."""
    squares = set(block.squares)
    for row, column in block.squares:
        x, y = FRAME + column * SQUARE, FRAME + row * SQUARE
        yield Rectangle(x, y, SQUARE, SQUARE, colour)
        yield from (line for (down, right), line in _edges(x, y).items() if (row + down, column + right) not in squares)
    row, column = block.first
    middle, centre = FRAME + (column + 0.5) * SQUARE, FRAME + (row + 0.5) * SQUARE
    yield Text(middle, centre, block.letter, fitting(block.letter, SQUARE - 10, SQUARE * 0.48), ink_on(colour))


def _edges(x: float, y: float) -> Mapping[Square, Line]:
    """Return the four sides of a square of a picture, by the direction (rows down, columns right) of each side."""
    right, below = x + SQUARE, y + SQUARE
    return {
        (-1, 0): Line(x, y, right, y, INK),
        (1, 0): Line(x, below, right, below, INK),
        (0, -1): Line(x, y, x, below, INK),
        (0, 1): Line(right, y, right, below, INK),
    }


def _text(symbol: str, seen: set[str]) -> str:
    """Return the text on a square, which is empty if the letter was drawn before."""
    if symbol == HOLE:
        return HOLE
    new = symbol not in seen
    seen.add(symbol)
    return symbol if new else ""


def walled_pairs(squares: Iterable[Square], walls: Walls) -> list[tuple[Square, Square]]:
    """Return the pairs of these squares between which there is a wall, each once, in reading order."""
    covered = set(squares)
    return sorted((one, other) for one, other in walls if one < other and covered >= {one, other})


def _described(block: Block) -> str:
    return f"of {counted(len(block.cells), 'square')} in row {block.first[0] + 1}"


def squares_covered(kind: BlockKind, first: Square) -> list[Square]:
    """Return the squares that a block of a kind covers if its first cell is on this square."""
    return [(first[0] + down, first[1] + right) for down, right in kind.cells]


@dataclass(frozen=True)
class BlockForm(Form):
    """The form of a board of blocks. A draft has the letter of a block or EMPTY on each square."""

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
        letters = self.board.rows_of(draft)
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
        """Return the error for a draft in which a block is missing or has the wrong shape or line for its letter."""
        kind_of = {letter: kind for kind in self.board.kinds for letter in kind.letters}
        wrong = [block for block in blocks if not kind_of[block.letter].has(block, distinct=False)]
        reasons = [_wrong_block(block, kind_of[block.letter]) for block in wrong]
        across = [block for block in blocks if walled_pairs(block.squares, self.board.walls)]
        reasons += [f"block {block.letter} lies across a wall" for block in across]
        reasons += [f"block {letter} is missing" for letter in kind_of if letter not in draft]
        letters = {block.letter for block in (*wrong, *across)}
        return DraftError(summary_of(reasons), [at for at, letter in enumerate(draft) if letter in letters])


def _wrong_block(block: Block, kind: BlockKind) -> str:
    """Return the reason why a block does not match its letter."""
    if kind.line is None or block.cells != kind.cells:
        return f"block {block.letter} has another shape"
    return f"block {block.letter} must stay in {'row' if length_of(kind.cells) > 0 else 'column'} {kind.line + 1}"
