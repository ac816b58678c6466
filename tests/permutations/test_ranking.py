"""The kernel for many arrangements against numpy for few."""

import numpy as np
import pytest

from antipodes_tasks.permutations import arrangements as index
from antipodes_tasks.permutations.arrangements import MANY, MOST_STATES, rank_arrangements, rank_rearranged

COUNTS = [(12, 12), (1, 5, 5, 5), (1, 1, 1, 1, 1, 1, 1, 8), (1,) * 8, (10,), (5, 43), (0, 3, 0, 2)]


def arrangements(counts: tuple[int, ...], number: int) -> np.ndarray:
    rng = np.random.default_rng(len(counts))
    pieces = np.repeat(np.arange(len(counts), dtype=np.uint8), counts)
    return rng.permuted(np.tile(pieces, (number, 1)), axis=1)


@pytest.mark.parametrize("counts", COUNTS)
def test_the_kernel_ranks_as_numpy_does(counts: tuple[int, ...]) -> None:
    labels = arrangements(counts, MANY)
    few = [rank_arrangements(part, counts) for part in np.array_split(labels, 7)]
    np.testing.assert_array_equal(rank_arrangements(labels, counts), np.concatenate(few))


@pytest.mark.parametrize("counts", COUNTS)
def test_rearranged_arrangements(counts: tuple[int, ...]) -> None:
    labels = arrangements(counts, MANY // 4)
    rng = np.random.default_rng(5)
    origins = np.array([rng.permutation(labels.shape[1]) for _ in range(5)])
    found = rank_rearranged(labels, origins, counts)
    expected = [rank_arrangements(labels[:, origin], counts) for origin in origins]
    np.testing.assert_array_equal(found, expected)


def test_too_many_labels_for_the_kernel_are_ranked_without_it(monkeypatch: pytest.MonkeyPatch) -> None:
    counts = (1, 2, 3)
    labels = arrangements(counts, MANY)
    expected = rank_arrangements(labels, counts)
    monkeypatch.setattr(index, "MOST_STATES", 1)
    assert MOST_STATES > 1
    np.testing.assert_array_equal(rank_arrangements(labels, counts), expected)
