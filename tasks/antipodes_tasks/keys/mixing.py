"""Keys mixed so that equal ranges of them hold about as many: an invertible hash, and its inverse.

Multiplications by odd numbers and xor-shifts by half the bits, in as many bits as the keys have: mixed keys need no
more bits than keys. Of several words the first is mixed, with the others.
"""

import numpy as np

from antipodes_tasks.keys.fields import WORD
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


def unmixed(keys: Keys, bits: int) -> Keys:
    """The inverse of `mixed`."""
    if keys.ndim > 1:
        return np.column_stack((unmixed(keys[:, 0], WORD) ^ _of_others(keys), keys[:, 1:]))
    mask, half = _mask(bits), np.uint64((bits + 1) // 2)
    keys = keys ^ (keys >> half)
    for factor in reversed(FACTORS):
        keys = keys * np.uint64(pow(factor, -1, 1 << WORD)) & mask
        keys = keys ^ (keys >> half)
    return keys


def _mask(bits: int) -> np.uint64:
    return np.uint64((1 << bits) - 1)


def _of_others(keys: Keys) -> Keys:
    """A number from the words of each key but the first."""
    found = np.zeros(len(keys), dtype=np.uint64)
    for word in keys.T[1:]:
        found = mixed(found ^ word, WORD)
    return found
