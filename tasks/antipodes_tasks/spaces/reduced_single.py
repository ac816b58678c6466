"""The entry of a single position in a reduced space, computed with Python integers.

For one position this takes a tenth of the time of the array functions.
"""

from bisect import bisect_left
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from antipodes_tasks.permutations.multisets import ranker
from antipodes_tasks.permutations.parity import parity_of
from antipodes_tasks.properties.symmetry_images import Images
from antipodes_tasks.spaces.orbit_parts import PiecesIndex
from antipodes_tasks.spaces.row_classes import RowClasses
from antipodes_tasks.spaces.rows_and_columns import NO_BLOCK, ColumnBlock, Cut
from antipodes_tasks.spaces.space import NOT_NUMBERED

MAX_LISTED = 1 << 16
"""Maximum number of row keys that are held in a list. Also the maximum size of `Images.labels` for which the symmetries
are held in lists."""
Lists = list[list[list[int]]]


class OneRow:
    """The search for the representative row of a single position, and for the symmetry that leads to it."""

    def __init__(self, classes: RowClasses) -> None:
        images = classes.row_images
        labels = images.lowest.shape[1]
        self._keys = classes.keys
        self._listed = classes.keys.tolist() if len(classes.keys) <= MAX_LISTED else None
        arrays = (images.places, images.twists, images.shown, images.lowest)
        self._digits = list(zip(*(each.tolist() for each in arrays), strict=True))
        bounds, first = images.begins.tolist(), images.first.tolist()
        slices = [first[begin:end] for begin, end in pairwise(bounds)]
        self._candidates = [slices[at : at + labels] for at in range(0, len(slices), labels)]
        weighed = images.become.astype(object) * images.weights[:, np.newaxis].astype(object)
        self._steps = [
            list(zip(origins, become, strict=True))
            for origins, become in zip(images.origins.tolist(), weighed.tolist(), strict=True)
        ]

    def minimum_image(self, labels: Sequence[int]) -> tuple[int, int]:
        """Return the minimum key of the images of a position's row, and the first symmetry that leads to it."""
        digits, lowest = list[int](), list[int]()
        for place, twist, shown, lows in self._digits:
            digits.append(digit := shown[labels[place]] + (labels[twist] if twist >= 0 else 0))
            lowest.append(lows[digit])
        least = min(lowest)
        return min(
            (sum([become[digits[origin]] for origin, become in self._steps[symmetry]]), symmetry)
            for digit, low in enumerate(lowest)
            if low == least
            for symmetry in self._candidates[digit][digits[digit]]
        )

    def number(self, key: int) -> int:
        """Return the index of a representative row by its key; NOT_NUMBERED if no representative row has the key."""
        if self._listed is not None:
            at = bisect_left(self._listed, key)
            return at if at < len(self._listed) and self._listed[at] == key else NOT_NUMBERED
        at = int(np.searchsorted(self._keys, np.uint64(key)))
        return at if at < len(self._keys) and int(self._keys[at]) == key else NOT_NUMBERED


class OneImage:
    """The images of single positions under symmetries."""

    def __init__(self, images: Images) -> None:
        self._origins = images.origins.tolist()
        self._labels: Lists = images.labels.tolist()
        self._turns: Lists | None = images.turns.tolist() if images.turns.any() else None
        self._carriers, self._moduli = images.carriers.tolist(), images.moduli.tolist()

    def of(self, labels: Sequence[int], symmetry: int, places: range) -> list[int]:
        """Return the labels on some places of the image of a position."""
        origins, become = self._origins[symmetry], self._labels[symmetry]
        if self._turns is None:
            return [become[origins[place]][labels[origins[place]]] for place in places]
        turns, carriers, moduli = self._turns[symmetry], self._carriers, self._moduli
        return [
            (become[origin][labels[origin]] + turns[origin][labels[carriers[origin]]]) % moduli[origin]
            for origin in [origins[place] for place in places]
        ]


class ColumnDigit(NamedTuple):
    """How the digit of a column block is computed from the labels on some places."""

    places: range
    rank: Callable[[Sequence[int]], int]
    weight: int


class OneEntry:
    """The ranking of single positions."""

    def __init__(self, classes: RowClasses) -> None:
        frame, images = classes.frame, classes.images
        self._row, self._image, self._width = OneRow(classes), OneImage(images), frame.width
        self._digits = [_digit(frame, block, weight) for block, weight in zip(frame.blocks, frame.weights, strict=True)]
        self._parities = [
            (range(part.place_slice.start, part.place_slice.stop), part.parity)
            for part in frame.parts
            if isinstance(part, PiecesIndex) and part.parity is not None
        ]

    @staticmethod
    def is_applicable(classes: RowClasses) -> bool:
        """Return whether the symmetries are few enough to be held as lists."""
        return classes.images.labels.size <= MAX_LISTED

    def rank(self, labels: Sequence[int]) -> int:
        """Return the index of the entry of a position; NOT_NUMBERED if it has none."""
        key, symmetry = self._row.minimum_image(labels)
        index = self._row.number(key)
        if index == NOT_NUMBERED:
            return NOT_NUMBERED
        index *= self._width
        for places, rank, weight in self._digits:
            digit = rank(self._image.of(labels, symmetry, places))
            if digit == NOT_NUMBERED:
                return NOT_NUMBERED
            index += digit * weight
        for places, parity in self._parities:
            here = self._image.of(labels, symmetry, places)
            if parity_of(here) != parity[here.index(min(here))]:
                return NOT_NUMBERED
        return index


def _digit(frame: Cut, block: ColumnBlock, weight: int) -> ColumnDigit:
    at, contents = frame.parts[block.part].place_slice, block.end - block.first
    if block.values is not None:
        return ColumnDigit(range(at.stop - contents, at.stop), block.values.rank_one, weight)
    local, rank = block.local, ranker(block.counts)
    return ColumnDigit(
        range(at.start, at.stop),
        lambda labels: rank([local[label] for label in labels if local[label] != NO_BLOCK]),
        weight,
    )
