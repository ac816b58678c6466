"""Algorithm X on bitsets: branch on the item with the fewest options (MRV), and filter the options.

The items of the exact cover are the cells of the board and the pieces; its options are the placements. D. Knuth
describes Algorithm X in *Dancing links* (2000, arXiv:cs/0011047). A node of the search is a bitset of *live* options,
which can still be used. Before a node branches, every option that conflicts with all options of some item is removed:
if it were chosen, this item could no longer be covered. The conjunction of the conflict-matrix rows of the item's
options contains all options to remove; it is computed for 64 options at a time.

The bitsets belong to a *subproblem*, which consists of the options that cover each item and the options that conflict
with each option. When only few options of a node's subproblem are live, the node and its subtree get a smaller
subproblem, which contains only the live options.
"""

from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from antipodes_tasks.base.errors import ResourceLimitError
from antipodes_tasks.base.jit import kernel, popcount, trailing_zeros
from antipodes_tasks.exact_cover.placements import DEPTH, PLACEMENTS, Fill, OptionTable, Placements, copies_left
from antipodes_tasks.exact_cover.tiling_problem import TilingProblem

MAX_OPTIONS = 1448 * 64
"""Maximum number of options of a search; their conflict matrix takes 1 GiB."""
ZERO, ONE, SIX, LAST_BIT, WORD = np.uint64(0), np.uint64(1), np.uint64(6), np.uint64(63), np.uint64(64)
ALL = ~ZERO

OPTIONAL, COVERED = -1, 0
"""Special values in `Stack.needed`: the item may be covered once, or it must not be covered any more."""

WORDS, OPTIONS, ITEMS, OPEN, CONFLICT_START, ROW_START, OPTION_START, ITEM_START = range(8)
"""Columns of `Subproblems.shapes`: the sizes of a subproblem, and where its section of each array starts."""
SPARSE = 4
"""Minimum ratio of all options to live options at which a subtree gets a smaller subproblem."""
MAX_FILTER_OPTIONS = np.uint64(24)
"""Maximum number of options of an item that is used for filtering; hardly any option conflicts with more options."""

ENTERING = 2
"""Index in `Stack.counters` of a flag, after `DEPTH` and `PLACEMENTS`: whether the search is entering a new node."""
DEAD, COMPLETE = -1, -2
"""Outcomes of a node without options to try: some item cannot be covered, or all items are covered."""


class Subproblems(NamedTuple):
    """A stack of subproblems. Each array is the concatenation of one section per subproblem."""

    conflicts: NDArray[np.uint64]
    """For each option, the options that conflict with it, as a bitset."""
    rows: NDArray[np.uint64]
    """For each item, the options that cover it, as a bitset."""
    options: NDArray[np.int32]
    """The options, as their numbers in the `OptionTable`."""
    items: NDArray[np.int32]
    """The uncovered items: first those that must be covered, then the optional ones."""
    shapes: NDArray[np.uint64]
    """``(subproblems, 8)``: the sizes of each subproblem, and where its sections start; see `WORDS`."""
    row_of: NDArray[np.int32]
    """``(subproblems, items)``: the row of each item in each subproblem, or -1 if it has none."""


class Stack(NamedTuple):
    """The state of a search at each depth, so that the search can stop after some tilings and continue later."""

    live: NDArray[np.uint64]
    """``(depths, words)``: the live options."""
    untried: NDArray[np.uint64]
    """``(depths, words)``: the untried options of the item on which the search branches."""
    needed: NDArray[np.int32]
    """``(depths, items)``: the number of times that each item must still be covered, or OPTIONAL."""
    subproblem: NDArray[np.int64]
    """``(depths,)``: the subproblem used at each depth."""
    chosen: NDArray[np.int32]
    """``(depths,)``: the index of the option chosen at each depth."""
    counts: NDArray[np.uint64]
    """``(items,)``: scratch memory for the number of live options of each row."""
    common: NDArray[np.uint64]
    """``(words,)``: scratch memory for the options that conflict with all options of an item."""
    counters: NDArray[np.int64]
    """``(3,)``: the depth, the number of placements tried, and whether the search is entering a new node."""


def start(
    problem: TilingProblem, options: OptionTable, placements: Placements, fixed: NDArray[np.int32]
) -> tuple[Fill, NDArray[np.int64]]:
    """Return a search for all completions of the fixed placements, and its counters."""
    cells = np.where(problem.required, 1, OPTIONAL)
    covered = placements.cells[fixed]
    cells[covered[covered >= 0]] = COVERED
    left = copies_left(problem, placements, fixed)
    needed = np.concatenate((cells, left, [COVERED])).astype(np.int32)  # the last item pads the rows of small pieces
    subproblems, search = _memory(len(options.number), needed, problem.copies - len(fixed) + 1)
    return partial(fill_fewest_first, subproblems, options.columns, search), search.counters


def check_options(count: int) -> None:
    """Raise ResourceLimitError if the conflict matrix of ``count`` options would take too much memory."""
    if count > MAX_OPTIONS:
        raise ResourceLimitError(
            f"a search has {count:,} placements to choose from; at most {MAX_OPTIONS:,} are supported"
        )


def _memory(options: int, needed: NDArray[np.int32], depths: int) -> tuple[Subproblems, Stack]:
    """Allocate the subproblems and the stack with all options live; the kernel builds the first subproblem."""
    check_options(options)
    words = max(1, -(-options // 64))
    sizes = [(options, words)]
    while sizes[-1][1] > 1:
        fewer = sizes[-1][0] // SPARSE
        sizes.append((fewer, -(-fewer // 64)))
    subproblems = Subproblems(
        conflicts=np.zeros(sum(count * width for count, width in sizes), dtype=np.uint64),
        rows=np.zeros(len(needed) * sum(width for _, width in sizes), dtype=np.uint64),
        options=np.zeros(sum(count for count, _ in sizes), dtype=np.int32),
        items=np.zeros(len(needed) * len(sizes), dtype=np.int32),
        shapes=np.zeros((len(sizes), 8), dtype=np.uint64),
        row_of=np.full((len(sizes), len(needed)), -1, dtype=np.int32),
    )
    subproblems.options[:options] = np.arange(options)
    subproblems.shapes[0, [WORDS, OPTIONS]] = words, options
    search = Stack(
        live=np.zeros((depths, words), dtype=np.uint64),
        untried=np.zeros((depths, words), dtype=np.uint64),
        needed=np.zeros((depths, len(needed)), dtype=np.int32),
        subproblem=np.zeros(depths, dtype=np.int64),
        chosen=np.zeros(depths, dtype=np.int32),
        counts=np.zeros(len(needed), dtype=np.uint64),
        common=np.zeros(words, dtype=np.uint64),
        counters=np.array([0, 0, 1], dtype=np.int64),
    )
    search.needed[0] = needed
    search.live[0] = np.packbits(np.arange(64 * words) < options, bitorder="little").view(np.uint64)
    return subproblems, search


@kernel
def build_subproblem(
    subproblems: Subproblems, subproblem: int, columns: NDArray[np.uint16], needed: NDArray[np.int32]
) -> None:
    """Compute the items, rows and conflicts of a subproblem whose options are given, all of them live."""
    shape = subproblems.shapes[subproblem]
    words, count, item_start, row_start = shape[WORDS], shape[OPTIONS], shape[ITEM_START], shape[ROW_START]
    rows, conflicts, options, row_of = (
        subproblems.rows,
        subproblems.conflicts,
        subproblems.options,
        subproblems.row_of[subproblem],
    )
    total, must = ZERO, ZERO
    for kind in range(2):  # 0: items that must be covered, 1: optional items
        for item in range(len(needed)):
            if needed[item] > COVERED if kind == 0 else needed[item] == OPTIONAL:
                subproblems.items[item_start + total] = item
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
def pack_subproblem(
    subproblems: Subproblems,
    subproblem: int,
    columns: NDArray[np.uint16],
    needed: NDArray[np.int32],
    live: NDArray[np.uint64],
    count: np.int64,
) -> None:
    """Build the next subproblem from the ``count`` live options of a subproblem, and make all of its options live."""
    shape, packed = subproblems.shapes[subproblem], subproblems.shapes[subproblem + 1]
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
            subproblems.options[to] = subproblems.options[shape[OPTION_START] + word * WORD + trailing_zeros(bits)]
            to += ONE
            bits &= bits - ONE
    build_subproblem(subproblems, subproblem + 1, columns, needed)
    for word in range(packed[WORDS]):
        live[word] = ALL
    if packed[OPTIONS] & LAST_BIT:
        live[packed[WORDS] - ONE] = (ONE << (packed[OPTIONS] & LAST_BIT)) - ONE


@kernel
def fewest_options(
    subproblems: Subproblems,
    subproblem: int,
    live: NDArray[np.uint64],
    needed: NDArray[np.int32],
    counts: NDArray[np.uint64],
) -> tuple[np.int64, np.int64]:
    """Return the row of the item with the fewest choices, and the number of choices.

    Instead of the row, return DEAD if an item can no longer be covered, and COMPLETE if all items are covered.
    """
    shape = subproblems.shapes[subproblem]
    words, item_start, row_start = shape[WORDS], shape[ITEM_START], shape[ROW_START]
    rows, items = subproblems.rows, subproblems.items
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
    subproblems: Subproblems,
    subproblem: int,
    live: NDArray[np.uint64],
    needed: NDArray[np.int32],
    counts: NDArray[np.uint64],
    common: NDArray[np.uint64],
) -> bool:
    """Remove the live options that conflict with all options of some item; return whether there were any."""
    shape = subproblems.shapes[subproblem]
    words, item_start, row_start = shape[WORDS], shape[ITEM_START], shape[ROW_START]
    rows, items, conflicts = subproblems.rows, subproblems.items, subproblems.conflicts
    removed = False
    for row in range(shape[OPEN]):
        if needed[items[item_start + row]] != 1 or counts[row] > MAX_FILTER_OPTIONS:
            continue
        for word in range(words):
            common[word] = live[word]
        # Exactly one of the item's live options must still be chosen, so an option that conflicts with all of them
        # cannot be. `common` is the intersection of their conflicts; outside the words from `low` to `high` it is
        # empty.
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
    """Return the number of live options."""
    count = ZERO
    for word in range(words):
        count += popcount(live[word])
    return np.int64(count)


@kernel
def next_untried(untried: NDArray[np.uint64], words: np.uint64) -> np.int64:
    """Remove and return the first untried option; return -1 if there is none."""
    for word in range(words):
        if untried[word]:
            option = np.int64(word) * 64 + np.int64(trailing_zeros(untried[word]))
            untried[word] &= untried[word] - ONE
            return option
    return np.int64(-1)


@kernel
def choose(
    subproblems: Subproblems, subproblem: int, columns: NDArray[np.uint16], option: np.int64, search: Stack, depth: int
) -> None:
    """Choose an option at this depth, and set the live options and the needed items of the next depth."""
    shape = subproblems.shapes[subproblem]
    words, chosen = shape[WORDS], np.uint64(option)
    live, below = search.live[depth], search.live[depth + 1]
    live[chosen >> SIX] &= ~(ONE << (chosen & LAST_BIT))  # so that identical copies are placed in only one order
    start = shape[CONFLICT_START] + chosen * words
    for word in range(words):
        below[word] = live[word] & ~subproblems.conflicts[start + word]
    needed = search.needed[depth + 1]
    for item in range(len(needed)):
        needed[item] = search.needed[depth, item]
    numbered = subproblems.options[shape[OPTION_START] + chosen]
    for k in range(columns.shape[1]):
        item = columns[numbered, k]
        if needed[item] == OPTIONAL:
            needed[item] = COVERED
        elif needed[item] > COVERED:
            needed[item] -= 1
            if needed[item] == COVERED:  # the subproblem's conflicts do not include the other options of the last copy
                start = shape[ROW_START] + np.uint64(subproblems.row_of[subproblem, item]) * words
                for word in range(words):
                    below[word] &= ~subproblems.rows[start + word]
    search.subproblem[depth + 1] = subproblem
    search.chosen[depth] = numbered


@kernel
def enter(subproblems: Subproblems, columns: NDArray[np.uint16], search: Stack, depth: int) -> np.int64:
    """Filter a node's options and choose the item to branch on; return DEAD, COMPLETE, or 0 if the node branches."""
    subproblem, live, needed = search.subproblem[depth], search.live[depth], search.needed[depth]
    best, fewest = fewest_options(subproblems, subproblem, live, needed, search.counts)
    if best < 0:
        return best
    words = subproblems.shapes[subproblem, WORDS]
    if (
        fewest > 1
        and words > ONE
        and remove_conflicting(subproblems, subproblem, live, needed, search.counts, search.common)
    ):
        best, fewest = fewest_options(subproblems, subproblem, live, needed, search.counts)
        if best < 0:
            return best
    if words > ONE:
        count = live_options(live, words)
        if np.uint64(SPARSE * count) <= subproblems.shapes[subproblem, OPTIONS]:
            item = subproblems.items[subproblems.shapes[subproblem, ITEM_START] + np.uint64(best)]
            pack_subproblem(subproblems, subproblem, columns, needed, live, count)
            subproblem += 1
            search.subproblem[depth] = subproblem
            best, words = subproblems.row_of[subproblem, item], subproblems.shapes[subproblem, WORDS]
    start = subproblems.shapes[subproblem, ROW_START] + np.uint64(best) * words
    for word in range(words):
        search.untried[depth, word] = live[word] & subproblems.rows[start + word]
    return np.int64(0)


@kernel
def fill_fewest_first(
    subproblems: Subproblems, columns: NDArray[np.uint16], search: Stack, max_placements: int, found: NDArray[np.int32]
) -> int:
    """Continue the search as `Fill` describes. ``subproblems`` and ``search`` are its state; for ``columns``, see
    `OptionTable`.
    """
    counters = search.counters
    if subproblems.shapes[0, ITEMS] == ZERO:  # this is the first call
        # A literal 0 as the number of the subproblem would make numba compile the kernel a second time.
        build_subproblem(subproblems, search.subproblem[0], columns, search.needed[0])
    depth, placements, entering, count = counters[DEPTH], counters[PLACEMENTS], counters[ENTERING] == 1, 0
    while depth >= 0 and count < len(found) and placements < max_placements:
        if entering:
            entering = False
            outcome = enter(subproblems, columns, search, depth)
            if outcome == COMPLETE:
                for k in range(depth):
                    found[count, k] = search.chosen[k]
                count += 1
            if outcome < 0:
                depth -= 1
                continue
        subproblem = search.subproblem[depth]
        option = next_untried(search.untried[depth], subproblems.shapes[subproblem, WORDS])
        if option < 0:
            depth -= 1
            continue
        choose(subproblems, subproblem, columns, option, search, depth)
        placements += 1
        depth += 1
        entering = True
    counters[DEPTH], counters[PLACEMENTS], counters[ENTERING] = depth, placements, entering
    return count
