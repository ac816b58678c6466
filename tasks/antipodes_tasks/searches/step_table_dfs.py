"""Depth-first search with step tables, which contain the effect of every move on the bound; see `step_tables`.

Unlike in `permutation_dfs`, successors are not looked up one by one. The step-table entry (*word*) of a position
encodes which moves raise, keep and lower a table's bound, so bit operations find all moves that no table prunes.
Reading memory takes much longer than these operations. So positions are searched in *blocks*, as in `permutation_dfs`,
and all words of a block are prefetched before the first one is read.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from antipodes_tasks.base.jit import kernel, popcount, trailing_zeros
from antipodes_tasks.keys.position_set import Numbers, Words
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
"""Maximum number of positions of a block, unless a position has more successors."""
PART = np.uint64(9)
"""Number of bits of a word that one lookup translates into moves of the puzzle."""
IN_PART = (ONE << PART) - ONE
KEEPS = np.uint64(MAX_MOVES)
ALL = (ONE << KEEPS) - ONE


class StepArrays(NamedTuple):
    """The step tables of all views."""

    begin: Words
    """``(views,)``: the first word of the view's table in ``words``."""
    moves: NDArray[np.uint32]
    """``(views, column maps, parts, 2**PART)``: translates the bits of a word into moves of the puzzle, as bits.

    A word is translated in parts of PART bits; the column map determines which move belongs to each bit.
    """
    still: NDArray[np.uint32]
    """``(views, column maps)``: the moves of the puzzle that change nothing in the table, as bits."""
    words: Words
    follow: NDArray[np.uint32]
    """``(2, moves + 1)``: the moves that may follow each move, as bits, in a search for one path and for every path."""


class StepPath(NamedTuple):
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
    word: NDArray[np.uint32]
    """``(bound + 1, room, views)``: the index of the word in each view."""
    map: NDArray[np.uint8]
    """``(bound + 1, room, views)``: the index of the column map that applies."""
    changes: Words
    """``(views, 2)``: scratch memory for the moves that raise, and that keep, each view's bound of a position."""
    taken: Words
    """``(bound,)``: scratch memory for the moves of a path."""
    labels: Labels
    """``(3, places)``: the position to solve, and scratch memory for two positions."""
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
    """Continue the search as `descend_by_turns` does; return whether it is complete."""
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
    """Expand positions of a depth while there is room for their successors; return the number of successors."""
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
    """Compute the indices of the words of a block's positions, and prefetch the words."""
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
