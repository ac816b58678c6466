"""Whether permutations generate all even permutations, found in a moment and without a stabiliser chain."""

import random
from collections.abc import Sequence

Permutation = Sequence[int]
LEAST_POINTS = 8
"""Fewer points have no prime between their half and their number less two."""
TRIES = 200
"""Products that are tried. About one in ``log(points)`` has the cycle that is sought."""


def generate_even(permutations: Sequence[Permutation]) -> bool:
    """Whether it is certain that the permutations of some points generate all even permutations, at least.

    They do if they are transitive and generate an element with a cycle of a prime length p, n / 2 < p < n - 2. A power
    of it is a cycle of length p alone, which no blocks of imprimitivity allow. A primitive group with such a cycle has
    all even permutations (Jordan; H. Wielandt, Finite Permutation Groups, theorem 13.9). Random products are tried,
    always the same ones. False does not say that they do not.
    """
    points = len(permutations[0]) if permutations else 0
    if points < LEAST_POINTS or not _is_transitive(permutations, points):
        return False
    lengths = {length for length in range(points // 2 + 1, points - 2) if _is_prime(length)}
    choice = random.Random(points)
    product = list(range(points))
    for _ in range(TRIES):
        for _ in range(points):
            factor = choice.choice(permutations)
            product = [product[point] for point in factor]
        if lengths & _cycle_lengths(product):
            return True
    return False


def _is_transitive(permutations: Sequence[Permutation], points: int) -> bool:
    reached, waiting = {0}, [0]
    while waiting:
        point = waiting.pop()
        new = {permutation[point] for permutation in permutations} - reached
        reached |= new
        waiting.extend(new)
    return len(reached) == points


def _cycle_lengths(permutation: Permutation) -> set[int]:
    lengths, seen = set(), set[int]()
    for first in range(len(permutation)):
        length, point = 0, first
        while point not in seen:
            seen.add(point)
            point = permutation[point]
            length += 1
        lengths.add(length)
    return lengths


def _is_prime(number: int) -> bool:
    return number > 1 and all(number % divisor for divisor in range(2, int(number**0.5) + 1))
