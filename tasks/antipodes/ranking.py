"""The kernel that numbers many arrangements; `antipodes.index` says what the numbers are."""

import numpy as np
from numpy.typing import NDArray

from antipodes.compile import kernel


@kernel
def rank_rearranged(
    labels: NDArray[np.uint8],
    origins: NDArray[np.int16],
    radices: NDArray[np.int64],
    binomials: NDArray[np.int64],
) -> NDArray[np.int64]:
    """The numbers ``(k, n)`` of the arrangements ``labels[n, origins[k]]``."""
    places = labels.shape[1]
    ranks = np.zeros((origins.shape[0], labels.shape[0]), dtype=np.int64)
    free = np.empty(places, dtype=np.uint8)
    for n in range(labels.shape[0]):
        for k in range(origins.shape[0]):
            for place in range(places):
                free[place] = labels[n, origins[k, place]]
            left, rank = places, np.int64(0)
            for label in range(len(radices) - 1):
                digit, taken, kept = np.int64(0), 0, 0
                for place in range(left):
                    here = free[place]
                    takes = here == label
                    taken += takes
                    digit += binomials[place, taken] * takes
                    free[kept] = here
                    kept += not takes
                left = kept
                rank = rank * radices[label] + digit
            ranks[k, n] = rank
    return ranks
