"""An invertible hash that mixes keys, so that equal ranges of mixed keys contain about equally many keys.

It multiplies by odd numbers and applies xor-shifts by half the bits, modulo the number of bits of the keys, so mixed
keys need no more bits than keys. If keys have several words, the first word is mixed with the others.

Tables store unmixed keys because these compress better. The gaps between sorted mixed keys take 10 to 19 bits after
compression (12 million keys of three-colours, 3.5 million keys of a sliding-block puzzle), and the gaps between unmixed
keys 0.3 to 1.1 bits, since positions occur in dense clusters. For a single layer, it is 14 to 23 bits mixed, and 8 to
11 bits unmixed.
"""

import numpy as np

from antipodes_tasks.keys.bit_fields import WORD
from antipodes_tasks.keys.packing import Keys

FACTORS = 0x9E3779B97F4A7C15, 0xD6E8FEB86659FD93
"""Odd multipliers; the second is the multiplier of rrmxmx (P. Evensen, 2018)."""


def mixed(keys: Keys, bits: int) -> Keys:
    """Return the mixed keys of keys below ``2 ** bits``; in keys of several words, the first word is replaced."""
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
    """Return a 64-bit hash of all words but the first of each key."""
    found = np.zeros(len(keys), dtype=np.uint64)
    for word in keys.T[1:]:
        found = mixed(found ^ word, WORD)
    return found
