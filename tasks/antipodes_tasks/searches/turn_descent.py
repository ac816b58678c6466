"""The search with pattern tables of a puzzle whose moves are legal everywhere, in machine code.

All successors of a position are looked up in one table before any is judged, so that the processor waits for memory
once; those that remain are looked up in the next table. The first table is the one that says most at the position,
since distances change by one at most.
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
    """The path that is searched, and the positions beside it that are still to be searched.

    Arrays begin with the depth; at each there are at most as many positions as moves.
    """

    digits: NDArray[np.uint32]
    """``(bound + 1, moves, digits)``."""
    said: NDArray[np.uint8]
    """``(bound + 1, moves, views)``: what each view says."""
    best: Words
    """``(bound + 1, moves)``: the view that says most, in which the successors are looked up first."""
    entry: NDArray[np.uint32 | np.uint64]
    """``(bound + 1, moves, moves)``: their entries in it."""
    here: Words
    """``(bound + 1,)``: the position that the path passes."""
    child: Words
    """``(bound + 1, moves)``: the moves to the positions at the next depth."""
    kept: Words
    """``(bound + 1,)``: how many there are; NOT_EXPANDED if that is to be found."""
    tried: Words
    """``(bound + 1,)``: how many were searched."""
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
    digits, said, best, entry, here, child, kept, tried, taken, labels, tally, found = path
    digit_at, meta, after, begin, packed, mask, linked = views
    follow_at, follow = effects.follow_at, effects.follow
    greatest, all_views, links = np.uint64(len(taken)), np.uint64(len(begin)), linked.sum()
    start, moves, all_digits = np.uint64(len(follow_at) - 2), np.uint64(child.shape[1]), np.uint64(len(meta))
    expanded, next_bound, generated = tally[EXPANDED], tally[NEXT_BOUND], tally[GENERATED]
    depth, stop, over = np.uint64(tally[DEPTH]), expanded + budget, False
    while expanded < stop and not over:
        if kept[depth] == NOT_EXPANDED:
            expanded += np.int64(depth >= split or part == ZERO)
            last = taken[depth - ONE] if depth > ZERO else start
            own, below, left = here[depth], depth + ONE, np.int64(greatest - depth) - 1
            v, first, count = best[depth, own], follow_at[last], ZERO
            successors = follow_at[last + ONE] - first
            generated += np.int64(successors) if depth >= split or part == ZERO else 0
            for i in range(successors):
                e = np.uint64(entry[depth, own, i])
                value = (np.uint64(values[begin[v] + (e >> packed[v])]) >> ((e & packed[v]) << TWO)) & mask[v]
                child[depth, count], said[below, count, v] = follow[first + i], np.uint8(value)
                pruned = np.int64(value) > left
                next_bound = min(next_bound, np.int64(below + value) if pruned else FAR)
                count += ZERO if pruned else ONE
            for u in range(all_views if count > ZERO else ZERO):
                for d in range(digit_at[u], digit_at[u + ONE]):
                    digit, row = np.uint64(digits[depth, own, d]), meta[d, ROW]
                    if row == NO_ROW:
                        line = meta[d, FIRST] + digit * moves
                        for k in range(count):
                            digits[below, k, d] = after[line + child[depth, k]]
                    else:
                        line = meta[d, FIRST_MAP] + np.uint64(digits[depth, own, row]) * moves
                        for k in range(count):
                            column_map = np.uint64(after[line + child[depth, k]])
                            digits[below, k, d] = after[meta[d, FIRST] + column_map * meta[d, WIDTH] + digit]
                for k in range(count if u != v else ZERO):
                    e = ZERO
                    for d in range(digit_at[u], digit_at[u + ONE]):
                        e += np.uint64(digits[below, k, d]) * meta[d, WEIGHT]
                    value = (np.uint64(values[begin[u] + (e >> packed[u])]) >> ((e & packed[u]) << TWO)) & mask[u]
                    said[below, k, u] = np.uint8(value)
            remaining = ZERO
            for k in range(count):
                worst, tight = np.int64(0), np.int64(0)
                for u in range(all_views):
                    one = np.int64(said[below, k, u])
                    worst = one if one > worst else worst
                    tight += np.int64(linked[u] and one == left)
                worst += np.int64(links > 0 and tight == links and left > 0 and worst == left)
                if worst > left:
                    next_bound = min(next_bound, np.int64(below) + worst)
                else:
                    child[depth, remaining] = child[depth, k]
                    for u in range(all_views):
                        said[below, remaining, u] = said[below, k, u]
                    for d in range(all_digits):
                        digits[below, remaining, d] = digits[below, k, d]
                    remaining += ONE
            count = remaining
            if left > 0:
                for k in range(count):
                    v, first = ZERO, follow_at[child[depth, k]]
                    for u in range(ONE, all_views):
                        v = u if said[below, k, u] > said[below, k, v] else v
                    best[below, k], successors = v, follow_at[child[depth, k] + ONE] - first
                    for i in range(successors):
                        entry[below, k, i] = 0
                    for d in range(digit_at[v], digit_at[v + ONE]):
                        digit, row, weight = np.uint64(digits[below, k, d]), meta[d, ROW], meta[d, WEIGHT]
                        if row == NO_ROW:
                            line = meta[d, FIRST] + digit * moves
                            for i in range(successors):
                                entry[below, k, i] += np.uint64(after[line + follow[first + i]]) * weight
                        else:
                            line = meta[d, FIRST_MAP] + np.uint64(digits[below, k, row]) * moves
                            for i in range(successors):
                                at = (
                                    meta[d, FIRST] + np.uint64(after[line + follow[first + i]]) * meta[d, WIDTH] + digit
                                )
                                entry[below, k, i] += np.uint64(after[at]) * weight
                    for i in range(successors):
                        prefetch(values, begin[v] + (np.uint64(entry[below, k, i]) >> packed[v]))
            elif count > ZERO:
                next_bound = min(next_bound, np.int64(greatest) + 1)
                for k in range(count):
                    taken[depth] = child[depth, k]
                    if leads_to_goal(labels, taken, goal, effects):
                        if tally[FOUND] < len(found):
                            found[tally[FOUND]] = taken
                        tally[FOUND] += 1
                        over = not every
                        if over:
                            break
                count = ZERO
            kept[depth], tried[depth] = count, ZERO
        elif tried[depth] < kept[depth]:
            here[depth + ONE], taken[depth] = tried[depth], child[depth, tried[depth]]
            tried[depth] += ONE
            if depth + ONE == split:
                tally[NODE] += 1
                if np.uint64(tally[NODE] - 1) % parts != part:
                    continue
            depth += ONE
            kept[depth] = NOT_EXPANDED
        elif depth == ZERO:
            over = True
        else:
            depth -= ONE
    tally[DEPTH], tally[EXPANDED], tally[NEXT_BOUND], tally[GENERATED] = depth, expanded, next_bound, generated
    return over


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
