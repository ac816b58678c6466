"""Sets of keys compared by a number: the sum of a hash of each key."""

import numpy as np

from antipodes_tasks.keys.mixing import mixed
from antipodes_tasks.keys.packing import Keys, rows_of
from antipodes_tasks.keys.sorted_keys import sorted_unique

SUMMED = 1 << 20
"""Keys that are hashed together."""


def hash_sum(keys: Keys, seed: int) -> int:
    """The sum of the hashes of the keys, modulo 2^64; the seed makes the hash."""
    total, words = 0, rows_of(keys)
    drawn = np.random.default_rng(seed).integers(1 << 63, size=words.shape[1], dtype=np.uint64)
    for first in range(0, len(keys), SUMMED):
        here = words[first : first + SUMMED] ^ drawn
        hashed = mixed(here[:, 0] if here.shape[1] == 1 else here, 64)
        total += int(hashed.reshape(len(here), -1)[:, 0].sum(dtype=np.uint64))
    return total % (1 << 64)


def is_ascending(keys: Keys) -> bool:
    """Whether each key is greater than the one before it."""
    if keys.ndim == 1:
        return bool((keys[1:] > keys[:-1]).all())
    return np.array_equal(sorted_unique(keys.copy()), keys)
