"""Keys mixed so that equal ranges of them hold about as many: an invertible hash.

Multiplications by odd numbers and xor-shifts by half the bits, in as many bits as the keys have: mixed keys need no
more bits than keys. Of several words the first is mixed, with the others.

Tables have keys as they are. Mixed, the gaps between sorted keys take 10 to 19 bits after compression, those of the
12 million keys of three-colours and of 3.5 million of a block board; unmixed 0.3 to 1.1 bits, since positions are dense
where they are at all. One layer of them takes 14 to 23 bits mixed, and 8 to 11 unmixed.
"""

import numpy as np

from antipodes_tasks.keys.bit_fields import WORD
from antipodes_tasks.keys.packing import Keys

FACTORS = 0x9E3779B97F4A7C15, 0xD6E8FEB86659FD93
"""Odd; the second is that of rrmxmx (P. Evensen, 2018)."""


def mixed(keys: Keys, bits: int) -> Keys:
    """The mixed keys of keys below ``2 ** bits``; of several words, of which ``bits`` are all, in the first word."""
    if keys.ndim > 1:
        first = keys[:, 0] ^ _of_others(keys)
        return np.column_stack((mixed(first, WORD), keys[:, 1:]))
    mask, half = _mask(bits), np.uint64((bits + 1) // 2)
    for factor in FACTORS:
        keys = (keys ^ (keys >> half)) * np.uint64(factor) & mask
    return keys ^ (keys >> half)


def _mask(bits: int) -> np.uint64:
    return np.uint64((1 << bits) - 1)


def _of_others(keys: Keys) -> Keys:
    """A number from the words of each key but the first."""
    found = np.zeros(len(keys), dtype=np.uint64)
    for word in keys.T[1:]:
        found = mixed(found ^ word, WORD)
    return found
