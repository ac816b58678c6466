"""Kernels for depth-first search with pattern tables, for puzzles whose moves are always legal.

Reading memory is slow, but a processor can read many addresses at the same time. So positions are searched in *blocks*:
the successors of several positions at one depth form a block of the next depth, as far as there is room. All positions
of a block are looked up together. Each position is first looked up in the table with the largest bound for its
predecessor: this table is the most likely to prune the position, since a bound changes by at most one per move. The
remaining positions are looked up in the other tables. Memory that a kernel will read soon is prefetched.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from antipodes_tasks.base.jit import kernel
from antipodes_tasks.keys.position_set import Numbers, Words
from antipodes_tasks.rules.moves import Labels
from antipodes_tasks.searches.depth_first import DEPTH, EXPANDED, FAR, FOUND, GENERATED, NEXT_BOUND, lead_to_same
from antipodes_tasks.searches.prefetch import prefetch
from antipodes_tasks.searches.shares import NODE

ZERO, ONE, TWO = np.uint64(0), np.uint64(1), np.uint64(2)
NO_ROW = ~ZERO
CLASSES, MAPS, COLUMNS, BITS = np.arange(4, dtype=np.uint64)
"""Columns of ``fold``: where the rows of a folded table begin in ``classes``, or NO_ROW if the table is not folded;
where its column maps begin in ``after``; the size of a column map; the number of bits of a column map's number."""
NUMBERED = NODE + 1
"""Index in the tally of the number of positions at the split depth that have been numbered."""
DISTINCT = NUMBERED + 1
"""Index in the tally of the number of distinct paths found; FOUND counts sequences of moves."""
TALLY = (0, 0, 0, FAR, 0, 0, 0, 0)
"""The tally before a search begins."""
ROOM = 64
"""Maximum number of positions of a block, unless a position has more successors."""
FIRST, WEIGHT, ROW, FIRST_MAP, WIDTH = np.arange(5, dtype=np.uint64)
"""Columns of ``digits``, which describe a digit of an entry: where its table (or, for a column, its column maps) begins
in ``after``; its weight in the entry; for a column, the digit that is the row, otherwise NO_ROW; where the numbers of
its column maps begin; the size of a column map."""


class ViewArrays(NamedTuple):
    """The views as arrays for the kernels; the digits of all views are concatenated."""

    digit_at: Words
    """``(views + 1,)``: the first digit of each view."""
    digits: Words
    """``(digits, 5)``: see `FIRST` for the columns."""
    after: NDArray[np.uint16 | np.uint32]
    """The tables of all digits, concatenated; each row of a table contains the new digit for each move of the puzzle.
    """
    fold: Words
    """``(views, 4)``: see `CLASSES` for the columns; the last digit of a folded table is the column."""
    classes: NDArray[np.uint32]
    """For each row of each folded table, the index of its class and of its column map; see `Folding.class_of`."""
    begin: Words
    """``(views,)``: the offset of the table's values, in bytes."""
    packed: Words
    """``(views,)``: 1 if a byte holds two values, the first in its lower half; else 0."""
    mask: Words
    """``(views,)``: bit mask of a value."""
    linked: NDArray[np.bool_]
    """``(views,)``: see `PermutationPatterns.linked`."""


class MoveEffects(NamedTuple):
    """The moves as changes of labels; the changes of move ``m`` are numbered from ``at[m]`` to ``at[m + 1] - 1``."""

    at: Words
    place: Words
    origin: Words
    added: Numbers
    moduli: Numbers
    follow_at: Words
    """``(moves + 2,)``: where, in ``follow``, the moves begin that may follow each move; the last list contains the
    possible first moves.
    """
    follow: Words
    ambiguous: Numbers
    """``(moves, 2, places)``: for each place, the place from which it gets its label, and the number added.

    The array is empty unless two moves can lead from the same position to the same successor.
    """


class TurnPath(NamedTuple):
    """The blocks of positions being searched; arrays are indexed by depth and by position within the block."""

    size: Words
    """``(bound + 1,)``: number of positions of each block."""
    tried: Words
    """``(bound + 1,)``: number of positions of each block that have been expanded."""
    parent: NDArray[np.uint32]
    """``(bound + 1, room)``: the position's predecessor, as an index in the previous block."""
    move: NDArray[np.uint32]
    """``(bound + 1, room)``: the move that led to the position."""
    number: Numbers
    """``(room,)``: the numbers of the positions at the split depth."""
    digits: NDArray[np.uint32]
    """``(bound + 1, room, digits)``: the digits of the position's entries in all views."""
    view_bounds: NDArray[np.uint8]
    """``(bound + 1, room, views)``: the bound of each view."""
    best: NDArray[np.uint32]
    """``(bound + 1, room)``: the *best view*, which has the largest bound; successors are looked up there first."""
    entry: NDArray[np.uint32 | np.uint64]
    """``(bound + 1, room, moves)``: the entries of the successors in the best view."""
    others: NDArray[np.uint32 | np.uint64]
    """``(views, room)``: scratch memory for the entries of a block in the other views."""
    taken: Words
    """``(bound,)``: scratch memory for the moves of a path."""
    labels: Labels
    """``(3, places)``: the position to solve, and scratch memory for two positions."""
    tally: Numbers
    found: Words
    """``(paths, bound)``: the moves of the paths found, while there is room."""


@kernel
def descend_by_turns(
    path: TurnPath,
    budget: int,
    goal: Labels,
    views: ViewArrays,
    effects: MoveEffects,
    values: NDArray[np.uint8],
    every: bool,
    split: np.uint64,
    part: np.uint64,
    parts: np.uint64,
) -> bool:
    """Continue the search for about ``budget`` expansions; return whether it is complete.

    ``split``, ``part`` and ``parts`` are the `Share`; the first share counts the positions above the split. The budget
    may be exceeded by one block.
    """
    size, tried, tally = path.size, path.tried, path.tally
    depth, stop, over = np.uint64(tally[DEPTH]), tally[EXPANDED] + budget, False
    while tally[EXPANDED] < stop and not over:
        if tried[depth] == size[depth]:
            over = depth == ZERO
            depth -= ZERO if over else ONE
            continue
        if depth == split:
            tally[NODE] = path.number[tried[depth]]
        kept = successors_in_best(path, depth, views, effects, values, bool(depth >= split or part == ZERO))
        look_up_others(path, depth + ONE, kept, views, values)
        kept = keep_near(path, depth + ONE, kept, views, values, split, part, parts)
        if depth + ONE == np.uint64(len(path.taken)):
            over = paths_found(path, kept, split, goal, effects, every)
        elif kept > ZERO:
            depth += ONE
            size[depth], tried[depth] = kept, ZERO
            find_entries(path, depth, kept, views, effects, values)
    tally[DEPTH] = depth
    return over


@kernel
def successors_in_best(
    path: TurnPath,
    depth: np.uint64,
    views: ViewArrays,
    effects: MoveEffects,
    values: NDArray[np.uint8],
    counts: bool,
) -> np.uint64:
    """Expand positions of a depth while there is room; return the number of successors that the best views keep."""
    _, tried, parent, move, _, _, said, best, entry, _, taken, _, tally, _ = path
    begin, packed, mask = views.begin, views.packed, views.mask
    follow_at, follow = effects.follow_at, effects.follow
    left, below, start = np.int64(len(taken)) - np.int64(depth) - 1, depth + ONE, np.uint64(len(follow_at) - 2)
    room, most, size = np.uint64(move.shape[1]), np.uint64(entry.shape[2]), path.size[depth]
    kept, j, next_bound = ZERO, tried[depth], tally[NEXT_BOUND]
    while j < size and kept + most <= room:
        last, v = start if depth == ZERO else np.uint64(move[depth, j]), np.uint64(best[depth, j])
        first, successors = follow_at[last], follow_at[last + ONE] - follow_at[last]
        if counts:
            tally[EXPANDED] += 1
            tally[GENERATED] += np.int64(successors)
        for i in range(successors):
            e = np.uint64(entry[depth, j, i])
            value = (np.uint64(values[begin[v] + (e >> packed[v])]) >> ((e & packed[v]) << TWO)) & mask[v]
            if np.int64(value) > left:
                next_bound = min(next_bound, np.int64(below + value))
                continue
            move[below, kept], parent[below, kept] = np.uint32(follow[first + i]), np.uint32(j)
            said[below, kept, v] = np.uint8(value)
            kept += ONE
        j += ONE
    tried[depth], tally[NEXT_BOUND] = j, next_bound
    return kept


@kernel
def look_up_others(
    path: TurnPath, depth: np.uint64, kept: np.uint64, views: ViewArrays, values: NDArray[np.uint8]
) -> None:
    """Compute the digits of a block's positions, and their entries in the views that have not been looked up yet."""
    _, _, parent, move, _, digits, _, best, entry, others, _, _, _, _ = path
    digit_at, meta, after, fold, classes, begin, packed, _, _ = views
    above, moves = depth - ONE, np.uint64(entry.shape[2])
    for u in range(np.uint64(len(begin))):
        for d in range(digit_at[u], digit_at[u + ONE]):
            first, row = meta[d, FIRST], meta[d, ROW]
            for k in range(kept):
                digit, m = np.uint64(digits[above, parent[depth, k], d]), np.uint64(move[depth, k])
                if row == NO_ROW:
                    digits[depth, k, d] = after[first + digit * moves + m]
                else:
                    of_row = meta[d, FIRST_MAP] + np.uint64(digits[above, parent[depth, k], row]) * moves
                    digits[depth, k, d] = after[first + np.uint64(after[of_row + m]) * meta[d, WIDTH] + digit]
        for k in range(kept):
            if u == np.uint64(best[above, parent[depth, k]]):
                continue
            e = ZERO
            for d in range(digit_at[u], digit_at[u + ONE]):
                e += np.uint64(digits[depth, k, d]) * meta[d, WEIGHT]
            if fold[u, CLASSES] != NO_ROW:
                column = np.uint64(digits[depth, k, digit_at[u + ONE] - ONE])
                e = folded_entry(e, column, np.uint64(u), fold, classes, after)
            others[u, k] = e
            prefetch(values, begin[u] + (e >> packed[u]))


@kernel
def folded_entry(
    row: np.uint64,
    column: np.uint64,
    view: np.uint64,
    fold: Words,
    classes: NDArray[np.uint32],
    after: NDArray[np.uint16 | np.uint32],
) -> np.uint64:
    """Return the entry of a folded table for a row and a column of the original table."""
    row_class = np.uint64(classes[fold[view, CLASSES] + row])
    at = fold[view, MAPS] + (row_class & ((ONE << fold[view, BITS]) - ONE)) * fold[view, COLUMNS]
    entry: np.uint64 = (row_class >> fold[view, BITS]) * fold[view, COLUMNS] + np.uint64(after[at + column])
    return entry


@kernel
def keep_near(
    path: TurnPath,
    depth: np.uint64,
    kept: np.uint64,
    views: ViewArrays,
    values: NDArray[np.uint8],
    split: np.uint64,
    part: np.uint64,
    parts: np.uint64,
) -> np.uint64:
    """Keep the positions of a block that no view prunes and that belong to the share; return their number."""
    _, _, parent, move, number, digits, said, best, _, others, taken, _, tally, _ = path
    begin, packed, mask, linked = views.begin, views.packed, views.mask, views.linked
    left, all_views, links = np.int64(len(taken)) - np.int64(depth), np.uint64(len(begin)), linked.sum()
    near = ZERO
    for k in range(kept):
        worst, tight = np.int64(0), np.int64(0)
        for u in range(all_views):
            if u != np.uint64(best[depth - ONE, parent[depth, k]]):
                e = np.uint64(others[u, k])
                value = (np.uint64(values[begin[u] + (e >> packed[u])]) >> ((e & packed[u]) << TWO)) & mask[u]
                said[depth, k, u] = np.uint8(value)
            one = np.int64(said[depth, k, u])
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
        for u in range(all_views):
            said[depth, near, u] = said[depth, k, u]
        for d in range(digits.shape[2]):
            digits[depth, near, d] = digits[depth, k, d]
        near += ONE
    return near


@kernel
def find_entries(
    path: TurnPath,
    depth: np.uint64,
    kept: np.uint64,
    views: ViewArrays,
    effects: MoveEffects,
    values: NDArray[np.uint8],
) -> None:
    """Determine the best view of each position of a block, and the entries of the successors in this view."""
    _, _, _, move, _, digits, said, best, entry, _, _, _, _, _ = path
    digit_at, meta, after, fold, classes, begin, packed, _, _ = views
    follow_at, follow, moves = effects.follow_at, effects.follow, np.uint64(entry.shape[2])
    for k in range(kept):
        m, v = np.uint64(move[depth, k]), ZERO
        for u in range(ONE, np.uint64(len(begin))):
            v = np.uint64(u) if said[depth, k, u] > said[depth, k, v] else v
        best[depth, k] = np.uint32(v)
        first, successors = follow_at[m], follow_at[m + ONE] - follow_at[m]
        entry[depth, k, :successors] = 0
        for d in range(digit_at[v], digit_at[v + ONE]):
            digit, row, weight = np.uint64(digits[depth, k, d]), meta[d, ROW], meta[d, WEIGHT]
            if row == NO_ROW:
                at = meta[d, FIRST] + digit * moves
                for i in range(successors):
                    entry[depth, k, i] += np.uint64(after[at + follow[first + i]]) * weight
            else:
                at = meta[d, FIRST_MAP] + np.uint64(digits[depth, k, row]) * moves
                for i in range(successors):
                    column = np.uint64(after[at + follow[first + i]]) * meta[d, WIDTH] + digit
                    entry[depth, k, i] += np.uint64(after[meta[d, FIRST] + column]) * weight
        if fold[v, CLASSES] != NO_ROW:
            d = digit_at[v + ONE] - ONE
            of_column = meta[d, FIRST] + np.uint64(digits[depth, k, d]) * moves
            for i in range(successors):
                column = np.uint64(after[of_column + follow[first + i]])
                entry[depth, k, i] = folded_entry(np.uint64(entry[depth, k, i]), column, v, fold, classes, after)
        for i in range(successors):
            prefetch(values, begin[v] + (np.uint64(entry[depth, k, i]) >> packed[v]))


@kernel
def paths_found(path: Any, kept: np.uint64, split: np.uint64, goal: Labels, effects: MoveEffects, every: bool) -> bool:
    """Record the paths that end at the goal, among the first ``kept`` positions of the last depth.

    Returns True if a path was found and one path is enough. ``path`` may belong to any search in blocks.
    """
    taken, tally, found = path.taken, path.tally, path.found
    if kept > ZERO:
        tally[NEXT_BOUND] = min(tally[NEXT_BOUND], np.int64(len(taken)) + 1)
    for k in range(kept):
        at, first, depth = np.uint64(k), ZERO, np.uint64(len(taken))
        while depth > ZERO:
            move, at = np.uint64(path.move[depth, at]), np.uint64(path.parent[depth, at])
            depth -= ONE
            taken[depth] = move
            first = at if depth == split else first
        if leads_to_goal(path.labels, taken, goal, effects):
            tally[NODE] = path.number[first]
            tally[FOUND] += 1
            if not every or is_first_sequence(path.labels, taken, effects):
                if tally[DISTINCT] < len(found):
                    found[tally[DISTINCT]] = taken
                tally[DISTINCT] += 1
            if not every:
                return True
    return False


@kernel
def leads_to_goal(labels: Labels, taken: Words, goal: Labels, effects: MoveEffects) -> bool:
    """Return whether the moves ``taken`` lead from the position in the first row of ``labels`` to the goal.

    The other two rows are overwritten.
    """
    now, then = ONE, TWO
    labels[now] = labels[ZERO]
    for move in taken:
        make_move(labels, now, then, move, effects)
        now, then = then, now
    for p in range(np.uint64(labels.shape[1])):  # noqa: SIM110  (numba has no all() over a generator)
        if labels[now, p] != goal[p]:
            return False
    return True


@kernel
def is_first_sequence(labels: Labels, taken: Words, effects: MoveEffects) -> bool:
    """Return whether no lexicographically smaller sequence of moves passes the same positions as the moves ``taken``.

    If pieces are identical, several moves may lead from a position to the same successor. So several sequences of moves
    may pass the positions of one shortest path. The search finds all of them, except sequences in which a move could be
    replaced by an earlier move with the same effect. Since only the first sequence is counted, each path is counted
    exactly once.
    """
    if len(effects.ambiguous) == 0:
        return True
    now, then = ONE, TWO
    labels[now] = labels[ZERO]
    for move in taken:
        for earlier in range(move):
            if lead_to_same(labels, now, np.uint64(earlier), move, effects.ambiguous, effects.moduli):
                return False
        make_move(labels, now, then, move, effects)
        now, then = then, now
    return True


@kernel
def make_move(labels: Labels, now: np.uint64, then: np.uint64, move: np.uint64, effects: MoveEffects) -> None:
    """Make a move: write the successor of the position in row ``now`` of ``labels`` to row ``then``."""
    at, place, origin, added, moduli = effects.at, effects.place, effects.origin, effects.added, effects.moduli
    for p in range(np.uint64(labels.shape[1])):
        labels[then, p] = labels[now, p]
    for i in range(at[move], at[move + ONE]):
        label, p = np.int64(labels[now, origin[i]]) + added[i], place[i]
        labels[then, p] = label - moduli[p] if label >= moduli[p] else label
