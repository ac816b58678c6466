"""Look-ups in step tables, which contain the effect of every move on the bound, for searches in blocks.

Unlike in `view_lookups`, successors are not looked up one by one. The step-table entry (*word*) of a position encodes
which moves raise, keep and lower a table's bound, so bit operations find all moves that no table prunes; see
`step_tables`. Reading memory takes much longer than these operations, so all words of a block are prefetched before the
first one is read.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from antipodes_tasks.base.array_types import Words
from antipodes_tasks.base.jit import kernel, popcount, trailing_zeros
from antipodes_tasks.searches.block_path import (
    BITS,
    CLASSES,
    COLUMNS,
    MAPS,
    NUMBERED,
    ONE,
    SYMMETRIES,
    TWO,
    WEIGHT,
    ZERO,
    BlockPath,
    ViewArrays,
    find_digits,
)
from antipodes_tasks.searches.depth_first import EXPANDED, GENERATED, NEXT_BOUND
from antipodes_tasks.searches.prefetch import prefetch
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
    """``(views, symmetries, parts, 2**PART)``: translates the bits of a word into moves of the puzzle, as bits.

    A word is translated in parts of PART bits; the symmetry determines which move belongs to each bit.
    """
    still: NDArray[np.uint32]
    """``(views, symmetries)``: the moves of the puzzle that change nothing in the table, as bits."""
    words: Words


class StepWords(NamedTuple):
    """The words of the positions; arrays are indexed by depth and by position within the block."""

    word: NDArray[np.uint32]
    """``(bound + 1, room, views)``: the index of the word in each view."""
    symmetry: NDArray[np.uint16]
    """``(bound + 1, room, views)``: the number of the symmetry that maps the position's image to the entry."""
    changes: Words
    """``(views, 2)``: scratch memory for the moves that raise, and that keep, each view's bound of a position."""


@kernel
def successors_by_steps(
    path: BlockPath,
    lookups: StepWords,
    depth: np.uint64,
    linked: NDArray[np.bool_],
    steps: StepArrays,
    follow: NDArray[np.uint32],
    split: np.uint64,
    part: np.uint64,
    parts: np.uint64,
) -> np.uint64:
    """Expand positions of a depth while there is room for their successors; return the number of successors.

    ``follow`` is `Stage.follow`, and ``split``, ``part`` and ``parts`` are the `Share`.
    """
    _, tried, parent, move, number, _, view_bounds, taken, _, tally, _ = path
    word, symmetry, changes = lookups
    _, moves_of, still, words = steps
    left, below, links = np.int64(len(taken)) - np.int64(depth) - 1, depth + ONE, linked.sum()
    moves, all_views, in_word = np.uint64(len(follow) - 1), np.uint64(len(still)), np.uint64(moves_of.shape[2])
    room, size, kept, j = np.uint64(move.shape[1]), path.size[depth], ZERO, tried[depth]
    expanded, generated, next_bound = tally[EXPANDED], tally[GENERATED], tally[NEXT_BOUND]
    # `slack` is the number of moves that would be left over after a successor with the same bound, so a negative slack
    # allows only moves that lower the bound, and slack 0 only moves that do not raise it. `tight` marks the moves after
    # which the bounds of all linked views equal the moves left, which proves that no path is that short; see
    # `PermutationPatterns.linked`.
    while j < size and kept + moves <= room:
        may = np.uint64(follow[moves if depth == ZERO else np.uint64(move[depth, j])])
        allowed, tight, far = may, ALL if links > 0 and left > 0 else ZERO, ZERO
        if depth >= split or part == ZERO:
            expanded, generated = expanded + 1, generated + np.int64(popcount(may))
        for u in range(all_views):
            w, s = words[word[depth, j, u]], np.uint64(symmetry[depth, j, u])
            raises, keeps = ZERO, np.uint64(still[u, s])
            for p in range(in_word):
                raises |= np.uint64(moves_of[u, s, p, (w >> (p * PART)) & IN_PART])
                keeps |= np.uint64(moves_of[u, s, p, (w >> (KEEPS + p * PART)) & IN_PART])
            changes[u, ZERO], changes[u, ONE] = raises, keeps
            slack, lowers = left - np.int64(view_bounds[depth, j, u]), ALL & ~(raises | keeps)
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
                view_bounds[below, kept, u] = np.uint8(np.uint64(view_bounds[depth, j, u]) + step - ONE)
            kept += ONE
        j += ONE
    tried[depth] = j
    tally[EXPANDED], tally[GENERATED], tally[NEXT_BOUND] = expanded, generated, next_bound
    return kept


@kernel
def find_words(
    path: BlockPath,
    lookups: StepWords,
    depth: np.uint64,
    kept: np.uint64,
    views: ViewArrays,
    steps: StepArrays,
    moves: np.uint64,
) -> None:
    """Compute the indices of the words of a block's positions, and prefetch the words.

    The puzzle has ``moves`` moves.
    """
    parent, move, digits, word, symmetry = path.parent, path.move, path.digits, lookups.word, lookups.symmetry
    digit_at, meta, after, quotients, classes, symmetries, _, _, _ = views
    begin, words = steps.begin, steps.words
    for u in range(np.uint64(len(begin))):
        find_digits(digits, parent, move, depth, kept, digit_at[u], digit_at[u + ONE], moves, meta, after)
        for k in range(kept):
            e = ZERO
            for d in range(digit_at[u], digit_at[u + ONE]):
                e += np.uint64(digits[depth, k, d]) * meta[d, WEIGHT]
            word[depth, k, u] = np.uint32(e)
            prefetch(classes, quotients[u, CLASSES] + e)
    for k in range(kept):
        for u in range(np.uint64(len(begin))):
            row_class = np.uint64(classes[quotients[u, CLASSES] + np.uint64(word[depth, k, u])])
            column = np.uint64(digits[depth, k, digit_at[u + ONE] - ONE])
            number = row_class & ((ONE << quotients[u, BITS]) - ONE)
            place = np.uint64(after[quotients[u, MAPS] + number * quotients[u, COLUMNS] + column])
            place += begin[u] + (row_class >> quotients[u, BITS]) * quotients[u, COLUMNS]
            word[depth, k, u], symmetry[depth, k, u] = np.uint32(place), symmetries[quotients[u, SYMMETRIES] + number]
            prefetch(words, place)
