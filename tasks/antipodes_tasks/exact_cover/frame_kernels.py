"""Frames: bitsets of the options that cover each item, and of those that conflict with each option.

When few of the options in the bitsets are live, these are packed into a smaller frame for the subtree.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from antipodes_tasks.jit import kernel, trailing_zeros

ZERO, ONE, SIX, LAST_BIT, WORD = np.uint64(0), np.uint64(1), np.uint64(6), np.uint64(63), np.uint64(64)
ALL = ~ZERO

OPTIONAL, COVERED = -1, 0
"""How often an item has to be covered, if it may be covered once, or is not to be covered (again)."""

WORDS, OPTIONS, ITEMS, OPEN, CONFLICT_START, ROW_START, OPTION_START, ITEM_START = range(8)
"""The columns of `Frames.shapes`: sizes of a frame, and where its part of each array starts."""
SPARSE = 4
"""A subtree gets a frame of its own if at most one in so many options is live."""


class Frames(NamedTuple):
    """A stack of frames; each array has the parts of all frames, one after the other."""

    conflicts: NDArray[np.uint64]
    """For each option the options that cannot be used beside it."""
    rows: NDArray[np.uint64]
    """For each item the options that cover it."""
    options: NDArray[np.int32]
    """The options, by their numbers in `Options`."""
    items: NDArray[np.int32]
    """The items that are not covered yet, those that have to be covered first."""
    shapes: NDArray[np.uint64]
    """The sizes of each frame, and where its parts start, ``(frames, 8)``."""
    row_of: NDArray[np.int32]
    """The row of each item in each frame, -1 if it has none, ``(frames, items)``."""


@kernel
def build_frame(frames: Frames, frame: int, columns: NDArray[np.uint16], needed: NDArray[np.int32]) -> None:
    """Fill the rows and the conflicts of a frame whose options and shape are set; all its options are live."""
    shape = frames.shapes[frame]
    words, count, item_start, row_start = shape[WORDS], shape[OPTIONS], shape[ITEM_START], shape[ROW_START]
    rows, conflicts, options, row_of = frames.rows, frames.conflicts, frames.options, frames.row_of[frame]
    total, must = ZERO, ZERO
    for kind in range(2):  # items that have to be covered, then optional ones
        for item in range(len(needed)):
            if needed[item] > COVERED if kind == 0 else needed[item] == OPTIONAL:
                frames.items[item_start + total] = item
                row_of[item] = total
                total += ONE
            elif kind == 0:
                row_of[item] = -1
        if kind == 0:
            must = total
    shape[ITEMS], shape[OPEN] = total, must
    for k in range(total * words):
        rows[row_start + np.uint64(k)] = ZERO
    for option in range(count):
        numbered = options[shape[OPTION_START] + option]
        for k in range(columns.shape[1]):
            row = row_of[columns[numbered, k]]
            if row >= 0:
                rows[row_start + np.uint64(row) * words + (option >> SIX)] |= ONE << (option & LAST_BIT)
    for option in range(count):
        start, numbered = shape[CONFLICT_START] + option * words, options[shape[OPTION_START] + option]
        for word in range(words):
            conflicts[start + word] = ZERO
        for k in range(columns.shape[1]):
            item = columns[numbered, k]
            if row_of[item] >= 0 and needed[item] <= 1:
                row_at = row_start + np.uint64(row_of[item]) * words
                for word in range(words):
                    conflicts[start + word] |= rows[row_at + word]
        conflicts[start + (option >> SIX)] &= ~(ONE << (option & LAST_BIT))


@kernel
def pack_frame(
    frames: Frames,
    frame: int,
    columns: NDArray[np.uint16],
    needed: NDArray[np.int32],
    live: NDArray[np.uint64],
    count: np.int64,
) -> None:
    """Build the frame after this one, of the ``count`` live options; all of them are live in it."""
    shape, packed = frames.shapes[frame], frames.shapes[frame + 1]
    words = shape[WORDS]
    packed[OPTIONS] = count
    packed[WORDS] = (np.uint64(count) + LAST_BIT) >> SIX
    packed[CONFLICT_START] = shape[CONFLICT_START] + shape[OPTIONS] * words
    packed[ROW_START] = shape[ROW_START] + shape[ITEMS] * words
    packed[OPTION_START] = shape[OPTION_START] + shape[OPTIONS]
    packed[ITEM_START] = shape[ITEM_START] + shape[ITEMS]
    to = packed[OPTION_START]
    for word in range(words):
        bits = live[word]
        while bits:
            frames.options[to] = frames.options[shape[OPTION_START] + word * WORD + trailing_zeros(bits)]
            to += ONE
            bits &= bits - ONE
    build_frame(frames, frame + 1, columns, needed)
    for word in range(packed[WORDS]):
        live[word] = ALL
    if packed[OPTIONS] & LAST_BIT:
        live[packed[WORDS] - ONE] = (ONE << (packed[OPTIONS] & LAST_BIT)) - ONE
