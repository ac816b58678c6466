"""Positions up to free swaps and up to the region of the empty place: an entry has the least depth of all regions.

These least depths are the distances of no graph: from a placement with its least depth there need not be a move to one
with the depth before. So a table of them is not searched but folded, from the table with regions.
"""

from bisect import bisect_right
from collections.abc import Sequence
from functools import cached_property
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from antipodes_tasks.errors import InputError
from antipodes_tasks.rules.moves import Labels
from antipodes_tasks.rules.rules import Rules
from antipodes_tasks.spaces.move_tables import Indices
from antipodes_tasks.spaces.regions import Regions, RegionTables


class Placements(Regions):
    """The counted pieces' places, then their order; the region of the empty place is left out."""

    KIND: ClassVar[str] = "placements"
    CUT: ClassVar[int] = 2
    """The digits that are the row of a table; the order is the column."""

    @property
    def whole(self) -> Regions:
        """The numbering with regions."""
        return Regions(self.edges, self.pieces, self.free)

    @cached_property
    def radices(self) -> tuple[int, ...]:
        """The number of sets of places, after a digit of one value, and of orders."""
        return 1, len(self.board.counted), super().radices[-1]

    def rank(self, labels: Labels) -> Indices:
        """The index of each position ``(n, places)``, ``(n,)`` int64. The pieces are not checked."""
        row, order = np.divmod(self.whole.rank(labels), self.radices[-1])
        placement: Indices = np.searchsorted(self.board.first_row, row, side="right") - 1
        return placement * self.radices[-1] + order

    def rank_one(self, labels: Sequence[int]) -> int:
        """As `rank`, for one position, given as Python's integers."""
        row, order = divmod(self.whole.rank_one(labels), self.radices[-1])
        return (bisect_right(self.board.first_row, row) - 1) * self.radices[-1] + order

    def unrank(self, indices: Indices) -> Labels:
        """The position ``(n, places)`` of each index ``(n,)``, with the empty place in its first region."""
        placement, order = np.divmod(indices, self.radices[-1])
        return self.whole.unrank(self.board.first_row[placement] * self.radices[-1] + order)

    def filler(self, rules: Rules, leading: int) -> RegionTables:
        """There are no move tables; InputError."""
        raise InputError(f"expected distances, found least distances over regions, in the table of {rules.name}")

    def folded(self, first: int, depths: NDArray[np.integer]) -> NDArray[np.integer]:
        """The least depths ``(placements, width)`` of all regions, from those of whole placements with regions.

        ``depths`` ``(rows, width)`` begin with the first region of the placement ``first``; those that are unreached
        are the greatest numbers.
        """
        rows = self.board.first_row[first:] - self.board.first_row[first]
        found: NDArray[np.integer] = np.minimum.reduceat(depths, rows[rows < len(depths)], axis=0)
        return found

    def unfolded(self, depths: NDArray[np.integer]) -> NDArray[np.integer]:
        """The depths with regions ``(rows, width)``, from all least ones ``(placements, width)``: each as often."""
        return np.repeat(depths, np.diff(self.board.first_row), axis=0)
