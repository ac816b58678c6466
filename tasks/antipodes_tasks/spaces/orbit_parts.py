"""The contents of the parts of a puzzle as numbers: arrangements of pieces, values; and the cut into row and column."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from antipodes_tasks.permutations.arrangements import (
    Ranks,
    radices,
    rank_arrangements,
    ranker,
    unrank_arrangements,
)
from antipodes_tasks.permutations.parity import Labels, parities, parity_of, with_last_two_apart, with_last_two_equal
from antipodes_tasks.spaces.space import NOT_NUMBERED


@dataclass(frozen=True)
class PiecesIndex:
    """Numbers of the arrangements of pieces: all of them, or those of one parity.

    With a ``parity`` all pieces differ, and ``counts`` takes the last two labels as one: see
    `antipodes_tasks.permutations.parity`.
    """

    first: int
    """The number of the first place among those of the puzzle."""
    counts: tuple[int, ...]
    """The number of pieces with each label."""
    parity: int | None = None
    """The parity of the arrangements that have a number; None: all have one."""

    @property
    def places(self) -> int:
        """The number of places."""
        return sum(self.counts)

    @property
    def radices(self) -> tuple[int, ...]:
        """The number of places that each label can take among those that the labels before it leave free."""
        return radices(self.counts)

    @cached_property
    def place_slice(self) -> slice:
        """The places among those of the puzzle."""
        return slice(self.first, self.first + self.places)

    @cached_property
    def size(self) -> int:
        """How many contents have a number."""
        return prod(self.radices)

    @property
    def details(self) -> list[Any]:
        """The first place, and the parity."""
        return ["pieces", self.first, self.parity]

    def rank(self, labels: Labels) -> Ranks:
        """The number of each arrangement ``(n, places)``, ``(n,)``; NOT_NUMBERED for those of the other parity."""
        if self.parity is None:
            return rank_arrangements(labels, self.counts)
        ranks = rank_arrangements(with_last_two_equal(labels, self.places), self.counts)
        ranks[parities(labels) != self.parity] = NOT_NUMBERED
        return ranks

    def rank_one(self, labels: Sequence[int]) -> int:
        """As `rank`, for one arrangement, given as Python's integers."""
        if self.parity is None:
            return ranker(self.counts)(labels)
        if parity_of(labels) != self.parity:
            return NOT_NUMBERED
        last = self.places - 2
        return ranker(self.counts)([label if label < last else last for label in labels])

    def unrank(self, ranks: Ranks) -> Labels:
        """The arrangement ``(n, places)`` of each number ``(n,)``."""
        labels = unrank_arrangements(ranks, self.counts)
        return labels if self.parity is None else with_last_two_apart(labels, self.places, self.parity)

    def leading(self, labels: int) -> "PiecesIndex":
        """The index of where the first labels are; all others count as one label."""
        return PiecesIndex(self.first, (*self.counts[:labels], sum(self.counts[labels:])))

    def trailing(self, labels: int) -> "PiecesIndex":
        """The index of the arrangements of all but the first labels, on the places that these leave free."""
        return PiecesIndex(self.first, self.counts[labels:] or (0,))


@dataclass(frozen=True)
class ValuesIndex:
    """Numbers of values in mixed radix, the first place the most significant: all of them, or those of one sum."""

    first: int
    """The number of the first place among those of the puzzle."""
    length: int
    """The number of places."""
    radix: int
    """The number of values of a place."""
    total: int | None = None
    """The sum, modulo the radix, of the values that have a number: it decides the last one. None: all have one."""

    @property
    def places(self) -> int:
        """The number of places."""
        return self.length

    @property
    def free_places(self) -> int:
        """The number of places with a digit."""
        return self.length if self.total is None else self.length - 1

    @property
    def radices(self) -> tuple[int, ...]:
        """The number of values of each place, except the last one if the sum decides it."""
        return (self.radix,) * self.free_places

    @cached_property
    def place_slice(self) -> slice:
        """The places among those of the puzzle."""
        return slice(self.first, self.first + self.places)

    @cached_property
    def size(self) -> int:
        """How many contents have a number."""
        return prod(self.radices)

    @property
    def details(self) -> list[Any]:
        """The first place, and the sum."""
        return ["values", self.first, self.total]

    def rank(self, labels: Labels) -> Ranks:
        """The number of each of ``(n, places)``, ``(n,)``; NOT_NUMBERED for those of another sum."""
        ranks = np.zeros(len(labels), dtype=np.int64)
        for place in range(self.free_places):
            ranks = ranks * self.radix + labels[:, place]
        if self.total is not None:
            ranks[labels.sum(axis=1, dtype=np.int64) % self.radix != self.total] = NOT_NUMBERED
        return ranks

    def rank_one(self, labels: Sequence[int]) -> int:
        """As `rank`, for the values of one position, given as Python's integers."""
        if self.total is not None and sum(labels) % self.radix != self.total:
            return NOT_NUMBERED
        rank = 0
        for place in range(self.free_places):
            rank = rank * self.radix + labels[place]
        return rank

    def unrank(self, ranks: Ranks) -> Labels:
        """The values ``(n, places)`` of each number ``(n,)``."""
        labels = np.empty((len(ranks), self.length), dtype=np.uint8)
        rest = ranks
        for place in range(self.free_places - 1, -1, -1):
            rest, labels[:, place] = np.divmod(rest, self.radix)
        if self.total is not None:
            labels[:, -1] = (self.total - labels[:, :-1].sum(axis=1, dtype=np.int64)) % self.radix
        return labels

    def leading(self, places: int) -> "ValuesIndex":
        """The index of the first places, of which none is decided by the sum."""
        return ValuesIndex(self.first, places, self.radix)

    def trailing(self, places: int) -> "ValuesIndex":
        """The index of the other places that have a digit."""
        return ValuesIndex(self.first + places, self.free_places - places, self.radix)


PartIndex = PiecesIndex | ValuesIndex
"""Numbers of the contents of some places side by side, in digits."""


@dataclass(frozen=True)
class OrbitCut:
    """The parts in the order of their digits, and the digit before which they are cut."""

    parts: tuple[PartIndex, ...]
    number: int
    """The part that is cut; the parts before it are in the row, those after it in the column."""
    leading: int = 0
    """The number of its digits in the row."""

    @cached_property
    def row(self) -> tuple[PartIndex, ...]:
        """The parts of the row: whole ones, then the leading digits of the part that is cut."""
        whole = self.parts[: self.number]
        return (*whole, self._divided.leading(self.leading)) if self.leading else whole

    @cached_property
    def column(self) -> tuple[PartIndex, ...]:
        """The parts of the column: the other digits of the part that is cut, then whole parts."""
        if not self.leading:
            return self.parts[self.number :]
        return (self._divided.trailing(self.leading), *self.parts[self.number + 1 :])

    @cached_property
    def rows(self) -> int:
        """The number of rows."""
        return prod(part.size for part in self.row)

    @cached_property
    def width(self) -> int:
        """The number of columns."""
        return prod(part.size for part in self.column)

    @property
    def divides_pieces(self) -> bool:
        """Whether the cut goes through an arrangement of pieces: the column arranges them on the places left free."""
        return self.leading > 0 and isinstance(self._divided, PiecesIndex)

    @property
    def column_parts(self) -> tuple[PartIndex, ...]:
        """The parts of the column that moves change without regard to the row."""
        return self.column[1:] if self.divides_pieces else self.column

    @cached_property
    def column_places(self) -> NDArray[np.bool_]:
        """Which places of the puzzle belong to the `column_parts`, ``(places,)``; the others belong to the row."""
        belong = np.zeros(max(part.place_slice.stop for part in self.parts), dtype=np.bool_)
        for part in self.column_parts:
            belong[part.place_slice] = True
        return belong

    @property
    def _divided(self) -> PartIndex:
        return self.parts[self.number]
