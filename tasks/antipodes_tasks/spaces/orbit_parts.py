"""The numbering of the contents of single parts, and the cut of the parts of a puzzle into row and column.

A *part* is a range of places that hold pieces, or of places that hold values such as orientations. The *content* of a
part is the arrangement of the pieces on its places, or the values there.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import Any

import numpy as np

from antipodes_tasks.base.array_types import Labels, Mask
from antipodes_tasks.permutations.multisets import (
    Ranks,
    radices,
    rank_arrangements,
    ranker,
    unrank_arrangements,
)
from antipodes_tasks.permutations.parity import Parities, parities, parity_of, with_last_two_apart, with_last_two_equal
from antipodes_tasks.spaces.space import NOT_NUMBERED


@dataclass(frozen=True)
class PiecesIndex:
    """The numbering of all arrangements of pieces, or of the arrangements with one parity.

    If there is a ``parity``, all pieces differ, and the digits treat the last two labels as one; see
    `antipodes_tasks.permutations.parity`.
    """

    first: int
    """The first place of the part among the places of the puzzle."""
    pieces: tuple[int, ...]
    """Number of pieces with each label."""
    parity: tuple[int, ...] | None = None
    """For each place of label 0, the parity of the numbered arrangements. None if all arrangements are numbered."""

    @cached_property
    def counts(self) -> tuple[int, ...]:
        """Number of pieces with each label that has a digit."""
        return self.pieces if self.parity is None else (*self.pieces[:-2], 2)

    @property
    def places(self) -> int:
        """Number of places."""
        return sum(self.pieces)

    @property
    def radices(self) -> tuple[int, ...]:
        """Number of values of the digit of each label."""
        return radices(self.counts)

    @cached_property
    def place_slice(self) -> slice:
        """The places of the part among the places of the puzzle."""
        return slice(self.first, self.first + self.places)

    @cached_property
    def size(self) -> int:
        """Number of contents that have a number."""
        return prod(self.radices)

    @property
    def details(self) -> list[Any]:
        """The first place, and the parity if it is the same for all places of label 0, as a record."""
        return ["pieces", self.first, None if self.parity is None else self.parity[0]]

    def required_parity(self, labels: Labels) -> int | Parities:
        """Return the parity ``(n,)`` that the arrangements ``(n, places)`` must have, or the parity of all of them."""
        assert self.parity is not None
        alike = self.parity.count(self.parity[0]) == len(self.parity)
        return self.parity[0] if alike else np.array(self.parity, dtype=np.uint8)[labels.argmin(axis=1)]

    def has_wrong_parity(self, labels: Labels) -> Mask:
        """Return a mask ``(n,)`` of the arrangements ``(n, places)`` that are not numbered because of their parity."""
        wrong: Mask = parities(labels) != self.required_parity(labels)
        return wrong

    def rank(self, labels: Labels) -> Ranks:
        """Return the number ``(n,)`` of each arrangement ``(n, places)``; NOT_NUMBERED if it has the other parity."""
        if self.parity is None:
            return rank_arrangements(labels, self.counts)
        ranks = rank_arrangements(with_last_two_equal(labels, self.places), self.counts)
        ranks[self.has_wrong_parity(labels)] = NOT_NUMBERED
        return ranks

    def rank_one(self, labels: Sequence[int]) -> int:
        """Return the number of one arrangement given as Python integers."""
        if self.parity is None:
            return ranker(self.counts)(labels)
        if parity_of(labels) != self.parity[labels.index(0)]:
            return NOT_NUMBERED
        last = self.places - 2
        return ranker(self.counts)([label if label < last else last for label in labels])

    def unrank(self, ranks: Ranks) -> Labels:
        """Return the arrangement ``(n, places)`` of each number ``(n,)``."""
        labels = unrank_arrangements(ranks, self.counts)
        return labels if self.parity is None else with_last_two_apart(labels, self.places, self.required_parity(labels))

    def leading(self, labels: int) -> "PiecesIndex":
        """Return the index of the arrangements of the first labels, in which all other labels count as one."""
        return PiecesIndex(self.first, (*self.counts[:labels], sum(self.counts[labels:])))

    def trailing(self, labels: int) -> "PiecesIndex":
        """Return the index of the arrangements of the other labels, on the places that the first labels leave free."""
        return PiecesIndex(self.first, self.counts[labels:] or (0,))


@dataclass(frozen=True)
class ValuesIndex:
    """The numbering of all values, or of the values with one sum. The first place is the most significant digit."""

    first: int
    """The first place of the part among the places of the puzzle."""
    length: int
    """Number of places."""
    radix: int
    """Number of values of a place."""
    total: int | None = None
    """The sum of the numbered values modulo the radix, which determines the last value. None if all values are
    numbered."""

    @property
    def places(self) -> int:
        """Number of places."""
        return self.length

    @property
    def free_places(self) -> int:
        """Number of places that have a digit."""
        return self.length if self.total is None else self.length - 1

    @property
    def radices(self) -> tuple[int, ...]:
        """Number of values of each place, without the last place if the sum determines it."""
        return (self.radix,) * self.free_places

    @cached_property
    def place_slice(self) -> slice:
        """The places of the part among the places of the puzzle."""
        return slice(self.first, self.first + self.places)

    @cached_property
    def size(self) -> int:
        """Number of contents that have a number."""
        return prod(self.radices)

    @property
    def details(self) -> list[Any]:
        """The first place and the sum, as a record."""
        return ["values", self.first, self.total]

    def rank(self, labels: Labels) -> Ranks:
        """Return the number ``(n,)`` of each row of values ``(n, places)``; NOT_NUMBERED if it has another sum."""
        ranks = np.zeros(len(labels), dtype=np.int64)
        for place in range(self.free_places):
            ranks = ranks * self.radix + labels[:, place]
        if self.total is not None:
            ranks[labels.sum(axis=1, dtype=np.int64) % self.radix != self.total] = NOT_NUMBERED
        return ranks

    def rank_one(self, labels: Sequence[int]) -> int:
        """Return the index of the values of one position given as Python integers."""
        if self.total is not None and sum(labels) % self.radix != self.total:
            return NOT_NUMBERED
        rank = 0
        for place in range(self.free_places):
            rank = rank * self.radix + labels[place]
        return rank

    def unrank(self, ranks: Ranks) -> Labels:
        """Return the values ``(n, places)`` of each number ``(n,)``."""
        labels = np.empty((len(ranks), self.length), dtype=np.uint8)
        rest = ranks
        for place in range(self.free_places - 1, -1, -1):
            rest, labels[:, place] = np.divmod(rest, self.radix)
        if self.total is not None:
            labels[:, -1] = (self.total - labels[:, :-1].sum(axis=1, dtype=np.int64)) % self.radix
        return labels

    def leading(self, places: int) -> "ValuesIndex":
        """Return the index of the first places, without a condition on their sum."""
        return ValuesIndex(self.first, places, self.radix)

    def trailing(self, places: int) -> "ValuesIndex":
        """Return the index of the places after the first ones, without places that have no digit."""
        return ValuesIndex(self.first + places, self.free_places - places, self.radix)


PartIndex = PiecesIndex | ValuesIndex
"""The numbering of the contents of a part, in digits."""


@dataclass(frozen=True)
class OrbitCut:
    """The parts in the order of their digits, and the digit before which they are cut into row and column."""

    parts: tuple[PartIndex, ...]
    number: int
    """Number of the part that is cut. The parts before it are in the row, and the parts after it are in the column."""
    leading: int = 0
    """Number of digits of this part that are in the row."""

    @cached_property
    def row(self) -> tuple[PartIndex, ...]:
        """The parts of the row: whole parts, then the leading digits of the part that is cut."""
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
        """Number of rows."""
        return prod(part.size for part in self.row)

    @cached_property
    def width(self) -> int:
        """Number of columns."""
        return prod(part.size for part in self.column)

    @property
    def divides_pieces(self) -> bool:
        """Whether the cut divides an arrangement of pieces; the column then arranges the rest on the free places."""
        return self.leading > 0 and isinstance(self._divided, PiecesIndex)

    @property
    def column_parts(self) -> tuple[PartIndex, ...]:
        """The parts of the column whose change by a move does not depend on the row."""
        return self.column[1:] if self.divides_pieces else self.column

    @cached_property
    def column_places(self) -> Mask:
        """``(places,)``: whether a place belongs to the `column_parts`. All other places belong to the row."""
        belong = np.zeros(max(part.place_slice.stop for part in self.parts), dtype=np.bool_)
        for part in self.column_parts:
            belong[part.place_slice] = True
        return belong

    @property
    def _divided(self) -> PartIndex:
        return self.parts[self.number]
