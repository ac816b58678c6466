"""Bit fields: the labels of a position in 64-bit words, with one bit field per place or per group of places."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from math import prod
from operator import mul
from typing import NamedTuple

import numpy as np

from antipodes_tasks.base.array_types import Labels, Numbers, Words
from antipodes_tasks.base.jit import kernel
from antipodes_tasks.rules.parts import Part

WORD = 64
"""Number of bits of a word."""
MIN_POSITIONS_TO_COMPILE = 1 << 14
"""Minimum number of positions that kernels pack and unpack; for fewer positions, loading a kernel takes longer."""
PACKED = 1 << 11
"""Number of positions packed at a time, so that their words and labels stay in the cache."""


class FieldLayout(NamedTuple):
    """The location of each field in a key, as arrays ``(fields,)``."""

    word: Numbers
    shift: Words
    mask: Words


@dataclass(frozen=True)
class Fields:
    """Bit fields, one per place; no field is split between two words."""

    bits: tuple[int, ...]

    @classmethod
    def of(cls, parts: Sequence[Part]) -> "Fields":
        """Return fields that can hold any label of each part."""
        return cls(tuple(bits_of(len(part.symbols)) for part in parts for _ in range(part.places)))

    @property
    def places(self) -> int:
        """Number of places."""
        return len(self.bits)

    @property
    def words(self) -> int:
        """Number of words of a position."""
        return int(self.layout.word[-1]) + 1

    @cached_property
    def layout(self) -> FieldLayout:
        """Location of each place's field; the first place is in the lowest bits of the first word."""
        return layout_of(self.bits)

    def pack(self, labels: Labels) -> Words:
        """Return labels ``(n, places)`` as words ``(n, words)``."""
        if len(labels) >= MIN_POSITIONS_TO_COMPILE:
            packed = np.empty((len(labels), self.words), dtype=np.uint64)
            _pack(labels, self.layout.word, self.layout.shift, packed)
            return packed
        shifted = labels.astype(np.uint64) << self.layout.shift
        firsts = np.searchsorted(self.layout.word, np.arange(self.words))
        words: Words = np.bitwise_or.reduceat(shifted, firsts, axis=1)
        return words

    def unpack(self, words: Words) -> Labels:
        """Return the labels of packed positions; the inverse of `pack`."""
        if len(words) >= MIN_POSITIONS_TO_COMPILE:
            labels = np.empty((len(words), self.places), dtype=np.uint8)
            _unpack(words, *self.layout, labels)
            return labels
        return ((words[:, self.layout.word] >> self.layout.shift) & self.layout.mask).astype(np.uint8)


@dataclass(frozen=True)
class SharedFields:
    """Bit fields shared by several places.

    The number in a field has one digit per place; the first place has the lowest digit.
    """

    radices: tuple[int, ...]
    """Number of values of each place."""
    groups: tuple[int, ...]
    """Number of consecutive places in each field."""
    more: tuple[int, ...] = ()
    """Number of values of each further field, which belongs to no place; `pack` leaves these fields 0."""

    @property
    def places(self) -> int:
        """Number of places."""
        return len(self.radices)

    @cached_property
    def first(self) -> tuple[int, ...]:
        """First place of each field that belongs to places."""
        return tuple(accumulate(self.groups, initial=0))[:-1]

    @cached_property
    def values(self) -> tuple[int, ...]:
        """Number of values of each field."""
        of_places = (
            prod(self.radices[first : first + size]) for first, size in zip(self.first, self.groups, strict=True)
        )
        return (*of_places, *self.more)

    @property
    def words(self) -> int:
        """Number of words of a position."""
        return int(self.layout.word[-1]) + 1

    @cached_property
    def layout(self) -> FieldLayout:
        """Location of each field."""
        return layout_of([bits_of(values) for values in self.values])

    @cached_property
    def field(self) -> Numbers:
        """``(places,)``: number of the field of each place."""
        return np.repeat(np.arange(len(self.groups)), self.groups)

    @cached_property
    def divisors(self) -> tuple[int, ...]:
        """Weight of each place's digit in the number of its field."""
        found: list[int] = []
        for first, size in zip(self.first, self.groups, strict=True):
            found += list(accumulate(self.radices[first : first + size], mul, initial=1))[:-1]
        return tuple(found)

    def pack(self, labels: Labels) -> Words:
        """Return labels ``(n, places)`` as words ``(n, words)``."""
        packed = np.zeros((len(labels), self.words), dtype=np.uint64)
        for place, field in enumerate(self.field.tolist()):
            weight = np.uint64(self.divisors[place]) << self.layout.shift[field]
            packed[:, self.layout.word[field]] += labels[:, place] * weight
        return packed

    def unpack(self, words: Words) -> Labels:
        """Return the labels of packed positions; the inverse of `pack`."""
        labels = np.empty((len(words), self.places), dtype=np.uint8)
        for place, field in enumerate(self.field.tolist()):
            digits = self.number(words, field) // np.uint64(self.divisors[place])
            labels[:, place] = digits % np.uint64(self.radices[place])
        return labels

    def number(self, words: Words, field: int) -> Words:
        """Return the number ``(n,)`` in a field of keys ``(n, words)``."""
        found: Words = (words[:, self.layout.word[field]] >> self.layout.shift[field]) & self.layout.mask[field]
        return found


def layout_of(widths: Sequence[int]) -> FieldLayout:
    """Return the location of fields with these widths in bits. They start at the lowest bit of the first word; no field
    is split between two words.
    """
    word, shift, ends = 0, 0, []
    for bits in widths:
        if shift + bits > WORD:
            word, shift = word + 1, 0
        ends.append((word, shift if bits else 0))
        shift += bits
    words, shifts = np.array(ends, dtype=np.int64).T
    masks = [(1 << bits) - 1 for bits in widths]
    return FieldLayout(words.copy(), shifts.astype(np.uint64), np.array(masks, dtype=np.uint64))


def bits_of(values: int) -> int:
    """Return the number of bits that a field with this many values needs."""
    return (values - 1).bit_length()


@kernel
def _pack(labels: Labels, word: Numbers, shift: Words, packed: Words) -> None:
    """Write labels ``(n, places)`` to words, PACKED positions at a time, place by place."""
    for begin in range(0, len(labels), PACKED):
        end = min(begin + PACKED, len(labels))
        packed[begin:end] = 0
        for place in range(len(word)):
            w, low = word[place], shift[place]
            for i in range(begin, end):
                packed[i, w] |= np.uint64(labels[i, place]) << low


@kernel
def _unpack(words: Words, word: Numbers, shift: Words, mask: Words, labels: Labels) -> None:
    """Write the labels of words ``(n, words)``."""
    for i in range(len(words)):
        for place in range(len(word)):
            labels[i, place] = np.uint8((words[i, word[place]] >> shift[place]) & mask[place])
