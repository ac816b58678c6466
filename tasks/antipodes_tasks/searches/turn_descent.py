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
from antipodes_tasks.searches.depth_first import DEPTH, EXPANDED, FOUND, GENERATED, NEXT_BOUND

ZERO, ONE, TWO = np.uint64(0), np.uint64(1), np.uint64(2)
NOT_EXPANDED = NO_ROW = ~ZERO


class ViewArrays(NamedTuple):
    """The views for the kernel; the digits of all views follow one another."""

    digit_at: Words
    """``(views + 1,)``: where the digits of each view begin."""
    first: Words
    """``(digits,)``: where the table of the digit begins in ``after``."""
    stride: Words
    """``(digits,)``: the entries of a line of it; of a column, the entries of a column map."""
    weight: Words
    """``(digits,)``: what a unit adds to the index."""
    row: Words
    """``(digits,)``: the digit whose value decides the column map; NO_ROW where the digit changes by the move alone."""
    first_map: Words
    """``(digits,)``: where the numbers of the column maps begin in ``after``."""
    map_stride: Words
    move_of: Words
    """``(views, moves)``: the move of the table that each move is."""
    after: NDArray[np.uint16 | np.uint32]
    """The tables of all digits, one after another."""
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
    """The path that is searched; arrays begin with its depth."""

    digits: Words
    """``(bound + 1, digits)``."""
    values: Numbers
    """``(bound + 1, views)``: what each view says."""
    child: Words
    """``(bound, moves)``: the moves that are not pruned."""
    child_values: Numbers
    """``(bound, moves, views)``."""
    kept: Words
    """``(bound + 1,)``: how many there are; NOT_EXPANDED if that is to be found."""
    tried: Words
    """``(bound + 1,)``: how many were searched."""
    taken: Words
    """``(bound,)``: the moves of the path."""
    index: Words
    """``(moves,)``: room for the entries of the successors in a table."""
    of_table: Words
    """``(moves,)``: room for the moves of the table."""
    scratch: Numbers
    """``(moves,)``: room for what it says."""
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
) -> bool:
    """Whether the search is over; otherwise it has expanded ``budget`` positions and must be called again."""
    digits, own, child, child_values, kept, tried, taken, index, of_table, scratch, labels, tally, found = path
    digit_at, first, stride, weight, row, first_map, map_stride, move_of, after, begin, packed, mask, linked = views
    follow_at, follow = effects.follow_at, effects.follow
    greatest, all_views = np.uint64(len(taken)), np.uint64(len(begin))
    start, links = np.uint64(len(follow_at) - 2), linked.sum()
    expanded, next_bound, generated = tally[EXPANDED], tally[NEXT_BOUND], tally[GENERATED]
    depth, stop, over = np.uint64(tally[DEPTH]), expanded + budget, False
    while expanded < stop and not over:
        if kept[depth] == NOT_EXPANDED:
            expanded += 1
            last = taken[depth - ONE] if depth > ZERO else start
            count, left = ZERO, np.int64(greatest - depth) - 1
            for i in range(follow_at[last], follow_at[last + ONE]):
                child[depth, count] = follow[i]
                count += ONE
            generated += np.int64(count)
            v = ZERO
            for other in range(ONE, all_views):
                v = other if own[depth, other] > own[depth, v] else v
            for _ in range(all_views):
                for k in range(count):
                    index[k], of_table[k] = ZERO, move_of[v, child[depth, k]]
                for d in range(digit_at[v], digit_at[v + ONE]):
                    if row[d] == NO_ROW:
                        line = first[d] + digits[depth, d] * stride[d]
                        for k in range(count):
                            index[k] += np.uint64(after[line + of_table[k]]) * weight[d]
                    else:
                        line = first_map[d] + digits[depth, row[d]] * map_stride[d]
                        for k in range(count):
                            number = np.uint64(after[line + of_table[k]])
                            index[k] += np.uint64(after[first[d] + number * stride[d] + digits[depth, d]]) * weight[d]
                for k in range(count):
                    byte = np.uint64(values[begin[v] + (index[k] >> packed[v])])
                    scratch[k] = np.int64((byte >> ((index[k] & packed[v]) << TWO)) & mask[v])
                remaining = ZERO
                for k in range(count):
                    value = scratch[k]
                    if value > left:
                        next_bound = min(next_bound, np.int64(depth) + 1 + value)
                    else:
                        child[depth, remaining] = child[depth, k]
                        for u in range(all_views):
                            child_values[depth, remaining, u] = child_values[depth, k, u]
                        child_values[depth, remaining, v] = value
                        remaining += ONE
                count = remaining
                if count == ZERO:
                    break
                v = v + ONE if v + ONE < all_views else ZERO
            if left == 0:
                if count:
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
            elif links:
                remaining = ZERO
                for k in range(count):
                    tight = 0
                    for u in range(all_views):
                        tight += linked[u] and child_values[depth, k, u] == left
                    if tight == links:
                        next_bound = min(next_bound, np.int64(greatest) + 1)
                    else:
                        child[depth, remaining] = child[depth, k]
                        for u in range(all_views):
                            child_values[depth, remaining, u] = child_values[depth, k, u]
                        remaining += ONE
                count = remaining
            kept[depth], tried[depth] = count, ZERO
        elif tried[depth] < kept[depth]:
            k, below = tried[depth], depth + ONE
            move = child[depth, k]
            for v in range(all_views):
                m = move_of[v, move]
                own[below, v] = child_values[depth, k, v]
                for d in range(digit_at[v], digit_at[v + ONE]):
                    if row[d] == NO_ROW:
                        digits[below, d] = np.uint64(after[first[d] + digits[depth, d] * stride[d] + m])
                    else:
                        number = np.uint64(after[first_map[d] + digits[depth, row[d]] * map_stride[d] + m])
                        digits[below, d] = np.uint64(after[first[d] + number * stride[d] + digits[depth, d]])
            taken[depth], tried[depth], kept[below], depth = move, k + ONE, NOT_EXPANDED, below
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
    for p in range(places):
        if labels[now, p] != goal[p]:
            return False
    return True
