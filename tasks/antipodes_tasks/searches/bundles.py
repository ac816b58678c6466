"""Bundles: positions connected by a few moves, whose bounds share one word of memory.

The moves are the *turns* of a pattern, such as the turns of two opposite faces of a cube (see `turns`). The positions
to which turns lead from a position form its bundle. One word contains the bounds of all of them, two bits each, so a
search that has read the word of a position knows the bounds of its successors by turns without reading memory again.

The two bits are a *clipped* distance: 0 stands for all distances up to a *base*, and 1, 2 and 3 for the next two
distances, and for all larger ones.

Turns and symmetries together map bundles to bundles, and only one bundle of each class has words. To find the word of a
position, one digit of its index, the *leading digit*, selects a turn that takes the position to the first row of its
bundle. A list of these rows names the class, and the turn and the symmetry that take the row to the first row of the
class.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from antipodes_tasks.base.array_types import Numbers
from antipodes_tasks.base.jit import kernel
from antipodes_tasks.base.parallel import on_threads
from antipodes_tasks.properties.symmetry_images import Images
from antipodes_tasks.rules.swaps import transforms_of
from antipodes_tasks.searches.digits import INDEPENDENT, Digit
from antipodes_tasks.searches.progress import Heartbeat, no_pulse
from antipodes_tasks.searches.quotient import (
    MAX_ROWS,
    ROWS_AT_ONCE,
    MappedRows,
    Representatives,
    followed_digits,
    followed_numbering,
    moves_of,
    number_maps,
)
from antipodes_tasks.searches.turns import Turns, turns_of
from antipodes_tasks.spaces.reduced_numbering import Reduced
from antipodes_tasks.spaces.space import Numbering, Space

MIN_TURNS, MAX_TURNS = 8, 16
"""Limits on the number of positions of a bundle. A word of 32 bits has two bits for each position; with fewer
positions, the words would take more memory than four bits per entry."""
BUNDLES_AT_ONCE = 1 << 12
"""Number of bundles whose images are computed together."""
CLASSES_AT_ONCE = 1 << 10
"""Number of classes whose words a thread computes at once."""
HalfWords = NDArray[np.uint32]


@dataclass(frozen=True, eq=False)
class BundleRows:
    """The first rows of all bundles, and how the index of a position leads to one of them."""

    numbering: Numbering
    """The numbering of all positions, as ``row * width + column``."""
    digits: tuple[Digit, ...]
    """The digits of an index; the last one is the column, and the others form the row."""
    turns: Turns

    @cached_property
    def width(self) -> int:
        """Number of columns."""
        return self.digits[-1].size

    @cached_property
    def turned(self) -> tuple[NDArray[np.int32], ...]:
        """For each digit, ``(turns, size)``: the digit after each turn."""
        return tuple(self.turns.after(digit.after) for digit in self.digits)

    @cached_property
    def leading(self) -> int:
        """The number of the leading digit: the one with the fewest orbits under the turns, compared to its size."""
        counts = [len(np.unique(turned.min(axis=0))) / turned.shape[1] for turned in self.turned[:-1]]
        return int(np.argmin(counts))

    @cached_property
    def turn(self) -> NDArray[np.uint8]:
        """``(size,)``: the turn that takes each leading digit to the first digit of its orbit."""
        turns: NDArray[np.uint8] = self.turned[self.leading].argmin(axis=0).astype(np.uint8)
        return turns

    @cached_property
    def firsts(self) -> Numbers:
        """``(orbits,)``: the first digit of each orbit of the leading digit, ascending."""
        return np.unique(self.turned[self.leading].min(axis=0)).astype(np.int64)

    @cached_property
    def weights(self) -> tuple[int, ...]:
        """The weight of each digit of the row in the number of a bundle; 0 for the leading digit."""
        sizes = [1 if k == self.leading else digit.size for k, digit in enumerate(self.digits[:-1])]
        return tuple(0 if k == self.leading else prod(sizes[k + 1 :]) for k in range(len(sizes)))

    @cached_property
    def each(self) -> int:
        """Number of bundles of each orbit of the leading digit."""
        return prod(digit.size for k, digit in enumerate(self.digits[:-1]) if k != self.leading)

    @property
    def count(self) -> int:
        """Number of bundles. If a turn leaves a first digit unchanged, it leads from bundles to equal bundles."""
        return len(self.firsts) * self.each

    @cached_property
    def begin(self) -> NDArray[np.uint32]:
        """``(size,)``: the number of the first bundle of the orbit of each leading digit."""
        orbits = np.searchsorted(self.firsts, self.turned[self.leading].min(axis=0))
        begin: NDArray[np.uint32] = (orbits * self.each).astype(np.uint32)
        return begin

    def bundles(self, rows: Numbers) -> tuple[Numbers, Numbers]:
        """Return the bundles of rows ``(n,)``, and the turns that take the rows to the first rows of their bundles."""
        values = [rows // (digit.weight // self.width) % digit.size for digit in self.digits[:-1]]
        turns = self.turn[values[self.leading]].astype(np.int64)
        numbers = self.begin[values[self.leading]].astype(np.int64)
        for value, turned, weight in zip(values, self.turned, self.weights, strict=False):
            numbers += weight * turned[turns, value]
        return numbers, turns

    def rows(self, bundles: Numbers, turns: Numbers | int = 0) -> Numbers:
        """Return the rows to which turns ``(n,)`` take the first rows of bundles ``(n,)``."""
        rows = np.zeros(len(bundles), dtype=np.int64)
        for k, (digit, turned) in enumerate(zip(self.digits[:-1], self.turned, strict=False)):
            value = self.firsts[bundles // self.each]
            if k != self.leading:
                value = bundles % self.each // self.weights[k] % digit.size
            rows += turned[turns, value].astype(np.int64) * (digit.weight // self.width)
        return rows


@dataclass(frozen=True, eq=False)
class Bundles:
    """The words of a reduced table, and how a search finds the word of a position."""

    rows: BundleRows
    base: int
    """The bound of an entry is ``base + v`` for the value v > 0, and 0 for the value 0; see `Encoding`."""
    class_of: NDArray[np.uint32]
    """``(bundles,)``: the number of the class, shifted left by ``bits``, plus the number of the column map times the
    number of turns, plus the turn that takes the image of the class's first row to the first row of the bundle."""
    maps: NDArray[np.int32]
    """``(column maps, width)``: for each column of a row, the column of the first row of the class."""
    symmetries: NDArray[np.uint16]
    """``(column maps,)``: the symmetry to which each column map belongs."""
    words: HalfWords
    """``(classes * width,)``: bits 2t and 2t + 1 are the value of the entry after turn t."""

    @property
    def bits(self) -> int:
        """Number of bits of a column map and a turn in ``class_of``."""
        return bits_for(len(self.maps), len(self.rows.turns))

    def located(self, indices: Numbers) -> tuple[Numbers, Numbers]:
        """Return for indices ``(n,)`` in the numbering of all positions the places of their words, and their *slots*.

        A slot is the number of a symmetry times the number of turns, plus a turn. The symmetry takes the position to
        the position in its class to which the turn leads from the entry of the word.
        """
        turns, (row, column) = self.rows.turns, np.divmod(indices, self.rows.width)
        bundles, turn = self.rows.bundles(row)
        classes, map_turn = np.divmod(self.class_of[bundles].astype(np.int64), 1 << self.bits)
        of_map, own = np.divmod(map_turn, len(turns))
        back = turns.products[turn, turns.inverses[own]]
        columns = self.maps[of_map, self.rows.turned[-1][back, column]].astype(np.int64)
        symmetries = self.symmetries[of_map].astype(np.int64)
        slots: Numbers = symmetries * len(turns) + turns.images[symmetries, turns.inverses[back]]
        places: Numbers = classes * self.rows.width + columns
        return places, slots

    def read(self, indices: Numbers) -> Numbers:
        """Return the bounds of indices ``(n,)``."""
        places, slots = self.located(indices)
        values = self.words[places].astype(np.int64) >> 2 * (slots % len(self.rows.turns)) & 3
        return np.where(values > 0, values + self.base, 0)


def bits_for(maps: int, turns: int) -> int:
    """Return the number of bits of a column map and a turn."""
    return (maps * turns - 1).bit_length()


def bundle_rows(space: Space) -> BundleRows | None:
    """Return the bundles of a reduced space in which all moves are legal everywhere.

    Returns None if no moves generate a group of suitable size, if a move changes a digit of an index differently
    depending on other digits, or if there are too many bundles.
    """
    stored, moves = space.numbering, transforms_of(space.rules)
    assert isinstance(stored, Reduced)
    images = moves_of(space.rules, stored.images)
    turns = None if images is None else turns_of(moves, images, MAX_TURNS)
    if turns is None or len(turns) < MIN_TURNS:
        return None
    numbering = followed_numbering(space.rules, stored)
    digits = followed_digits(numbering, space.rules, stored.width)
    if len(digits) < 2 or any(digit.row != INDEPENDENT for digit in digits):
        return None
    rows = BundleRows(numbering, digits, turns)
    return rows if rows.count <= MAX_ROWS else None


def bundles_of(
    space: Space,
    rows: BundleRows,
    base: int,
    values: Callable[[], NDArray[np.uint8]],
    threads: int,
    pulse: Heartbeat = no_pulse,
) -> Bundles | None:
    """Return the bundles of a reduced table, or None if their numbers do not fit into 32 bits.

    ``values`` returns the clipped distances of all entries, see `Encoding`. ``pulse`` may interrupt the work.
    """
    stored, turns = space.numbering, len(rows.turns)
    assert isinstance(stored, Reduced)
    found = _classes(rows, stored.images, pulse)
    representatives, inverse = Representatives.of(space), stored.images.inverses

    def mapped(first: int) -> MappedRows:
        some = slice(first, first + ROWS_AT_ONCE)
        symmetries = inverse[found.symmetries[some]]
        keys = representatives.mapped_by(found.rows[some], rows.numbering, symmetries)
        return MappedRows(found.classes[some], symmetries, keys)

    each = on_threads(mapped, range(0, rows.count, ROWS_AT_ONCE), threads, pulse)
    of_bundles = number_maps(space, rows.numbering, each, rows.count)
    if of_bundles is None or len(found.firsts) << bits_for(len(of_bundles.maps), turns) > 1 << 32:
        return None
    # The upper bits of a number are the class; the lower bits are the column map and the turn.
    class_of = of_bundles.classes << np.uint32(bits_for(len(of_bundles.maps), turns))
    class_of |= of_bundles.numbers * np.uint32(turns) + found.turns
    bundles = Bundles(
        rows,
        base,
        class_of,
        of_bundles.maps,
        of_bundles.symmetries,
        np.zeros(len(found.firsts) * rows.width, dtype=np.uint32),
    )
    return bundles if _fill(bundles, space, found.firsts, values(), threads, pulse) else None


class _Classes(NamedTuple):
    """The classes of bundles under symmetries."""

    firsts: Numbers
    """``(classes,)``: the first bundle of each class."""
    classes: NDArray[np.uint32]
    """``(bundles,)``: the class of each bundle."""
    rows: Numbers
    """``(bundles,)``: a row of each bundle that is an image of the first row of the first bundle of its class."""
    symmetries: NDArray[np.uint16]
    """``(bundles,)``: the symmetry that leads to this image."""
    turns: NDArray[np.uint8]
    """``(bundles,)``: the turn from this row to the first row of the bundle."""

    @classmethod
    def unknown(cls, bundles: int) -> Self:
        """Return uninitialised arrays without classes."""
        return cls(
            firsts=np.empty(0, dtype=np.int64),
            classes=np.empty(bundles, dtype=np.uint32),
            rows=np.empty(bundles, dtype=np.int64),
            symmetries=np.empty(bundles, dtype=np.uint16),
            turns=np.empty(bundles, dtype=np.uint8),
        )


def _classes(rows: BundleRows, images: Images, pulse: Heartbeat) -> _Classes:
    """Return the classes of bundles. Each class is found at its first bundle, and then contains the images."""
    known = np.zeros(rows.count, dtype=np.bool_)
    found = _Classes.unknown(rows.count)
    firsts, count, order = list[Numbers](), 0, len(images)
    begin = 0
    while begin < rows.count:
        some = begin + np.flatnonzero(~known[begin : begin + BUNDLES_AT_ONCE])
        if not len(some):
            begin += BUNDLES_AT_ONCE
            continue
        labels = np.repeat(rows.numbering.unrank(rows.rows(some) * rows.width), order, axis=0)
        symmetries = np.tile(np.arange(order), len(some))
        reached = rows.numbering.rank(images.image(labels, symmetries)) // rows.width
        bundles, turns = rows.bundles(reached)
        # A bundle that is an image of an earlier one is either known now, or its turn comes in the next round.
        different, at = np.unique(bundles, return_index=True)
        new = at[np.searchsorted(different, some)] // order == np.arange(len(some))
        taken = new[at // order] & ~known[different]
        different, at = different[taken], at[taken]
        known[different] = True
        found.classes[different] = (count + np.cumsum(new) - 1)[at // order]
        found.rows[different], found.symmetries[different] = reached[at], symmetries[at]
        found.turns[different] = turns[at]
        firsts.append(some[new])
        count += int(new.sum())
        pulse()
    return found._replace(firsts=np.concatenate(firsts))


def _fill(
    bundles: Bundles, space: Space, firsts: Numbers, values: NDArray[np.uint8], threads: int, pulse: Heartbeat
) -> bool:
    """Fill in the words from the values of all entries; return whether there was enough memory for the column maps."""
    rows, stored = bundles.rows, space.numbering
    assert isinstance(stored, Reduced)
    representatives, turns = Representatives.of(space), len(rows.turns)
    every = np.tile(np.arange(turns), len(firsts))
    entries = np.repeat(firsts, turns)

    def mapped(first: int) -> MappedRows:
        some = slice(first, first + ROWS_AT_ONCE)
        return representatives.mapped(rows.rows(entries[some], every[some]), rows.numbering)

    each = on_threads(mapped, range(0, len(entries), ROWS_AT_ONCE), threads, pulse)
    found = number_maps(space, rows.numbering, each, len(entries))
    if found is None:
        return False
    columns = np.argsort(stored.frame.columns(rows.numbering.unrank(np.arange(rows.width))))
    turned = np.ascontiguousarray(rows.turned[-1][:, columns])

    def fill(first: int) -> None:
        last = min(first + CLASSES_AT_ONCE, len(firsts))
        fill_words(bundles.words, first, last, found.classes, found.numbers, found.maps, turned, values)

    for _ in on_threads(fill, range(0, len(firsts), CLASSES_AT_ONCE), threads, pulse):
        pass
    return True


@kernel
def fill_words(
    words: HalfWords,
    first: int,
    last: int,
    rows: NDArray[np.uint32],
    numbers: NDArray[np.uint32],
    maps: NDArray[np.int32],
    turned: NDArray[np.int32],
    values: NDArray[np.uint8],
) -> None:
    """Fill in the words of the classes ``first`` to ``last - 1``.

    ``rows`` and ``numbers`` ``(classes * turns,)`` contain the stored row and the column map of the first row of each
    class after each turn, and ``turned`` ``(turns, width)`` the column after each turn.
    """
    turns, width = turned.shape
    for one in range(first, last):
        begin = one * width
        for turn in range(turns):
            row, number = np.int64(rows[one * turns + turn]) * width, numbers[one * turns + turn]
            shift = np.uint32(2 * turn)
            for column in range(width):
                entry = np.uint64(row + maps[number, turned[turn, column]])
                value = (values[entry >> np.uint64(2)] >> ((entry & np.uint64(3)) << np.uint64(1))) & np.uint64(3)
                words[begin + column] |= np.uint32(value) << shift
