"""The search with tables that say what every move does to the distance: see `step_tables`.

It is `turn_descent.descend_by_turns`, except that successors are not looked up: what a table says of all of them is in
the word of the position, which is fetched when the position is found.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from antipodes_tasks.jit import kernel
from antipodes_tasks.reachability.position_set import Numbers, Words
from antipodes_tasks.rules.moves import Labels
from antipodes_tasks.searches.depth_first import DEPTH, EXPANDED, FOUND, GENERATED, NEXT_BOUND
from antipodes_tasks.searches.prefetch import prefetch
from antipodes_tasks.searches.shares import NODE
from antipodes_tasks.searches.turn_descent import (
    BITS,
    CLASSES,
    COLUMNS,
    FIRST,
    MAPS,
    NOT_EXPANDED,
    NUMBERED,
    ONE,
    WEIGHT,
    ZERO,
    MoveEffects,
    ViewArrays,
    leads_to_goal,
)


class StepArrays(NamedTuple):
    """The words of all views."""

    begin: Words
    """``(views,)``: the first word of the table."""
    bit: NDArray[np.uint8]
    """``(views, column maps, moves)``: the bits of a move in the word, where a column map applies."""
    words: Words


class StepPath(NamedTuple):
    """The path that is searched, and the positions beside it, as in `TurnPath`."""

    size: Words
    """``(bound + 1, moves)``: the positions of each line."""
    move: Words
    """``(bound + 1, moves, moves)``: the move that led to each position."""
    digits: NDArray[np.uint32]
    """``(bound + 1, moves, moves, digits)``."""
    said: NDArray[np.uint8]
    """``(bound + 1, moves, moves, views)``: what each view says."""
    word: NDArray[np.uint32]
    """``(bound + 1, moves, moves, views)``: the number of the word in each view."""
    map: NDArray[np.uint8]
    """``(bound + 1, moves, moves, views)``: the column map that applies."""
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
def descend_by_steps(
    path: StepPath,
    budget: int,
    goal: Labels,
    views: ViewArrays,
    effects: MoveEffects,
    steps: StepArrays,
    every: bool,
    split: np.uint64,
    part: np.uint64,
    parts: np.uint64,
) -> bool:
    """Whether the search is over; see `descend_by_turns`."""
    size, move, digits, said, word, map_of, line, tried, taken, labels, tally, found = path
    digit_at, meta, after, fold, classes, _, _, _, linked = views
    begin, bit, words = steps
    follow_at, follow = effects.follow_at, effects.follow
    greatest, all_views, links = np.uint64(len(taken)), np.uint64(len(begin)), linked.sum()
    start, moves = np.uint64(len(follow_at) - 2), np.uint64(move.shape[1])
    expanded, next_bound, generated = tally[EXPANDED], tally[NEXT_BOUND], tally[GENERATED]
    depth, stop, over = np.uint64(tally[DEPTH]), expanded + budget, False
    while expanded < stop and not over:
        own, below, left = line[depth], depth + ONE, np.int64(greatest - depth) - 1
        if tried[depth] == NOT_EXPANDED:
            tried[depth] = ZERO
            for j in range(size[depth, own]):
                kept = ZERO
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
                    m, worst, tight = follow[first + i], np.int64(0), np.int64(0)
                    for u in range(all_views):
                        step = words[word[depth, own, j, u]] >> np.uint64(bit[u, map_of[depth, own, j, u], m])
                        one = np.int64(said[depth, own, j, u]) + np.int64(step & np.uint64(3)) - 1
                        said[below, j, kept, u] = np.uint8(one)
                        worst = one if one > worst else worst
                        tight += np.int64(linked[u] and one == left)
                    worst += np.int64(links > 0 and tight == links and left > 0 and worst == left)
                    if worst > left:
                        next_bound = min(next_bound, np.int64(below) + worst)
                    else:
                        move[below, j, kept] = m
                        kept += ONE
                size[below, j] = kept if left > 0 else ZERO
                if left == 0 and kept > ZERO:
                    next_bound = min(next_bound, np.int64(greatest) + 1)
                    if depth > ZERO:
                        taken[depth - ONE] = move[depth, own, j]
                    for k in range(kept):
                        taken[depth] = move[below, j, k]
                        if not over and leads_to_goal(labels, taken, goal, effects):
                            if tally[FOUND] < len(found):
                                found[tally[FOUND]] = taken
                            tally[FOUND] += 1
                            over = not every
                    if over:
                        break
                    continue
                for u in range(all_views if kept > ZERO else ZERO):
                    for d in range(digit_at[u], digit_at[u + ONE]):
                        at = meta[d, FIRST] + np.uint64(digits[depth, own, j, d]) * moves
                        for k in range(kept):
                            digits[below, j, k, d] = after[at + move[below, j, k]]
                    for k in range(kept):
                        e = ZERO
                        for d in range(digit_at[u], digit_at[u + ONE]):
                            e += np.uint64(digits[below, j, k, d]) * meta[d, WEIGHT]
                        word[below, j, k, u] = np.uint32(e)
                        prefetch(classes, fold[u, CLASSES] + e)
            for j in range(size[depth, own] if left > 0 and not over else ZERO):
                for k in range(size[below, j]):
                    for u in range(all_views):
                        row_class = np.uint64(classes[fold[u, CLASSES] + np.uint64(word[below, j, k, u])])
                        column = np.uint64(digits[below, j, k, digit_at[u + ONE] - ONE])
                        number = row_class & ((ONE << fold[u, BITS]) - ONE)
                        place = np.uint64(after[fold[u, MAPS] + number * fold[u, COLUMNS] + column])
                        place += begin[u] + (row_class >> fold[u, BITS]) * fold[u, COLUMNS]
                        word[below, j, k, u], map_of[below, j, k, u] = np.uint32(place), np.uint8(number)
                        prefetch(words, place)
            if depth == split:
                tally[NODE] = tally[NUMBERED] - np.int64(size[depth, own])
        elif tried[depth] < size[depth, own]:
            j = tried[depth]
            tried[depth] += ONE
            if depth == split:
                tally[NODE] += 1
            if size[below, j] > ZERO:
                if depth > ZERO:
                    taken[depth - ONE] = move[depth, own, j]
                line[below], tried[below], depth = j, NOT_EXPANDED, below
        elif depth == ZERO:
            over = True
        else:
            depth -= ONE
    tally[DEPTH], tally[EXPANDED], tally[NEXT_BOUND], tally[GENERATED] = depth, expanded, next_bound, generated
    return over
