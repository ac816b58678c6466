"""Algorithm X on bitsets: cover the cell, or the piece, that has the fewest options left (MRV), and filter the options.

Algorithm X is Knuth's (*Dancing links*, 2000, arXiv:cs/0011047). A node of the search is a bitset of live options.
Before a node branches, options that conflict with all options of some item are removed: that item could not be covered
beside them. One conjunction of rows of the conflict matrix finds all such options of an item, 64 in a step.

The bitsets are parts of a frame: the options that cover each item, and those that conflict with each option. When few
of the options in its frame are live, a node gets a smaller frame of these, for its subtree.
"""

from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from antipodes_tasks.errors import ResourceLimitError
from antipodes_tasks.exact_cover.placements import DEPTH, PLACEMENTS, Fill, OptionTable, Placements, copies_left
from antipodes_tasks.exact_cover.problem import TilingProblem
from antipodes_tasks.jit import kernel, popcount, trailing_zeros

MAX_OPTIONS = 1448 * 64
"""Placements beside the first; the conflicts of so many are a matrix of 1 GiB."""
ZERO, ONE, SIX, LAST_BIT, WORD = np.uint64(0), np.uint64(1), np.uint64(6), np.uint64(63), np.uint64(64)
ALL = ~ZERO

OPTIONAL, COVERED = -1, 0
"""In place of how often an item has to be covered: it may be covered once, or not (again)."""

WORDS, OPTIONS, ITEMS, OPEN, CONFLICT_START, ROW_START, OPTION_START, ITEM_START = range(8)
"""The columns of `Frames.shapes`: sizes of a frame, and where its part of each array starts."""
SPARSE = 4
"""A subtree gets a smaller frame if at most one in `SPARSE` options is live."""
MAX_FILTER_OPTIONS = np.uint64(24)
"""Items with more options are not filtered by: hardly ever does an option conflict with all of these."""

ENTERING = 2
"""The place of `Stack.counters` beside `DEPTH` and `PLACEMENTS`: whether the search enters the node at this depth."""
DEAD, COMPLETE = -1, -2
"""Outcomes of a node without options to try: an item has no option left, or no item is left."""


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


class Stack(NamedTuple):
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


def start(
    problem: TilingProblem, options: OptionTable, placements: Placements, fixed: NDArray[np.int32]
) -> tuple[Fill, NDArray[np.int64]]:
    """A search of the rest of the board beside fixed placements, and its counters."""
    cells = np.where(problem.required, 1, OPTIONAL)
    covered = placements.cells[fixed]
    cells[covered[covered >= 0]] = COVERED
    left = copies_left(problem, placements, fixed)
    needed = np.concatenate((cells, left, [COVERED])).astype(np.int32)  # the last column fills rows
    frames, search = _memory(len(options.number), needed, problem.copies - len(fixed) + 1)
    return partial(fill_fewest_first, frames, options.columns, search), search.counters


def check_options(count: int) -> None:
    """Raise ResourceLimitError if there is no memory for a search of as many options."""
    if count > MAX_OPTIONS:
        raise ResourceLimitError(
            f"expected a board and pieces with at most {MAX_OPTIONS:,} placements beside the first, found {count:,}"
        )


def _memory(options: int, needed: NDArray[np.int32], depths: int) -> tuple[Frames, Stack]:
    """Memory for the frames and the search, all options live; the first frame is built by the kernel."""
    check_options(options)
    words = max(1, -(-options // 64))
    sizes = [(options, words)]
    while sizes[-1][1] > 1:
        fewer = sizes[-1][0] // SPARSE
        sizes.append((fewer, -(-fewer // 64)))
    frames = Frames(
        conflicts=np.zeros(sum(count * width for count, width in sizes), dtype=np.uint64),
        rows=np.zeros(len(needed) * sum(width for _, width in sizes), dtype=np.uint64),
        options=np.zeros(sum(count for count, _ in sizes), dtype=np.int32),
        items=np.zeros(len(needed) * len(sizes), dtype=np.int32),
        shapes=np.zeros((len(sizes), 8), dtype=np.uint64),
        row_of=np.full((len(sizes), len(needed)), -1, dtype=np.int32),
    )
    frames.options[:options] = np.arange(options)
    frames.shapes[0, [WORDS, OPTIONS]] = words, options
    search = Stack(
        live=np.zeros((depths, words), dtype=np.uint64),
        untried=np.zeros((depths, words), dtype=np.uint64),
        needed=np.zeros((depths, len(needed)), dtype=np.int32),
        frame=np.zeros(depths, dtype=np.int64),
        chosen=np.zeros(depths, dtype=np.int32),
        counts=np.zeros(len(needed), dtype=np.uint64),
        common=np.zeros(words, dtype=np.uint64),
        counters=np.array([0, 0, 1], dtype=np.int64),
    )
    search.needed[0] = needed
    search.live[0] = np.packbits(np.arange(64 * words) < options, bitorder="little").view(np.uint64)
    return frames, search


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
                count += popcount(live[word] & rows[start + word])
            counts[row] = count
            choices = np.int64(count) - need + 1
            if choices < 1:
                return np.int64(DEAD), np.int64(0)
            if choices < fewest:
                best, fewest = np.int64(row), choices
    return best, fewest


@kernel
def remove_conflicting(
    frames: Frames,
    frame: int,
    live: NDArray[np.uint64],
    needed: NDArray[np.int32],
    counts: NDArray[np.uint64],
    common: NDArray[np.uint64],
) -> bool:
    """Remove the live options that conflict with all options of some item; whether there were any."""
    shape = frames.shapes[frame]
    words, item_start, row_start = shape[WORDS], shape[ITEM_START], shape[ROW_START]
    rows, items, conflicts = frames.rows, frames.items, frames.conflicts
    removed = False
    for row in range(shape[OPEN]):
        if needed[items[item_start + row]] != 1 or counts[row] > MAX_FILTER_OPTIONS:
            continue
        for word in range(words):
            common[word] = live[word]
        low, high, start = ZERO, words, row_start + row * words
        for word in range(words):
            bits = live[word] & rows[start + word]
            while bits and low < high:
                at = shape[CONFLICT_START] + (word * WORD + trailing_zeros(bits)) * words
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
        count += popcount(live[word])
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
    frames: Frames, frame: int, columns: NDArray[np.uint16], option: np.int64, search: Stack, depth: int
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
def enter(frames: Frames, columns: NDArray[np.uint16], search: Stack, depth: int) -> np.int64:
    """Filter the options of a node, and choose the item to cover; DEAD, COMPLETE, or 0 if there are options to try."""
    frame, live, needed = search.frame[depth], search.live[depth], search.needed[depth]
    best, fewest = fewest_options(frames, frame, live, needed, search.counts)
    if best < 0:
        return best
    words = frames.shapes[frame, WORDS]
    if fewest > 1 and words > ONE and remove_conflicting(frames, frame, live, needed, search.counts, search.common):
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
    frames: Frames, columns: NDArray[np.uint16], search: Stack, most: int, found: NDArray[np.int32]
) -> int:
    """Search on, see `Fill`; ``columns`` is as in `OptionTable`, frames and search change."""
    counters = search.counters
    if frames.shapes[0, ITEMS] == ZERO:  # this is the first call
        build_frame(frames, search.frame[0], columns, search.needed[0])  # a literal 0 would be compiled for itself
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
