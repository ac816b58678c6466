"""The contents of one part of a puzzle as numbers: arrangements of pieces, or values in mixed radix."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import Any

import numpy as np

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
class PartIndex(ABC):
    """Numbers of the contents of some places side by side, in digits."""

    first: int
    """The number of the first place among those of the puzzle."""

    @property
    @abstractmethod
    def places(self) -> int:
        """The number of places."""

    @property
    @abstractmethod
    def radices(self) -> tuple[int, ...]:
        """The number of values of each digit; a digit of radix 1 costs nothing."""

    @property
    @abstractmethod
    def details(self) -> list[Any]:
        """What a store keeps of this numbering, as JSON."""

    @abstractmethod
    def rank(self, labels: Labels) -> Ranks:
        """The number of each content ``(n, places)``, ``(n,)``; NOT_NUMBERED for those that have none."""

    @abstractmethod
    def rank_one(self, labels: Sequence[int]) -> int:
        """As `rank`, for one content, given as Python's integers."""

    @abstractmethod
    def unrank(self, ranks: Ranks) -> Labels:
        """The content ``(n, places)`` of each number ``(n,)``."""

    @cached_property
    def at(self) -> slice:
        """The places among those of the puzzle."""
        return slice(self.first, self.first + self.places)

    @cached_property
    def size(self) -> int:
        """How many contents have a number."""
        return prod(self.radices)


@dataclass(frozen=True)
class PiecesIndex(PartIndex):
    """Numbers of the arrangements of pieces: all of them, or those of one parity.

    With a ``parity`` all pieces differ, and ``counts`` takes the last two labels as one: see
    `antipodes_tasks.permutations.parity`.
    """

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
class ValuesIndex(PartIndex):
    """Numbers of values in mixed radix, the first place the most significant: all of them, or those of one sum."""

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


def combined(parts: Sequence[PartIndex], labels: Labels) -> Ranks:
    """The number of each position ``(n, places)`` in mixed radix, with a digit for each part; NOT_NUMBERED or more."""
    ranks = np.zeros(len(labels), dtype=np.int64)
    unnumbered = np.zeros(len(labels), dtype=np.bool_)
    for part in parts:
        here = part.rank(labels[:, part.at])
        unnumbered |= here == NOT_NUMBERED
        ranks = ranks * part.size + here
    ranks[unnumbered] = NOT_NUMBERED
    return ranks


def combined_one(parts: Sequence[PartIndex], labels: Sequence[int]) -> int:
    """As `combined`, for one position, given as Python's integers."""
    rank = 0
    for part in parts:
        here = part.rank_one(labels[part.at])
        if here == NOT_NUMBERED:
            return NOT_NUMBERED
        rank = rank * part.size + here
    return rank


def separated(parts: Sequence[PartIndex], ranks: Ranks, places: int) -> Labels:
    """The position ``(n, places)`` of each number ``(n,)``: the inverse of `combined`."""
    labels = np.empty((len(ranks), places), dtype=np.uint8)
    rest = ranks
    for part in reversed(parts):
        rest, here = np.divmod(rest, part.size)
        labels[:, part.at] = part.unrank(here)
    return labels
