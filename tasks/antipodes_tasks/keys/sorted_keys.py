"""Operations on sorted arrays of distinct keys: sort, merge, difference, split."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from antipodes_tasks.base.jit import kernel
from antipodes_tasks.keys.packing import Keys

MIN_KEYS_TO_COMPILE = 1 << 14
"""Minimum number of keys for which a kernel drops repeats, and rows are sorted by radix sort; for fewer keys, loading
the kernels takes longer than they save."""
RUN = 24
"""Maximum number of keys with the same first word that are sorted by insertion."""
DIGIT_BITS = 11
"""Number of bits per digit of the radix sort for keys of several words; the buckets' ends stay in the cache."""
UNEVEN = 32
"""If one array is more than this many times as long as the other, it is searched instead of read completely."""


def sorted_unique(keys: Keys) -> Keys:
    """Return the distinct keys in ascending order; the input, ``(n,)`` or ``(n, words)``, may be sorted in place."""
    if keys.ndim == 1:
        keys.sort()
        return _without_repeats(keys)
    keys = sorted_rows(keys)
    return keys[: _drop_repeated_rows(keys)]


def sorted_rows(keys: Keys) -> Keys:
    """Return keys ``(n, words)`` in ascending order, with repeats.

    A small number of keys is sorted by comparisons, a large number by radix sort. The radix sort takes two to three
    times as long as sorting the same number of keys of one word.
    """
    if len(keys) < MIN_KEYS_TO_COMPILE:
        keys = keys[np.argsort(keys[:, 0])]
        _sort_ties(keys)
        return keys
    other, counts = np.empty_like(keys), np.empty(1 << DIGIT_BITS, dtype=np.int64)
    for word in range(keys.shape[1] - 1, -1, -1):
        differing = int(_differing(keys, word))
        shift = (differing & -differing).bit_length() - 1
        while 0 <= shift < differing.bit_length():
            _sort_by_digit(keys, other, word, shift, counts)
            keys, other = other, keys
            shift += DIGIT_BITS
    return keys


def _without_repeats(keys: Keys) -> Keys:
    if len(keys) >= MIN_KEYS_TO_COMPILE:
        return keys[: _drop_repeats(keys)]
    differs = np.ones(len(keys), dtype=np.bool_)
    differs[1:] = keys[1:] != keys[:-1]
    return keys[differs]


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
    return merged[: (_merge if one.ndim == 1 else _merge_rows)(one, other, merged)]


def difference(keys: Keys, *seen: Keys) -> Keys:
    """Return the sorted keys that are in none of the other sorted arrays; the input is unchanged."""
    left = keys
    for other in seen:
        if len(left) and len(other):
            kept = np.empty_like(left)
            left = kept[: (_take_away if left.ndim == 1 else _take_away_rows)(left, other, kept)]
    return left


def cut(keys: Keys, bounds: Keys) -> list[Keys]:
    """Split sorted keys at ascending bounds into ``len(bounds) + 1`` views; a key equal to a bound begins a view."""
    ends = find(keys, bounds)
    return [keys[begin:end] for begin, end in zip([0, *ends], [*ends, len(keys)], strict=True)]


def find(keys: Keys, wanted: Keys) -> list[int]:
    """Return the number of sorted keys below each wanted key."""
    if keys.ndim == 1:
        return [int(number) for number in np.searchsorted(keys, wanted)]
    return [int(number) for number in _search_rows(keys, wanted)]


@kernel
def _drop_repeats(keys: Keys) -> int:
    """Move the distinct keys of a sorted array to its front; return their number."""
    count = min(1, len(keys))
    for i in range(1, len(keys)):
        key = keys[i]
        differs = key != keys[count - 1]
        keys[count] = key
        count += differs
    return count


@kernel
def _drop_repeated_rows(keys: Keys) -> int:
    """Drop repeats as `_drop_repeats` does, for keys of several words."""
    count = min(1, len(keys))
    for i in range(1, len(keys)):
        if compared(keys, i, keys, count - 1):
            for w in range(keys.shape[1]):
                keys[count, w] = keys[i, w]
            count += 1
    return count


@kernel
def compared(keys: Keys, i: int, others: Keys, j: int) -> int:
    """Return -1, 0 or 1 if ``keys[i]``, of several words, is less than, equal to or greater than ``others[j]``."""
    for w in range(keys.shape[1]):
        if keys[i, w] != others[j, w]:
            return -1 if keys[i, w] < others[j, w] else 1
    return 0


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
def _sort_ties(keys: Keys) -> None:
    """Sort keys ``(n, words)`` whose first words are already sorted."""
    begin = 0
    while begin < len(keys):
        end = begin + 1
        while end < len(keys) and keys[end, 0] == keys[begin, 0]:
            end += 1
        if end - begin <= RUN:
            _sort_by_insertion(keys[begin:end])
        else:
            _sort_by_heap(keys[begin:end])
        begin = end


@kernel
def _sort_by_insertion(keys: Keys) -> None:
    for i in range(1, len(keys)):
        j = i
        while j > 0 and compared(keys, j, keys, j - 1) < 0:
            swap(keys, j, j - 1)
            j -= 1


@kernel
def _sort_by_heap(keys: Keys) -> None:
    for root in range(len(keys) // 2 - 1, -1, -1):
        sift_down(keys, root, len(keys))
    for end in range(len(keys) - 1, 0, -1):
        swap(keys, 0, end)
        sift_down(keys, 0, end)


@kernel
def sift_down(keys: Keys, root: int, end: int) -> None:
    """Restore the heap property of the first ``end`` keys below a root."""
    while True:
        child = 2 * root + 1
        if child >= end:
            return
        if child + 1 < end and compared(keys, child, keys, child + 1) < 0:
            child += 1
        if compared(keys, root, keys, child) >= 0:
            return
        swap(keys, root, child)
        root = child


@kernel
def swap(keys: Keys, i: int, j: int) -> None:
    """Swap two keys ``(n, words)``."""
    for w in range(keys.shape[1]):
        keys[i, w], keys[j, w] = keys[j, w], keys[i, w]


@kernel
def _merge(one: Keys, other: Keys, merged: Keys) -> int:
    """Write the union of two sorted arrays; return its size."""
    i, j, count = 0, 0, 0
    while i < len(one) and j < len(other):
        a, b = one[i], other[j]
        merged[count] = min(a, b)
        count += 1
        i += a <= b
        j += b <= a
    while i < len(one):
        merged[count] = one[i]
        count += 1
        i += 1
    while j < len(other):
        merged[count] = other[j]
        count += 1
        j += 1
    return count


@kernel
def _merge_rows(one: Keys, other: Keys, merged: Keys) -> int:
    """Merge as `_merge` does, for keys of several words."""
    i, j, count, words = 0, 0, 0, merged.shape[1]
    while i < len(one) and j < len(other):
        order = compared(one, i, other, j)
        for w in range(words):
            merged[count, w] = one[i, w] if order <= 0 else other[j, w]
        count += 1
        i += order <= 0
        j += order >= 0
    while i < len(one):
        for w in range(words):
            merged[count, w] = one[i, w]
        count += 1
        i += 1
    while j < len(other):
        for w in range(words):
            merged[count, w] = other[j, w]
        count += 1
        j += 1
    return count


@kernel
def _take_away(keys: Keys, seen: Keys, kept: Keys) -> int:
    """Write the sorted keys that are not in ``seen``; return their number."""
    count, j = 0, 0
    skips = len(seen) > UNEVEN * len(keys)
    for i in range(len(keys)):
        key = keys[i]
        if skips:
            j = first_from(seen, j, key)
        while j < len(seen) and seen[j] < key:
            j += 1
        kept[count] = key
        count += j == len(seen) or seen[j] != key
    return count


@kernel
def first_from(keys: Keys, begin: int, wanted: np.uint64) -> int:
    """Return the first index, from ``begin`` on, whose key is at least ``wanted``, by doubling steps and bisection."""
    step = 1
    while begin + step < len(keys) and keys[begin + step] < wanted:
        begin += step
        step *= 2
    end = min(len(keys), begin + step + 1)
    while begin < end:
        middle = (begin + end) // 2
        if keys[middle] < wanted:
            begin = middle + 1
        else:
            end = middle
    return begin


@kernel
def _take_away_rows(keys: Keys, seen: Keys, kept: Keys) -> int:
    """Subtract as `_take_away` does, for keys of several words."""
    count, j, words = 0, 0, keys.shape[1]
    for i in range(len(keys)):
        order = 1 if j == len(seen) else compared(seen, j, keys, i)
        while order < 0:
            j += 1
            order = 1 if j == len(seen) else compared(seen, j, keys, i)
        for w in range(words):
            kept[count, w] = keys[i, w]
        count += order != 0
    return count


@kernel
def _search_rows(keys: Keys, wanted: Keys) -> Keys:
    """Return the number of sorted keys ``(n, words)`` below each wanted key."""
    found = np.empty(len(wanted), np.uint64)
    for i in range(len(wanted)):
        begin, end = 0, len(keys)
        while begin < end:
            middle = (begin + end) // 2
            if compared(keys, middle, wanted, i) < 0:
                begin = middle + 1
            else:
                end = middle
        found[i] = begin
    return found
