"""The search with pattern tables of a puzzle whose moves are legal everywhere, in machine code.

Memory is slow, and the processor can fetch from many places together. So the successors of all positions of a line are
looked up together: each in the table that says most at its predecessor, since distances change by one at most, and
those that remain in the other tables. What a kernel will read soon it fetches before.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from antipodes_tasks.jit import kernel
from antipodes_tasks.reachability.position_set import Numbers, Words
from antipodes_tasks.rules.moves import Labels
from antipodes_tasks.searches.depth_first import DEPTH, EXPANDED, FAR, FOUND, GENERATED, NEXT_BOUND
from antipodes_tasks.searches.prefetch import prefetch
from antipodes_tasks.searches.shares import NODE

ZERO, ONE, TWO = np.uint64(0), np.uint64(1), np.uint64(2)
NOT_EXPANDED = NO_ROW = ~ZERO
CLASSES, MAPS, COLUMNS, BITS = np.arange(4, dtype=np.uint64)
"""Of a folded table: where its rows begin in ``classes``, or NO_ROW where the table is not folded; where its column
maps begin in ``after``; the size of one; the bits of the number of one."""
NUMBERED = NODE + 1
"""The entry of the tally that counts the positions at the split that have been numbered."""
FIRST, WEIGHT, ROW, FIRST_MAP, WIDTH = np.arange(5, dtype=np.uint64)
"""Of a digit: where its table, or its column maps, begin; what a unit adds to the entry; the digit that decides the
column map, or NO_ROW where it changes by the move alone; where the numbers of column maps begin; the size of one."""


class ViewArrays(NamedTuple):
    """The views for the kernel; the digits of all views follow one another."""

    digit_at: Words
    """``(views + 1,)``: where the digits of each view begin."""
    digits: Words
    """``(digits, 5)``: of each digit what the constants below name."""
    after: NDArray[np.uint16 | np.uint32]
    """The tables of all digits, one after another; a line has an entry for each move of the puzzle."""
    fold: Words
    """``(views, 4)``: of a folded table what the constants below name; its last digit is the column."""
    classes: NDArray[np.uint32]
    """For each row of a folded table the row that stands for it, and the number of the column map."""
    begin: Words
    """``(views,)``: the first byte of the table's values."""
    packed: Words
    """``(views,)``: 1 where a byte has two values, the first in its lower half; else 0."""
    mask: Words
    """``(views,)``: the bits of a value."""
    linked: NDArray[np.bool_]
    """``(views,)``: the views that cannot all be right at one distance from the goal; none, or some."""


class MoveEffects(NamedTuple):
    """The moves as changes of labels; those of a move ``m`` are ``at[m]`` to ``at[m + 1]``."""

    at: Words
    place: Words
    origin: Words
    added: Numbers
    moduli: Numbers
    follow_at: Words
    """``(moves + 2,)``: where the moves begin that may follow each move; those at the start come last."""
    follow: Words


class TurnPath(NamedTuple):
    """The path that is searched, and the positions beside it.

    Arrays begin with the depth. At each there are *lines* of positions, the successors of one position each; the path
    passes one of them.
    """

    size: Words
    """``(bound + 1, moves)``: the positions of each line."""
    move: Words
    """``(bound + 1, moves, moves)``: the move that led to each position."""
    digits: NDArray[np.uint32]
    """``(bound + 1, moves, moves, digits)``."""
    said: NDArray[np.uint8]
    """``(bound + 1, moves, moves, views)``: what each view says."""
    best: Words
    """``(bound + 1, moves, moves)``: the view that says most, in which the successors are looked up first."""
    entry: NDArray[np.uint32 | np.uint64]
    """``(bound + 1, moves, moves, moves)``: their entries in it."""
    others: NDArray[np.uint32 | np.uint64]
    """``(views, moves, moves)``: room for the entries of a line's successors in the other views."""
    line: Words
    """``(bound + 1,)``: the line that the path passes."""
    tried: Words
    """``(bound + 1,)``: how many of its positions were searched; NOT_EXPANDED before their successors are known."""
    taken: Words
    """``(bound,)``: the moves of the path."""
    labels: Labels
    """``(3, places)``: the position to solve, and room for two."""
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
    """Whether the search is over; otherwise it has expanded ``budget`` positions and must be called again.

    It is the `Share` of the other arguments; the first share counts the positions above the split.
    """
    size, move, digits, said, best, entry, others, line, tried, taken, labels, tally, found = path
    digit_at, meta, after, fold, classes, begin, packed, mask, linked = views
    follow_at, follow = effects.follow_at, effects.follow
    greatest, all_views, links = np.uint64(len(taken)), np.uint64(len(begin)), linked.sum()
    start, moves, all_digits = np.uint64(len(follow_at) - 2), np.uint64(move.shape[1]), np.uint64(len(meta))
    expanded, next_bound, generated = tally[EXPANDED], tally[NEXT_BOUND], tally[GENERATED]
    depth, stop, over = np.uint64(tally[DEPTH]), expanded + budget, False
    while expanded < stop and not over:
        own, below, left = line[depth], depth + ONE, np.int64(greatest - depth) - 1
        if tried[depth] == NOT_EXPANDED:
            tried[depth] = ZERO
            for j in range(size[depth, own]):
                kept, v = ZERO, best[depth, own, j]
                if depth == split and parts > ONE:
                    tally[NUMBERED] += 1
                    if np.uint64(tally[NUMBERED] - 1) % parts != part:
                        size[below, j] = ZERO
                        continue
                last = start if depth == ZERO else move[depth, own, j]
                first, successors = follow_at[last], follow_at[last + ONE] - follow_at[last]
                if depth >= split or part == ZERO:
                    expanded, generated = expanded + 1, generated + np.int64(successors)
                for i in range(successors):
                    e = np.uint64(entry[depth, own, j, i])
                    value = (np.uint64(values[begin[v] + (e >> packed[v])]) >> ((e & packed[v]) << TWO)) & mask[v]
                    move[below, j, kept], said[below, j, kept, v] = follow[first + i], np.uint8(value)
                    pruned = np.int64(value) > left
                    next_bound = min(next_bound, np.int64(below + value) if pruned else FAR)
                    kept += ZERO if pruned else ONE
                size[below, j] = kept
                for u in range(all_views if kept > ZERO else ZERO):
                    for d in range(digit_at[u], digit_at[u + ONE]):
                        digit, row = np.uint64(digits[depth, own, j, d]), meta[d, ROW]
                        if row == NO_ROW:
                            at = meta[d, FIRST] + digit * moves
                            for k in range(kept):
                                digits[below, j, k, d] = after[at + move[below, j, k]]
                        else:
                            at = meta[d, FIRST_MAP] + np.uint64(digits[depth, own, j, row]) * moves
                            for k in range(kept):
                                column_map = np.uint64(after[at + move[below, j, k]])
                                digits[below, j, k, d] = after[meta[d, FIRST] + column_map * meta[d, WIDTH] + digit]
                    for k in range(kept if u != v else ZERO):
                        e = ZERO
                        for d in range(digit_at[u], digit_at[u + ONE]):
                            e += np.uint64(digits[below, j, k, d]) * meta[d, WEIGHT]
                        if fold[u, CLASSES] != NO_ROW:
                            row_class = np.uint64(classes[fold[u, CLASSES] + e])
                            column = np.uint64(digits[below, j, k, digit_at[u + ONE] - ONE])
                            at = fold[u, MAPS] + (row_class & ((ONE << fold[u, BITS]) - ONE)) * fold[u, COLUMNS]
                            e = (row_class >> fold[u, BITS]) * fold[u, COLUMNS] + np.uint64(after[at + column])
                        others[u, j, k] = e
                        prefetch(values, begin[u] + (e >> packed[u]))
            for j in range(size[depth, own]):
                kept, v = ZERO, best[depth, own, j]
                for k in range(size[below, j]):
                    worst, tight = np.int64(0), np.int64(0)
                    for u in range(all_views):
                        if u != v:
                            e = np.uint64(others[u, j, k])
                            value = (np.uint64(values[begin[u] + (e >> packed[u])]) >> ((e & packed[u]) << TWO)) & mask[
                                u
                            ]
                            said[below, j, k, u] = np.uint8(value)
                        one = np.int64(said[below, j, k, u])
                        worst = one if one > worst else worst
                        tight += np.int64(linked[u] and one == left)
                    worst += np.int64(links > 0 and tight == links and left > 0 and worst == left)
                    if worst > left:
                        next_bound = min(next_bound, np.int64(below) + worst)
                        continue
                    move[below, j, kept] = move[below, j, k]
                    for u in range(all_views):
                        said[below, j, kept, u] = said[below, j, k, u]
                    for d in range(all_digits):
                        digits[below, j, kept, d] = digits[below, j, k, d]
                    kept += ONE
                size[below, j] = kept
                for k in range(kept if left > 0 else ZERO):
                    first, v = follow_at[move[below, j, k]], ZERO
                    for u in range(ONE, all_views):
                        v = u if said[below, j, k, u] > said[below, j, k, v] else v
                    best[below, j, k], successors = v, follow_at[move[below, j, k] + ONE] - first
                    for i in range(successors):
                        entry[below, j, k, i] = 0
                    for d in range(digit_at[v], digit_at[v + ONE]):
                        digit, row, weight = np.uint64(digits[below, j, k, d]), meta[d, ROW], meta[d, WEIGHT]
                        if row == NO_ROW:
                            at = meta[d, FIRST] + digit * moves
                            for i in range(successors):
                                entry[below, j, k, i] += np.uint64(after[at + follow[first + i]]) * weight
                        else:
                            at = meta[d, FIRST_MAP] + np.uint64(digits[below, j, k, row]) * moves
                            for i in range(successors):
                                column = np.uint64(after[at + follow[first + i]]) * meta[d, WIDTH] + digit
                                entry[below, j, k, i] += np.uint64(after[meta[d, FIRST] + column]) * weight
                    if fold[v, CLASSES] != NO_ROW:
                        d = digit_at[v + ONE] - ONE
                        line_of_column = meta[d, FIRST] + np.uint64(digits[below, j, k, d]) * moves
                        for i in range(successors):
                            row_class = np.uint64(classes[fold[v, CLASSES] + np.uint64(entry[below, j, k, i])])
                            column = np.uint64(after[line_of_column + follow[first + i]])
                            at = fold[v, MAPS] + (row_class & ((ONE << fold[v, BITS]) - ONE)) * fold[v, COLUMNS]
                            folded = (row_class >> fold[v, BITS]) * fold[v, COLUMNS] + np.uint64(after[at + column])
                            entry[below, j, k, i] = folded
                    for i in range(successors):
                        prefetch(values, begin[v] + (np.uint64(entry[below, j, k, i]) >> packed[v]))
                if left == 0 and kept > ZERO:
                    next_bound, size[below, j] = min(next_bound, np.int64(greatest) + 1), ZERO
                    over = reached(kept, move, depth, own, j, taken, labels, goal, effects, tally, found, every)
                    if over:
                        break
            if depth == split:
                tally[NODE] = tally[NUMBERED] - np.int64(size[depth, own])
        elif depth == ZERO and tried[depth] == size[depth, own]:
            over = True
        else:
            depth = next_line(depth, own, split, size, move, line, tried, taken, tally)
    tally[DEPTH], tally[EXPANDED], tally[NEXT_BOUND], tally[GENERATED] = depth, expanded, next_bound, generated
    return over


@kernel
def next_line(
    depth: np.uint64,
    own: np.uint64,
    split: np.uint64,
    size: Words,
    move: Words,
    line: Words,
    tried: Words,
    taken: Words,
    tally: Numbers,
) -> np.uint64:
    """Pass to the next position of the line ``own`` of a depth; return the depth to go on with.

    That is the one below where the position has successors, or the one above after the last position.
    """
    if tried[depth] == size[depth, own]:
        return depth - ONE
    j, below = tried[depth], depth + ONE
    tried[depth] += ONE
    if depth == split:
        tally[NODE] += 1
    if size[below, j] == ZERO:
        return depth
    if depth > ZERO:
        taken[depth - ONE] = move[depth, own, j]
    line[below], tried[below] = j, NOT_EXPANDED
    return below


@kernel
def reached(
    kept: np.uint64,
    move: Words,
    depth: np.uint64,
    own: np.uint64,
    j: int,
    taken: Words,
    labels: Labels,
    goal: Labels,
    effects: MoveEffects,
    tally: Numbers,
    found: Words,
    every: bool,
) -> bool:
    """Note the paths that end after one of the ``kept`` moves of a position; whether one is enough, and found."""
    if depth > ZERO:
        taken[depth - ONE] = move[depth, own, j]
    for k in range(kept):
        taken[depth] = move[depth + ONE, j, k]
        if leads_to_goal(labels, taken, goal, effects):
            if tally[FOUND] < len(found):
                found[tally[FOUND]] = taken
            tally[FOUND] += 1
            if not every:
                return True
    return False


@kernel
def leads_to_goal(labels: Labels, taken: Words, goal: Labels, effects: MoveEffects) -> bool:
    """Whether the moves ``taken`` lead from the first of the labels to the goal; the others are overwritten."""
    at, place, origin, added, moduli = effects.at, effects.place, effects.origin, effects.added, effects.moduli
    places = np.uint64(labels.shape[1])
    now, then = ONE, TWO
    for p in range(places):
        labels[now, p] = labels[ZERO, p]
    for move in taken:
        for p in range(places):
            labels[then, p] = labels[now, p]
        for i in range(at[move], at[move + ONE]):
            label, p = np.int64(labels[now, origin[i]]) + added[i], place[i]
            labels[then, p] = label - moduli[p] if label >= moduli[p] else label
        now, then = then, now
    for p in range(places):  # noqa: SIM110  (numba has no all() over a generator)
        if labels[now, p] != goal[p]:
            return False
    return True
