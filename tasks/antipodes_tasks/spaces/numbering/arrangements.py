"""The two-digit index: a minimal perfect hash of all arrangements of labelled pieces on places.

An arrangement is numbered in mixed radix, with a digit per label: the rank of the combination of places that the label
takes among those that the labels before it leave free. The last label has no choice. Any cut between two labels splits
the number into ``row * width + column``; the position of the cut changes no rank.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache, partial
from math import comb, prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from antipodes_tasks.errors import InputError
from antipodes_tasks.spaces.numbering.combinations import Ranks, rank_combinations, unrank_combinations
from antipodes_tasks.spaces.numbering.rank_tables import rank_one, rank_tables, tables_of_one

Arrangements = NDArray[np.uint8]
BATCH = 1 << 16
"""Arrangements in a batch, so that intermediate results stay in cache."""
MANY = 1 << 14
"""Arrangements from which on a compiled kernel ranks them; for fewer, loading it would take longer."""
MOST_STATES = 1 << 18
"""States of the kernel's table, at most; with more, arrangements are ranked without the kernel."""
FEW_STATES = 1 << 14
"""States of the table for one arrangement, at most: it is made in a few milliseconds."""


def radices(counts: Sequence[int]) -> tuple[int, ...]:
    """The number of values of the digit of each label."""
    places = sum(counts)
    return tuple(comb(places - sum(counts[:label]), count) for label, count in enumerate(counts))


def rank_arrangements(labels: Arrangements, counts: Sequence[int]) -> Ranks:
    """The number of each arrangement ``(n, places)``, ``(n,)``, from 0 to the number of arrangements - 1.

    Every row must have each label as often as ``counts`` says, which is not checked.
    """
    ranks: Ranks = rank_rearranged(labels, np.arange(labels.shape[1])[np.newaxis], counts)[0]
    return ranks


@lru_cache(maxsize=16)
def ranker(counts: tuple[int, ...]) -> Callable[[Sequence[int]], int]:
    """As `rank_arrangements`, a function of one arrangement, which a loop ranks faster than arrays do."""
    if prod(count + 1 for count in counts) <= FEW_STATES:
        return partial(rank_one, tables_of_one(counts))
    return lambda labels: int(rank_arrangements(np.array([labels], dtype=np.uint8), counts)[0])


def rank_rearranged(labels: Arrangements, origins: NDArray[np.integer[Any]], counts: Sequence[int]) -> Ranks:
    """The numbers ``(k, n)`` of the arrangements ``labels[:, origin]`` for each of the ``origins`` ``(k, places)``."""
    if len(labels) * len(origins) >= MANY and prod(count + 1 for count in counts) <= MOST_STATES:
        from antipodes_tasks.spaces.numbering import ranking

        tables = rank_tables(tuple(counts))
        return ranking.rank_rearranged(np.ascontiguousarray(labels), origins.astype(np.int16), *tables)
    ranks = np.empty((len(origins), len(labels)), dtype=np.int64)
    for first in range(0, len(labels), BATCH):
        batch = labels[first : first + BATCH]
        for number, origin in enumerate(origins):
            ranks[number, first : first + BATCH] = _rank_few(np.take(batch, origin, axis=1), counts)
    return ranks


def _rank_few(labels: Arrangements, counts: Sequence[int]) -> Ranks:
    ranks = np.zeros(len(labels), dtype=np.int64)
    free = labels
    for label, radix in enumerate(radices(counts)[:-1]):
        taken = free == label
        ranks *= radix
        ranks += rank_combinations(taken)
        free = free[~taken].reshape(len(labels), free.shape[1] - counts[label])
    return ranks


def unrank_arrangements(ranks: Ranks, counts: Sequence[int]) -> Arrangements:
    """The arrangement ``(n, places)`` of each number ``(n,)``: the inverse of `rank_arrangements`."""
    arrangements = np.empty((len(ranks), sum(counts)), dtype=np.uint8)
    for first in range(0, len(ranks), BATCH):
        batch = slice(first, first + BATCH)
        arrangements[batch] = _unrank_batch(ranks[batch], counts)
    return arrangements


def _unrank_batch(ranks: Ranks, counts: Sequence[int]) -> Arrangements:
    last = len(counts) - 1
    arrangement = np.full((len(ranks), counts[last]), last, dtype=np.uint8)
    rest = np.array(ranks, dtype=np.int64)
    for label in range(last - 1, -1, -1):
        places = sum(counts[label:])
        rest, digit = np.divmod(rest, comb(places, counts[label]))
        taken = unrank_combinations(digit, places, counts[label])
        wider = np.full((len(ranks), places), label, dtype=np.uint8)
        wider[~taken] = arrangement.ravel()
        arrangement = wider
    return arrangement


@dataclass(frozen=True)
class Index:
    """The number of every arrangement, as ``row * width + column``."""

    counts: tuple[int, ...]
    """Pieces with each label."""
    leading: int
    """The number of labels in the row; the others are in the column."""

    @cached_property
    def row_counts(self) -> tuple[int, ...]:
        """The counts of a row's labels, then the number of places that it leaves free."""
        return (*self.counts[: self.leading], sum(self.counts[self.leading :]))

    @cached_property
    def column_counts(self) -> tuple[int, ...]:
        """The counts of a column's labels, on the places that the row leaves free."""
        return self.counts[self.leading :] or (0,)

    @cached_property
    def rows(self) -> int:
        """The number of rows."""
        return prod(radices(self.counts)[: self.leading])

    @cached_property
    def width(self) -> int:
        """The number of columns of a row."""
        return prod(radices(self.counts)[self.leading :])

    @property
    def size(self) -> int:
        """The number of arrangements."""
        return self.rows * self.width

    def rank(self, labels: Arrangements) -> Ranks:
        """The index of each arrangement ``(n, places)``, ``(n,)`` int64; the counts are not checked."""
        return rank_arrangements(labels, self.counts)

    def rank_one(self, labels: Sequence[int]) -> int:
        """The index of one arrangement, given as Python's integers; the counts are not checked."""
        return ranker(self.counts)(labels)

    def unrank(self, indices: Ranks) -> Arrangements:
        """The arrangement ``(n, places)`` of each index ``(n,)``.

        Raises
        ------
        InputError
            An index is not in 0 to ``size - 1``.
        """
        outside = (indices < 0) | (indices >= self.size)
        if outside.any():
            raise InputError(f"expected an index from 0 to {self.size - 1}, found {indices[outside][0]}")
        return unrank_arrangements(indices, self.counts)
