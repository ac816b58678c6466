"""The labels of a position in 64-bit words: each place has a field of a few bits, or shares one with its neighbours."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from math import prod
from operator import mul
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from antipodes_tasks.jit import kernel
from antipodes_tasks.rules.moves import Labels
from antipodes_tasks.rules.parts import Part

Words = NDArray[np.uint64]
WORD = 64
"""Bits of a word."""
MIN_POSITIONS_TO_COMPILE = 1 << 14
"""Positions from which on kernels pack and unpack them; for fewer, loading one would take longer."""
PACKED = 1 << 11
"""Positions that are packed after each other: their words and labels stay in cache."""


class Layout(NamedTuple):
    """Where the label of each place is, ``(places,)`` each."""

    word: NDArray[np.int64]
    shift: Words
    mask: Words


@dataclass(frozen=True)
class Fields:
    """The bits of each place; no place is split between two words."""

    bits: tuple[int, ...]

    @classmethod
    def of(cls, parts: Sequence[Part]) -> "Fields":
        """Fields that hold any contents of these parts."""
        return cls(tuple(max(1, bits_of(len(part.symbols))) for part in parts for _ in range(part.places)))

    @property
    def places(self) -> int:
        """The number of places."""
        return len(self.bits)

    @property
    def words(self) -> int:
        """The number of words of a position."""
        return int(self.layout.word[-1]) + 1

    @cached_property
    def layout(self) -> Layout:
        """Where each place is: the first takes the lowest bits of the first word, and so on."""
        return layout_of(self.bits)

    def pack(self, labels: Labels) -> Words:
        """``(n, places)`` labels as ``(n, words)``."""
        if len(labels) >= MIN_POSITIONS_TO_COMPILE:
            packed = np.empty((len(labels), self.words), dtype=np.uint64)
            _pack(labels, self.layout.word, self.layout.shift, packed)
            return packed
        shifted = labels.astype(np.uint64) << self.layout.shift
        firsts = np.searchsorted(self.layout.word, np.arange(self.words))
        words: Words = np.bitwise_or.reduceat(shifted, firsts, axis=1)
        return words

    def unpack(self, words: Words) -> Labels:
        """The inverse of `pack`."""
        if len(words) >= MIN_POSITIONS_TO_COMPILE:
            labels = np.empty((len(words), self.places), dtype=np.uint8)
            _unpack(words, *self.layout, labels)
            return labels
        return ((words[:, self.layout.word] >> self.layout.shift) & self.layout.mask).astype(np.uint8)


@dataclass(frozen=True)
class SharedFields:
    """Fields of several places: the number in it has a digit for each of them, the lowest one for the first."""

    radices: tuple[int, ...]
    """The values of each place."""
    groups: tuple[int, ...]
    """How many places are in each field, one after another."""
    more: tuple[int, ...] = ()
    """How many values each of some fields has that follow, and are not of places; they are left 0 here."""

    @property
    def places(self) -> int:
        """The number of places."""
        return len(self.radices)

    @cached_property
    def first(self) -> tuple[int, ...]:
        """The first place of each field of places."""
        return tuple(accumulate(self.groups, initial=0))[:-1]

    @cached_property
    def values(self) -> tuple[int, ...]:
        """How many values each field has."""
        of_places = (
            prod(self.radices[first : first + size]) for first, size in zip(self.first, self.groups, strict=True)
        )
        return (*of_places, *self.more)

    @property
    def words(self) -> int:
        """The number of words of a position."""
        return int(self.layout.word[-1]) + 1

    @cached_property
    def layout(self) -> Layout:
        """Where each field is, ``(fields,)``."""
        return layout_of([bits_of(values) for values in self.values])

    @cached_property
    def field(self) -> NDArray[np.int64]:
        """``(places,)``: the field of each place."""
        return np.repeat(np.arange(len(self.groups)), self.groups)

    @cached_property
    def divisors(self) -> tuple[int, ...]:
        """The value of a 1 of each place in the number of its field."""
        found: list[int] = []
        for first, size in zip(self.first, self.groups, strict=True):
            found += list(accumulate(self.radices[first : first + size], mul, initial=1))[:-1]
        return tuple(found)

    def pack(self, labels: Labels) -> Words:
        """``(n, places)`` labels as ``(n, words)``."""
        packed = np.zeros((len(labels), self.words), dtype=np.uint64)
        for place, field in enumerate(self.field.tolist()):
            weight = np.uint64(self.divisors[place]) << self.layout.shift[field]
            packed[:, self.layout.word[field]] += labels[:, place] * weight
        return packed

    def unpack(self, words: Words) -> Labels:
        """The inverse of `pack`."""
        labels = np.empty((len(words), self.places), dtype=np.uint8)
        for place, field in enumerate(self.field.tolist()):
            digits = self.number(words, field) // np.uint64(self.divisors[place])
            labels[:, place] = digits % np.uint64(self.radices[place])
        return labels

    def number(self, words: Words, field: int) -> Words:
        """The number ``(n,)`` in a field of keys ``(n, words)``."""
        found: Words = (words[:, self.layout.word[field]] >> self.layout.shift[field]) & self.layout.mask[field]
        return found


def layout_of(widths: Sequence[int]) -> Layout:
    """Where fields of so many bits are: the first one is lowest in the first word, and none is split between two."""
    word, shift, ends = 0, 0, []
    for bits in widths:
        if shift + bits > WORD:
            word, shift = word + 1, 0
        ends.append((word, shift if bits else 0))
        shift += bits
    words, shifts = np.array(ends, dtype=np.int64).T
    masks = [(1 << bits) - 1 for bits in widths]
    return Layout(words.copy(), shifts.astype(np.uint64), np.array(masks, dtype=np.uint64))


def bits_of(values: int) -> int:
    """The bits of a field for so many different values."""
    return (values - 1).bit_length()


@kernel
def _pack(labels: Labels, word: NDArray[np.int64], shift: Words, packed: Words) -> None:
    """Write the words of labels ``(n, places)``, PACKED positions after each other, place by place."""
    for begin in range(0, len(labels), PACKED):
        end = min(begin + PACKED, len(labels))
        packed[begin:end] = 0
        for place in range(len(word)):
            w, low = word[place], shift[place]
            for i in range(begin, end):
                packed[i, w] |= np.uint64(labels[i, place]) << low


@kernel
def _unpack(words: Words, word: NDArray[np.int64], shift: Words, mask: Words, labels: Labels) -> None:
    """Write the labels of words ``(n, words)``."""
    for i in range(len(words)):
        for place in range(len(word)):
            labels[i, place] = np.uint8((words[i, word[place]] >> shift[place]) & mask[place])
