"""Ranking many arrangements, place by place; `antipodes.spaces.numbering.arrangements` defines the ranks.

The *state* at a place is the number of pieces of each label before it. A piece adds a number to the rank that depends
on its label and the state only, and is read from a small table.
"""

from collections.abc import Sequence
from functools import lru_cache
from math import comb, prod
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from antipodes.jit.compile import kernel
from antipodes.spaces.numbering.combinations import Ranks, binomials


@lru_cache(maxsize=4)
def rank_tables(counts: tuple[int, ...]) -> tuple[Ranks, Ranks]:
    """The number that each label adds to the rank in each state, ``(states, labels)``, and to the state, ``(labels,)``.

    A state is a number in mixed radix with a digit per label.
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


class Numbering(NamedTuple):
    """The numbering of arrangements, for kernels."""

    counts: NDArray[np.int64]
    """The number of places with each label."""
    radices: NDArray[np.int64]
    """The number of values of the digit of each label."""
    weights: NDArray[np.int64]
    """The weight of each digit."""
    choices: Ranks
    """Binomial coefficients."""
    added: Ranks
    """The number that each label adds to the rank in each state, ``(states, labels)``."""
    units: Ranks
    """The number that each label adds to the state."""


def numbering(counts: Sequence[int]) -> Numbering:
    """The numbering of the arrangements with these counts."""
    places = [sum(counts[label:]) for label in range(len(counts))]
    radices = [comb(free, count) for free, count in zip(places, counts, strict=True)]
    weights = [prod(radices[label + 1 :]) for label in range(len(counts))]
    fewer = max(min(count, free - count) for free, count in zip(places, counts, strict=True))
    added, units = rank_tables(tuple(counts))
    return Numbering(
        counts=np.array(counts, dtype=np.int64),
        radices=np.array(radices, dtype=np.int64),
        weights=np.array(weights, dtype=np.int64),
        choices=binomials(places[0], fewer),
        added=added,
        units=units,
    )


@kernel
def unrank(rank: int, numbering: Numbering, labels: NDArray[np.uint8], free: NDArray[np.int64]) -> None:
    """Write the arrangement of a rank to ``labels`` ``(places,)``; ``free`` is scratch space of that size."""
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
        if others:  # the order of combinations is that of their complements backwards
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
def rank_rearranged(labels: NDArray[np.uint8], origins: NDArray[np.int16], added: Ranks, units: Ranks) -> Ranks:
    """The ranks ``(k, n)`` of the arrangements ``labels[n, origins[k]]``."""
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
