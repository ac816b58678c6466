"""Positions packed into 64-bit words, for large sets of them."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from antipodes.puzzles.puzzle import Labels

Words = NDArray[np.uint64]
WORD = 64


@dataclass(frozen=True, slots=True)
class Packing:
    """The number of places, and the bits of each; no place is split between two words."""

    places: int
    bits: int

    @classmethod
    def of(cls, places: int, symbols: int) -> "Packing":
        """The smallest packing for this number of labels."""
        return cls(places, max(1, (symbols - 1).bit_length()))

    @property
    def in_a_word(self) -> int:
        """The number of places in a word."""
        return WORD // self.bits

    @property
    def words(self) -> int:
        """The number of words of a position."""
        return -(-self.places // self.in_a_word)

    def pack(self, labels: Labels) -> Words:
        """``(n, places)`` labels as ``(n, words)``; the first place takes the lowest bits of the first word."""
        shifts = (np.arange(self.places) % self.in_a_word * self.bits).astype(np.uint64)
        shifted = labels.astype(np.uint64) << shifts
        firsts = np.arange(0, self.places, self.in_a_word)
        words: Words = np.bitwise_or.reduceat(shifted, firsts, axis=1)
        return words

    def unpack(self, words: Words) -> Labels:
        """The inverse of `pack`."""
        places = np.arange(self.places)
        shifts = (places % self.in_a_word * self.bits).astype(np.uint64)
        mask = np.uint64((1 << self.bits) - 1)
        return ((words[:, places // self.in_a_word] >> shifts) & mask).astype(np.uint8)
