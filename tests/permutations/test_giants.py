"""Groups that have all even permutations are known without their order; no others are taken for them."""

from itertools import pairwise
from math import factorial

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sympy.combinatorics import Permutation, PermutationGroup

from antipodes_tasks.permutations.parity import generate_even


def ring(points: int) -> list[int]:
    return [*range(1, points), 0]


@pytest.mark.parametrize("points", [*range(8, 40), 100, 255])
def test_a_ring_and_a_cycle_of_three_generate_all_even_permutations(points: int) -> None:
    assert generate_even([ring(points), [1, 2, 0, *range(3, points)]])


@given(st.integers(8, 10).flatmap(lambda n: st.lists(st.permutations(range(n)), min_size=1, max_size=3)))
def test_random_permutations_against_the_order_of_their_group(permutations: list[list[int]]) -> None:
    group = PermutationGroup([Permutation(one) for one in permutations])
    assert generate_even(permutations) == giant(group)


def giant(group: PermutationGroup) -> bool:
    return bool(2 * group.order() >= factorial(group.degree))


def test_others_are_not_taken_for_giants() -> None:
    two_halves = [[1, 2, 3, 4, 0, 5, 6, 7, 8, 9], [0, 1, 2, 3, 4, 6, 7, 8, 9, 5], [1, 0, 2, 3, 4, 6, 5, 7, 8, 9]]
    blocks = [[1, 0, *range(2, 12)], [*range(2, 12), 0, 1], [2, 3, 0, 1, *range(4, 12)]]
    mathieu_12 = [
        [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 0, 11],
        cycles(12, [[2, 6, 10, 7], [3, 9, 4, 5]]),
        cycles(12, [[0, 11], [1, 10], [2, 5], [3, 7], [4, 8], [6, 9]]),
    ]
    assert PermutationGroup([Permutation(one) for one in mathieu_12]).order() == 95040
    for permutations in (two_halves, blocks, mathieu_12, [ring(11)], [ring(7), [1, 0, *range(2, 7)]], []):
        assert not generate_even(permutations)


def cycles(points: int, written: list[list[int]]) -> list[int]:
    permutation = list(range(points))
    for cycle in written:
        for one, other in pairwise([*cycle, cycle[0]]):
            permutation[one] = other
    return permutation
