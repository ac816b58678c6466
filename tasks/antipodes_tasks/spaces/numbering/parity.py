"""The parity of arrangements of different pieces, by which half of them need no number.

If every move that leads back to the same row is an even permutation, only the arrangements of one parity can be
reached. Such an index leaves out the difference between the last two labels: they count as equal, and the parity says
which of them is which.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

Labels = NDArray[np.uint8]
Parities = NDArray[np.uint8]
BATCH = 1 << 14
"""Arrangements in a batch, so that intermediate results stay in cache."""


def parities(arrangements: NDArray[np.integer[Any]]) -> Parities:
    """The parity of each of ``(n, places)`` different labels, ``(n,)``: 1 for an odd number of inversions, else 0."""
    found = np.zeros(len(arrangements), dtype=np.uint8)
    for first in range(0, len(arrangements), BATCH):
        columns = np.ascontiguousarray(arrangements[first : first + BATCH].T)
        odd = np.zeros(columns.shape[1], dtype=np.bool_)
        for place in range(1, len(columns)):
            for before in columns[:place]:
                odd ^= before > columns[place]
        found[first : first + BATCH] = odd
    return found


def parity_of(arrangement: Sequence[int]) -> int:
    """The parity of one permutation of 0 to n - 1, given as Python's integers: that of its places less its cycles."""
    odd, seen = 0, [False] * len(arrangement)
    for place in range(len(arrangement)):
        length = 0
        while not seen[place]:
            seen[place] = True
            place = arrangement[place]
            length += 1
        if length:
            odd ^= length - 1
    return odd & 1


def merged(arrangements: Labels, labels: int) -> Labels:
    """The arrangements ``(n, places)`` of ``labels`` different labels, the last label written as the one before it."""
    return np.minimum(arrangements, np.uint8(labels - 2))


def told_apart(arrangements: Labels, labels: int, parity: int | Parities) -> Labels:
    """The arrangements of different labels that have the ``parity``: the inverse of `merged`.

    Of the two places ``(n, places)`` with the label ``labels - 2`` one gets the label ``labels - 1``.
    """
    apart = arrangements.copy()
    equal = apart == labels - 2
    every = np.arange(len(apart))
    low, high = equal.argmax(axis=1), apart.shape[1] - 1 - equal[:, ::-1].argmax(axis=1)
    apart[every, high] = labels - 1
    wrong = parities(apart) != parity
    apart[every[wrong], low[wrong]] = labels - 1
    apart[every[wrong], high[wrong]] = labels - 2
    return apart
