"""Kernels that rank and unrank many arrangements; `antipodes_tasks.spaces.numbering.arrangements` defines the ranks."""

from collections.abc import Sequence
from math import comb, prod
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from antipodes_tasks.jit import kernel
from antipodes_tasks.spaces.numbering.combinations import Ranks, binomials
from antipodes_tasks.spaces.numbering.rank_tables import rank_tables


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
