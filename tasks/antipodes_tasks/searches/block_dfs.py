"""Depth-first search in blocks of positions, pruned by pattern tables, for puzzles whose moves are always legal.

A heuristic that looks up one position after another waits for memory each time. In blocks, all look-ups of a block are
under way together. The successors of a block are found either by looking them up in the tables (`view_lookups`), or, in
long searches, by reading one word per position from step tables (`step_lookups`).

If a table is too large for that, its distances are *clipped*: it does not distinguish short distances. As long as more
moves are left than these, a search looks up positions in the words of this table only (`bundle_lookups`), and then in
the other tables only. Where both meet, positions are looked up in all tables.
"""

import numpy as np
from numpy.typing import NDArray

from antipodes_tasks.base.array_types import Labels
from antipodes_tasks.base.jit import kernel
from antipodes_tasks.searches.block_path import ONE, ZERO, BlockPath, Followers, MoveEffects, ViewArrays, paths_found
from antipodes_tasks.searches.bundle_arrays import BundleArrays, BundleBlocks
from antipodes_tasks.searches.bundle_lookups import keep_share, successors_by_bundles
from antipodes_tasks.searches.depth_first import DEPTH, EXPANDED
from antipodes_tasks.searches.dual_lookups import DualBlocks
from antipodes_tasks.searches.shares import NODE
from antipodes_tasks.searches.step_lookups import StepArrays, StepWords, find_words, successors_by_steps
from antipodes_tasks.searches.view_lookups import BestViews, find_entries, look_up_and_keep, successors_by_views


@kernel
def descend_in_blocks(
    path: BlockPath,
    budget: int,
    goal: Labels,
    effects: MoveEffects,
    views: ViewArrays,
    by_views: tuple[BestViews, Followers, NDArray[np.uint8]] | None,
    by_steps: tuple[StepWords, StepArrays, NDArray[np.uint32]] | None,
    by_bundles: tuple[BundleBlocks, BundleArrays, DualBlocks | None, int] | None,
    start: np.uint64,
    every: bool,
    split: np.uint64,
    part: np.uint64,
    parts: np.uint64,
) -> bool:
    """Continue the search for about ``budget`` expansions; return whether it is complete.

    ``by_views``, ``by_steps`` and ``by_bundles`` contain their state of the search and their tables; the first two also
    contain the moves that may follow each move. Either ``by_views`` or ``by_steps`` is None. With ``by_bundles``,
    ``by_views`` is only used if at most as many moves are left as its number says. The digits of the positions of the
    block at depth ``start`` are known. ``split``, ``part`` and ``parts`` are the `Share`; the first share counts the
    positions above the split. The budget may be exceeded by one block.
    """
    # The kernel is compiled for views, for step tables, and for bundles with views. Numba omits the code under a
    # condition only if the condition itself compares an argument with None.
    near = len(path.taken)
    if by_bundles is not None:
        near = by_bundles[3]
    size, tried, tally = path.size, path.tried, path.tally
    depth, stop, over = np.uint64(tally[DEPTH]), tally[EXPANDED] + budget, False
    while tally[EXPANDED] < stop and not over:
        if tried[depth] == size[depth]:
            over = depth == ZERO
            depth -= ZERO if over else ONE
            continue
        if depth == split:
            tally[NODE] = path.number[tried[depth]]
        kept, left, below = ZERO, np.int64(len(path.taken)) - np.int64(depth), depth + ONE
        if by_steps is not None:
            words, steps, followers = by_steps
            kept = successors_by_steps(path, words, depth, views.linked, steps, followers, split, part, parts)
        if by_views is not None and left <= near:
            best, follow, values = by_views
            kept = successors_by_views(path, best, depth, views, follow, values, split, part, parts)
        if by_bundles is not None and by_views is not None and left > near:
            best, follow, values = by_views
            blocks, bundles, dual, _ = by_bundles
            counts = bool(depth >= split or part == ZERO)
            kept = successors_by_bundles(path, blocks, depth, start, bundles, dual, follow, counts)
            if left == near + 1:
                kept = look_up_and_keep(path, best, below, kept, start, views, values, split, part, parts)
            elif below == split:
                kept = keep_share(path, blocks, below, kept, dual, part, parts)
        if below == np.uint64(len(path.taken)):
            over = paths_found(path, kept, split, goal, effects, every)
        elif kept > ZERO:
            depth = below
            size[depth], tried[depth] = kept, ZERO
            if by_views is not None and left <= near + 1:
                best, follow, values = by_views
                find_entries(path, best, depth, kept, views, follow, values)
            if by_steps is not None:
                words, steps, followers = by_steps
                find_words(path, words, depth, kept, views, steps, np.uint64(len(followers)) - ONE)
    tally[DEPTH] = depth
    return over
