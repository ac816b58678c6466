"""What permutations of all places do to the order of the free ones, numbered.

Where the cut divides an arrangement of pieces, a row leaves some places free, and a column arranges the other pieces on
them in their order. A move brings the free places into another order. That depends on the move and on which places are
free, not on what stands on them.
"""

from itertools import pairwise
from math import comb, factorial, prod
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from antipodes_tasks.permutations.arrangements import unrank_arrangements

Origins = NDArray[np.integer[Any]]
COUNTED = 1 << 20
"""Entries of rearrangements that are counted one by one to plan: some 20 ms. More are bounded."""
WORD_BITS = 64


class Rearrangements(NamedTuple):
    """The different rearrangements of the free places; number 0 leaves them in their order."""

    numbers: NDArray[np.int64]
    """``(subsets, permutations)``: the number of the rearrangement for each set of free places. Sets are numbered as
    arrangements of label 0 on the other places, and label 1 on the free ones."""
    origins: NDArray[np.uint8]
    """``(rearrangements, free)``: from which free place, in their order, each free place gets its piece."""


def rearrangements(origins: Origins, free: int) -> Rearrangements:
    """The rearrangements of ``free`` places by permutations ``(n, places)``, place ``i`` from ``origins[i]``."""
    places = origins.shape[1]
    subsets = unrank_arrangements(np.arange(comb(places, free)), (places - free, free))
    identity = np.arange(free, dtype=np.uint8)
    found = [np.tile(identity, (1, 1)), *(_rearranged(subsets, origin, free) for origin in origins)]
    numbers, firsts = _numbered(np.concatenate(found))
    order = np.argsort(np.argsort(firsts))  # in the order of their first appearance: the identity is 0
    numbers = order[numbers]
    every = np.concatenate(found)[np.sort(firsts)]
    return Rearrangements(np.ascontiguousarray(numbers[1:].reshape(len(origins), len(subsets)).T), every)


def most_rearrangements(origins: Origins, free: int) -> NDArray[np.int64]:
    """For each permutation ``(n, places)`` an upper bound of the different rearrangements of ``free`` places, ``(n,)``.

    A permutation moves runs of neighbouring places together, perhaps backwards. How many places of each run are free
    decides the rearrangement.
    """
    most = min(comb(origins.shape[1], free), factorial(free))
    return np.array([min(most, _fillings(_runs(origin), free)) for origin in origins.tolist()], dtype=np.int64)


def can_be_counted(origins: Origins, free: int) -> bool:
    """Whether `rearrangements` takes a moment only."""
    return prod((comb(origins.shape[1], free), len(origins), free)) <= COUNTED


def _rearranged(subsets: NDArray[np.uint8], origin: NDArray[Any], free: int) -> NDArray[np.uint8]:
    """The rearrangement ``(subsets, free)`` of each set of free places."""
    before = (np.cumsum(subsets, axis=1) - 1).astype(np.uint8)
    moved: NDArray[np.uint8] = before[:, origin][subsets[:, origin] == 1].reshape(len(subsets), free)
    return moved


def _numbered(permutations: NDArray[np.uint8]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """A number for each of ``(n, free)``, equal for equal ones, and the first place of each number."""
    bits = max(1, (permutations.shape[1] - 1).bit_length())
    step = WORD_BITS // bits
    numbers = np.zeros(len(permutations), dtype=np.int64)
    firsts = np.zeros(1, dtype=np.int64)
    for first in range(0, permutations.shape[1], step):
        keys = np.zeros(len(permutations), dtype=np.uint64)
        for column in permutations[:, first : first + step].T:
            keys = keys << np.uint64(bits) | column
        _, here = _distinct(keys)
        firsts, numbers = _distinct(numbers * (here.max() + 1) + here)
    return numbers, firsts


def _distinct(keys: NDArray[Any]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The first place of each different key, and the number of each key.

    As np.unique, which loads numpy.ma and sorts twice.
    """
    order = np.argsort(keys, kind="stable")
    ordered = keys[order]
    differs = np.ones(len(keys), dtype=np.bool_)
    differs[1:] = ordered[1:] != ordered[:-1]
    numbers = np.empty(len(keys), dtype=np.int64)
    numbers[order] = np.cumsum(differs) - 1
    return order[differs], numbers


def _runs(origin: list[int]) -> list[int]:
    """The lengths of the longest runs of places that stay neighbours, in their order or all backwards."""
    runs, direction = [1], 0
    for one, other in pairwise(origin):
        step = other - one
        if abs(step) == 1 and direction in (0, step):
            runs[-1] += 1
            direction = step
        else:
            runs.append(1)
            direction = 0
    return runs


def _fillings(runs: list[int], free: int) -> int:
    """In how many ways the runs can have ``free`` free places together."""
    ways = [1] + [0] * free
    for length in runs:
        ways = [sum(ways[max(0, total - length) : total + 1]) for total in range(free + 1)]
    return ways[free]
