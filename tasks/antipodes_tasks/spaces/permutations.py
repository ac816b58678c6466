"""Permutations as numbers, vectorised: factorial digits, rank and unrank by three published algorithms.

=========== ======================= ========== ============================================================
algorithm   order                   time       source
=========== ======================= ========== ============================================================
counting    lexicographic           O(k)       D. H. Lehmer, Teaching combinatorial tricks to a computer
                                    words      (1960); smaller elements are counted as bits of a word
shrinking   lexicographic           O(k^2)     D. L. Kreher and D. R. Stinson, Combinatorial Algorithms
                                               (1999), section 2.4: larger elements lose one in place
linear      its own                 O(k)       W. Myrvold and F. Ruskey, Ranking and unranking permutations
                                               in linear time (2001), first pair of algorithms
=========== ======================= ========== ============================================================
"""

from math import factorial
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from antipodes_tasks import arguments
from antipodes_tasks.errors import PermutationError, RankError

Permutations = NDArray[np.uint8]
"""``(n, k)``: every row has each of ``0 .. k - 1`` once."""
Ranks = NDArray[np.int64]
Algorithm = Literal["counting", "shrinking", "linear"]

ALGORITHMS: tuple[Algorithm, ...] = get_args(Algorithm)
MAX_ELEMENTS = 20
"""20! is the greatest factorial below 2**63."""


def rank(permutations: ArrayLike, algorithm: Algorithm = "counting") -> Ranks:
    """The number of each of ``(n, k)`` permutations, ``(n,)`` int64 from 0 to ``k! - 1``; k is 1 to 20.

    Raises
    ------
    PermutationError
        A row is no permutation of ``0 .. k - 1``, or k is out of range.
    InputError
        There is no such algorithm.
    """
    checked = _checked(permutations)
    ranks = np.empty(len(checked), dtype=np.int64)
    _kernel("rank", algorithm)(checked, ranks)
    return ranks


def unrank(ranks: ArrayLike, elements: int, algorithm: Algorithm = "counting") -> Permutations:
    """The permutations that have these numbers, ``(n, elements)`` uint8: the inverse of `rank`.

    Raises
    ------
    RankError
        A number is negative, at least ``elements!``, or no integer.
    PermutationError
        ``elements`` is not 1 to 20.
    InputError
        There is no such algorithm.
    """
    elements = _checked_elements(elements)
    checked = arguments.integers(ranks, "ranks (n,)", 1, RankError)
    _check_range(checked, factorial(elements), f"ranks of {elements} elements")
    permutations = np.empty((len(checked), elements), dtype=np.uint8)
    _kernel("unrank", algorithm)(checked.astype(np.int64), permutations)
    return permutations


def factorial_digits(permutations: ArrayLike) -> NDArray[np.uint8]:
    """How many smaller elements stand to the right of each but the last, ``(n, k - 1)``.

    These are the digits of the lexicographic rank in the factorial number system, the most significant first:
    3 1 2 0 has the digits 3 1 1 and the rank ``3 * 3! + 1 * 2! + 1 * 1! = 21``.

    Raises
    ------
    PermutationError
        A row is no permutation of ``0 .. k - 1``, or k is not 1 to 20.
    """
    checked = _checked(permutations)
    k = checked.shape[1]
    digits = [(checked[:, i + 1 :] < checked[:, i : i + 1]).sum(axis=1, dtype=np.uint8) for i in range(k - 1)]
    return np.array(digits, dtype=np.uint8).reshape(k - 1, len(checked)).T


def from_factorial_digits(digits: ArrayLike) -> Permutations:
    """The permutations, ``(n, k)``, with the digits ``(n, k - 1)``: the inverse of `factorial_digits`.

    Raises
    ------
    RankError
        A digit is negative or greater than the number of elements to its right.
    PermutationError
        k is not 1 to 20.
    """
    checked = arguments.integers(digits, "factorial digits (n, k - 1)", 2, RankError)
    k = checked.shape[1] + 1
    _checked_elements(k)
    ranks = np.zeros(len(checked), dtype=np.int64)
    for i in range(k - 1):
        _check_range(checked[:, i], k - i, f"digits number {i}")
        ranks = ranks * (k - i) + checked[:, i].astype(np.int64)
    return unrank(ranks, k)


def _kernel(verb: str, algorithm: str) -> Any:
    from antipodes_tasks.spaces import permutation_kernels

    return getattr(permutation_kernels, f"{verb}_{arguments.choice(algorithm, 'an algorithm', ALGORITHMS)}")


def _checked(permutations: ArrayLike) -> Permutations:
    from antipodes_tasks.spaces.permutation_kernels import first_bad_row

    array = arguments.integers(permutations, "permutations (n, k)", 2, PermutationError)
    k = array.shape[1]
    _checked_elements(k)
    if array.dtype != np.uint8:
        array = np.where((array >= 0) & (array < k), array, k).astype(np.uint8)
    checked: Permutations = np.ascontiguousarray(array, dtype=np.uint8)
    bad = first_bad_row(checked)
    if bad >= 0:
        found = " ".join(map(str, np.asarray(permutations)[bad].tolist()))
        raise PermutationError(f"expected each of 0 to {k - 1} once, found {found}")
    return checked


def _checked_elements(elements: int) -> int:
    number = arguments.integer(elements, "the number of elements")
    if not 1 <= number <= MAX_ELEMENTS:
        raise PermutationError(f"expected permutations of 1 to {MAX_ELEMENTS} elements, found {elements}")
    return number


def _check_range(numbers: NDArray[Any], end: int, what: str) -> None:
    outside = (numbers < 0) | (numbers >= end)
    if outside.any():
        raise RankError(f"expected {what} from 0 to {end - 1}, found {numbers[outside][0]}")
