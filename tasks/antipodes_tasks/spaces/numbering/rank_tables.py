"""Tables to rank arrangements place by place; `antipodes_tasks.spaces.numbering.arrangements` defines the ranks.

The *state* at a place is the number of pieces of each label before it. A piece adds a number to the rank that depends
on its label and the state only, and is read from a small table.
"""

from collections.abc import Sequence
from functools import lru_cache
from math import comb, prod
from typing import NamedTuple

import numpy as np

from antipodes_tasks.spaces.numbering.combinations import Ranks, binomials


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


class TablesOfOne(NamedTuple):
    """The tables as Python reads them fastest, an element at a time."""

    added: list[int]
    """The numbers added to the rank, those of each state side by side."""
    steps: list[int]
    """The number that each label adds to the first place of its state in ``added``."""


def tables_of_one(counts: tuple[int, ...]) -> TablesOfOne:
    """The tables for `rank_one`."""
    added, units = rank_tables(counts)
    return TablesOfOne(added.ravel().tolist(), (units * len(counts)).tolist())


def rank_one(tables: TablesOfOne, labels: Sequence[int]) -> int:
    """The rank of one arrangement, which is not checked."""
    added, steps = tables
    rank = state = 0
    for label in labels:
        rank += added[state + label]
        state += steps[label]
    return rank
