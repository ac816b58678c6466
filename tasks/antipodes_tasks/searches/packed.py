"""Encodings of distances in memory: one, two or four per byte; and digests of distances."""

from typing import NamedTuple

import numpy as np

from antipodes_tasks.base.array_types import Bytes, Numbers, Words
from antipodes_tasks.base.jit import integer, kernel

LANES = 4
FIRST_FACTOR, SECOND_FACTOR = np.uint64(0x9E3779B185EBCA87), np.uint64(0xC2B2AE3D27D4EB4F)
"""Multipliers of xxHash (Y. Collet)."""
LEFT, RIGHT = np.uint64(31), np.uint64(33)


class Encoding(NamedTuple):
    """How distances are stored in memory, as values of 8, 4 or 2 bits.

    Values of 8 or 4 bits are the distances, and the largest value marks unreachable entries. Values of 2 bits are
    *clipped*: 0 stands for every distance up to ``base``, and v > 0 for the distance ``base + v``, or more if v is 3.
    """

    shift: int
    """The binary logarithm of the number of values per byte; the first value is in the lowest bits."""
    base: int = 0
    """0 unless values are clipped."""

    @property
    def mask(self) -> int:
        """The bit mask of a value, which is also the largest value."""
        return (1 << (8 >> self.shift)) - 1

    @property
    def clipped(self) -> bool:
        """Whether values are lower bounds instead of distances."""
        return self.base > 0

    def size(self, entries: int) -> int:
        """Return the number of bytes that this many values take."""
        return -(-entries >> self.shift)

    def encode(self, distances: Bytes) -> Bytes:
        """Return the values of distances ``(n,)``; 255 marks unreachable entries."""
        if self == BYTES:
            return distances
        values = np.empty(self.size(len(distances)), dtype=np.uint8)
        encode(distances, values, self.shift, self.base)
        return values

    def decode(self, values: Bytes, entries: Numbers) -> Numbers:
        """Return the values of entries ``(n,)``, or ``base`` more if they are clipped and not 0."""
        found = values[entries >> self.shift].astype(np.int64)
        found >>= (entries & ((1 << self.shift) - 1)) * (8 >> self.shift)
        found &= self.mask
        return np.where(found > 0, found + self.base, 0)


BYTES, HALVES = Encoding(0), Encoding(1)


@kernel
def encode(distances: Bytes, values: Bytes, shift: int, base: int) -> None:
    """Write the values of the distances to the bytes ``values``; see `Encoding`."""
    each, bits = 1 << shift, 8 >> shift
    largest = (1 << bits) - 1
    for i in range(len(values)):
        byte = 0
        for k in range(each):
            at = i * each + k
            distance = integer(distances[at]) - base if at < len(distances) else largest
            value = largest if distance > largest else distance if distance > 0 else 0
            byte |= value << (k * bits)
        values[i] = np.uint8(byte)


def digest(values: Bytes) -> int:
    """Return a 64-bit digest of the values, which depends on their order."""
    whole = len(values) // (8 * LANES) * 8 * LANES
    rest = np.zeros(8 * LANES, dtype=np.uint8)
    rest[: len(values) - whole] = values[whole:]
    lanes = np.full(LANES, len(values), dtype=np.uint64)
    mix(values[:whole].view(np.uint64), lanes)
    mix(rest.view(np.uint64), lanes)
    return int.from_bytes(lanes.tobytes(), "little") % ((1 << 64) - 59)


@kernel
def mix(words: Words, lanes: Words) -> None:
    """Mix words, whose number is a multiple of LANES, into the lanes."""
    a, b, c, d = lanes[0], lanes[1], lanes[2], lanes[3]
    for i in range(np.uint64(0), np.uint64(len(words)), np.uint64(4)):
        a += words[i] * SECOND_FACTOR
        b += words[i + np.uint64(1)] * SECOND_FACTOR
        c += words[i + np.uint64(2)] * SECOND_FACTOR
        d += words[i + np.uint64(3)] * SECOND_FACTOR
        a = ((a << LEFT) | (a >> RIGHT)) * FIRST_FACTOR
        b = ((b << LEFT) | (b >> RIGHT)) * FIRST_FACTOR
        c = ((c << LEFT) | (c >> RIGHT)) * FIRST_FACTOR
        d = ((d << LEFT) | (d >> RIGHT)) * FIRST_FACTOR
    lanes[0], lanes[1], lanes[2], lanes[3] = a, b, c, d
