"""The parity of arrangements of different pieces, and whether permutations generate all even ones.

If every move that leads back to the same row is an even permutation, only the arrangements of one parity can be
reached. An index of these leaves out the difference between the last two labels: they count as equal, and the parity
says which of them is which.
"""

import random
from collections.abc import Collection, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

Labels = NDArray[np.uint8]
Parities = NDArray[np.uint8]
BATCH = 1 << 14
"""Arrangements in a batch, so that intermediate results stay in cache."""


def parities(arrangements: NDArray[np.integer[Any]]) -> Parities:
    """The parity of each of ``(n, places)`` different labels, ``(n,)``: 1 for an odd number of inversions, else 0."""
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
    """The parity of one permutation of 0 to n - 1, given as Python's integers: that of its places less its cycles."""
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
    """The arrangements ``(n, places)`` of ``labels`` different labels, the last label written as the one before it."""
    return np.minimum(arrangements, np.uint8(labels - 2))


def with_last_two_apart(arrangements: Labels, labels: int, parity: int | Parities) -> Labels:
    """The arrangements of different labels that have the ``parity``: the inverse of `with_last_two_equal`.

    Of the two places ``(n, places)`` with the label ``labels - 2`` one gets the label ``labels - 1``.
    """
    apart = arrangements.copy()
    equal = apart == labels - 2
    every = np.arange(len(apart))
    low, high = equal.argmax(axis=1), apart.shape[1] - 1 - equal[:, ::-1].argmax(axis=1)
    apart[every, high] = labels - 1
    wrong = parities(apart) != parity
    apart[every[wrong], low[wrong]] = labels - 1
    apart[every[wrong], high[wrong]] = labels - 2
    return apart


Permutation = Sequence[int]
LEAST_POINTS = 8
"""Fewer points have no prime between their half and their number less two."""
TRIES = 200
"""Products that are tried. About one in ``log(points)`` has the cycle that is sought."""


def cycles(permutation: Sequence[int]) -> list[list[int]]:
    """The cycles of a permutation, fixed places too: each place is followed by the one that it maps to."""
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
    """Whether it is certain that the permutations of some points generate all even permutations, at least.

    They do if they are transitive and generate an element with a cycle of a prime length p, n / 2 < p < n - 2. A power
    of it is a cycle of length p alone, which no blocks of imprimitivity allow. A primitive group with such a cycle has
    all even permutations (Jordan; H. Wielandt, Finite Permutation Groups, theorem 13.9). Random products are tried,
    always the same ones. False does not say that they do not.
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
    """The sets of points that permutations lead to from each other, each in ascending order."""
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
