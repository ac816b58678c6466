from itertools import combinations
from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from antipodes_tasks.permutations.arrangements import binomials, rank_combinations, unrank_combinations


@pytest.mark.parametrize("places", range(1, 9))
def test_ranks_are_colexicographic(places: int) -> None:
    for number in range(places + 1):
        chosen = sorted(combinations(range(places), number), key=lambda one: one[::-1])
        masks = np.array([[place in one for place in range(places)] for one in chosen])
        assert rank_combinations(masks).tolist() == list(range(comb(places, number)))


@given(st.integers(1, 66).flatmap(lambda places: st.tuples(st.just(places), st.integers(0, places))), st.data())
def test_unrank_inverts_rank_up_to_64_bits(size: tuple[int, int], data: st.DataObject) -> None:
    places, number = size
    last = comb(places, number) - 1
    drawn = data.draw(st.lists(st.integers(0, last), max_size=20))
    ranks = np.array([0, last, *drawn], dtype=np.int64)
    masks = unrank_combinations(ranks, places, number)
    assert (masks.sum(axis=1) == number).all()
    assert rank_combinations(masks).tolist() == ranks.tolist()


def test_no_combinations_have_no_ranks() -> None:
    assert rank_combinations(np.zeros((0, 4), dtype=bool)).tolist() == []
    assert unrank_combinations(np.zeros(0, dtype=np.int64), 4, 2).shape == (0, 4)


def test_binomials() -> None:
    assert binomials(5, 3).tolist() == [[comb(n, k) for k in range(4)] for n in range(5)]


def test_binomials_past_64_bits_do_not_wrap() -> None:
    assert binomials(100, 50)[99, 50] == np.iinfo(np.int64).max
