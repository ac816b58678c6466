"""Ranking many arrangements, place by place; `antipodes.index` says what the ranks are.

What a piece adds to the rank depends on its label and on how many pieces of each label lie before it: the *state*. A
small table says how much it is.
"""

from functools import lru_cache
from math import comb, prod

import numpy as np
from numpy.typing import NDArray

from antipodes.combinations import Ranks, binomials
from antipodes.compile import kernel


@lru_cache(maxsize=4)
def rank_tables(counts: tuple[int, ...]) -> tuple[Ranks, Ranks]:
    """What each label adds to the rank in each state, ``(states, labels)``, and to the state, ``(labels,)``.

    A state is a number in mixed radix, a digit a label.
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
