"""The parity of arrangements of different pieces, and a test of whether permutations generate all even permutations.

In some puzzles, all reachable arrangements have the same parity, or the place of the empty square determines their
parity. The index of such arrangements omits the order of the last two labels: they are treated as equal, and the parity
determines which of them is on which place.
"""

import random
from collections.abc import Collection, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from antipodes_tasks.base.array_types import Labels, Mask

Parities = NDArray[np.uint8]
BATCH = 1 << 14
"""Number of arrangements in a batch, so that intermediate results stay in the cache."""


def parities(arrangements: NDArray[np.integer[Any]]) -> Parities:
    """Return the parity ``(n,)`` of arrangements ``(n, places)`` of different labels: 1 for odd arrangements."""
    if len(arrangements) < arrangements.shape[1]:  # the loops below would take longer to start than to compare
        return np.array([parity_of(order) for order in arrangements.argsort(axis=1).tolist()], dtype=np.uint8)
    found = np.zeros(len(arrangements), dtype=np.uint8)
    for first in range(0, len(arrangements), BATCH):
        columns = np.ascontiguousarray(arrangements[first : first + BATCH].T)
        odd = np.zeros(columns.shape[1], dtype=np.bool_)
        for place in range(1, len(columns)):
            for before in columns[:place]:
                odd ^= before > columns[place]
        found[first : first + BATCH] = odd
    return found


def parity_of(arrangement: Sequence[int]) -> int:
    """Return the parity of a permutation of 0 to n - 1, given as Python integers: places minus cycles, modulo 2."""
    odd, seen = 0, [False] * len(arrangement)
    for place in range(len(arrangement)):
        length = 0
        while not seen[place]:
            seen[place] = True
            place = arrangement[place]
            length += 1
        if length:
            odd ^= length - 1
    return odd & 1


def with_last_two_equal(arrangements: Labels, labels: int) -> Labels:
    """Return the arrangements ``(n, places)`` of different labels with the last label replaced by the second last."""
    return np.minimum(arrangements, np.uint8(labels - 2))


def with_last_two_apart(arrangements: Labels, labels: int, parity: int | Parities) -> Labels:
    """Return the arrangements of different labels with the given ``parity``: the inverse of `with_last_two_equal`.

    In each arrangement ``(n, places)``, one of the two places with the label ``labels - 2`` gets the label
    ``labels - 1``.
    """
    apart = with_two_apart(arrangements, labels - 2, labels - 1)
    exchange(apart, parities(apart) != parity, labels - 2, labels - 1)
    return apart


def with_two_apart(arrangements: Labels, low: int, high: int) -> Labels:
    """Return the arrangements ``(n, places)`` with ``high`` in place of the second of the two labels ``low``."""
    apart = arrangements.copy()
    last = apart.shape[1] - 1 - (apart[:, ::-1] == low).argmax(axis=1)
    apart[np.arange(len(apart)), last] = high
    return apart


def exchange(arrangements: Labels, chosen: Mask, low: int, high: int) -> None:
    """Exchange two labels, in place, in the arrangements ``(n, places)`` that are ``chosen`` ``(n,)``."""
    names = np.arange(256, dtype=np.uint8)
    names[[low, high]] = high, low
    arrangements[chosen] = names[arrangements[chosen]]


Permutation = Sequence[int]
LEAST_POINTS = 8
"""Minimum number of points n. For fewer points there is no prime between n / 2 and n - 2."""
TRIES = 200
"""Number of products that are tried. About one product in ``log(points)`` has a suitable cycle."""


def cycles(permutation: Sequence[int]) -> list[list[int]]:
    """Return the cycles of a permutation, including fixed places. In a cycle, each place is followed by its image."""
    seen = [False] * len(permutation)
    found = []
    for start in range(len(permutation)):
        cycle, place = [], start
        while not seen[place]:
            seen[place] = True
            cycle.append(place)
            place = permutation[place]
        if cycle:
            found.append(cycle)
    return found


def generate_even(permutations: Sequence[Permutation]) -> bool:
    """Return whether a test proves that permutations generate all even permutations (and perhaps more).

    Permutations of n points do so if they are transitive and generate an element with a cycle of prime length p, where
    n / 2 < p < n - 2. A power of this element is a single cycle of length p, so there are no blocks of imprimitivity. A
    primitive group that contains such a cycle contains all even permutations (Jordan; H. Wielandt, Finite Permutation
    Groups, theorem 13.9). A fixed sequence of pseudorandom products is tried. False only means that no such element was
    found.
    """
    points = len(permutations[0]) if permutations else 0
    if points < LEAST_POINTS or len(connected_points(permutations, points)) > 1:
        return False
    lengths = {length for length in range(points // 2 + 1, points - 2) if _is_prime(length)}
    choice = random.Random(points)
    product = list(range(points))
    for _ in range(TRIES):
        for _ in range(points):
            factor = choice.choice(permutations)
            product = [product[point] for point in factor]
        if not lengths.isdisjoint(map(len, cycles(product))):
            return True
    return False


def connected_points(permutations: Collection[Permutation], points: int) -> list[list[int]]:
    """Return the orbits of the generated group on the points, each in ascending order."""
    found: list[list[int]] = []
    left = dict.fromkeys(range(points))
    while left:
        waiting, reached = [next(iter(left))], []
        while waiting:
            reached += waiting
            for point in waiting:
                del left[point]
            waiting = [point for point in {one[at] for at in waiting for one in permutations} if point in left]
        found.append(sorted(reached))
    return found


def _is_prime(number: int) -> bool:
    return number > 1 and all(number % divisor for divisor in range(2, int(number**0.5) + 1))
