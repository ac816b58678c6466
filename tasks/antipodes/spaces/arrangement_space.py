"""The state space of any puzzle whose moves permute the places: all arrangements of its pieces."""

from dataclasses import dataclass
from functools import cached_property

from antipodes.puzzles.move import Swaps
from antipodes.puzzles.puzzle import Labels
from antipodes.spaces.arrangements import Index, radices
from antipodes.spaces.move_tables import Fill, MoveTables
from antipodes.spaces.permutation_tables import PermutationTables
from antipodes.spaces.space import Indices, SpaceRecord, StateSpace
from antipodes.spaces.swap_tables import SwapTables


@dataclass(frozen=True)
class ArrangementSpace(StateSpace):
    """All arrangements of a puzzle's pieces, reachable or not.

    A row says where the pieces of the leading labels stand, a column how the others are arranged on the places left.
    """

    index: Index

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
        """The counts, which number the arrangements, and the cut into rows and columns."""
        return SpaceRecord(self.index.counts, self.rows, self.width)

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
    def _tables(self) -> SwapTables | PermutationTables:
        moves = self.puzzle.moves
        return SwapTables(moves, self.index) if isinstance(moves, Swaps) else PermutationTables(moves, self.index)
