"""The images of rows under symmetries, digit by digit; for kernels.

A row is written as its *digits*: the row labels of the places about which the row stores something, the most
significant first. Images are compared digit by digit, which gives the same order as comparing their keys. The first
digit usually decides.
"""

from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from antipodes_tasks.base.jit import integer, kernel
from antipodes_tasks.properties.symmetry_images import Images
from antipodes_tasks.spaces.rows_and_columns import Cut


class RowImages(NamedTuple):
    """A cut and the symmetries that map its rows to rows, the identity first.

    There is a digit for each place about which the row stores something. A piece and its twist are one digit if both
    are in the row.
    """

    places: NDArray[np.int64]
    """``(digits,)``: the place of each digit; for a piece with a twist, the place of the piece."""
    twists: NDArray[np.int64]
    """``(digits,)``: the place of the twist that is added to the digit, or -1."""
    shown: NDArray[np.uint8]
    """``(digits, labels)``: the value of the digit, before a twist is added, for each label on its place."""
    radices: NDArray[np.int64]
    """``(digits,)``: the number of values of each digit."""
    weights: NDArray[np.uint64]
    """``(digits,)``: the weight of each digit in a key, descending."""
    origins: NDArray[np.int64]
    """``(symmetries, digits)``: for each digit of the image, the digit of the row that it comes from."""
    become: NDArray[np.uint8]
    """``(symmetries, digits, row labels)``: the value of each digit of the image, for each value of the digit that it
    comes from."""
    lowest: NDArray[np.uint8]
    """``(digits, row labels)``: the minimum first digit of all images whose first digit comes from this digit, if this
    digit has this value."""
    begins: NDArray[np.int64]
    """``(digits * row labels + 1,)``: where the symmetries that lead to this minimum begin in ``first``."""
    first: NDArray[np.int64]
    """The numbers of these symmetries, ascending for each digit and row label."""

    @classmethod
    def of(cls, frame: Cut, images: Images) -> Self:
        """Return the arrays of a cut and of symmetries that map its rows to rows, see `maps_rows_to_rows`."""
        places = digit_places(frame)
        twists = frame.twist_at[places]
        turned = np.where(twists >= 0, frame.radices[twists], 1)
        place_of = np.zeros(frame.places, dtype=np.int64)
        place_of[places] = np.arange(len(places))
        radices = frame.radices[places] * turned
        # With arrays of one memory layout, kernels are compiled once; the layout of an array indexed by arrays varies.
        origins = np.ascontiguousarray(place_of[images.origins[:, places]])
        become = _image_digits(frame, images, places, int(radices.max()))
        lowest, begins, first = _first_digits(origins[:, 0], become[:, 0], radices)
        shown = (frame.row_label_of[places] * turned[:, np.newaxis]).astype(np.uint8)
        weights = frame.key_weights[np.where(twists >= 0, twists, places)]
        return cls(places, twists, shown, radices, weights, origins, become, lowest, begins, first)

    def digits(self, labels: NDArray[np.uint8]) -> NDArray[np.uint8]:
        """Return the digits ``(n, digits)`` of the rows of positions ``(n, places)``."""
        digits = self.shown[np.arange(len(self.places)), labels[:, self.places]]
        turned = np.flatnonzero(self.twists >= 0)
        digits[:, turned] += labels[:, self.twists[turned]]
        return digits


def digit_places(frame: Cut) -> NDArray[np.int64]:
    """Return the place of each digit; see `RowImages.places`."""
    places = np.flatnonzero(frame.radices > 1)
    if not len(places):  # only one row: use all its digits, which are 0, since there must be a first digit
        return np.arange(frame.places)
    return places[~np.isin(places, frame.twist_at)]


def _image_digits(frame: Cut, images: Images, places: NDArray[np.int64], labels: int) -> NDArray[np.uint8]:
    """Return the digits of images for all values of the digits that they come from, see `RowImages.become`."""
    twists = frame.twist_at[places]
    turned = np.where(twists >= 0, frame.radices[twists], 1)[:, np.newaxis]
    label_of = np.zeros((frame.places, frame.labels), dtype=np.int64)
    for known in range(frame.labels - 1, -1, -1):
        having = np.flatnonzero(known < images.moduli)
        label_of[having, frame.row_label_of[having, known]] = known
    origins = images.origins[:, places, np.newaxis]
    symmetries, every = np.arange(len(images))[:, np.newaxis, np.newaxis], np.arange(labels)
    label = label_of[origins, np.minimum(every // turned, frame.labels - 1)]
    turn = images.turns[symmetries, origins, 0]  # not 0 only for a twist that is a digit without its piece
    after = (images.labels[symmetries, origins, label].astype(np.int64) + turn) % images.moduli[origins]
    become = frame.row_label_of[places[:, np.newaxis], after].astype(np.int64) * turned
    twisted = np.flatnonzero(twists >= 0)
    if len(twisted):
        at = frame.twist_at[origins[:, twisted]]
        moved = images.labels[symmetries, at, every % turned[twisted]].astype(np.int64)
        become[:, twisted] += (moved + images.turns[symmetries, at, label[:, twisted]]) % turned[twisted]
    return np.ascontiguousarray(become, dtype=np.uint8)


def _first_digits(
    origins: NDArray[np.int64], become: NDArray[np.uint8], radices: NDArray[np.int64]
) -> tuple[NDArray[np.uint8], NDArray[np.int64], NDArray[np.int64]]:
    """Return `RowImages.lowest`, `RowImages.begins` and `RowImages.first`."""
    labels = become.shape[1]
    lowest = np.full((len(radices), labels), 255, dtype=np.uint8)
    np.minimum.at(lowest, origins, become)
    lists = [
        np.flatnonzero((origins == digit) & (become[:, label] == lowest[digit, label]))
        for digit in range(len(radices))
        for label in range(labels)
    ]
    begins = np.cumsum([0, *map(len, lists)]).astype(np.int64)
    return lowest, begins, np.concatenate(lists).astype(np.int64)


@kernel
def write_digits(position: NDArray[np.uint8], digits: NDArray[np.uint8], images: RowImages) -> None:
    """Fill in the digits of the row of a position ``(places,)``."""
    for digit in range(len(digits)):
        digits[digit] = images.shown[digit, position[images.places[digit]]]
        if images.twists[digit] >= 0:
            digits[digit] += position[images.twists[digit]]


@kernel
def least_image(digits: NDArray[np.uint8], images: RowImages) -> int:
    """Return the first symmetry that leads to the minimum image of a row."""
    lowest = integer(255)
    for digit in range(len(digits)):
        lowest = min(lowest, integer(images.lowest[digit, digits[digit]]))
    best, labels = integer(-1), images.lowest.shape[1]
    for digit in range(len(digits)):
        if images.lowest[digit, digits[digit]] != lowest:
            continue
        at = digit * labels + digits[digit]
        for number in range(images.begins[at], images.begins[at + 1]):
            one = images.first[number]
            if best < 0 or _comes_before(one, best, digits, images):
                best = one
    return best


@kernel
def _comes_before(one: int, other: int, digits: NDArray[np.uint8], images: RowImages) -> bool:
    """Return whether ``one`` leads to a smaller image than ``other``, or to the same image and has a smaller number."""
    for digit in range(1, len(digits)):
        mine = images.become[one, digit, digits[images.origins[one, digit]]]
        its = images.become[other, digit, digits[images.origins[other, digit]]]
        if mine != its:
            return bool(mine < its)
    return one < other


@kernel
def image_key(symmetry: int, digits: NDArray[np.uint8], images: RowImages) -> np.uint64:
    """Return the key of the image of a row under a symmetry."""
    key = np.uint64(0)
    for digit in range(len(digits)):
        key += images.weights[digit] * np.uint64(
            images.become[symmetry, digit, digits[images.origins[symmetry, digit]]]
        )
    return key


@kernel
def find_least(
    labels: NDArray[np.uint8], images: RowImages, keys: NDArray[np.uint64], symmetries: NDArray[np.int64]
) -> None:
    """Fill in the minimum key of the images of each position ``(n, places)``, and the first symmetry with this key."""
    digits = np.empty(len(images.places), dtype=np.uint8)
    for n in range(len(labels)):
        write_digits(labels[n], digits, images)
        symmetries[n] = least_image(digits, images)
        keys[n] = image_key(symmetries[n], digits, images)
