"""Kernels that check many positions."""

import numpy as np
from numpy.typing import NDArray

from antipodes_tasks.jit import kernel


@kernel
def first_wrong(labels: NDArray[np.uint8], counts: NDArray[np.int64]) -> int:
    """The first row of ``(n, places)`` that has not each label, all of which are known, as often as expected; or n."""
    found = np.zeros(len(counts), dtype=np.int64)
    for row in range(len(labels)):
        found[:] = 0
        for place in range(labels.shape[1]):
            found[labels[row, place]] += 1
        for label in range(len(counts)):
            if found[label] != counts[label]:
                return row
    return len(labels)
