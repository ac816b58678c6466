"""Algorithm X on bitsets: cover the cell, or the piece, that has the fewest options left (MRV), and filter the options.

Algorithm X is Knuth's (*Dancing links*, 2000, arXiv:cs/0011047). A node of the search is a bitset of live options.
Before a node branches, options that conflict with all options of some item are removed: that item could not be covered
beside them. One conjunction of rows of the conflict matrix finds all such options of an item, 64 in a step.

When few of the options in its frame are live, the node gets a smaller frame of these (see `frame_kernels`).
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from antipodes_tasks.exact_cover.frame_kernels import (
    CONFLICT_START,
    COVERED,
    ITEM_START,
    LAST_BIT,
    ONE,
    OPEN,
    OPTION_START,
    OPTIONAL,
    OPTIONS,
    ROW_START,
    SIX,
    SPARSE,
    WORD,
    WORDS,
    ZERO,
    Frames,
    pack_frame,
)
from antipodes_tasks.jit import kernel, ones, trailing_zeros

MANY = np.uint64(24)
"""More options of an item than these hardly ever conflict with a common one."""

DEPTH, PLACEMENTS, ENTERING = range(3)
"""The places of `Search.counters`."""


class Search(NamedTuple):
    """The state of a search, by depth, so that it can stop when enough tilings are found, and continue."""

    live: NDArray[np.uint64]
    """The options that are left, ``(depths, words)``."""
    untried: NDArray[np.uint64]
    """Those of the item to cover that are not tried yet, ``(depths, words)``."""
    needed: NDArray[np.int32]
    """How often each item is still to be covered, ``(depths, items)``; or OPTIONAL."""
    frame: NDArray[np.int64]
    """The frame of each depth, ``(depths,)``."""
    chosen: NDArray[np.int32]
    """The number of the placement chosen at each depth, ``(depths,)``."""
    counts: NDArray[np.uint64]
    """Scratch: the number of live options of each row, ``(items,)``."""
    common: NDArray[np.uint64]
    """Scratch: the options that conflict with all options of an item, ``(words,)``."""
    counters: NDArray[np.int64]
    """The depth, the placements tried, and whether the search enters the node at this depth, ``(3,)``."""


DEAD, COMPLETE = -1, -2


@kernel
def fewest_options(
    frames: Frames, frame: int, live: NDArray[np.uint64], needed: NDArray[np.int32], counts: NDArray[np.uint64]
) -> tuple[np.int64, np.int64]:
    """The row with the fewest choices, and their number; DEAD if an item has none, COMPLETE if no item is left."""
    shape = frames.shapes[frame]
    words, item_start, row_start = shape[WORDS], shape[ITEM_START], shape[ROW_START]
    rows, items = frames.rows, frames.items
    best, fewest = np.int64(COMPLETE), np.int64(1 << 40)
    for row in range(shape[OPEN]):
        need = needed[items[item_start + row]]
        if need > COVERED:
            count, start = ZERO, row_start + row * words
            for word in range(words):
                count += ones(live[word] & rows[start + word])
            counts[row] = count
            choices = np.int64(count) - need + 1
            if choices < 1:
                return np.int64(DEAD), np.int64(0)
            if choices < fewest:
                best, fewest = np.int64(row), choices
    return best, fewest


@kernel
def remove_hopeless(
    frames: Frames,
    frame: int,
    live: NDArray[np.uint64],
    needed: NDArray[np.int32],
    counts: NDArray[np.uint64],
    common: NDArray[np.uint64],
) -> bool:
    """Remove the live options that conflict with all options of some item; whether there were any."""
    shape = frames.shapes[frame]
    words, item_start, row_start, conflict_start = (
        shape[WORDS],
        shape[ITEM_START],
        shape[ROW_START],
        shape[CONFLICT_START],
    )
    rows, items, conflicts = frames.rows, frames.items, frames.conflicts
    removed = False
    for row in range(shape[OPEN]):
        if needed[items[item_start + row]] != 1 or counts[row] > MANY:
            continue
        for word in range(words):
            common[word] = live[word]
        low, high, start = ZERO, words, row_start + row * words
        for word in range(words):
            bits = live[word] & rows[start + word]
            while bits and low < high:
                at = conflict_start + (word * WORD + trailing_zeros(bits)) * words
                bits &= bits - ONE
                for k in range(low, high):
                    common[k] &= conflicts[at + k]
                while low < high and not common[low]:
                    low += ONE
                while low < high and not common[high - ONE]:
                    high -= ONE
            if low == high:
                break
        for word in range(low, high):
            live[word] &= ~common[word]
            removed = True
    return removed


@kernel
def live_options(live: NDArray[np.uint64], words: np.uint64) -> np.int64:
    """How many options are live."""
    count = ZERO
    for word in range(words):
        count += ones(live[word])
    return np.int64(count)


@kernel
def next_untried(untried: NDArray[np.uint64], words: np.uint64) -> np.int64:
    """The first untried option, which is taken off; -1 if there is none."""
    for word in range(words):
        if untried[word]:
            option = np.int64(word) * 64 + np.int64(trailing_zeros(untried[word]))
            untried[word] &= untried[word] - ONE
            return option
    return np.int64(-1)


@kernel
def choose(
    frames: Frames, frame: int, columns: NDArray[np.uint16], option: np.int64, search: Search, depth: int
) -> None:
    """Use an option at this depth: what is live and needed at the next one."""
    shape = frames.shapes[frame]
    words, chosen = shape[WORDS], np.uint64(option)
    live, below = search.live[depth], search.live[depth + 1]
    live[chosen >> SIX] &= ~(ONE << (chosen & LAST_BIT))  # sets of copies of a piece are found in one order
    start = shape[CONFLICT_START] + chosen * words
    for word in range(words):
        below[word] = live[word] & ~frames.conflicts[start + word]
    needed = search.needed[depth + 1]
    for item in range(len(needed)):
        needed[item] = search.needed[depth, item]
    numbered = frames.options[shape[OPTION_START] + chosen]
    for k in range(columns.shape[1]):
        item = columns[numbered, k]
        if needed[item] == OPTIONAL:
            needed[item] = COVERED
        elif needed[item] > COVERED:
            needed[item] -= 1
            if needed[item] == COVERED:  # no copy of this piece is left, and the frame may be from before
                start = shape[ROW_START] + np.uint64(frames.row_of[frame, item]) * words
                for word in range(words):
                    below[word] &= ~frames.rows[start + word]
    search.frame[depth + 1] = frame
    search.chosen[depth] = numbered


@kernel
def enter(frames: Frames, columns: NDArray[np.uint16], search: Search, depth: int) -> np.int64:
    """Filter the options of a node, and choose the item to cover; DEAD, COMPLETE, or 0 if there are options to try."""
    frame, live, needed = search.frame[depth], search.live[depth], search.needed[depth]
    best, fewest = fewest_options(frames, frame, live, needed, search.counts)
    if best < 0:
        return best
    words = frames.shapes[frame, WORDS]
    if fewest > 1 and words > ONE and remove_hopeless(frames, frame, live, needed, search.counts, search.common):
        best, fewest = fewest_options(frames, frame, live, needed, search.counts)
        if best < 0:
            return best
    if words > ONE:
        count = live_options(live, words)
        if np.uint64(SPARSE * count) <= frames.shapes[frame, OPTIONS]:
            item = frames.items[frames.shapes[frame, ITEM_START] + np.uint64(best)]
            pack_frame(frames, frame, columns, needed, live, count)
            frame += 1
            search.frame[depth] = frame
            best, words = frames.row_of[frame, item], frames.shapes[frame, WORDS]
    start = frames.shapes[frame, ROW_START] + np.uint64(best) * words
    for word in range(words):
        search.untried[depth, word] = live[word] & frames.rows[start + word]
    return np.int64(0)


@kernel
def fill_fewest_first(
    frames: Frames, columns: NDArray[np.uint16], search: Search, most: int, found: NDArray[np.int32]
) -> int:
    """Find tilings until there is no more room for them, no more of them, or the placements are made.

    Parameters
    ----------
    frames
        The first of them is built.
    columns
        The items that each option covers, as in `Options`.
    search
        The state, which changes.
    most
        The placements after which it returns, those of earlier calls included.
    found
        Filled with the options of each tiling, in any order, ``(room, options)``.

    Returns
    -------
    int
        The number of tilings found. Call it again to continue, unless the depth is -1.
    """
    counters = search.counters
    depth, placements, entering, count = counters[DEPTH], counters[PLACEMENTS], counters[ENTERING] == 1, 0
    while depth >= 0 and count < len(found) and placements < most:
        if entering:
            entering = False
            outcome = enter(frames, columns, search, depth)
            if outcome == COMPLETE:
                for k in range(depth):
                    found[count, k] = search.chosen[k]
                count += 1
            if outcome < 0:
                depth -= 1
                continue
        frame = search.frame[depth]
        option = next_untried(search.untried[depth], frames.shapes[frame, WORDS])
        if option < 0:
            depth -= 1
            continue
        choose(frames, frame, columns, option, search, depth)
        placements += 1
        depth += 1
        entering = True
    counters[DEPTH], counters[PLACEMENTS], counters[ENTERING] = depth, placements, entering
    return count
