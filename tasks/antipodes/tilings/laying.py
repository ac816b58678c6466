"""What both searches share: options, the list of pieces left, and the list of tilings found."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from antipodes.compile import kernel

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
    after = np.full(len(laid) + 1, len(laid))
    last = len(laid)
    for piece in range(len(laid)):
        if laid[piece] < 0:
            after[last] = piece
            last = piece
    return after


@kernel
def appended(found: NDArray[np.int32], count: int, laid: NDArray[np.int32]) -> NDArray[np.int32]:
    """The list with ``laid`` as row ``count``, in twice the room where it is full."""
    if count == len(found):
        longer = np.empty((2 * count, found.shape[1]), dtype=np.int32)
        longer[:count] = found
        found = longer
    found[count] = laid
    return found
