"""Depth-first search in blocks of positions, pruned by pattern tables, for puzzles whose moves are always legal.

A heuristic that looks up one position after another waits for memory each time. In blocks, all look-ups of a block are
under way together. The successors of a block are found either by looking them up in the tables (`view_lookups`), or, in
long searches, by reading one word per position from step tables (`step_lookups`).

A *clipped* table is larger than the others, but does not distinguish short distances. With such tables and step tables,
a search looks up positions in the clipped tables only as long as more moves are left than their shortest distance, and
then reads the step tables only. Where both meet, positions are looked up in all tables.
"""

import numpy as np
from numpy.typing import NDArray

from antipodes_tasks.base.jit import kernel
from antipodes_tasks.rules.moves import Labels
from antipodes_tasks.searches.block_path import ONE, ZERO, BlockPath, Followers, MoveEffects, ViewArrays, paths_found
from antipodes_tasks.searches.depth_first import DEPTH, EXPANDED
from antipodes_tasks.searches.shares import NODE
from antipodes_tasks.searches.step_lookups import StepArrays, StepWords, find_words, successors_by_steps
from antipodes_tasks.searches.view_lookups import BestViews, find_entries, successors_by_views


@kernel
def descend_in_blocks(
    path: BlockPath,
    budget: int,
    goal: Labels,
    effects: MoveEffects,
    views: ViewArrays,
    by_views: tuple[BestViews, Followers, NDArray[np.uint8]] | None,
    by_steps: tuple[StepWords, StepArrays, NDArray[np.uint32]] | None,
    near: int,
    every: bool,
    split: np.uint64,
    part: np.uint64,
    parts: np.uint64,
) -> bool:
    """Continue the search for about ``budget`` expansions; return whether it is complete.

    ``by_views`` and ``by_steps`` contain their state of the search, the moves that may follow each move, and their
    tables. One of them may be None; otherwise positions are expanded by steps if at most ``near`` moves are left.
    ``split``, ``part`` and ``parts`` are the `Share`; the first share counts the
    positions above the split. The budget may be exceeded by one block.
    """
    # The kernel is compiled for look-ups in views, for step tables, and for both. Numba omits the code under a
    # condition only if the condition itself compares an argument with None.
    exact = ZERO
    if by_steps is None:
        near = -1
    elif by_views is None:
        near = len(path.taken)
    else:
        exact = np.uint64(len(by_steps[1].begin))
    size, tried, tally = path.size, path.tried, path.tally
    depth, stop, over = np.uint64(tally[DEPTH]), tally[EXPANDED] + budget, False
    while tally[EXPANDED] < stop and not over:
        if tried[depth] == size[depth]:
            over = depth == ZERO
            depth -= ZERO if over else ONE
            continue
        if depth == split:
            tally[NODE] = path.number[tried[depth]]
        kept, left = ZERO, np.int64(len(path.taken)) - np.int64(depth)
        if by_views is not None and left > near:
            best, follow, values = by_views
            first = exact if left > near + 1 else ZERO
            kept = successors_by_views(path, best, depth, first, views, follow, values, split, part, parts)
        if by_steps is not None and left <= near:
            words, steps, followers = by_steps
            kept = successors_by_steps(path, words, depth, views.linked, steps, followers, split, part, parts)
        if depth + ONE == np.uint64(len(path.taken)):
            over = paths_found(path, kept, split, goal, effects, every)
        elif kept > ZERO:
            depth += ONE
            size[depth], tried[depth] = kept, ZERO
            if by_views is not None and left > near + 1:
                best, follow, values = by_views
                find_entries(path, best, depth, kept, exact, views, follow, values)
            if by_steps is not None and left <= near + 1:
                words, steps, followers = by_steps
                find_words(path, words, depth, kept, views, steps, np.uint64(len(followers)) - ONE)
    tally[DEPTH] = depth
    return over
