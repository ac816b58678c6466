"""The parity of arrangements, against the definition by transpositions."""

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from antipodes_tasks.permutations.parity import BATCH, parities, parity_of, with_last_two_apart, with_last_two_equal


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


def test_parity_of_one() -> None:
    permutations = np.random.default_rng(2).permuted(np.tile(np.arange(9, dtype=np.uint8), (200, 1)), axis=1)
    assert [parity_of(one) for one in permutations.tolist()] == parities(permutations).tolist()
    assert parity_of([]) == 0
