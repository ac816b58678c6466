"""The search with tables that say what every move does to the distance: see `step_tables`.

Successors are not looked up one by one, as in `permutation_dfs`: which moves raise, keep and lower what a table says is
in the word of the position. So the moves that no table forbids are found for all moves together, as the bits of a
number. Memory takes much longer than that. So positions are searched in *blocks*: the successors of some positions of a
depth are a block of the next depth, as many as there is room for, and all their words are fetched before one is read.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from antipodes_tasks.jit import kernel, popcount, trailing_zeros
from antipodes_tasks.reachability.position_set import Numbers, Words
from antipodes_tasks.rules.moves import Labels
from antipodes_tasks.searches.depth_first import DEPTH, EXPANDED, GENERATED, NEXT_BOUND
from antipodes_tasks.searches.permutation_dfs import (
    BITS,
    CLASSES,
    COLUMNS,
    FIRST,
    MAPS,
    NUMBERED,
    ONE,
    TWO,
    WEIGHT,
    ZERO,
    MoveEffects,
    ViewArrays,
    paths_found,
)
from antipodes_tasks.searches.prefetch import prefetch
from antipodes_tasks.searches.shares import NODE
from antipodes_tasks.searches.step_tables import MAX_MOVES

STEP_ROOM = 256
"""Positions of a block, where a position does not have more successors."""
PART = np.uint64(9)
"""Bits of a word that are led to the moves of the puzzle by one look-up."""
IN_PART = (ONE << PART) - ONE
KEEPS = np.uint64(MAX_MOVES)
ALL = (ONE << KEEPS) - ONE


class StepArrays(NamedTuple):
    """The words of all views."""

    begin: Words
    """``(views,)``: the first word of the table."""
    moves: NDArray[np.uint32]
    """``(views, column maps, parts, 2**PART)``: for each part of the bits of a word the moves of the puzzle that they
    are, as bits, where a column map applies."""
    still: NDArray[np.uint32]
    """``(views, column maps)``: the moves of the puzzle that are none of the table, as bits."""
    words: Words
    follow: NDArray[np.uint32]
    """``(2, moves + 1)``: the moves that may follow each move, as bits, where one path is sought, and where all are."""


class StepPath(NamedTuple):
    """The blocks of positions that are searched; arrays begin with the depth, and the position in its block."""

    size: Words
    """``(bound + 1,)``: the positions of each block."""
    tried: Words
    """``(bound + 1,)``: how many of them have been expanded."""
    parent: NDArray[np.uint32]
    """``(bound + 1, room)``: the position of the block before from which each comes."""
    move: NDArray[np.uint32]
    """``(bound + 1, room)``: the move that led to it."""
    number: Numbers
    """``(room,)``: of the positions where the tree is split, which they are."""
    digits: NDArray[np.uint32]
    """``(bound + 1, room, digits)``."""
    said: NDArray[np.uint8]
    """``(bound + 1, room, views)``: what each view says."""
    word: NDArray[np.uint32]
    """``(bound + 1, room, views)``: the number of the word in each view."""
    map: NDArray[np.uint8]
    """``(bound + 1, room, views)``: the column map that applies."""
    changes: Words
    """``(views, 2)``: room for the moves that raise, and that keep, what each view says of a position."""
    taken: Words
    """``(bound,)``: room for the moves of a path."""
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
    """Whether the search is over; see `descend_by_turns`. A block more than the budget may be expanded."""
    size, tried, tally = path.size, path.tried, path.tally
    depth, stop, over = np.uint64(tally[DEPTH]), tally[EXPANDED] + budget, False
    while tally[EXPANDED] < stop and not over:
        if tried[depth] == size[depth]:
            over = depth == ZERO
            depth -= ZERO if over else ONE
            continue
        if depth == split:
            tally[NODE] = path.number[tried[depth]]
        kept = successors_by_steps(path, depth, views.linked, steps, every, split, part, parts)
        if depth + ONE == np.uint64(len(path.taken)):
            over = paths_found(path, kept, split, goal, effects, every)
        elif kept > ZERO:
            depth += ONE
            size[depth], tried[depth] = kept, ZERO
            find_words(path, depth, kept, np.uint64(steps.follow.shape[1]) - ONE, views, steps.begin, steps.words)
    tally[DEPTH] = depth
    return over


@kernel
def successors_by_steps(
    path: StepPath,
    depth: np.uint64,
    linked: NDArray[np.bool_],
    steps: StepArrays,
    every: bool,
    split: np.uint64,
    part: np.uint64,
    parts: np.uint64,
) -> np.uint64:
    """Expand positions of a depth while there is room for their successors; return how many these are."""
    _, tried, parent, move, number, _, said, word, map_of, changes, taken, _, tally, _ = path
    _, moves_of, still, words, follow = steps
    left, below, links = np.int64(len(taken)) - np.int64(depth) - 1, depth + ONE, linked.sum()
    moves, all_views, in_word = np.uint64(follow.shape[1] - 1), np.uint64(len(linked)), np.uint64(moves_of.shape[2])
    room, size, kept, j = np.uint64(move.shape[1]), path.size[depth], ZERO, tried[depth]
    expanded, generated, next_bound = tally[EXPANDED], tally[GENERATED], tally[NEXT_BOUND]
    while j < size and kept + moves <= room:
        may = np.uint64(follow[np.uint64(every), moves if depth == ZERO else np.uint64(move[depth, j])])
        allowed, tight, far = may, ALL if links > 0 and left > 0 else ZERO, ZERO
        if depth >= split or part == ZERO:
            expanded, generated = expanded + 1, generated + np.int64(popcount(may))
        for u in range(all_views):
            w, number_of_map = words[word[depth, j, u]], np.uint64(map_of[depth, j, u])
            raises, keeps = ZERO, np.uint64(still[u, number_of_map])
            for p in range(in_word):
                raises |= np.uint64(moves_of[u, number_of_map, p, (w >> (p * PART)) & IN_PART])
                keeps |= np.uint64(moves_of[u, number_of_map, p, (w >> (KEEPS + p * PART)) & IN_PART])
            changes[u, ZERO], changes[u, ONE] = raises, keeps
            slack, lowers = left - np.int64(said[depth, j, u]), ALL & ~(raises | keeps)
            if slack < 0:
                allowed &= lowers
                far |= raises
            elif slack == 0:
                allowed &= ~raises
            if linked[u]:
                tight &= lowers if slack < 0 else keeps if slack == 0 else raises if slack == 1 else ZERO
        allowed &= ~tight
        if allowed != may:
            next_bound = min(next_bound, np.int64(len(taken)) + (1 if may & ~allowed & ~far else 2))
        while allowed != ZERO:
            m = trailing_zeros(allowed)
            allowed &= allowed - ONE
            if below == split:
                number[kept] = tally[NUMBERED]
                tally[NUMBERED] += 1
                if np.uint64(number[kept]) % parts != part:
                    continue
            move[below, kept], parent[below, kept] = np.uint32(m), np.uint32(j)
            for u in range(all_views):
                step = TWO * ((changes[u, ZERO] >> m) & ONE) + ((changes[u, ONE] >> m) & ONE)
                said[below, kept, u] = np.uint8(np.uint64(said[depth, j, u]) + step - ONE)
            kept += ONE
        j += ONE
    tried[depth] = j
    tally[EXPANDED], tally[GENERATED], tally[NEXT_BOUND] = expanded, generated, next_bound
    return kept


@kernel
def find_words(
    path: StepPath, depth: np.uint64, kept: np.uint64, moves: np.uint64, views: ViewArrays, begin: Words, words: Words
) -> None:
    """Find where the words of a block are, and begin to read them."""
    _, _, parent, move, _, digits, _, word, map_of, _, _, _, _, _ = path
    digit_at, meta, after, fold, classes, _, _, _, _ = views
    above = depth - ONE
    for u in range(np.uint64(len(begin))):
        for d in range(digit_at[u], digit_at[u + ONE]):
            first = meta[d, FIRST]
            for k in range(kept):
                at = first + np.uint64(digits[above, parent[depth, k], d]) * moves
                digits[depth, k, d] = after[at + np.uint64(move[depth, k])]
        for k in range(kept):
            e = ZERO
            for d in range(digit_at[u], digit_at[u + ONE]):
                e += np.uint64(digits[depth, k, d]) * meta[d, WEIGHT]
            word[depth, k, u] = np.uint32(e)
            prefetch(classes, fold[u, CLASSES] + e)
    for k in range(kept):
        for u in range(np.uint64(len(begin))):
            row_class = np.uint64(classes[fold[u, CLASSES] + np.uint64(word[depth, k, u])])
            column = np.uint64(digits[depth, k, digit_at[u + ONE] - ONE])
            number = row_class & ((ONE << fold[u, BITS]) - ONE)
            place = np.uint64(after[fold[u, MAPS] + number * fold[u, COLUMNS] + column])
            place += begin[u] + (row_class >> fold[u, BITS]) * fold[u, COLUMNS]
            word[depth, k, u], map_of[depth, k, u] = np.uint32(place), np.uint8(number)
            prefetch(words, place)
