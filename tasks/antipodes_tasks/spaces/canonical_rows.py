"""Orderly generation of the representative row of each symmetry class of rows, without listing the other rows.

The representative of a class is the row with the minimum key (see `antipodes_tasks.spaces.row_classes`). The digits of
a row are chosen one after the other, the most significant first. As soon as the chosen digits determine the next digits
of the row's image under a symmetry, the image is compared with the row:

* If the image is smaller, no row that begins with these digits is a representative.
* If the image is greater, the symmetry need not be compared again.

The symmetries that remain after the last digit form the stabiliser of the row. See R. C. Read, Every one a winner, or
how to avoid isomorphism search when cataloguing combinatorial configurations (1978).
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from antipodes_tasks.base.jit import kernel
from antipodes_tasks.base.parallel import in_threads
from antipodes_tasks.properties.symmetry_images import Images
from antipodes_tasks.spaces.orbit_parts import PiecesIndex
from antipodes_tasks.spaces.row_images import RowImages, digit_places
from antipodes_tasks.spaces.rows_and_columns import Cut

Keys = NDArray[np.uint64]
PREFIXES = 1 << 9
"""Minimum number of prefixes for listing the rows in parallel. If there are fewer, they are extended first."""
AT_ONCE = 4
"""Number of prefixes whose rows one call lists. It is small, so that all threads end at about the same time and an
interruption takes effect soon."""
ROOM = 1 << 12
"""Number of rows for which a call allocates memory at first."""
WHATEVER = 1 << 15
"""Stands for no limit on how often a value may occur; it is larger than any number of places."""


class RepresentativeRows(NamedTuple):
    """The representative rows of all symmetry classes."""

    keys: Keys
    """``(n,)``: the key of each row, ascending."""
    weights: NDArray[np.int64]
    """``(n,)``: the number of rows in the class of each representative."""


class _Stock(NamedTuple):
    """How often each row label may occur, for kernels."""

    of: NDArray[np.int64]
    """``(digits, values)``: the index in ``counts`` for each value of each digit."""
    counts: NDArray[np.int64]


def least_rows(frame: Cut, images: Images) -> RepresentativeRows:
    """Return the representative row of each symmetry class; all threads list them in parallel."""
    shape, stock = RowImages.of(frame, images), _stock(frame)
    digits = len(shape.places)
    prefixes, known = np.zeros(1, dtype=np.uint64), 0
    while len(prefixes) < PREFIXES and known < digits:
        prefixes, _ = extend_prefixes(prefixes, known, known + 1, shape, stock)
        known += 1

    def extended(some: Keys) -> Callable[[], RepresentativeRows]:
        return lambda: _numbered_rows(frame, images, *extend_prefixes(some, known, digits, shape, stock))

    calls = [extended(prefixes[first : first + AT_ONCE]) for first in range(0, len(prefixes), AT_ONCE)]
    found: Sequence[RepresentativeRows] = in_threads("listing rows up to symmetry", calls)
    return RepresentativeRows(*(np.concatenate(each) for each in zip(*found, strict=True)))


def _stock(frame: Cut) -> _Stock:
    """Return how often each row label may occur in its part; a value may occur on all places."""
    begins, counts = np.zeros(frame.places, dtype=np.int64), list[int]()
    for part, classes in zip(frame.parts, frame.classes, strict=True):
        begins[part.place_slice] = len(counts)
        if isinstance(part, PiecesIndex):
            assert isinstance(classes, tuple)
            counts += np.bincount(classes, weights=part.pieces).astype(int).tolist()
        else:
            counts += [WHATEVER] * int(frame.radices[part.place_slice].max())
    places = digit_places(frame)
    twists = frame.twist_at[places]
    turned = np.where(twists >= 0, frame.radices[twists], 1)
    values = np.arange(int((frame.radices[places] * turned).max()))
    of = begins[places, np.newaxis] + values // turned[:, np.newaxis]
    return _Stock(of, np.array([*counts, *[0] * len(values)], dtype=np.int64))


def _numbered_rows(frame: Cut, images: Images, keys: Keys, stabilisers: NDArray[np.int64]) -> RepresentativeRows:
    """Return the rows that have a number, without the rows of the wrong parity or the wrong sum."""
    numbered = frame.numbered(keys)
    return RepresentativeRows(keys[numbered], len(images) // stabilisers[numbered])


@kernel
def extend_prefixes(
    prefixes: Keys, known: int, end: int, images: RowImages, stock: _Stock
) -> tuple[Keys, NDArray[np.int64]]:
    """Extend prefixes of rows from ``known`` to ``end`` digits, in all ways that may begin a representative row.

    Return the extended prefixes, and for each of them the number of symmetries that may be in the stabiliser. A prefix
    is written as the key of the row in which all later digits are 0.
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
    # Depth-first search over the digits. `left` contains the labels not used yet. Digits below the level `known` are
    # those of the prefix: they are placed again, to restore `waiting` and `matched`, but not varied. A prefix is pruned
    # as soon as some image of it is smaller.
    for prefix in prefixes:
        level = 0
        digits[0] = 0 if known == 0 else np.int64(prefix // images.weights[0])
        while level >= 0:
            label = digits[level]
            if level < end and label < images.radices[level]:
                stocked = stock.of[level, label]
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
                left[stock.of[level, digits[level]]] += 1
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
    """Return whether the row may be a representative if its digit at ``level`` is ``label``.

    It may be one if no image is known to be smaller. For the next level, fill in the symmetries that still have to be
    compared (``waiting``), and for each of them the number of leading digits of the image that agree with the row
    (``matched``).
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
