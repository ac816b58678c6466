"""The classes of rows under symmetries: the least row of each, and how many rows a class has."""

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from antipodes_tasks.jit import kernel
from antipodes_tasks.rules.moves import Labels
from antipodes_tasks.spaces.frames import Frame
from antipodes_tasks.spaces.images import Images
from antipodes_tasks.spaces.move_tables import Indices

Keys = NDArray[np.uint64]

FEW = 1 << 18
"""Images of rows that numpy compares faster than compiled code is loaded."""
FEW_ROWS = 1 << 17
"""Rows of which numpy finds the least of their classes faster than compiled code is loaded."""
SAMPLE = 256
"""Rows of a sample."""
ROWS_AT_ONCE = 1 << 18
"""Rows that are compared with their images together."""


class Least(NamedTuple):
    """The least image of each of some rows."""

    keys: Keys
    """``(n,)``."""
    symmetries: NDArray[np.int64]
    """``(n,)``: the first symmetry that leads there."""


@dataclass(frozen=True, eq=False)
class RowClasses:
    """The rows of a frame up to symmetries, all of which map rows to rows; see `Frame.fitting`."""

    frame: Frame
    images: Images
    """The symmetries, the identity first."""

    @cached_property
    def lookup(self) -> Keys:
        """``(symmetries, places, labels)``: what a label on a place adds to the key of the image."""
        shown = self.frame.shown[self.images.places[:, :, np.newaxis], self.images.labels]
        lookup: Keys = shown.astype(np.uint64) * self.frame.key_weights[self.images.places][:, :, np.newaxis]
        return lookup

    @cached_property
    def keys(self) -> Keys:
        """``(classes,)``: the key of the least row of each class, ascending."""
        found = [self._least_among(*bounds) for bounds in self._batches]
        return np.sort(np.concatenate(found))

    @property
    def _batches(self) -> list[tuple[int, int]]:
        rows = self.frame.all_rows
        return [(first, min(first + ROWS_AT_ONCE, rows)) for first in range(0, rows, ROWS_AT_ONCE)]

    def _least_among(self, first: int, end: int) -> Keys:
        """The keys of the rows of some numbers that are the least of their class."""
        labels = self.frame.positions(self.frame.rows(np.arange(first, end)), self._no_contents(end - first))
        if len(labels) <= FEW_ROWS:
            return _least_rows(labels, self.lookup)
        return self.frame.keys(labels[find_least_rows(labels, self.lookup)])

    def _no_contents(self, rows: int) -> Labels:
        return np.broadcast_to(self.frame.contents(np.zeros(1, dtype=np.int64)), (rows, self.frame.slots))

    def estimated_count(self) -> float:
        """About how many classes there are: the mean of what a row is of its class, in a sample, times the rows."""
        rows = self.frame.all_rows
        numbers = np.arange(rows) if rows <= SAMPLE else np.random.default_rng(0).integers(rows, size=SAMPLE)
        labels = self.frame.positions(self.frame.rows(numbers), self._no_contents(len(numbers)))
        keys = self.image_keys(labels)
        return float((keys == keys[0]).sum() / keys.size * rows)

    def rows(self) -> Labels:
        """``(classes, places)``: a position in the least row of each class, in its first column."""
        return self.frame.positions(self.frame.row_labels(self.keys), self._no_contents(len(self.keys)))

    @cached_property
    def weights(self) -> Indices:
        """``(classes,)``: the number of rows in each class."""
        order = len(self.images)
        weights = np.empty(len(self.keys), dtype=np.int64)
        rows = self.rows()
        for first in range(0, len(rows), max(1, FEW // order)):
            some = slice(first, first + max(1, FEW // order))
            weights[some] = order // (self.image_keys(rows[some]) == self.keys[some]).sum(axis=0)
        return weights

    def image_keys(self, labels: Labels) -> Keys:
        """The keys ``(symmetries, n)`` of all images of the rows of positions ``(n, places)``."""
        keys = np.zeros((len(self.images), len(labels)), dtype=np.uint64)
        for place in np.flatnonzero(self.frame.radices > 1).tolist():
            keys += self.lookup[:, place, labels[:, place]]
        return keys

    def least(self, labels: Labels) -> Least:
        """The least image of the row of each position ``(n, places)``."""
        if len(labels) * len(self.images) <= FEW:
            keys = self.image_keys(labels)
            symmetries = keys.argmin(axis=0)
            return Least(keys[symmetries, np.arange(len(labels))], symmetries)
        least = Least(np.empty(len(labels), dtype=np.uint64), np.empty(len(labels), dtype=np.int64))
        find_least(np.ascontiguousarray(labels), self.lookup, *least)
        return least

    def numbers(self, keys: Keys) -> Indices:
        """The number of the class of each least row, by its key ``(n,)``; -1 if it is none."""
        numbers = np.searchsorted(self.keys, keys)
        numbers[numbers == len(self.keys)] = 0
        numbers[self.keys[numbers] != keys] = -1
        return numbers

    def first_images(self, labels: Labels) -> NDArray[np.bool_]:
        """``(symmetries, n)``: the symmetries that take the row of each position to a row no earlier one leads to."""
        keys = self.image_keys(labels)
        order = np.argsort(keys, axis=0, kind="stable")
        ascending = np.take_along_axis(keys, order, axis=0)
        first = np.ones(keys.shape, dtype=np.bool_)
        first[1:] = ascending[1:] != ascending[:-1]
        found = np.empty_like(first)
        np.put_along_axis(found, order, first, axis=0)
        return found


def _least_rows(labels: Labels, lookup: Keys) -> Keys:
    """The keys of the rows of positions ``(n, places)`` that are the least of their class."""
    places = np.arange(labels.shape[1])
    own: Keys = lookup[0, places, labels].sum(axis=1, dtype=np.uint64)
    for one in lookup[1:]:
        kept = one[places, labels].sum(axis=1, dtype=np.uint64) >= own
        labels, own = labels[kept], own[kept]
    return own


@kernel
def find_least_rows(labels: Labels, lookup: Keys) -> NDArray[np.bool_]:
    """Whether each row of positions ``(n, places)`` is the least of its class."""
    found = np.ones(len(labels), dtype=np.bool_)
    for n in range(len(labels)):
        own = np.uint64(0)
        for place in range(labels.shape[1]):
            own += lookup[0, place, labels[n, place]]
        for symmetry in range(1, len(lookup)):
            key = np.uint64(0)
            for place in range(labels.shape[1]):
                key += lookup[symmetry, place, labels[n, place]]
            if key < own:
                found[n] = False
                break
    return found


@kernel
def find_least(labels: Labels, lookup: Keys, keys: Keys, symmetries: NDArray[np.int64]) -> None:
    """Fill in the least key of all images of each of ``(n, places)``, and the first symmetry that leads there."""
    for n in range(len(labels)):
        symmetries[n] = 0
        for symmetry in range(len(lookup)):
            key = np.uint64(0)
            for place in range(labels.shape[1]):
                key += lookup[symmetry, place, labels[n, place]]
            if symmetry == 0 or key < keys[n]:
                keys[n], symmetries[n] = key, symmetry
