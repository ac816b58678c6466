"""What both searches share: options, the list of pieces left, and the list of tilings found.

Loops stand where numpy has a slice or a function for it, since those of numba take seconds to compile.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from antipodes.jit.compile import kernel

FIRST_ROWS = 64
"""For how many tilings there is room at first; it doubles as needed."""


class Options(NamedTuple):
    """The placements that a partition has left, sorted by their first cell, and then by their number."""

    number: NDArray[np.int32]
    """Their numbers, ``(options,)``."""
    piece: NDArray[np.int32]
    """Their pieces, ``(options,)``."""
    masks: NDArray[np.uint64]
    """The cells they cover, ``(options, 2)``."""
    columns: NDArray[np.uint16]
    """What they cover as columns of an exact cover, ``(options, largest piece + 1)``.

    Cells come first, then pieces; one column more, which is never to be covered, fills the rows of smaller
    pieces.
    """
    starts: NDArray[np.int32]
    """``starts[cell, piece]`` to ``starts[cell, piece + 1]`` are those of a piece by their first cell."""


@kernel
def linked(laid: NDArray[np.int32]) -> NDArray[np.int64]:
    """The pieces not laid yet as a linked list: ``after[piece]``, from ``after[-1]`` to ``len(laid)``."""
    after = np.empty(len(laid) + 1, dtype=np.int64)
    last = len(laid)
    for piece in range(len(laid)):
        if laid[piece] < 0:
            after[last] = piece
            last = piece
    after[last] = len(laid)
    return after


@kernel
def appended(found: NDArray[np.int32], count: int, laid: NDArray[np.int32]) -> NDArray[np.int32]:
    """The list with ``laid`` as row ``count``, in twice the room where it is full."""
    if count == len(found):
        longer = np.empty((2 * count, found.shape[1]), dtype=np.int32)
        for row in range(count):
            for piece in range(len(laid)):
                longer[row, piece] = found[row, piece]
        found = longer
    for piece in range(len(laid)):
        found[count, piece] = laid[piece]
    return found


@kernel
def all_even(sizes: NDArray[np.uint64]) -> bool:
    """Whether all pieces are of one size, so that the areas they fill do not depend on which are left."""
    even = True
    for size in sizes:
        even &= size == sizes[0]
    return even
