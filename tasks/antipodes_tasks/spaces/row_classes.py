"""The symmetry classes of rows.

Two rows are in the same *symmetry class* if a symmetry maps one to the other, so a class is an orbit of the group of
symmetries on the rows. The *representative row* of a class is its row with the minimum key. The symmetries that map a
row to itself are its *stabiliser*. The *weight* of a class, its number of rows, is the order of the group divided by
the order of the stabiliser.
"""

from dataclasses import dataclass
from functools import cached_property
from math import ceil
from threading import Lock
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from antipodes_tasks.base.array_types import Labels
from antipodes_tasks.base.errors import StoreDamagedError
from antipodes_tasks.base.jit import integer, kernel
from antipodes_tasks.move_tables import Indices
from antipodes_tasks.properties.symmetry_images import Images
from antipodes_tasks.spaces.canonical_rows import RepresentativeRows, least_rows
from antipodes_tasks.spaces.row_images import RowImages, find_least
from antipodes_tasks.spaces.rows_and_columns import Cut

Keys = NDArray[np.uint64]

MAX_NUMPY_IMAGES = 1 << 18
"""Number of images of rows below which numpy is faster than loading compiled code."""
MAX_NUMPY_ROWS = 1 << 17
"""Number of rows below which listing the representatives with numpy is faster than loading compiled code."""
_LISTING = Lock()
"""Held while rows are listed, which takes memory and uses all processors."""
SAMPLE = 256
"""Number of rows in a sample."""


class MinimumImages(NamedTuple):
    """The minimum images of rows."""

    keys: Keys
    """``(n,)``: the keys of the minimum images."""
    symmetries: NDArray[np.int64]
    """``(n,)``: the first symmetry that leads to the minimum image."""


class RowNumbers(NamedTuple):
    """An index of the keys of representative rows by their leading bits, for kernels."""

    keys: Keys
    """``(rows,)``, ascending."""
    shift: int
    """Number of bits of a key below its leading bits."""
    begins: NDArray[np.int32]
    """``(2^bits + 1,)``: for each value of the leading bits, where the keys with these bits begin."""

    @classmethod
    def of(cls, keys: Keys) -> "RowNumbers":
        """Return the index of keys. It takes four to eight bytes for each key."""
        shift = max(0, int(keys[-1]).bit_length() - len(keys).bit_length())
        counts = np.bincount((keys >> np.uint64(shift)).astype(np.int64))
        return cls(keys, shift, np.concatenate(([0], np.cumsum(counts))).astype(np.int32))


@dataclass(frozen=True, eq=False)
class RowClasses:
    """The rows of a cut up to symmetries. Each symmetry must map rows to rows, see `maps_rows_to_rows`."""

    frame: Cut
    images: Images
    """The symmetries, the identity first."""
    is_outline: bool = False
    """Whether rows are only counted approximately and not listed, which is enough for a plan."""
    expected: int | None = None
    """The number of classes if a store contains it; then rows are only listed, and their number checked, when they are
    needed. Listing them takes seconds in large spaces, and a heuristic from the cache does not need them."""

    @cached_property
    def count(self) -> int:
        """Number of classes; for an outline, an estimate."""
        if self.expected is not None:
            return self.expected
        return ceil(self.estimated_count()) if self.is_outline else len(self.keys)

    @cached_property
    def lookup(self) -> Keys:
        """``(symmetries, digits, values)``: the number that the value of a digit adds to the key of the image."""
        images = self.row_images
        lookup: Keys = np.empty(images.become.shape, dtype=np.uint64)
        weighed = images.become.astype(np.uint64) * images.weights[:, np.newaxis]
        np.put_along_axis(lookup, images.origins[..., np.newaxis], weighed, axis=1)
        return lookup

    @cached_property
    def row_images(self) -> RowImages:
        """The images of rows, digit by digit."""
        return RowImages.of(self.frame, self.images)

    @property
    def _kept(self) -> RepresentativeRows:
        """The representative rows, which are listed once even if several threads need them first.

        Raises StoreDamagedError if the store contains another number.
        """
        with _LISTING:
            kept = self._listed
        if self.expected not in (None, len(kept.keys)):
            raise StoreDamagedError(f"the store has {self.expected} rows, but the puzzle has {len(kept.keys)}")
        return kept

    @cached_property
    def _listed(self) -> RepresentativeRows:
        """The representative rows. For a small number of rows, numpy is faster than loading compiled code."""
        if self.frame.all_rows > MAX_NUMPY_ROWS:
            return least_rows(self.frame, self.images)
        rows = self.frame.all_rows
        labels = self.frame.positions(self.frame.rows(np.arange(rows)), self._no_contents(rows))
        keys = np.sort(_least_rows(self.row_images.digits(labels), self.lookup))
        return RepresentativeRows(keys, self._weights(keys))

    @property
    def keys(self) -> Keys:
        """``(classes,)``: the key of the representative row of each class, ascending."""
        return self._kept.keys

    @property
    def weights(self) -> Indices:
        """``(classes,)``: the number of rows of each class."""
        return self._kept.weights

    def _weights(self, keys: Keys) -> Indices:
        """Return the number of rows in the class of each representative row."""
        order = len(self.images)
        weights = np.empty(len(keys), dtype=np.int64)
        for first in range(0, len(keys), max(1, MAX_NUMPY_IMAGES // order)):
            some = keys[first : first + max(1, MAX_NUMPY_IMAGES // order)]
            stabilisers = (self.image_keys(self._first_positions(some)) == some).sum(axis=0)
            weights[first : first + len(some)] = order // stabilisers
        return weights

    def row_numbers(self) -> RowNumbers:
        """Return the index of the representative rows. It is not cached, because only move tables need it."""
        return RowNumbers.of(self.keys)

    def _no_contents(self, rows: int) -> Labels:
        return np.broadcast_to(self.frame.contents(np.zeros(1, dtype=np.int64)), (rows, self.frame.slots))

    def estimated_count(self) -> float:
        """Return an estimate of the number of classes from a sample: the sum of 1 / weight over all rows."""
        rows = self.frame.all_rows
        numbers = np.arange(rows) if rows <= SAMPLE else np.random.default_rng(0).integers(rows, size=SAMPLE)
        labels = self.frame.positions(self.frame.rows(numbers), self._no_contents(len(numbers)))
        keys = self.image_keys(labels)
        return float((keys == keys[0]).sum() / keys.size * rows)

    def rows(self, first: int = 0, end: int | None = None) -> Labels:
        """Return the position in the first column of each representative row in a range, ``(classes, places)``."""
        return self._first_positions(self.keys[first:end])

    def sampled_rows(self, count: int) -> Labels:
        """Return the same as `rows` for random classes, perhaps with repetitions; the rows need not be listed."""
        numbers = np.random.default_rng(0).integers(self.frame.all_rows, size=count)
        labels = self.frame.positions(self.frame.rows(numbers), self._no_contents(count))
        return self._first_positions(self.minimum_images(labels).keys)

    def rows_of(self, numbers: NDArray[np.int64]) -> Labels:
        """Return the same as `rows` for the classes with these numbers ``(n,)``."""
        return self._first_positions(self.keys[numbers])

    def _first_positions(self, keys: Keys) -> Labels:
        return self.frame.positions(self.frame.row_labels(keys), self._no_contents(len(keys)))

    def image_keys(self, labels: Labels) -> Keys:
        """Return the keys ``(symmetries, n)`` of all images of the rows of positions ``(n, places)``."""
        keys = np.zeros((len(self.images), len(labels)), dtype=np.uint64)
        for number, digit in enumerate(self.row_images.digits(labels).T):
            keys += self.lookup[:, number, digit]
        return keys

    def minimum_images(self, labels: Labels) -> MinimumImages:
        """Return the minimum image of the row of each position ``(n, places)``."""
        if len(labels) * len(self.images) <= MAX_NUMPY_IMAGES:
            keys = self.image_keys(labels)
            symmetries = keys.argmin(axis=0)
            return MinimumImages(keys[symmetries, np.arange(len(labels))], symmetries)
        least = MinimumImages(np.empty(len(labels), dtype=np.uint64), np.empty(len(labels), dtype=np.int64))
        find_least(np.ascontiguousarray(labels), self.row_images, *least)
        return least

    def numbers(self, keys: Keys) -> Indices:
        """Return the index of the class whose representative row has each key ``(n,)``; -1 if there is none."""
        numbers = np.searchsorted(self.keys, keys)
        numbers[numbers == len(self.keys)] = 0
        numbers[self.keys[numbers] != keys] = -1
        return numbers

    def first_images(self, labels: Labels) -> NDArray[np.bool_]:
        """Return ``(symmetries, n)``: whether a row's image differs from its images under all earlier symmetries."""
        keys = self.image_keys(labels)
        order = np.argsort(keys, axis=0, kind="stable")
        ascending = np.take_along_axis(keys, order, axis=0)
        first = np.ones(keys.shape, dtype=np.bool_)
        first[1:] = ascending[1:] != ascending[:-1]
        found = np.empty_like(first)
        np.put_along_axis(found, order, first, axis=0)
        return found


def _least_rows(digits: Labels, lookup: Keys) -> Keys:
    """Return the keys of those rows with these digits ``(n, digits)`` that are representatives."""
    every = np.arange(digits.shape[1])
    own: Keys = lookup[0, every, digits].sum(axis=1, dtype=np.uint64)
    for one in lookup[1:]:
        kept = one[every, digits].sum(axis=1, dtype=np.uint64) >= own
        digits, own = digits[kept], own[kept]
    return own


@kernel
def number_of_row(key: np.uint64, rows: RowNumbers) -> int:
    """Return the index of a representative row by its key; -1 if no representative row has the key."""
    prefix = key >> np.uint64(rows.shift)
    if prefix >= np.uint64(len(rows.begins) - 1):
        return -1
    low, high = integer(rows.begins[prefix]), integer(rows.begins[prefix + np.uint64(1)]) - 1
    while low < high:
        middle = (low + high) >> 1
        if rows.keys[middle] < key:
            low = middle + 1
        else:
            high = middle
    return low if low <= high and rows.keys[low] == key else -1


@kernel
def find_row_numbers(keys: Keys, rows: RowNumbers, numbers: Indices) -> None:
    """Write `number_of_row` of each key ``(n,)`` to ``numbers``."""
    for n in range(len(keys)):
        numbers[n] = number_of_row(keys[n], rows)
