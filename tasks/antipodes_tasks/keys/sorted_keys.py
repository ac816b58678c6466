"""Operations on sorted arrays of distinct keys: sort, merge, difference, split."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from antipodes_tasks.base.array_types import Numbers
from antipodes_tasks.base.jit import integer, kernel
from antipodes_tasks.keys.packing import Keys, rows_of

MIN_KEYS_TO_COMPILE = 1 << 12
"""Minimum number of keys for which kernels sort keys of several words and drop repeats; for fewer keys, loading the
kernels takes longer than they save."""
DIGIT_BITS = 11
"""Number of bits per digit of the radix sort for keys of several words; the buckets' ends stay in the cache."""
UNEVEN = 256
"""If one array is more than this many times as long as the other, it is searched instead of read completely."""


def sorted_unique(keys: Keys) -> Keys:
    """Return the distinct keys in ascending order; the input, ``(n,)`` or ``(n, words)``, may be sorted in place."""
    keys = sorted_rows(keys)
    if len(keys) >= MIN_KEYS_TO_COMPILE:
        return keys[: _drop_repeats(keys)]
    differs = np.ones(len(keys), dtype=np.bool_)
    differs[1:] = (rows_of(keys[1:]) != rows_of(keys[:-1])).any(axis=1)
    return keys[differs]


def sorted_rows(keys: Keys) -> Keys:
    """Return keys, ``(n,)`` or ``(n, words)``, in ascending order, with repeats; the input may be sorted in place.

    A large number of keys of several words is sorted by radix sort, which takes two to three times as long as sorting
    the same number of keys of one word.
    """
    if keys.ndim == 1:
        keys.sort()
        return keys
    if len(keys) < MIN_KEYS_TO_COMPILE:
        return keys[np.lexsort(keys.T[::-1])]
    other, counts = np.empty_like(keys), np.empty(1 << DIGIT_BITS, dtype=np.int64)
    for word in range(keys.shape[1] - 1, -1, -1):
        differing = int(_differing(keys, word))
        shift = (differing & -differing).bit_length() - 1
        while 0 <= shift < differing.bit_length():
            _sort_by_digit(keys, other, word, shift, counts)
            keys, other = other, keys
            shift += DIGIT_BITS
    return keys


def merge(arrays: Sequence[Keys]) -> Keys:
    """Return the union of one or more sorted arrays, in ascending order and without repeats."""
    waiting = list(arrays)
    while len(waiting) > 1:
        pairs = zip(waiting[::2], waiting[1::2], strict=False)
        waiting = [_merged_pair(one, other) for one, other in pairs] + waiting[len(waiting) & ~1 :]
    return waiting[0]


def _merged_pair(one: Keys, other: Keys) -> Keys:
    if not len(one) or not len(other):
        return one if len(one) else other
    merged = np.empty((len(one) + len(other), *one.shape[1:]), dtype=np.uint64)
    return merged[: _merge(one, other, merged)]


def difference(keys: Keys, *seen: Keys) -> Keys:
    """Return the sorted keys that are in none of the other sorted arrays; the input is unchanged."""
    left = keys
    for other in seen:
        if len(left) and len(other):
            kept = np.empty_like(left)
            left = kept[: _take_away(left, other, kept)]
    return left


def cut(keys: Keys, bounds: Keys) -> list[Keys]:
    """Split sorted keys at ascending bounds into ``len(bounds) + 1`` views; a key equal to a bound begins a view."""
    ends = find(keys, bounds)
    return [keys[begin:end] for begin, end in zip([0, *ends], [*ends, len(keys)], strict=True)]


def find(keys: Keys, wanted: Keys) -> list[int]:
    """Return the number of sorted keys below each wanted key."""
    if keys.ndim == 1:
        return [int(number) for number in np.searchsorted(keys, wanted)]
    return [int(number) for number in _search(keys, wanted)]


# Numba compiles only the branch of `ndim` that applies, so a kernel has a version for keys of one and of several words.


@kernel
def _compared(keys: Keys, i: int, others: Keys, j: int) -> int:
    """Return a number that is negative, 0 or positive if ``keys[i]`` is less than, equal to or greater than
    ``others[j]``.
    """
    if keys.ndim == 1:
        return integer(keys[i] > others[j]) - integer(keys[i] < others[j])
    for w in range(keys.shape[1]):
        if keys[i, w] != others[j, w]:
            return -1 if keys[i, w] < others[j, w] else 1
    return 0


@kernel
def _copy(keys: Keys, i: int, to: Keys, j: int) -> None:
    """Copy ``keys[i]`` to ``to[j]``."""
    if keys.ndim == 1:
        to[j] = keys[i]
    else:
        for w in range(keys.shape[1]):
            to[j, w] = keys[i, w]


@kernel
def _drop_repeats(keys: Keys) -> int:
    """Move the distinct keys of a sorted array to its front; return their number."""
    count = min(1, len(keys))
    for i in range(1, len(keys)):
        differs = _compared(keys, i, keys, count - 1) != 0
        _copy(keys, i, keys, count)
        count += differs
    return count


@kernel
def _differing(keys: Keys, word: int) -> np.uint64:
    """Return the bits of a word in which keys ``(n, words)`` differ; there must be at least one key."""
    found, first = np.uint64(0), keys[0, word]
    for i in range(len(keys)):
        found |= keys[i, word] ^ first
    return found


@kernel
def _sort_by_digit(keys: Keys, after: Keys, word: int, shift: int, counts: NDArray[np.int64]) -> None:
    """Write keys ``(n, words)`` to ``after``, sorted stably by some bits of a word."""
    words, low, mask = keys.shape[1], np.uint64(shift), np.uint64(len(counts) - 1)
    counts[:] = 0
    for i in range(len(keys)):
        counts[(keys[i, word] >> low) & mask] += 1
    total = 0
    for digit in range(len(counts)):
        here = counts[digit]
        counts[digit] = total
        total += here
    for i in range(len(keys)):
        digit_of = (keys[i, word] >> low) & mask
        to = counts[digit_of]
        counts[digit_of] = to + 1
        for w in range(words):
            after[to, w] = keys[i, w]


@kernel
def _merge(one: Keys, other: Keys, merged: Keys) -> int:
    """Write the union of two sorted arrays; return its size."""
    i, j, count = 0, 0, 0
    while i < len(one) and j < len(other):
        order = _compared(one, i, other, j)
        if order <= 0:
            _copy(one, i, merged, count)
        else:
            _copy(other, j, merged, count)
        count += 1
        i += order <= 0
        j += order >= 0
    while i < len(one):
        _copy(one, i, merged, count)
        count += 1
        i += 1
    while j < len(other):
        _copy(other, j, merged, count)
        count += 1
        j += 1
    return count


@kernel
def _take_away(keys: Keys, seen: Keys, kept: Keys) -> int:
    """Write the sorted keys that are not in ``seen``; return their number."""
    count, j = 0, 0
    skips = len(seen) > UNEVEN * len(keys)
    for i in range(len(keys)):
        if skips:
            j = _first_from(seen, j, keys, i)
        while j < len(seen) and _compared(seen, j, keys, i) < 0:
            j += 1
        _copy(keys, i, kept, count)
        count += j == len(seen) or _compared(seen, j, keys, i) != 0
    return count


@kernel
def _first_from(keys: Keys, begin: int, wanted: Keys, i: int) -> int:
    """Return the first index of ``keys``, from ``begin`` on, whose key is at least ``wanted[i]``.

    It is found by doubling steps and bisection.
    """
    step = 1
    while begin + step < len(keys) and _compared(keys, begin + step, wanted, i) < 0:
        begin += step
        step *= 2
    end = min(len(keys), begin + step + 1)
    while begin < end:
        middle = (begin + end) // 2
        if _compared(keys, middle, wanted, i) < 0:
            begin = middle + 1
        else:
            end = middle
    return begin


@kernel
def _search(keys: Keys, wanted: Keys) -> Numbers:
    """Return the number of sorted keys below each wanted key."""
    found = np.empty(len(wanted), np.int64)
    for i in range(len(wanted)):
        found[i] = _first_from(keys, 0, wanted, i)
    return found
