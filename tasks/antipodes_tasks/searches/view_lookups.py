"""Look-ups in pattern tables, for searches in blocks: the largest bound first.

All positions of a block are looked up together. Each position is first looked up in the table with the largest bound
for its predecessor: this table is the most likely to prune the position, since a bound changes by at most one per move.
The remaining positions are looked up in the other tables. Memory that a kernel will read soon is prefetched: first the
list of a reduced table's rows, which says where the entries are, and then the entries.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from antipodes_tasks.base.array_types import Words
from antipodes_tasks.base.jit import kernel
from antipodes_tasks.searches.block_path import (
    BITS,
    CLASSES,
    COLUMNS,
    FIRST,
    FIRST_MAP,
    MAPS,
    MASK,
    NO_ROW,
    NUMBERED,
    ONE,
    ROW,
    SHIFT,
    WEIGHT,
    WIDTH,
    ZERO,
    BlockPath,
    Followers,
    ViewArrays,
    find_digits,
    follow_digits,
)
from antipodes_tasks.searches.depth_first import EXPANDED, GENERATED, NEXT_BOUND
from antipodes_tasks.searches.permutation_views import TableLookup
from antipodes_tasks.searches.prefetch import prefetch

THREE = np.uint64(3)
NO_VIEW = np.uint32(~np.uint32(0))
ROOM = 64
"""Maximum number of positions of a block, unless a position has more successors."""


class BestViews(NamedTuple):
    """The views in which successors are looked up; arrays are indexed by depth and by position within the block."""

    best: NDArray[np.uint32]
    """``(bound + 1, room)``: the *best view*, which has the largest bound; successors are looked up there first. It is
    NO_VIEW if the successors have not been looked up in any view."""
    entry: NDArray[np.uint32 | np.uint64]
    """``(bound + 1, room, moves)``: the entries of the successors in the best view."""
    others: NDArray[np.uint32 | np.uint64]
    """``(views, room)``: scratch memory for the entries of a block in the other views."""


def best_views(views: Sequence[TableLookup], moves: int, depth: int, room: int) -> BestViews:
    """Return empty arrays for blocks of ``room`` positions and paths of ``depth`` of the puzzle's ``moves`` moves."""
    # For a reduced table, the array of entries first holds the rows, so its type must be large enough for both.
    word = np.uint32 if max(view.table.numbering.size for view in views) < 1 << 32 else np.uint64
    return BestViews(
        best=np.zeros((depth + 1, room), dtype=np.uint32),
        entry=np.zeros((depth + 1, room, moves), dtype=word),
        others=np.zeros((len(views), room), dtype=word),
    )


@kernel
def value_at(
    values: NDArray[np.uint8], entry: np.uint64, begin: np.uint64, shift: np.uint64, mask: np.uint64
) -> np.uint64:
    """Return the distance of an entry; see `Encoding`."""
    within = (entry & ((ONE << shift) - ONE)) << (THREE - shift)
    value: np.uint64 = (np.uint64(values[begin + (entry >> shift)]) >> within) & mask
    return value


@kernel
def successors_by_views(
    path: BlockPath,
    lookups: BestViews,
    depth: np.uint64,
    views: ViewArrays,
    follow: Followers,
    values: NDArray[np.uint8],
    split: np.uint64,
    part: np.uint64,
    parts: np.uint64,
) -> np.uint64:
    """Expand positions of a depth while there is room for their successors; return the number of successors.

    ``split``, ``part`` and ``parts`` are the `Share`; the first share counts the positions above the split.
    """
    kept = successors_in_best(path, lookups, depth, views, follow, values, bool(depth >= split or part == ZERO))
    below, moves, digits = depth + ONE, np.uint64(lookups.entry.shape[2]), np.uint64(path.digits.shape[2])
    find_digits(path.digits, path.parent, path.move, below, kept, ZERO, digits, moves, views.digits, views.after)
    look_up_others(path, lookups, below, kept, views, values)
    return keep_unpruned(path, lookups, below, kept, views, values, split, part, parts)


@kernel
def look_up_and_keep(
    path: BlockPath,
    lookups: BestViews,
    depth: np.uint64,
    kept: np.uint64,
    start: np.uint64,
    views: ViewArrays,
    values: NDArray[np.uint8],
    split: np.uint64,
    part: np.uint64,
    parts: np.uint64,
) -> np.uint64:
    """Look up a block's positions, whose predecessors below the depth ``start`` have not been looked up in any view.

    Return the number of positions kept; see `keep_unpruned`.
    """
    for k in range(kept):
        lookups.best[depth - ONE, path.parent[depth, k]] = NO_VIEW
    follow_digits(path, depth, kept, start, np.uint64(lookups.entry.shape[2]), views)
    look_up_others(path, lookups, depth, kept, views, values)
    return keep_unpruned(path, lookups, depth, kept, views, values, split, part, parts)


@kernel
def successors_in_best(
    path: BlockPath,
    lookups: BestViews,
    depth: np.uint64,
    views: ViewArrays,
    follow: Followers,
    values: NDArray[np.uint8],
    counts: bool,
) -> np.uint64:
    """Expand positions of a depth while there is room; return the number of successors that the best views keep."""
    _, tried, parent, move, _, _, view_bounds, taken, _, tally, _ = path
    best, entry, _ = lookups
    begin, encodings = views.begin, views.encodings
    follow_at, following = follow
    left, below, start = np.int64(len(taken)) - np.int64(depth) - 1, depth + ONE, np.uint64(len(follow_at) - 2)
    room, most, size = np.uint64(move.shape[1]), np.uint64(entry.shape[2]), path.size[depth]
    kept, j, next_bound = ZERO, tried[depth], tally[NEXT_BOUND]
    while j < size and kept + most <= room:
        last, v = start if depth == ZERO else np.uint64(move[depth, j]), np.uint64(best[depth, j])
        first, successors = follow_at[last], follow_at[last + ONE] - follow_at[last]
        at, shift, mask = begin[v], encodings[v, SHIFT], encodings[v, MASK]
        if counts:
            tally[EXPANDED] += 1
            tally[GENERATED] += np.int64(successors)
        # The entries were computed and prefetched by `find_entries`, together for the whole block.
        for i in range(successors):
            value = value_at(values, np.uint64(entry[depth, j, i]), at, shift, mask)
            if np.int64(value) > left:
                next_bound = min(next_bound, np.int64(below + value))
                continue
            move[below, kept], parent[below, kept] = np.uint32(following[first + i]), np.uint32(j)
            view_bounds[below, kept, v] = np.uint8(value)
            kept += ONE
        j += ONE
    tried[depth], tally[NEXT_BOUND] = j, next_bound
    return kept


@kernel
def look_up_others(
    path: BlockPath,
    lookups: BestViews,
    depth: np.uint64,
    kept: np.uint64,
    views: ViewArrays,
    values: NDArray[np.uint8],
) -> None:
    """Compute the entries of a block's positions in the views that have not been looked up yet, and prefetch them."""
    parent, digits = path.parent, path.digits
    best, _, others = lookups
    digit_at, meta, after, quotients, classes, _, begin, encodings, _ = views
    above, end = depth - ONE, np.uint64(len(begin))
    for u in range(end):
        for k in range(kept):
            row = ZERO
            for d in range(digit_at[u], digit_at[u + ONE]):
                row += np.uint64(digits[depth, k, d]) * meta[d, WEIGHT]
            others[u, k] = row
            if quotients[u, CLASSES] != NO_ROW:
                prefetch(classes, quotients[u, CLASSES] + row)
    for u in range(end):
        for k in range(kept):
            if np.uint64(u) == np.uint64(best[above, parent[depth, k]]):
                continue
            e = np.uint64(others[u, k])
            if quotients[u, CLASSES] != NO_ROW:
                column = np.uint64(digits[depth, k, digit_at[u + ONE] - ONE])
                e = reduced_entry(e, column, np.uint64(u), quotients, classes, after)
                others[u, k] = e
            prefetch(values, begin[u] + (e >> encodings[u, SHIFT]))


@kernel
def reduced_entry(
    row: np.uint64,
    column: np.uint64,
    view: np.uint64,
    quotients: Words,
    classes: NDArray[np.uint32],
    after: NDArray[np.uint16 | np.uint32],
) -> np.uint64:
    """Return the entry of a reduced table for a row and a column in the numbering of all positions."""
    row_class = np.uint64(classes[quotients[view, CLASSES] + row])
    at = quotients[view, MAPS] + (row_class & ((ONE << quotients[view, BITS]) - ONE)) * quotients[view, COLUMNS]
    entry: np.uint64 = (row_class >> quotients[view, BITS]) * quotients[view, COLUMNS] + np.uint64(after[at + column])
    return entry


@kernel
def keep_unpruned(
    path: BlockPath,
    lookups: BestViews,
    depth: np.uint64,
    kept: np.uint64,
    views: ViewArrays,
    values: NDArray[np.uint8],
    split: np.uint64,
    part: np.uint64,
    parts: np.uint64,
) -> np.uint64:
    """Keep the positions of a block that no view prunes and that belong to the share; return their number."""
    _, _, parent, move, number, digits, view_bounds, taken, _, tally, _ = path
    best, _, others = lookups
    begin, encodings, linked = views.begin, views.encodings, views.linked
    left, end, links = np.int64(len(taken)) - np.int64(depth), np.uint64(len(begin)), linked.sum()
    near = ZERO
    # `worst` is the largest bound. If the bounds of all linked views equal the moves left, one more move is needed; see
    # `PermutationPatterns.linked`. The positions kept move to the front, in place, since `near <= k`.
    for k in range(kept):
        worst, tight = np.int64(0), np.int64(0)
        for u in range(end):
            if np.uint64(u) != np.uint64(best[depth - ONE, parent[depth, k]]):
                shift, mask = encodings[u, SHIFT], encodings[u, MASK]
                view_bounds[depth, k, u] = np.uint8(value_at(values, np.uint64(others[u, k]), begin[u], shift, mask))
            one = np.int64(view_bounds[depth, k, u])
            worst = max(worst, one)
            tight += np.int64(linked[u] and one == left)
        worst += np.int64(links > 0 and tight == links and left > 0 and worst == left)
        if worst > left:
            tally[NEXT_BOUND] = min(tally[NEXT_BOUND], np.int64(depth) + worst)
            continue
        if depth == split:
            number[near] = tally[NUMBERED]
            tally[NUMBERED] += 1
            if np.uint64(number[near]) % parts != part:
                continue
        move[depth, near], parent[depth, near] = move[depth, k], parent[depth, k]
        for u in range(end):
            view_bounds[depth, near, u] = view_bounds[depth, k, u]
        for d in range(digits.shape[2]):
            digits[depth, near, d] = digits[depth, k, d]
        near += ONE
    return near


@kernel
def find_entries(
    path: BlockPath,
    lookups: BestViews,
    depth: np.uint64,
    kept: np.uint64,
    views: ViewArrays,
    follow: Followers,
    values: NDArray[np.uint8],
) -> None:
    """Determine the best view of each position of a block, and the entries of the successors in this view."""
    move, digits, view_bounds = path.move, path.digits, path.view_bounds
    best, entry, _ = lookups
    digit_at, meta, after, quotients, classes, _, begin, encodings, _ = views
    follow_at, following, moves = follow.at, follow.moves, np.uint64(entry.shape[2])
    start = np.uint64(len(follow_at) - 2)
    # The first pass computes the entries of an unreduced table; for a reduced table, it prefetches the class of the
    # row. The second pass reads the classes, which have arrived by then, and computes the entries of reduced tables.
    for k in range(kept):
        m, v = start if depth == ZERO else np.uint64(move[depth, k]), ZERO
        for u in range(ONE, np.uint64(len(begin))):
            v = np.uint64(u) if view_bounds[depth, k, u] > view_bounds[depth, k, v] else v
        best[depth, k] = np.uint32(v)
        first, successors = follow_at[m], follow_at[m + ONE] - follow_at[m]
        entry[depth, k, :successors] = 0
        for d in range(digit_at[v], digit_at[v + ONE]):
            digit, row, weight = np.uint64(digits[depth, k, d]), meta[d, ROW], meta[d, WEIGHT]
            if row == NO_ROW:
                at = meta[d, FIRST] + digit * moves
                for i in range(successors):
                    entry[depth, k, i] += np.uint64(after[at + following[first + i]]) * weight
            else:
                at = meta[d, FIRST_MAP] + np.uint64(digits[depth, k, row]) * moves
                for i in range(successors):
                    column = np.uint64(after[at + following[first + i]]) * meta[d, WIDTH] + digit
                    entry[depth, k, i] += np.uint64(after[meta[d, FIRST] + column]) * weight
        if quotients[v, CLASSES] != NO_ROW:
            for i in range(successors):
                prefetch(classes, quotients[v, CLASSES] + np.uint64(entry[depth, k, i]))
        else:
            for i in range(successors):
                prefetch(values, begin[v] + (np.uint64(entry[depth, k, i]) >> encodings[v, SHIFT]))
    for k in range(kept):
        m, v = start if depth == ZERO else np.uint64(move[depth, k]), np.uint64(best[depth, k])
        first, successors = follow_at[m], follow_at[m + ONE] - follow_at[m]
        if quotients[v, CLASSES] == NO_ROW:
            continue
        d = digit_at[v + ONE] - ONE
        digit, row = np.uint64(digits[depth, k, d]), meta[d, ROW]
        of_column = meta[d, FIRST] + digit * moves
        of_row = ZERO if row == NO_ROW else meta[d, FIRST_MAP] + np.uint64(digits[depth, k, row]) * moves
        for i in range(successors):
            m = following[first + i]
            at = of_column + m
            if row != NO_ROW:
                at = meta[d, FIRST] + np.uint64(after[of_row + m]) * meta[d, WIDTH] + digit
            column = np.uint64(after[at])
            e = reduced_entry(np.uint64(entry[depth, k, i]), column, v, quotients, classes, after)
            entry[depth, k, i] = e
            prefetch(values, begin[v] + (e >> encodings[v, SHIFT]))
