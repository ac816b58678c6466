"""The numbering of pieces that move to empty places: all arrangements, or the half of them that parity allows.

**Half the arrangements.** Where the place of the empty square decides the parity of an arrangement (see
`parity_by_place`), the two pieces of the last labels have no choice: of the two ways to arrange them only one has the
right parity. So the last digit of the index, which says which way, is dropped, and half of all arrangements are
numbered: those of the right parity.

The move tables are then those of the puzzle in which these two pieces are equal. Moves do not ask which piece they
move, so exchanging two pieces commutes with every move. Each arrangement with two equal pieces stands for two that an
exchange takes into each other, one of each parity. A move takes the one of the right parity to one of the right parity,
which is the one that stands for the arrangement after the move.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np

from antipodes_tasks.errors import FieldError
from antipodes_tasks.permutations.arrangements import radices, rank_arrangements, ranker, unrank_arrangements
from antipodes_tasks.permutations.parity import (
    Parities,
    parities,
    parity_of,
    with_last_two_apart,
    with_last_two_equal,
)
from antipodes_tasks.quoting import shorten
from antipodes_tasks.rules.moves import Labels
from antipodes_tasks.rules.rules import Rules
from antipodes_tasks.rules.swaps import Swaps, any_order, swap_edges, two_colouring
from antipodes_tasks.spaces.move_tables import Indices
from antipodes_tasks.spaces.space import NOT_NUMBERED, Numbering, SpaceRecord
from antipodes_tasks.spaces.swap_tables import SwapTables

MAX_SWAPS = 100_000
"""Swaps up to which the graph of places is looked at: that takes a tenth of a second."""
PARITY = "parity"
"""The key of the details that has the parities of a space that numbers half of the arrangements."""
MIN_PLACES, MAX_PLACES = 3, 20
"""Places of half an index: the empty one and two pieces to exchange; more than 20 have too many arrangements, even by
halves."""


@dataclass(frozen=True)
class Arrangements(Numbering):
    """All arrangements of a puzzle's pieces, reachable or not, or the half of them that has the right parity.

    A digit says where the pieces of a label stand on the places that the labels before leave free.
    """

    KIND: ClassVar[str] = "arrangements"

    pieces: tuple[int, ...]
    """The number of pieces with each label."""
    parity: tuple[int, ...] | None = None
    """The parity of the numbered arrangements, by the place of label 0; None: all arrangements are numbered."""

    @classmethod
    def of(cls, rules: Rules) -> Self:
        """All arrangements, or half of them where moves keep to these."""
        return cls(rules.counts, parity_by_place(rules))

    @classmethod
    def restored(cls, rules: Rules, record: SpaceRecord) -> Self:
        """The numbering with the parities of a record; FieldError if the puzzle has others, or other moves."""
        if not isinstance(rules.moves, Swaps):
            raise FieldError(f"space: expected one for the puzzle {rules.name}, found {record.kind!r}")
        numbering = cls.of(rules) if record.details else cls(rules.counts)
        if record.details != numbering.details:
            found = shorten(repr(dict(record.details)))
            raise FieldError(f"details: expected {numbering.details}, found {found}")
        return numbering

    @cached_property
    def counts(self) -> tuple[int, ...]:
        """The number of pieces with each label, of half the arrangements with the last two labels as one."""
        return self.pieces if self.parity is None else (*self.pieces[:-2], 2)

    @cached_property
    def radices(self) -> tuple[int, ...]:
        """The number of choices of places for each label."""
        return radices(self.counts)

    @property
    def details(self) -> Mapping[str, Any]:
        """The parities of the half that is numbered."""
        return {} if self.parity is None else {PARITY: list(self.parity)}

    def rank(self, labels: Labels) -> Indices:
        """The index of each position ``(n, places)``, ``(n,)`` int64, or NOT_NUMBERED. The pieces are not checked."""
        if self.parity is None:
            return rank_arrangements(labels, self.counts)
        indices = rank_arrangements(with_last_two_equal(labels, len(self.pieces)), self.counts)
        return np.where(parities(labels) == self._parity_at_empty_place(labels), indices, np.int64(NOT_NUMBERED))

    def rank_one(self, labels: Sequence[int]) -> int:
        """As `rank`, for one position, given as Python's integers."""
        if self.parity is None:
            return ranker(self.counts)(labels)
        if parity_of(labels) != self.parity[labels.index(0)]:
            return NOT_NUMBERED
        last = len(self.pieces) - 2
        return ranker(self.counts)([label if label < last else last for label in labels])

    def unrank(self, indices: Indices) -> Labels:
        """The position ``(n, places)`` of each index ``(n,)``, which is not checked."""
        labels = unrank_arrangements(indices, self.counts)
        if self.parity is None:
            return labels
        return with_last_two_apart(labels, len(self.pieces), self._parity_at_empty_place(labels))

    def _parity_at_empty_place(self, labels: Labels) -> Parities:
        """The parity that the numbered positions have with the empty place of each of ``(n, places)``, ``(n,)``."""
        found: Parities = np.array(self.parity, dtype=np.uint8)[labels.argmin(axis=1)]
        return found

    def filler(self, rules: Rules, leading: int) -> SwapTables:
        """The move tables: a row says where the pieces of the leading labels stand."""
        assert isinstance(rules.moves, Swaps)
        return SwapTables(rules.moves, self.counts, leading)

    def reachable(self, rules: Rules) -> int | None:
        """All arrangements, or all those of the right parity, where a theorem says so; see `any_order`."""
        return self.size_for(rules) if len(rules.moves) <= MAX_SWAPS and any_order(rules) else None


def parity_by_place(rules: Rules) -> tuple[int, ...] | None:
    """The parity of all arrangements that can be reached, by the place of label 0; None if it does not decide that.

    A move exchanges the empty place with a piece, so each move changes the parity. If the places can be coloured in two
    colours, so that each move takes the empty place to the other colour, colour and parity change together. Then half
    of all arrangements cannot be reached (W. W. Johnson and W. E. Story, "Notes on the '15' puzzle", 1879).

    It is not declared but found: for each set of connected places, since the starts need not all be in one. Where the
    starts of a set disagree, or moves lead around a circle of odd length, no place decides the parity. In a set
    without a start any choice does, if only moves keep to it.
    """
    if not MIN_PLACES <= rules.places <= MAX_PLACES or set(rules.counts) != {1} or not isinstance(rules.moves, Swaps):
        return None
    empty, wanted = rules.start_labels.argmin(axis=1), parities(rules.start_labels)
    seeds = tuple(zip(empty.tolist(), wanted.tolist(), strict=True))
    colours = two_colouring(swap_edges(rules) or frozenset(), rules.places, seeds)
    if colours is None or (colours[empty] != wanted).any():
        return None
    return tuple(colours.tolist())
