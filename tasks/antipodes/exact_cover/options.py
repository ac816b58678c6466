"""The options of a partition, the list of pieces left and the list of tilings found, which both searches share.

Loops replace slices and functions of numpy, which numba takes seconds to compile.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from antipodes.jit.compile import kernel

FIRST_ROWS = 64
"""Tilings for which there is room at first; the room doubles as needed."""


class Options(NamedTuple):
    """The placements that a partition may use, sorted by their first cell, then by their number."""

    number: NDArray[np.int32]
    """Their numbers, ``(options,)``."""
    piece: NDArray[np.int32]
    """Their pieces, ``(options,)``."""
    masks: NDArray[np.uint64]
    """The cells they cover, ``(options, 2)``."""
    columns: NDArray[np.uint16]
    """The columns of the exact cover that they cover, ``(options, largest piece + 1)``.

    Columns are cells, then pieces. One more column, which needs no cover, fills the rows of smaller pieces.
    """
    starts: NDArray[np.int32]
    """``starts[cell, piece]`` to ``starts[cell, piece + 1]``: the options of a piece whose first cell is ``cell``."""


@kernel
def linked(placed: NDArray[np.int32]) -> NDArray[np.int64]:
    """The pieces left as a linked list: ``after[piece]``, from ``after[-1]`` to ``len(placed)``."""
    after = np.empty(len(placed) + 1, dtype=np.int64)
    last = len(placed)
    for piece in range(len(placed)):
        if placed[piece] < 0:
            after[last] = piece
            last = piece
    after[last] = len(placed)
    return after


@kernel
def appended(found: NDArray[np.int32], count: int, placed: NDArray[np.int32]) -> NDArray[np.int32]:
    """The list with ``placed`` as row ``count``, in twice the room if it was full."""
    if count == len(found):
        longer = np.empty((2 * count, found.shape[1]), dtype=np.int32)
        for row in range(count):
            for piece in range(len(placed)):
                longer[row, piece] = found[row, piece]
        found = longer
    for piece in range(len(placed)):
        found[count, piece] = placed[piece]
    return found


@kernel
def all_even(sizes: NDArray[np.uint64]) -> bool:
    """Whether all pieces have one size, so that the areas they fill do not depend on which are left."""
    even = True
    for size in sizes:
        even &= size == sizes[0]
    return even
