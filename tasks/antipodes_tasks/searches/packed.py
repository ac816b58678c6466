"""Packed distances, with one byte each or, if none is above 14, half a byte each; and digests of distances."""

import numpy as np
from numpy.typing import NDArray

from antipodes_tasks.base.jit import kernel

Bytes = NDArray[np.uint8]
MAX_PACKED = 14
"""Maximum distance that half a byte can hold; the value 15 marks unreachable entries."""
HALF = np.uint8(15)
LANES = 4
FIRST_FACTOR, SECOND_FACTOR = np.uint64(0x9E3779B185EBCA87), np.uint64(0xC2B2AE3D27D4EB4F)
"""Multipliers of xxHash (Y. Collet)."""
LEFT, RIGHT = np.uint64(31), np.uint64(33)


def packed_size(entries: int, packed: bool) -> int:
    """Return the number of bytes that this many entries take."""
    return (entries + 1) // 2 if packed else entries


@kernel
def pack(distances: Bytes, packed: Bytes) -> None:
    """Write two distances to each byte of ``packed``, the first in the lower half; 255 becomes 15."""
    for i in range(np.uint64(len(packed))):
        low = min(distances[np.uint64(2) * i], HALF)
        high = HALF
        if np.uint64(2) * i + np.uint64(1) < np.uint64(len(distances)):
            high = min(distances[np.uint64(2) * i + np.uint64(1)], HALF)
        packed[i] = low | (high << np.uint8(4))


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
def mix(words: NDArray[np.uint64], lanes: NDArray[np.uint64]) -> None:
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
