import itertools
from math import factorial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles import ORACLES

from antipodes_tasks.base.errors import InputError, PermutationError, RankError
from antipodes_tasks.permutations.ranks import (
    ALGORITHMS,
    Algorithm,
    factorial_digits,
    rank,
    unrank,
)

LEXICOGRAPHIC: tuple[Algorithm, ...] = ("counting", "shrinking")

elements = st.integers(1, 20)
some_permutations = elements.flatmap(
    lambda k: st.lists(st.permutations(range(k)), min_size=1, max_size=5).map(np.array)
)


def test_the_published_digits() -> None:
    for permutation, oracle in ORACLES["permutation"].items():
        digits = factorial_digits([[int(digit) for digit in permutation]])
        assert digits.tolist() == [oracle["factorial_digits"]]


@pytest.mark.parametrize("algorithm", LEXICOGRAPHIC)
@pytest.mark.parametrize("k", range(1, 8))
def test_lexicographic_order_is_that_of_itertools(algorithm: Algorithm, k: int) -> None:
    ordered = np.array(list(itertools.permutations(range(k))))
    assert rank(ordered, algorithm).tolist() == list(range(factorial(k)))
    assert (unrank(np.arange(factorial(k)), k, algorithm) == ordered).all()


@pytest.mark.parametrize("k", range(1, 9))
def test_linear_ranks_are_a_bijection(k: int) -> None:
    permutations = unrank(np.arange(factorial(k)), k, "linear")
    assert len(np.unique(permutations, axis=0)) == factorial(k)
    assert (rank(permutations, "linear") == np.arange(factorial(k))).all()


def test_linear_order_is_that_of_myrvold_and_ruskey() -> None:
    # Their unrank1 for n = 3, exchanged by hand: r = 0 exchanges p[2] with p[0], then p[1] with p[0].
    assert unrank([0, 5], 3, "linear").tolist() == [[1, 2, 0], [0, 1, 2]]


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@given(st.data())
def test_unrank_inverts_rank(algorithm: Algorithm, data: st.DataObject) -> None:
    permutations = data.draw(some_permutations)
    k = permutations.shape[1]
    ranks = rank(permutations, algorithm)
    assert ((ranks >= 0) & (ranks < factorial(k))).all()
    assert (unrank(ranks, k, algorithm) == permutations).all()


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_first_and_last_of_twenty(algorithm: Algorithm) -> None:
    ends = [0, factorial(20) - 1]
    assert rank(unrank(ends, 20, algorithm), algorithm).tolist() == ends


@given(some_permutations)
def test_digits_are_the_rank_in_the_factorial_system(permutations: np.ndarray) -> None:
    k = permutations.shape[1]
    weights = [factorial(k - 1 - i) for i in range(k - 1)]
    values = [sum(d * w for d, w in zip(row, weights, strict=True)) for row in factorial_digits(permutations).tolist()]
    assert rank(permutations).tolist() == values


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_no_permutations_have_no_ranks(algorithm: Algorithm) -> None:
    assert rank(np.empty((0, 5), dtype=np.uint8), algorithm).shape == (0,)
    assert unrank([], 5, algorithm).shape == (0, 5)


def test_strided_arrays_and_wide_integers() -> None:
    permutations = np.array(list(itertools.permutations(range(5))), dtype=np.uint8)
    assert rank(permutations[::3]).tolist() == list(range(0, 120, 3))
    assert rank(permutations.astype(np.int64)[:, ::-1]).tolist() == rank(permutations[:, ::-1]).tolist()


@pytest.mark.parametrize(
    ("array", "message"),
    [
        ([[0, 1], [1, 1]], "expected each of 0 to 1 once, found 1 1"),
        ([[1, 2, 3]], "expected each of 0 to 2 once, found 1 2 3"),
        ([[0, -1]], "found 0 -1"),
        ([[0, 1, 258]], "found 0 1 258"),
        (np.array([[1, 32]], dtype=np.uint8), "found 1 32"),
        ([0, 1, 2], r"expected permutations \(n, k\)"),
        ([[0, 1], [0]], "rows of different lengths"),
        ([[0.0, 1.0]], "of integers, found float64"),
        ([list(range(21))], "1 to 20 elements, found 21"),
        (np.empty((2, 0), dtype=int), "1 to 20 elements, found 0"),
    ],
)
def test_wrong_permutations_are_refused(array: object, message: str) -> None:
    with pytest.raises(PermutationError, match=message):
        rank(array)  # type: ignore[arg-type]


@pytest.mark.parametrize("ranks", [[-1], [24], [0, 99], [2**63], [0.5]])
def test_ranks_out_of_range_are_refused(ranks: list[int]) -> None:
    with pytest.raises(RankError, match="expected"):
        unrank(ranks, 4)


def test_errors_are_input_errors() -> None:
    assert issubclass(PermutationError, InputError)
    assert issubclass(RankError, InputError)
    with pytest.raises(InputError, match="expected an algorithm of counting, shrinking, linear; found 'quick'"):
        rank([[0]], "quick")  # type: ignore[arg-type]
