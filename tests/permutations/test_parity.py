"""The parity of arrangements, against the definition by transpositions; generators of all even permutations."""

from itertools import permutations
from math import factorial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from permutation_groups import M12

from antipodes_tasks.permutations.parity import (
    BATCH,
    generate_even,
    parities,
    parity_of,
    with_last_two_apart,
    with_last_two_equal,
)


@pytest.mark.parametrize("places", range(2, 7))
def test_half_of_all_permutations_are_even_and_a_swap_changes_the_parity(places: int) -> None:
    every = np.array(list(permutations(range(places))), dtype=np.uint8)
    odd = parities(every)
    assert odd[0] == 0, "the identity is even"
    assert odd.sum() * 2 == len(every)
    for place in range(places - 1):
        swapped = every.copy()
        swapped[:, [place, place + 1]] = every[:, [place + 1, place]]
        assert (parities(swapped) == 1 - odd).all()


@given(st.permutations(range(9)), st.permutations(range(9)))
def test_the_parity_of_a_product_is_the_sum(one: list[int], other: list[int]) -> None:
    a, b = np.array(one), np.array(other)
    assert parities(a[b][np.newaxis]) == parities(a[np.newaxis]) ^ parities(b[np.newaxis])


@pytest.mark.parametrize("parity", [0, 1])
@pytest.mark.parametrize("places", range(2, 7))
def test_the_parity_tells_the_last_two_labels_apart(places: int, parity: int) -> None:
    every = np.array(list(permutations(range(places))), dtype=np.uint8)
    half = every[parities(every) == parity]
    without = with_last_two_equal(half, places)
    assert len(np.unique(without, axis=0)) == len(half)
    assert (with_last_two_apart(without, places, parity) == half).all()
    assert (with_last_two_apart(with_last_two_equal(every, places), places, parities(every)) == every).all()


def test_more_arrangements_than_a_batch() -> None:
    many = np.tile(np.array([[0, 1, 2], [0, 2, 1]]), (BATCH, 1))
    assert parities(many).tolist() == [0, 1] * BATCH


def test_no_arrangements() -> None:
    none = np.zeros((0, 4), dtype=np.uint8)
    assert parities(none).tolist() == []
    assert with_last_two_apart(none, 4, 0).shape == (0, 4)


def ring(points: int) -> list[int]:
    return [*range(1, points), 0]


@pytest.mark.parametrize("points", [8, 9, 16, 39, 255])
def test_a_ring_and_a_cycle_of_three_generate_all_even_permutations(points: int) -> None:
    assert generate_even([ring(points), [1, 2, 0, *range(3, points)]])


@pytest.mark.slow
@given(st.integers(8, 10).flatmap(lambda n: st.lists(st.permutations(range(n)), min_size=1, max_size=3)))
def test_random_permutations_against_the_order_of_their_group(permutations: list[list[int]]) -> None:
    from sympy.combinatorics import Permutation, PermutationGroup

    group = PermutationGroup([Permutation(one) for one in permutations])
    assert generate_even(permutations) == (2 * group.order() >= factorial(group.degree))


def test_others_are_not_taken_for_giants() -> None:
    two_halves = [[1, 2, 3, 4, 0, 5, 6, 7, 8, 9], [0, 1, 2, 3, 4, 6, 7, 8, 9, 5], [1, 0, 2, 3, 4, 6, 5, 7, 8, 9]]
    blocks = [[1, 0, *range(2, 12)], [*range(2, 12), 0, 1], [2, 3, 0, 1, *range(4, 12)]]
    for generators in (two_halves, blocks, M12, [ring(11)], [ring(7), [1, 0, *range(2, 7)]], []):
        assert not generate_even(generators)


def test_parity_of_one() -> None:
    permutations = np.random.default_rng(2).permuted(np.tile(np.arange(9, dtype=np.uint8), (200, 1)), axis=1)
    assert [parity_of(one) for one in permutations.tolist()] == parities(permutations).tolist()
    assert parity_of([]) == 0
