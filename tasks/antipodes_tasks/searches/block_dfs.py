"""Depth-first search in blocks of positions, pruned by pattern tables, for puzzles whose moves are always legal.

A heuristic that looks up one position after another waits for memory each time. In blocks, all look-ups of a block are
under way together. The successors of a block are found in one of three ways: by looking them up in the tables
(`view_lookups`); in long searches, by reading one word per position from step tables (`step_lookups`); or, if the table
is too large for that, by reading one word for all positions of a bundle (`bundle_lookups`).
"""

import numpy as np
from numpy.typing import NDArray

from antipodes_tasks.base.jit import kernel
from antipodes_tasks.rules.moves import Labels
from antipodes_tasks.searches.block_path import ONE, ZERO, BlockPath, Followers, MoveEffects, ViewArrays, paths_found
from antipodes_tasks.searches.bundle_lookups import BundleArrays, BundleBlocks, successors_by_bundles
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
    linked: NDArray[np.bool_],
    by_views: tuple[BestViews, Followers, ViewArrays, NDArray[np.uint8]] | None,
    by_steps: tuple[StepWords, NDArray[np.uint32], ViewArrays, StepArrays] | None,
    by_bundles: tuple[BundleBlocks, Followers, BundleArrays] | None,
    every: bool,
    split: np.uint64,
    part: np.uint64,
    parts: np.uint64,
) -> bool:
    """Continue the search for about ``budget`` expansions; return whether it is complete.

    One of ``by_views``, ``by_steps`` and ``by_bundles`` contains the state of the search, the moves that may follow
    each move, and the tables; the others are None. ``linked`` is `PermutationPatterns.linked`. ``split``, ``part`` and
    ``parts`` are the `Share`; the first share counts the positions above the split. The budget may be exceeded by one
    block.
    """
    # The kernel is compiled for each kind of table. Numba omits the code under a condition only if the condition itself
    # compares an argument with None.
    size, tried, tally = path.size, path.tried, path.tally
    depth, stop, over = np.uint64(tally[DEPTH]), tally[EXPANDED] + budget, False
    while tally[EXPANDED] < stop and not over:
        if tried[depth] == size[depth]:
            over = depth == ZERO
            depth -= ZERO if over else ONE
            continue
        if depth == split:
            tally[NODE] = path.number[tried[depth]]
        kept = ZERO
        if by_views is not None:
            best, follow, views, values = by_views
            kept = successors_by_views(path, best, depth, linked, views, follow, values, split, part, parts)
        if by_steps is not None:
            words, followers, _, steps = by_steps
            kept = successors_by_steps(path, words, depth, linked, steps, followers, split, part, parts)
        if by_bundles is not None:
            blocks, follow, bundles = by_bundles
            kept = successors_by_bundles(path, blocks, depth, linked, bundles, follow, split, part, parts)
        if depth + ONE == np.uint64(len(path.taken)):
            over = paths_found(path, kept, split, goal, effects, every)
        elif kept > ZERO:
            depth += ONE
            size[depth], tried[depth] = kept, ZERO
            if by_views is not None:
                best, follow, views, values = by_views
                find_entries(path, best, depth, kept, views, follow, values)
            if by_steps is not None:
                words, followers, views, steps = by_steps
                find_words(path, words, depth, kept, views, steps, np.uint64(len(followers)) - ONE)
    tally[DEPTH] = depth
    return over
