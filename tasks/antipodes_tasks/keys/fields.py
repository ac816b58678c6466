"""The labels of a position in 64-bit words: each place has a field of a few bits."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from antipodes_tasks.rules.moves import Labels
from antipodes_tasks.rules.parts import Part

Words = NDArray[np.uint64]
WORD = 64
"""Bits of a word."""


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
        word, shift, ends = 0, 0, []
        for bits in self.bits:
            if shift + bits > WORD:
                word, shift = word + 1, 0
            ends.append((word, shift if bits else 0))
            shift += bits
        words, shifts = np.array(ends, dtype=np.int64).T
        masks = [(1 << bits) - 1 for bits in self.bits]
        return Layout(words.copy(), shifts.astype(np.uint64), np.array(masks, dtype=np.uint64))

    def pack(self, labels: Labels) -> Words:
        """``(n, places)`` labels as ``(n, words)``."""
        shifted = labels.astype(np.uint64) << self.layout.shift
        firsts = np.searchsorted(self.layout.word, np.arange(self.words))
        words: Words = np.bitwise_or.reduceat(shifted, firsts, axis=1)
        return words

    def unpack(self, words: Words) -> Labels:
        """The inverse of `pack`."""
        return ((words[:, self.layout.word] >> self.layout.shift) & self.layout.mask).astype(np.uint8)


def bits_of(values: int) -> int:
    """The bits of a field for so many different values."""
    return (values - 1).bit_length()
