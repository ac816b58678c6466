"""The parity of arrangements: whether an even or an odd number of exchanges of two pieces makes them."""

import numpy as np
from numpy.typing import NDArray

from antipodes.puzzles.puzzle import Labels

Parities = NDArray[np.uint8]


def parities(labels: Labels) -> Parities:
    """The parity of each row of different labels ``(n, places)``, ``(n,)``: 0 if even, 1 if odd.

    That is the parity of the number of inversions: pairs of places whose labels are not in ascending order.
    """
    odd = np.zeros(len(labels), dtype=np.uint8)
    for place in range(labels.shape[1] - 1):
        for later in range(place + 1, labels.shape[1]):
            odd ^= labels[:, place] > labels[:, later]
    return odd
