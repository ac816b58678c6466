"""The least row of each class of rows, listed in order without a look at the others.

Digits are chosen one after the other, the most significant first. A symmetry is compared as soon as the digits are
known that decide its image up to some place. Where the image is less, no row that begins with these digits is the least
of its class; where it is greater, the symmetry need not be compared again. What is left at the last digit is the
stabiliser. See R. C. Read, Every one a winner, or how to avoid isomorphism search when cataloguing combinatorial
configurations (1978).
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from antipodes_tasks.jit import kernel
from antipodes_tasks.spaces.parallel import in_threads
from antipodes_tasks.spaces.row_images import RowImages
from antipodes_tasks.spaces.rows_and_columns import Frame, Pieces
from antipodes_tasks.spaces.symmetry_images import Images

Keys = NDArray[np.uint64]
PREFIXES = 1 << 9
"""Prefixes from which on the rows that begin with them are listed in parallel."""
AT_ONCE = 4
"""Prefixes whose rows one call lists: few, so that threads end together and an interruption is answered soon."""
ROOM = 1 << 12
"""Rows for which a call has room at first."""
WHATEVER = 1 << 15
"""As many of a value as there may be places."""


class KeptRows(NamedTuple):
    """The least rows of classes."""

    keys: Keys
    """``(n,)``, ascending."""
    weights: NDArray[np.int64]
    """``(n,)``: the number of rows in the class of each."""


class _Stock(NamedTuple):
    """How often each row label can occur, for kernels."""

    begins: NDArray[np.int64]
    """``(digits,)``: where the row labels of the part of each digit begin in ``counts``."""
    counts: NDArray[np.int64]


def least_rows(frame: Frame, images: Images) -> KeptRows:
    """The least row of each class, listed with all threads."""
    shape, stock = RowImages.of(frame, images), _stock(frame)
    digits = len(shape.places)
    prefixes, known = np.zeros(1, dtype=np.uint64), 0
    while len(prefixes) < PREFIXES and known < digits:
        prefixes, _ = extend_prefixes(prefixes, known, known + 1, shape, stock)
        known += 1

    def extended(some: Keys) -> Callable[[], KeptRows]:
        return lambda: _numbered_rows(frame, images, *extend_prefixes(some, known, digits, shape, stock))

    calls = [extended(prefixes[first : first + AT_ONCE]) for first in range(0, len(prefixes), AT_ONCE)]
    found: Sequence[KeptRows] = in_threads("listing rows up to symmetry", calls)
    return KeptRows(*(np.concatenate(each) for each in zip(*found, strict=True)))


def _stock(frame: Frame) -> _Stock:
    """How often each row label can occur in its part, values as often as there are places."""
    begins, counts = np.zeros(frame.places, dtype=np.int64), list[int]()
    for part, classes in zip(frame.parts, frame.classes, strict=True):
        begins[part.place_slice] = len(counts)
        if isinstance(part, Pieces):
            assert isinstance(classes, tuple)
            counts += np.bincount(classes, weights=part.counts).astype(int).tolist()
        else:
            counts += [WHATEVER] * int(frame.radices[part.place_slice].max())
    places = np.flatnonzero(frame.radices > 1)
    if not len(places):
        return _Stock(np.zeros(frame.places, dtype=np.int64), np.full(1, WHATEVER, dtype=np.int64))
    return _Stock(begins[places], np.array(counts, dtype=np.int64))


def _numbered_rows(frame: Frame, images: Images, keys: Keys, stabilisers: NDArray[np.int64]) -> KeptRows:
    """Those of the rows that have a number: not those of the wrong parity, or of the wrong sum."""
    numbered = frame.numbered(keys)
    return KeptRows(keys[numbered], len(images) // stabilisers[numbered])


@kernel
def extend_prefixes(
    prefixes: Keys, known: int, end: int, images: RowImages, stock: _Stock
) -> tuple[Keys, NDArray[np.int64]]:
    """Continuations of prefixes of ``known`` digits to ``end`` digits that may be least; and how many symmetries may be
    in the stabiliser of each.

    Prefixes are written as the keys of rows with zeros behind them.
    """
    order = len(images.origins)
    keys, stabilisers = np.empty(ROOM, dtype=np.uint64), np.empty(ROOM, dtype=np.int64)
    digits, left = np.zeros(end + 1, dtype=np.int64), stock.counts.copy()
    row = np.zeros(len(images.places), dtype=np.uint8)
    waiting, matched = np.empty((end + 1, order), dtype=np.int32), np.empty((end + 1, order), dtype=np.int32)
    counts, key_at = np.zeros(end + 1, dtype=np.int64), np.zeros(end + 1, dtype=np.uint64)
    found = 0
    counts[0] = order - 1
    for one in range(order - 1):
        waiting[0, one], matched[0, one] = one + 1, 0
    for prefix in prefixes:
        level = 0
        digits[0] = 0 if known == 0 else np.int64(prefix // images.weights[0])
        while level >= 0:
            label = digits[level]
            if level < end and label < images.radices[level]:
                stocked = stock.begins[level] + label
                if left[stocked] > 0 and _may_be_least(level, label, row, waiting, matched, counts, images):
                    left[stocked] -= 1
                    key_at[level + 1] = key_at[level] + images.weights[level] * np.uint64(label)
                    level += 1
                    digits[level] = 0
                    if level < known:
                        digits[level] = np.int64(prefix // images.weights[level]) % images.radices[level]
                    continue
                if level >= known:
                    digits[level] += 1
                    continue
            elif level == end:
                if found == len(keys):
                    keys, stabilisers = _with_room(keys), _with_room(stabilisers)
                keys[found], stabilisers[found] = key_at[end], counts[end] + 1
                found += 1
            level -= 1
            while level >= 0:
                left[stock.begins[level] + digits[level]] += 1
                if level >= known:
                    digits[level] += 1
                    break
                level -= 1
    return keys[:found], stabilisers[:found]


@kernel
def _with_room(array: NDArray[Any]) -> NDArray[Any]:
    grown = np.empty(2 * len(array), dtype=array.dtype)
    grown[: len(array)] = array
    return grown


@kernel
def _may_be_least(
    level: int,
    label: int,
    row: NDArray[np.uint8],
    waiting: NDArray[np.int32],
    matched: NDArray[np.int32],
    counts: NDArray[np.int64],
    images: RowImages,
) -> bool:
    """Whether no image is less if the digit at a level is the label; fill in what waits for further digits then.

    The first ``matched`` digits of the image under a symmetry that is waiting are those of the row.
    """
    row[level] = label
    kept = 0
    for number in range(counts[level]):
        symmetry, digit = waiting[level, number], matched[level, number]
        greater = False
        while digit <= level and images.origins[symmetry, digit] <= level:
            image = images.become[symmetry, digit, row[images.origins[symmetry, digit]]]
            if image < row[digit]:
                return False
            if image > row[digit]:
                greater = True
                break
            digit += 1
        if not greater:
            waiting[level + 1, kept], matched[level + 1, kept] = symmetry, digit
            kept += 1
    counts[level + 1] = kept
    return True
