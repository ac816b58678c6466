"""The ranks of permutations, computed for whole arrays by three published algorithms, and their factorial digits.

=========== ======================= ========== ============================================================
algorithm   order                   time       source
=========== ======================= ========== ============================================================
counting    lexicographic           O(k)       D. H. Lehmer, Teaching combinatorial tricks to a computer
                                               (1960); smaller elements are counted as bits of a word
shrinking   lexicographic           O(k^2)     D. L. Kreher and D. R. Stinson, Combinatorial Algorithms
                                               (1999), section 2.4: larger elements are decremented
linear      its own                 O(k)       W. Myrvold and F. Ruskey, Ranking and unranking permutations
                                               in linear time (2001), first pair of algorithms
=========== ======================= ========== ============================================================
"""

from math import factorial
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from antipodes_tasks.base import arguments
from antipodes_tasks.base.errors import PermutationError, RankError
from antipodes_tasks.base.jit import kernel, popcount, trailing_zeros

Permutations = NDArray[np.uint8]
"""``(n, k)``: each row contains each of ``0 .. k - 1`` once."""
Ranks = NDArray[np.int64]
Algorithm = Literal["counting", "shrinking", "linear"]

ALGORITHMS: tuple[Algorithm, ...] = get_args(Algorithm)
MAX_ELEMENTS = 20
"""Maximum number of elements: 20! is the largest factorial below 2**63."""


def rank(permutations: ArrayLike, algorithm: Algorithm = "counting") -> Ranks:
    """Return the rank of each permutation ``(n, k)``, as ``(n,)`` int64 from 0 to ``k! - 1``; k is 1 to 20.

    Raises
    ------
    PermutationError
        A row is not a permutation of ``0 .. k - 1``, or k is out of range.
    InputError
        The algorithm does not exist.
    """
    checked = _checked(permutations)
    ranks = np.empty(len(checked), dtype=np.int64)
    _rank, _ = _KERNELS[arguments.choice(algorithm, "an algorithm", ALGORITHMS)]
    _rank(checked, ranks)
    return ranks


def unrank(ranks: ArrayLike, elements: int, algorithm: Algorithm = "counting") -> Permutations:
    """Return the permutations with these ranks, ``(n, elements)`` uint8: the inverse of `rank`.

    Raises
    ------
    RankError
        A rank is negative, at least ``elements!``, or not an integer.
    PermutationError
        ``elements`` is not 1 to 20.
    InputError
        The algorithm does not exist.
    """
    elements = _checked_elements(elements)
    checked = arguments.integers(ranks, "ranks (n,)", 1, RankError)
    _check_range(checked, factorial(elements), f"ranks of {elements} elements")
    permutations = np.empty((len(checked), elements), dtype=np.uint8)
    _, _unrank = _KERNELS[arguments.choice(algorithm, "an algorithm", ALGORITHMS)]
    _unrank(checked.astype(np.int64), permutations)
    return permutations


def factorial_digits(permutations: ArrayLike) -> NDArray[np.uint8]:
    """Return, for each element but the last, the number of smaller elements to its right, ``(n, k - 1)``.

    These are the digits of the lexicographic rank in the factorial number system, the most significant first:
    3 1 2 0 has the digits 3 1 1 and the rank ``3 * 3! + 1 * 2! + 1 * 1! = 21``.

    Raises
    ------
    PermutationError
        A row is not a permutation of ``0 .. k - 1``, or k is not 1 to 20.
    """
    checked = _checked(permutations)
    k = checked.shape[1]
    digits = [(checked[:, i + 1 :] < checked[:, i : i + 1]).sum(axis=1, dtype=np.uint8) for i in range(k - 1)]
    return np.array(digits, dtype=np.uint8).reshape(k - 1, len(checked)).T


def _checked(permutations: ArrayLike) -> Permutations:
    array = arguments.integers(permutations, "permutations (n, k)", 2, PermutationError)
    k = array.shape[1]
    _checked_elements(k)
    if array.dtype != np.uint8:
        array = np.where((array >= 0) & (array < k), array, k).astype(np.uint8)
    checked: Permutations = np.ascontiguousarray(array, dtype=np.uint8)
    bad = _first_bad_row(checked)
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


@kernel
def _first_bad_row(permutations: Permutations) -> int:
    """Return the first row of ``(n, k)`` that is not a permutation of ``0 .. k - 1``, or -1; k is at most 63."""
    n, k = permutations.shape
    one = np.uint64(1)
    for i in range(n):
        seen = np.uint64(0)
        for j in range(k):
            if permutations[i, j] < k:
                seen |= one << np.uint64(permutations[i, j])
        if seen != (one << np.uint64(k)) - one:
            return i
    return -1


@kernel
def _rank_counting(permutations: Permutations, ranks: Ranks) -> None:
    """Rank in lexicographic order: each digit counts the smaller elements that have not been seen yet."""
    n, k = permutations.shape
    one = np.uint64(1)
    for i in range(n):
        seen = np.uint64(0)
        rank = np.int64(0)
        for j in range(k):
            bit = one << np.uint64(permutations[i, j])
            rank = rank * (k - j) + permutations[i, j] - np.int64(popcount(seen & (bit - one)))
            seen |= bit
        ranks[i] = rank


@kernel
def _rank_shrinking(permutations: Permutations, ranks: Ranks) -> None:
    """Rank in lexicographic order: each element becomes a digit, and all larger elements after it are reduced by 1."""
    n, k = permutations.shape
    left = np.empty(k, np.uint8)
    for i in range(n):
        left[:] = permutations[i]
        rank = np.int64(0)
        for j in range(k):
            rank = rank * (k - j) + left[j]
            for later in range(j + 1, k):
                left[later] -= left[later] > left[j]
        ranks[i] = rank


@kernel
def _rank_linear(permutations: Permutations, ranks: Ranks) -> None:
    """Rank in the order of Myrvold and Ruskey: undo the exchanges of `_unrank_linear`, from the last place on."""
    n, k = permutations.shape
    element = np.empty(k, np.uint8)
    where = np.empty(k, np.uint8)
    for i in range(n):
        for j in range(k):
            element[j] = permutations[i, j]
            where[element[j]] = j
        rank = np.int64(0)
        radix = np.int64(1)
        for last in range(k - 1, 0, -1):
            digit = element[last]
            element[where[last]] = digit
            where[digit] = where[last]
            rank += radix * digit
            radix *= last + 1
        ranks[i] = rank


@kernel
def _write_digits(rank: int, digits: NDArray[np.uint8]) -> None:
    """Write the digits of a number in the factorial system, the most significant first; the last is always 0."""
    k = len(digits)
    rest = np.uint64(rank)
    for j in range(k - 1, -1, -1):
        radix = np.uint64(k - j)
        digits[j] = rest % radix
        rest //= radix


@kernel
def _unrank_counting(ranks: Ranks, permutations: Permutations) -> None:
    """Invert `_rank_counting`: a digit is the number of remaining elements to skip."""
    n, k = permutations.shape
    one = np.uint64(1)
    for i in range(n):
        _write_digits(ranks[i], permutations[i])
        left = (one << np.uint64(k)) - one
        for j in range(k):
            larger = left
            for _ in range(np.int64(permutations[i, j])):
                larger &= larger - one
            element = trailing_zeros(larger)
            permutations[i, j] = element
            left ^= one << element


@kernel
def _unrank_shrinking(ranks: Ranks, permutations: Permutations) -> None:
    """Invert `_rank_shrinking`: from the right, add 1 to all later elements that are not smaller."""
    n, k = permutations.shape
    for i in range(n):
        _write_digits(ranks[i], permutations[i])
        for j in range(k - 2, -1, -1):
            for later in range(j + 1, k):
                permutations[i, later] += permutations[i, later] >= permutations[i, j]


@kernel
def _unrank_linear(ranks: Ranks, permutations: Permutations) -> None:
    """Unrank in the order of Myrvold and Ruskey.

    Beginning with the last place, exchange the element on each place with the one on the place that its digit names.
    """
    n, k = permutations.shape
    for i in range(n):
        for j in range(k):
            permutations[i, j] = j
        rest = np.uint64(ranks[i])
        for last in range(k - 1, 0, -1):
            radix = np.uint64(last + 1)
            other = rest % radix
            rest //= radix
            element = permutations[i, last]
            permutations[i, last] = permutations[i, other]
            permutations[i, other] = element


_KERNELS = {
    "counting": (_rank_counting, _unrank_counting),
    "shrinking": (_rank_shrinking, _unrank_shrinking),
    "linear": (_rank_linear, _unrank_linear),
}
