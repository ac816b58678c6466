import time
from collections import Counter
from itertools import combinations
from math import comb, factorial, prod

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import label_counts

from antipodes_tasks.permutations import multisets as index
from antipodes_tasks.permutations.multisets import (
    BATCH,
    MAX_SINGLY,
    MAX_STATES,
    MIN_ARRANGEMENTS_TO_COMPILE,
    binomials,
    rank_arrangements,
    rank_combinations,
    rank_rearranged,
    unrank_arrangements,
    unrank_combinations,
)


def size_of(counts: tuple[int, ...]) -> int:
    return factorial(sum(counts)) // prod(map(factorial, counts))


@given(label_counts())
def test_a_bijection_on_all_arrangements(counts: tuple[int, ...]) -> None:
    ranks = np.arange(size_of(counts))
    labels = unrank_arrangements(ranks, counts)
    assert rank_arrangements(labels, counts).tolist() == ranks.tolist()
    assert len({tuple(one) for one in labels.tolist()}) == len(ranks)
    assert all(Counter(one) == Counter(dict(enumerate(counts))) for one in labels.tolist())


LARGE = [(1, 3, 3, 4, 4), (1,) * 16, (2, 3, 5, 7, 3), (1, 22, 1, 1), (4, 4, 4, 4), (12, 12), (33, 33), (1, 1, 1022)]


@given(st.sampled_from(LARGE), st.data())
def test_inverse_on_samples_of_large_ones(counts: tuple[int, ...], data: st.DataObject) -> None:
    last = size_of(counts) - 1
    ranks = np.array([0, last, *data.draw(st.lists(st.integers(0, last), max_size=50))])
    labels = unrank_arrangements(ranks, counts)
    assert all((labels == label).sum() == count * len(labels) for label, count in enumerate(counts))
    assert rank_arrangements(labels, counts).tolist() == ranks.tolist()


@pytest.mark.parametrize("counts", LARGE)
def test_a_kernel_unranks_many_as_numpy_does(counts: tuple[int, ...]) -> None:
    ranks = np.random.default_rng(1).integers(size_of(counts), size=MIN_ARRANGEMENTS_TO_COMPILE)
    ranks[:2] = 0, size_of(counts) - 1
    labels = unrank_arrangements(ranks, counts)
    assert np.array_equal(labels[:300], unrank_arrangements(ranks[:300], counts))
    assert rank_arrangements(labels, counts).tolist() == ranks.tolist()


@pytest.mark.parametrize("rank", [-1, 252])
def test_a_kernel_unranks_no_rank_out_of_range(rank: int) -> None:
    ranks = np.zeros(MIN_ARRANGEMENTS_TO_COMPILE, dtype=np.int64)
    ranks[7] = rank
    with pytest.raises(IndexError, match="expected ranks below 252"):
        unrank_arrangements(ranks, (5, 5))


@given(label_counts())
def test_a_cut_changes_no_rank_and_splits_it(counts: tuple[int, ...]) -> None:
    labels = unrank_arrangements(np.arange(size_of(counts)), counts)
    for leading in range(1, len(counts) + 1):
        pattern = np.minimum(labels, leading)
        row_counts = (*counts[:leading], sum(counts[leading:]))
        width = len(labels) // size_of(row_counts)
        assert rank_arrangements(pattern, row_counts).tolist() == (np.arange(len(labels)) // width).tolist()


def test_arrangements_across_batches() -> None:
    counts = (1,) * 9
    ranks = np.arange(BATCH - 3, BATCH + 3)
    assert rank_arrangements(unrank_arrangements(np.arange(BATCH + 3), counts), counts)[-6:].tolist() == ranks.tolist()


@pytest.mark.parametrize("counts", [(1, 1, 1, 1, 1, 1), (3, 2, 1), (1, 2, 4)])
def test_few_arrangements_have_the_same_ranks_as_among_many(counts: tuple[int, ...]) -> None:
    labels = unrank_arrangements(np.arange(size_of(counts)), counts)
    few = [rank_arrangements(labels[first : first + MAX_SINGLY], counts) for first in range(0, len(labels), MAX_SINGLY)]
    assert len(few) > 1
    assert np.concatenate(few).tolist() == rank_arrangements(labels, counts).tolist()


def test_no_positions() -> None:
    assert rank_arrangements(np.zeros((0, 4), dtype=np.uint8), (1, 1, 2)).tolist() == []
    assert unrank_arrangements(np.zeros(0, dtype=np.int64), (1, 1, 2)).shape == (0, 4)


def test_a_thousand_places() -> None:
    counts = (1, 1022, 1)
    begin = time.process_time()
    ranks = np.arange(0, size_of(counts), 10007)
    assert rank_arrangements(unrank_arrangements(ranks, counts), counts).tolist() == ranks.tolist()
    assert time.process_time() - begin < 30


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


COUNTS = [(12, 12), (1, 5, 5, 5), (1, 1, 1, 1, 1, 1, 1, 8), (1,) * 8, (10,), (5, 43), (0, 3, 0, 2)]


def arrangements(counts: tuple[int, ...], number: int) -> np.ndarray:
    rng = np.random.default_rng(len(counts))
    pieces = np.repeat(np.arange(len(counts), dtype=np.uint8), counts)
    return rng.permuted(np.tile(pieces, (number, 1)), axis=1)


@pytest.mark.parametrize("counts", COUNTS)
def test_the_kernel_ranks_as_numpy_does(counts: tuple[int, ...]) -> None:
    labels = arrangements(counts, MIN_ARRANGEMENTS_TO_COMPILE)
    few = [rank_arrangements(part, counts) for part in np.array_split(labels, 7)]
    np.testing.assert_array_equal(rank_arrangements(labels, counts), np.concatenate(few))


@pytest.mark.parametrize("counts", COUNTS)
def test_rearranged_arrangements(counts: tuple[int, ...]) -> None:
    labels = arrangements(counts, MIN_ARRANGEMENTS_TO_COMPILE // 4)
    rng = np.random.default_rng(5)
    origins = np.array([rng.permutation(labels.shape[1]) for _ in range(5)])
    found = rank_rearranged(labels, origins, counts)
    expected = [rank_arrangements(labels[:, origin], counts) for origin in origins]
    np.testing.assert_array_equal(found, expected)


def test_too_many_labels_for_the_kernel_are_ranked_without_it(monkeypatch: pytest.MonkeyPatch) -> None:
    counts = (1, 2, 3)
    labels = arrangements(counts, MIN_ARRANGEMENTS_TO_COMPILE)
    expected = rank_arrangements(labels, counts)
    monkeypatch.setattr(index, "MAX_STATES", 1)
    assert MAX_STATES > 1
    np.testing.assert_array_equal(rank_arrangements(labels, counts), expected)
