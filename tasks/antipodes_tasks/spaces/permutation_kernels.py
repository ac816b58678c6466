"""Machine code behind `antipodes_tasks.spaces.permutations`, which checks what goes in here."""

import numpy as np
from numpy.typing import NDArray

from antipodes_tasks.jit import kernel, ones, trailing_zeros

Permutations = NDArray[np.uint8]
Numbers = NDArray[np.int64]


@kernel
def first_bad_row(permutations: Permutations) -> int:
    """The first row of ``(n, k)`` that is no permutation of ``0 .. k - 1``, or -1; k is at most 63."""
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
def rank_counting(permutations: Permutations, ranks: Numbers) -> None:
    """Lexicographic order: each digit counts the smaller elements to the right, as bits not seen yet."""
    n, k = permutations.shape
    one = np.uint64(1)
    for i in range(n):
        seen = np.uint64(0)
        rank = np.int64(0)
        for j in range(k):
            bit = one << np.uint64(permutations[i, j])
            rank = rank * (k - j) + permutations[i, j] - np.int64(ones(seen & (bit - one)))
            seen |= bit
        ranks[i] = rank


@kernel
def rank_shrinking(permutations: Permutations, ranks: Numbers) -> None:
    """Lexicographic order: each element is a digit once it has taken one from all larger ones after it."""
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
def rank_linear(permutations: Permutations, ranks: Numbers) -> None:
    """The order of Myrvold and Ruskey: from the last place on, undo the exchanges of `unrank_linear`."""
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
def write_digits(rank: int, digits: NDArray[np.uint8]) -> None:
    """The digits of a number in the factorial system, the most significant first; the last is always 0."""
    k = len(digits)
    rest = np.uint64(rank)
    for j in range(k - 1, -1, -1):
        radix = np.uint64(k - j)
        digits[j] = rest % radix
        rest //= radix


@kernel
def unrank_counting(ranks: Numbers, permutations: Permutations) -> None:
    """The inverse of `rank_counting`: a digit says how many of the elements left to pass over."""
    n, k = permutations.shape
    one = np.uint64(1)
    for i in range(n):
        write_digits(ranks[i], permutations[i])
        left = (one << np.uint64(k)) - one
        for j in range(k):
            larger = left
            for _ in range(np.int64(permutations[i, j])):
                larger &= larger - one
            element = trailing_zeros(larger)
            permutations[i, j] = element
            left ^= one << element


@kernel
def unrank_shrinking(ranks: Numbers, permutations: Permutations) -> None:
    """The inverse of `rank_shrinking`: from the right, add one to all later ones that are not smaller."""
    n, k = permutations.shape
    for i in range(n):
        write_digits(ranks[i], permutations[i])
        for j in range(k - 2, -1, -1):
            for later in range(j + 1, k):
                permutations[i, later] += permutations[i, later] >= permutations[i, j]


@kernel
def unrank_linear(ranks: Numbers, permutations: Permutations) -> None:
    """From the last place on, exchange with the place that the next digit names."""
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
