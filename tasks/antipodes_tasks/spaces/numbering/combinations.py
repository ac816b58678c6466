"""Combinations as numbers, vectorised: the combinatorial number system."""

from functools import cache
from math import comb

import numpy as np
from numpy.typing import NDArray

Mask = NDArray[np.bool_]
Ranks = NDArray[np.int64]


@cache
def binomials(places: int, chosen: int) -> Ranks:
    """``(places, chosen + 1)``: the binomial coefficients ``C(place, number)``, those past 64 bits clipped."""
    greatest = np.uint64(np.iinfo(np.int64).max)
    rows = np.zeros((places, chosen + 1), dtype=np.uint64)
    rows[:, 0] = 1
    for place in range(1, places):
        rows[place, 1:] = np.minimum(rows[place - 1, 1:] + rows[place - 1, :-1], greatest)
    table = rows.astype(np.int64)
    table.flags.writeable = False
    return table


def rank_combinations(chosen: Mask) -> Ranks:
    """The rank of each of ``(n, places)``, where every row chooses equally many places: ``(n,)``.

    The places ``p1 < p2 < ...`` have the rank ``C(p1, 1) + C(p2, 2) + ...``, colexicographic order from 0 to
    ``C(places, number) - 1`` (Knuth, The Art of Computer Programming 4A, section 7.2.1.3, theorem L).
    """
    n, places = chosen.shape
    number = int(chosen[0].sum()) if n else 0
    if number == 1:
        only: Ranks = chosen.argmax(axis=1)
        return only
    if number > places - number:  # colexicographic order is that of the complements backwards
        return comb(places, number) - 1 - rank_combinations(~chosen)
    positions = np.nonzero(chosen)[1].reshape(n, number)
    ranks = np.zeros(n, dtype=np.int64)
    for i in range(number):
        ranks += binomials(places, number)[positions[:, i], i + 1]
    return ranks


def unrank_combinations(ranks: Ranks, places: int, number: int) -> Mask:
    """Which places each rank chooses, ``(n, places)``: the inverse of `rank_combinations`."""
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
