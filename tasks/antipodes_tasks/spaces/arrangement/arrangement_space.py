"""The state space of a puzzle whose pieces move to empty places: all arrangements of its pieces.

**Half the arrangements.** Where the place of the empty square decides the parity of an arrangement (see
`antipodes_tasks.spaces.arrangement.tied_parity`), the two pieces of the last labels have no choice: of the two ways to
arrange them only one has the right parity. So the last digit of the index, which says which way, is dropped, and half
of all arrangements are numbered: those of the right parity.

The move tables are then those of the puzzle in which these two pieces are equal. Moves do not ask which piece they
move, so exchanging two pieces commutes with every move. Each arrangement with two equal pieces stands for two that an
exchange takes into each other, one of each parity. A move takes the one of the right parity to one of the right parity,
which is the one that stands for the arrangement after the move.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import Any, ClassVar, Self

import numpy as np

from antipodes_tasks.errors import FieldError
from antipodes_tasks.permutations.arrangements import Index, radices
from antipodes_tasks.permutations.parity import Parities, parities, parity_of, with_last_two_apart, with_last_two_equal
from antipodes_tasks.quoting import shorten
from antipodes_tasks.rules.moves import Labels
from antipodes_tasks.rules.rules import Rules
from antipodes_tasks.rules.swaps import Swaps, any_order
from antipodes_tasks.spaces.arrangement.swap_tables import SwapTables
from antipodes_tasks.spaces.arrangement.tied_parity import parity_by_place
from antipodes_tasks.spaces.move_tables import Fill, MoveTables
from antipodes_tasks.spaces.space import NOT_NUMBERED, Indices, SpaceRecord, StateSpace

MOST_SWAPS = 100_000
"""Swaps up to which the graph of places is looked at: that takes a tenth of a second."""
PARITY = "parity"
"""The key of the details that has the parities of a space that numbers half of the arrangements."""


@dataclass(frozen=True, repr=False)
class ArrangementSpace(StateSpace):
    """All arrangements of a puzzle's pieces, reachable or not, or the half of them that has the right parity.

    A row says where the pieces of the leading labels stand, a column how the others are arranged on the places left.
    """

    KIND: ClassVar[str] = "arrangements"

    index: Index
    """The numbering; of half the arrangements that of the puzzle in which the pieces of the last two labels are equal.
    """
    parity: tuple[int, ...] | None = None
    """The parity of the numbered arrangements, by the place of label 0; None: all arrangements are numbered."""

    @classmethod
    def size_for(cls, rules: Rules) -> int:
        """The number of arrangements, or of half of them."""
        return prod(radices(rules.counts)) // (1 if parity_by_place(rules) is None else 2)

    @classmethod
    def cuts(cls, rules: Rules) -> Sequence[Self]:
        """The spaces of all cuts between two labels."""
        return cls._cuts(rules, parity_by_place(rules))

    @classmethod
    def _cuts(cls, rules: Rules, parity: tuple[int, ...] | None) -> Sequence[Self]:
        counts = rules.counts if parity is None else (*rules.counts[:-2], 2)
        return [cls(rules, Index(counts, leading), parity) for leading in range(1, max(2, len(counts)))]

    @classmethod
    def restored(cls, rules: Rules, record: SpaceRecord) -> Self:
        """The space with these rows and columns; FieldError if no cut has them."""
        if not isinstance(rules.moves, Swaps):
            raise FieldError(f"space: expected one for the puzzle {rules.name}, found {record.kind!r}")
        for space in cls._cuts(rules, cls._parity_of(rules, record.details)):
            if (space.rows, space.width) == (record.rows, record.width):
                return space
        raise FieldError(
            f"rows: {record.rows} rows of {record.width} columns match no row/column split of {rules.counts}"
        )

    @staticmethod
    def _parity_of(rules: Rules, details: Mapping[str, Any]) -> tuple[int, ...] | None:
        """The parities of a space with these details; FieldError if there is none."""
        if not details:
            return None
        parity = parity_by_place(rules)
        expected = {} if parity is None else {PARITY: list(parity)}
        if details != expected:
            raise FieldError(f"details: expected {expected}, found {shorten(repr(dict(details)))}")
        return parity

    @property
    def rows(self) -> int:
        """The number of rows."""
        return self.index.rows

    @property
    def width(self) -> int:
        """The number of columns of each row."""
        return self.index.width

    @property
    def reachable(self) -> int | None:
        """All arrangements, or all those of the right parity, where a theorem says so; see `any_order`."""
        few = len(self.rules.moves) <= MOST_SWAPS
        return self.size_for(self.rules) if few and any_order(self.rules) else None

    @property
    def block_rows(self) -> int:
        """Rows with the same places of label 0."""
        return self.rows // radices(self.index.counts)[0]

    @property
    def record(self) -> SpaceRecord:
        """The cut into rows and columns, and the parities of the half that is numbered."""
        details = {} if self.parity is None else {PARITY: list(self.parity)}
        return SpaceRecord(self.KIND, self.rows, self.width, details)

    def rank(self, labels: Labels) -> Indices:
        """The index of each position ``(n, places)``, ``(n,)`` int64, or NOT_NUMBERED. The pieces are not checked."""
        if self.parity is None:
            return self.index.rank(labels)
        indices = self.index.rank(with_last_two_equal(labels, self.rules.places))
        return np.where(parities(labels) == self._parity_at_empty_place(labels), indices, np.int64(NOT_NUMBERED))

    def rank_one(self, labels: Sequence[int]) -> int:
        """As `rank`, for one position, given as Python's integers."""
        if self.parity is None:
            return self.index.rank_one(labels)
        if parity_of(labels) != self.parity[labels.index(0)]:
            return NOT_NUMBERED
        last = self.rules.places - 2
        return self.index.rank_one([label if label < last else last for label in labels])

    def unrank(self, indices: Indices) -> Labels:
        """The position ``(n, places)`` of each index ``(n,)``; InputError where one is not in 0 to ``size - 1``."""
        labels = self.index.unrank(indices)
        if self.parity is None:
            return labels
        return with_last_two_apart(labels, self.rules.places, self._parity_at_empty_place(labels))

    def _parity_at_empty_place(self, labels: Labels) -> Parities:
        """The parity that the numbered positions have with the empty place of each of ``(n, places)``, ``(n,)``."""
        found: Parities = np.array(self.parity, dtype=np.uint8)[labels.argmin(axis=1)]
        return found

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
        assert isinstance(self.rules.moves, Swaps)
        return SwapTables(self.rules.moves, self.index)
