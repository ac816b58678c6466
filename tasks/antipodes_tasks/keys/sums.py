"""Hash sums of sets of keys, to compare sets by one number."""

import numpy as np

from antipodes_tasks.keys.mixing import mixed
from antipodes_tasks.keys.packing import Keys, rows_of
from antipodes_tasks.keys.sorted_keys import sorted_unique

SUMMED = 1 << 20
"""Number of keys that are hashed at a time."""


def hash_sum(keys: Keys, seed: int) -> int:
    """Return the sum of the hashes of the keys, modulo 2^64; ``seed`` selects the hash function."""
    total, words = 0, rows_of(keys)
    drawn = np.random.default_rng(seed).integers(1 << 63, size=words.shape[1], dtype=np.uint64)
    for first in range(0, len(keys), SUMMED):
        here = words[first : first + SUMMED] ^ drawn
        hashed = mixed(here[:, 0] if here.shape[1] == 1 else here, 64)
        total += int(hashed.reshape(len(here), -1)[:, 0].sum(dtype=np.uint64))
    return total % (1 << 64)


def is_ascending(keys: Keys) -> bool:
    """Return whether the keys are strictly ascending."""
    if keys.ndim == 1:
        return bool((keys[1:] > keys[:-1]).all())
    return np.array_equal(sorted_unique(keys.copy()), keys)
