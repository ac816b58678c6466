"""The numbering of all arrangements of labelled pieces on places: a minimal perfect hash.

An arrangement is numbered in mixed radix, with a digit for each label: the rank of the combination of places with this
label, among the places that the labels before it leave free. The digit of the last label has only one value. A cut
between any two labels divides the number into ``row * width + column``, and does not change any rank.
"""

from collections.abc import Callable, Sequence
from functools import cache, lru_cache, partial
from math import comb, prod
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from antipodes_tasks.base.array_types import Mask
from antipodes_tasks.base.jit import kernel

Arrangements = NDArray[np.uint8]
Ranks = NDArray[np.int64]
BATCH = 1 << 16
"""Number of arrangements in a batch, so that intermediate results stay in the cache."""
MIN_ARRANGEMENTS_TO_COMPILE = 1 << 14
"""Minimum number of arrangements that a compiled kernel ranks or unranks. For fewer, loading it would take longer."""
MAX_ORDERED = 1 << 22
"""Maximum number of places in the tables of the kernel that unranks. If they are larger, it is not used."""
MAX_SINGLY = 32
"""Maximum number of arrangements that are ranked one by one, because numpy's functions take long to start."""
MAX_STATES = 1 << 18
"""Maximum number of states of the kernel's table. If there are more, arrangements are ranked without the kernel."""
MAX_SINGLE_STATES = 1 << 14
"""Maximum number of states of the table for single arrangements. It is computed in a few milliseconds."""


def radices(counts: Sequence[int]) -> tuple[int, ...]:
    """Return the number of values of the digit of each label."""
    places = sum(counts)
    return tuple(comb(places - sum(counts[:label]), count) for label, count in enumerate(counts))


def rank_arrangements(labels: Arrangements, counts: Sequence[int]) -> Ranks:
    """Return the rank ``(n,)`` of each arrangement ``(n, places)``, from 0 to the number of arrangements - 1.

    It is not checked whether each arrangement contains each label as often as ``counts`` requires.
    """
    if len(labels) <= MAX_SINGLY and _ranks_singly(counts):
        return np.array([ranker(tuple(counts))(row) for row in labels.tolist()], dtype=np.int64)
    ranks: Ranks = rank_rearranged(labels, np.arange(labels.shape[1])[np.newaxis], counts)[0]
    return ranks


def _ranks_singly(counts: Sequence[int]) -> bool:
    """Return whether the tables for single arrangements are small."""
    return prod(count + 1 for count in counts) <= MAX_SINGLE_STATES


@lru_cache(maxsize=16)
def ranker(counts: tuple[int, ...]) -> Callable[[Sequence[int]], int]:
    """Return a function that ranks one arrangement of Python integers, faster than `rank_arrangements` does."""
    if _ranks_singly(counts):
        return partial(rank_one, tables_of_one(counts))
    return lambda labels: int(rank_arrangements(np.array([labels], dtype=np.uint8), counts)[0])


def rank_rearranged(labels: Arrangements, origins: NDArray[np.integer[Any]], counts: Sequence[int]) -> Ranks:
    """Return the ranks ``(k, n)`` of the arrangements ``labels[:, origin]`` for each of ``origins`` ``(k, places)``."""
    if len(labels) * len(origins) >= MIN_ARRANGEMENTS_TO_COMPILE and prod(count + 1 for count in counts) <= MAX_STATES:
        tables = rank_tables(tuple(counts))
        return _rank_rearranged(np.ascontiguousarray(labels), origins.astype(np.int16), *tables)
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
    """Return the arrangement ``(n, places)`` of each rank ``(n,)``: the inverse of `rank_arrangements`."""
    if len(ranks) < MIN_ARRANGEMENTS_TO_COMPILE or prod(radices(counts)) > np.iinfo(np.int64).max:
        return _unrank_few(ranks, counts)
    if sum(digits * free for digits, free in zip(radices(counts), _free_places(counts), strict=True)) > MAX_ORDERED:
        return _unrank_few(ranks, counts)
    if ranks.min() < 0 or ranks.max() >= prod(radices(counts)):  # the kernel would write outside of its arrays
        raise IndexError(f"expected ranks below {prod(radices(counts))}, found {ranks.min()} to {ranks.max()}")
    arrangements = np.empty((len(ranks), sum(counts)), dtype=np.uint8)
    _unrank_many(np.asarray(ranks, dtype=np.int64), _unranking(tuple(counts)), *_orders(tuple(counts)), arrangements)
    return arrangements


def _free_places(counts: Sequence[int]) -> list[int]:
    """Return, for each label, the number of places that the labels before it leave free."""
    return [sum(counts[label:]) for label in range(len(counts))]


@lru_cache(maxsize=4)
def _orders(counts: tuple[int, ...]) -> tuple[NDArray[np.uint16], NDArray[np.int64]]:
    """Return the free places in an order for each value of each digit, and where the orders of each label begin.

    The places that get the label come first.
    """
    orders = []
    for free, count in zip(_free_places(counts), counts, strict=True):
        chosen = unrank_combinations(np.arange(comb(free, count)), free, count)
        orders.append(np.argsort(~chosen, axis=1, kind="stable").astype(np.uint16).ravel())
    begins = np.cumsum([0, *map(len, orders)], dtype=np.int64)[:-1]
    return np.concatenate(orders), begins


def _unrank_few(ranks: Ranks, counts: Sequence[int]) -> Arrangements:
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


@cache
def binomials(places: int, chosen: int) -> Ranks:
    """Return ``(places, chosen + 1)``: the binomial coefficients ``C(place, number)``, clipped to 64 bits."""
    greatest = np.uint64(np.iinfo(np.int64).max)
    rows = np.zeros((places, chosen + 1), dtype=np.uint64)
    rows[:, 0] = 1
    for place in range(1, places):
        rows[place, 1:] = np.minimum(rows[place - 1, 1:] + rows[place - 1, :-1], greatest)
    table = rows.astype(np.int64)
    table.flags.writeable = False
    return table


def rank_combinations(chosen: Mask) -> Ranks:
    """Return the rank ``(n,)`` of each set of places ``(n, places)``. All sets must have the same size.

    The set of the places ``p1 < p2 < ...`` has the rank ``C(p1, 1) + C(p2, 2) + ...``. Ranks are in colexicographic
    order, from 0 to ``C(places, number) - 1`` (Knuth, The Art of Computer Programming 4A, section 7.2.1.3, theorem L).
    """
    n, places = chosen.shape
    number = int(chosen[0].sum()) if n else 0
    if number == 1:
        only: Ranks = chosen.argmax(axis=1)
        return only
    if number > places - number:  # combinations have the reverse order of their complements
        return comb(places, number) - 1 - rank_combinations(~chosen)
    positions = np.nonzero(chosen)[1].reshape(n, number)
    ranks = np.zeros(n, dtype=np.int64)
    for i in range(number):
        ranks += binomials(places, number)[positions[:, i], i + 1]
    return ranks


def unrank_combinations(ranks: Ranks, places: int, number: int) -> Mask:
    """Return the set of places ``(n, places)`` with each rank ``(n,)``: the inverse of `rank_combinations`."""
    if number > places - number:
        return ~unrank_combinations(comb(places, number) - 1 - ranks, places, places - number)
    chosen = np.zeros((len(ranks), places), dtype=bool)
    rest = np.array(ranks, dtype=np.int64)
    every = np.arange(len(ranks))
    for i in range(number, 0, -1):
        column = binomials(places, number)[:, i]
        greatest = np.searchsorted(column, rest, side="right") - 1
        chosen[every, greatest] = True
        rest -= column[greatest]
    return chosen


@lru_cache(maxsize=4)
def rank_tables(counts: tuple[int, ...]) -> tuple[Ranks, Ranks]:
    """Return the numbers that labels add to the rank, ``(states, labels)``, and to the state, ``(labels,)``.

    An arrangement is read place by place. The *state* describes how often each label has occurred so far, as a number
    in mixed radix with a digit for each label. The number that a label adds to the rank depends on the state.
    """
    kinds, places = len(counts), sum(counts)
    before = np.indices([count + 1 for count in counts]).reshape(kinds, -1)
    units = np.array([prod(count + 1 for count in counts[label + 1 :]) for label in range(kinds)], dtype=np.int64)
    choices = binomials(places + 1, max(counts) + 1)
    added = np.zeros((before.shape[1], kinds), dtype=np.int64)
    for label in range(kinds):
        weight = prod(comb(sum(counts[later:]), counts[later]) for later in range(label + 1, kinds))
        possible = before[label] < counts[label]
        free = before[label:, possible].sum(axis=0)
        added[possible, label] = choices[free, before[label, possible] + 1] * weight
    return added, units


class TablesOfOne(NamedTuple):
    """The tables of `rank_tables` as lists, because Python reads single elements of lists fastest."""

    added: list[int]
    """The numbers added to the rank; the numbers of a state are adjacent."""
    steps: list[int]
    """The number that each label adds to the index in ``added`` at which the numbers of the state begin."""


def tables_of_one(counts: tuple[int, ...]) -> TablesOfOne:
    """Return the tables for `rank_one`."""
    added, units = rank_tables(counts)
    return TablesOfOne(added.ravel().tolist(), (units * len(counts)).tolist())


def rank_one(tables: TablesOfOne, labels: Sequence[int]) -> int:
    """Return the rank of one arrangement, which is not checked."""
    added, steps = tables
    rank = state = 0
    for label in labels:
        rank += added[state + label]
        state += steps[label]
    return rank


class ArrangementNumbering(NamedTuple):
    """The numbering of arrangements, for kernels."""

    counts: NDArray[np.int64]
    """Number of places with each label."""
    radices: NDArray[np.int64]
    """Number of values of the digit of each label."""
    weights: NDArray[np.int64]
    """The weight of each digit."""
    choices: Ranks
    """Binomial coefficients."""
    added: Ranks
    """``(states, labels)``: the number that each label adds to the rank in each state."""
    units: Ranks
    """The number that each label adds to the state."""


@lru_cache(maxsize=64)
def _unranking(counts: tuple[int, ...]) -> ArrangementNumbering:
    """Return a numbering without the tables for ranks, which may be large."""
    places = _free_places(counts)
    radices = [comb(free, count) for free, count in zip(places, counts, strict=True)]
    weights = [prod(radices[label + 1 :]) for label in range(len(counts))]
    fewer = max(min(count, free - count) for free, count in zip(places, counts, strict=True))
    return ArrangementNumbering(
        counts=np.array(counts, dtype=np.int64),
        radices=np.array(radices, dtype=np.int64),
        weights=np.array(weights, dtype=np.int64),
        choices=binomials(places[0], fewer),
        added=np.empty((0, 0), dtype=np.int64),
        units=np.empty(0, dtype=np.int64),
    )


def numbering(counts: Sequence[int]) -> ArrangementNumbering:
    """Return the numbering of the arrangements with these counts."""
    added, units = rank_tables(tuple(counts))
    return _unranking(tuple(counts))._replace(added=added, units=units)


def numbering_bytes(counts: Sequence[int]) -> int:
    """Return an upper bound on the bytes of a `numbering` while it is computed."""
    states, places, kinds = prod(count + 1 for count in counts), sum(counts), len(counts)
    return 8 * (states * (3 * kinds + 8) + 3 * (places + 1) * (max(counts) + 2))


@kernel
def unrank_arrangement(
    rank: int, numbering: ArrangementNumbering, labels: NDArray[np.uint8], free: NDArray[np.int64]
) -> None:
    """Write the arrangement with a rank to ``labels`` ``(places,)``; ``free`` is scratch memory of the same size."""
    places = len(labels)
    for place in range(places):
        free[place] = place
    first = np.int64(0)  # free places are free[first:]
    for label in range(len(numbering.counts)):
        left = places - first
        digit = rank // numbering.weights[label]
        rank -= digit * numbering.weights[label]
        chosen = numbering.counts[label]
        others = chosen > left - chosen
        if others:  # combinations have the reverse order of their complements
            chosen, digit = left - chosen, numbering.radices[label] - 1 - digit
        kept = np.int64(places)
        for at in range(left - 1, -1, -1):
            take = chosen > 0 and numbering.choices[at, chosen] <= digit
            if take:
                digit -= numbering.choices[at, chosen]
                chosen -= 1
            if take != others:
                labels[free[first + at]] = label
            else:
                kept -= 1
                free[kept] = free[first + at]
        first = kept


@kernel
def _unrank_many(
    ranks: Ranks,
    numbering: ArrangementNumbering,
    orders: NDArray[np.uint16],
    begins: NDArray[np.int64],
    arrangements: NDArray[np.uint8],
) -> None:
    """Write the arrangement with each rank ``(n,)`` to ``arrangements`` ``(n, places)``.

    It looks up the places with each label in the tables of `_orders`, because comparisons with binomial coefficients,
    as in `unrank_arrangement`, cannot be predicted by the processor.
    """
    places = arrangements.shape[1]
    free = np.empty((2, places), dtype=np.int64)
    for n in range(len(ranks)):
        rank, left = ranks[n], np.int64(places)
        for place in range(places):
            free[0, place] = place
        for label in range(len(numbering.counts)):
            digit = rank // numbering.weights[label]
            rank -= digit * numbering.weights[label]
            first, chosen = begins[label] + digit * left, numbering.counts[label]
            before, after = free[label % 2], free[1 - label % 2]
            for at in range(chosen):
                arrangements[n, before[orders[first + at]]] = label
            for at in range(chosen, left):
                after[at - chosen] = before[orders[first + at]]
            left -= chosen


@kernel
def _rank_rearranged(labels: NDArray[np.uint8], origins: NDArray[np.int16], added: Ranks, units: Ranks) -> Ranks:
    """Return the ranks ``(k, n)`` of the arrangements ``labels[n, origins[k]]``."""
    ranks = np.zeros((origins.shape[0], labels.shape[0]), dtype=np.int64)
    for n in range(labels.shape[0]):
        for k in range(origins.shape[0]):
            state, rank = np.int64(0), np.int64(0)
            for place in range(labels.shape[1]):
                label = labels[n, origins[k, place]]
                rank += added[state, label]
                state += units[label]
            ranks[k, n] = rank
    return ranks


def number_rows(rows: NDArray[np.integer[Any]], values: int) -> tuple[Ranks, Ranks]:
    """Return a number for each of the rows ``(n, k)`` of integers below ``values``, and the first row with each number.

    Equal rows have equal numbers. The numbers ``(n,)`` begin with 0 and are in the order of first occurrence.
    """
    bits = max(1, (values - 1).bit_length())
    keys, used = np.zeros(len(rows), dtype=np.int64), 0
    for column in rows.T:
        if used + bits > 63:
            keys, used = _distinct(keys)[0], len(rows).bit_length()
        keys = keys << bits | column
        used += bits
    numbers, firsts = _distinct(keys)
    order = np.argsort(firsts)
    renumbered = np.empty_like(order)
    renumbered[order] = np.arange(len(order))
    return renumbered[numbers], firsts[order]


def _distinct(keys: Ranks) -> tuple[Ranks, Ranks]:
    """Return the number of each key, and where each distinct key first occurs. (np.unique would load numpy.ma.)"""
    order = np.argsort(keys, kind="stable")
    ordered = keys[order]
    differs = np.ones(len(keys), dtype=np.bool_)
    differs[1:] = ordered[1:] != ordered[:-1]
    numbers = np.empty(len(keys), dtype=np.int64)
    numbers[order] = np.cumsum(differs) - 1
    return numbers, order[differs]
