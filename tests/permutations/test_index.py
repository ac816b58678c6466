import time
from collections import Counter
from itertools import permutations
from math import factorial, prod

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from strategies import label_counts

from antipodes_tasks.permutations.arrangements import BATCH, rank_arrangements, unrank_arrangements


def size_of(counts: tuple[int, ...]) -> int:
    return factorial(sum(counts)) // prod(map(factorial, counts))


@given(label_counts())
def test_a_bijection_on_all_arrangements(counts: tuple[int, ...]) -> None:
    ranks = np.arange(size_of(counts))
    labels = unrank_arrangements(ranks, counts)
    assert rank_arrangements(labels, counts).tolist() == ranks.tolist()
    assert len({tuple(one) for one in labels.tolist()}) == len(ranks)
    assert all(Counter(one) == Counter(dict(enumerate(counts))) for one in labels.tolist())


@given(label_counts(most=200))
def test_every_arrangement_has_a_rank(counts: tuple[int, ...]) -> None:
    pieces = [label for label, count in enumerate(counts) for _ in range(count)]
    if len(pieces) > 6:
        return
    labels = np.array(sorted(set(permutations(pieces))), dtype=np.uint8)
    assert sorted(rank_arrangements(labels, counts).tolist()) == list(range(size_of(counts)))


LARGE = [(1, 3, 3, 4, 4), (1,) * 16, (2, 3, 5, 7, 3), (1, 22, 1, 1), (4, 4, 4, 4), (33, 33), (1, 1, 1022)]


@given(st.sampled_from(LARGE), st.data())
def test_inverse_on_samples_of_large_ones(counts: tuple[int, ...], data: st.DataObject) -> None:
    last = size_of(counts) - 1
    ranks = np.array([0, last, *data.draw(st.lists(st.integers(0, last), max_size=50))])
    labels = unrank_arrangements(ranks, counts)
    assert all((labels == label).sum() == count * len(labels) for label, count in enumerate(counts))
    assert rank_arrangements(labels, counts).tolist() == ranks.tolist()


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


def test_no_positions() -> None:
    assert rank_arrangements(np.zeros((0, 4), dtype=np.uint8), (1, 1, 2)).tolist() == []
    assert unrank_arrangements(np.zeros(0, dtype=np.int64), (1, 1, 2)).shape == (0, 4)


def test_a_thousand_places() -> None:
    counts = (1, 1022, 1)
    begin = time.perf_counter()
    ranks = np.arange(0, size_of(counts), 10007)
    assert rank_arrangements(unrank_arrangements(ranks, counts), counts).tolist() == ranks.tolist()
    assert time.perf_counter() - begin < 1
