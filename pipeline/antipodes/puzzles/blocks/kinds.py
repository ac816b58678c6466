"""Kinds of blocks: those that are not told apart have the same shape, and one kind."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from antipodes_tasks.errors import PositionError
from antipodes_tasks.quoting import quote
from antipodes_tasks.rules.squares import Square

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
class Kind:
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


def kinds_of(blocks: Sequence[Block], distinct: bool, axis: bool) -> tuple[Kind, ...]:
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
        Kind(tuple(block.letter for block in group), group[0].cells, line) for (_, _, line), group in groups.items()
    )
