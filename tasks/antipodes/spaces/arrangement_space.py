"""The state space of a puzzle whose pieces move to empty places: all arrangements of its pieces."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import ClassVar, Self

from antipodes.errors import FieldError
from antipodes.puzzles.moves.swaps import Swaps
from antipodes.puzzles.puzzle import Labels, Puzzle
from antipodes.spaces.arrangements import Index, radices
from antipodes.spaces.move_tables import Fill, MoveTables
from antipodes.spaces.space import Indices, SpaceRecord, StateSpace
from antipodes.spaces.swap_tables import SwapTables


@dataclass(frozen=True)
class ArrangementSpace(StateSpace):
    """All arrangements of a puzzle's pieces, reachable or not.

    A row says where the pieces of the leading labels stand, a column how the others are arranged on the places left.
    """

    KIND: ClassVar[str] = "arrangements"

    index: Index

    @classmethod
    def size_for(cls, puzzle: Puzzle) -> int:
        """The number of arrangements."""
        return prod(radices(puzzle.counts))

    @classmethod
    def cuts(cls, puzzle: Puzzle) -> Sequence[Self]:
        """The spaces of all cuts between two labels."""
        return [cls(puzzle, Index(puzzle.counts, leading)) for leading in range(1, max(2, len(puzzle.counts)))]

    @classmethod
    def restored(cls, puzzle: Puzzle, record: SpaceRecord) -> Self:
        """The space with these rows and columns; FieldError if no cut has them."""
        for space in cls.cuts(puzzle):
            if (space.rows, space.width) == (record.rows, record.width):
                return space
        raise FieldError(
            f"rows: {record.rows} rows of {record.width} columns match no row/column split of {puzzle.counts}"
        )

    @property
    def rows(self) -> int:
        """The number of rows."""
        return self.index.rows

    @property
    def width(self) -> int:
        """The number of columns of each row."""
        return self.index.width

    @property
    def block_rows(self) -> int:
        """Rows with the same places of label 0."""
        return self.rows // radices(self.index.counts)[0]

    @property
    def record(self) -> SpaceRecord:
        """The cut into rows and columns."""
        return SpaceRecord(self.KIND, self.rows, self.width)

    def rank(self, labels: Labels) -> Indices:
        """The index of each position ``(n, places)``, ``(n,)`` int64. The pieces are not checked."""
        return self.index.rank(labels)

    def unrank(self, indices: Indices) -> Labels:
        """The position ``(n, places)`` of each index ``(n,)``; InputError where one is not in 0 to ``size - 1``."""
        return self.index.unrank(indices)

    @property
    def most_moves(self) -> int:
        """An upper bound of the moves that a position allows: the moves of the move tables."""
        return self._tables.most_moves

    @property
    def most_column_maps(self) -> int:
        """An upper bound of the column maps."""
        return self._tables.most_column_maps

    def begin_tables(self) -> tuple[MoveTables, list[Fill]]:
        """Move tables, and the calls that fill them."""
        return self._tables.begin()

    def building_bytes(self, threads: int) -> int:
        """An upper bound of the bytes in use, besides the tables, while ``threads`` threads fill them."""
        return self._tables.building_bytes(threads)

    @cached_property
    def _tables(self) -> SwapTables:
        assert isinstance(self.puzzle.moves, Swaps)
        return SwapTables(self.puzzle.moves, self.index)
