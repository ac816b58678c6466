"""Look-ups in a table of bundles, for searches in blocks far from the goal.

The word of a position contains the bounds of all positions of its bundle (see `bundles`). Several views of one table
have different turns: for the cube, each view's turns are those of two opposite faces. So the words of a position, one
in each view, contain a bound of every successor, and most successors are pruned without reading memory. The remaining
successors are looked up in one further view after another, the view with the largest bound of the predecessor first.

The inverses of positions with few moves left are looked up, too; see `dual_lookups`.
"""

import numpy as np

from antipodes_tasks.base.jit import kernel
from antipodes_tasks.searches.block_path import NUMBERED, ONE, ZERO, BlockPath, Followers
from antipodes_tasks.searches.bundle_arrays import (
    BASE,
    FIRST_AFTER,
    LEADING,
    MOVES,
    NO_VIEW,
    BundleArrays,
    BundleBlocks,
    is_pruned,
    locate,
    value_in,
)
from antipodes_tasks.searches.depth_first import EXPANDED, GENERATED, NEXT_BOUND
from antipodes_tasks.searches.dual_lookups import DUAL, FORK, DualBlocks, follow_prefix, inherit_bounds, look_up_dual
from antipodes_tasks.searches.prefetch import prefetch


@kernel
def successors_by_bundles(
    path: BlockPath,
    blocks: BundleBlocks,
    depth: np.uint64,
    start: np.uint64,
    bundles: BundleArrays,
    dual: DualBlocks | None,
    follow: Followers,
    counts: bool,
) -> np.uint64:
    """Expand positions of a depth while there is room for their successors; return the number of successors.

    ``start`` is the depth of the first block. ``dual`` is None in searches without dual look-ups. With ``counts``, the
    positions are counted.
    """
    below, views = depth + ONE, np.uint64(len(bundles.moves))
    left, base = np.int64(len(path.taken)) - np.int64(below), np.int64(bundles.sizes[BASE])
    fork = max(np.int64(start), np.int64(len(path.taken)) - base - FORK)
    one = dual is not None and np.int64(depth) == fork
    kept = successors_in_homes(path, blocks, depth, bundles, dual, follow, one, counts)
    for _ in range(views):
        kept = look_up_next(path, blocks, depth, kept, bundles)
    if dual is not None:
        if one and kept > ZERO:
            follow_prefix(path, depth, path.tried[depth] - ONE, bundles.moves, dual)
        if left <= base + DUAL:
            inherit_bounds(path, blocks, below, kept, dual)
            for _ in range(views):
                kept = look_up_dual(path, blocks, below, kept, np.uint64(fork), bundles, dual)
    find_home_digits(path, blocks, below, kept, bundles)
    move_together(path, blocks, below, kept, dual)
    return kept


@kernel
def successors_in_homes(
    path: BlockPath,
    blocks: BundleBlocks,
    depth: np.uint64,
    bundles: BundleArrays,
    dual: DualBlocks | None,
    follow: Followers,
    one: bool,
    counts: bool,
) -> np.uint64:
    """Expand positions of a depth while there is room; return the number of successors that their home views keep.

    The home view of a successor is a view in which the last move is a turn. With ``one``, a single position is
    expanded.
    """
    tried, parent, move, tally = path.tried, path.parent, path.move, path.tally
    word, slot, seen, listed = blocks.word, blocks.slot, blocks.seen, blocks.left
    slot_after, shift, turn_of, homes = bundles.slot_after, bundles.shift, bundles.turn_of, bundles.home
    follow_at, following = follow
    if dual is not None:
        bounds, keeping = dual.bounds, dual.tables.keeping
    left, below, start = np.int64(len(path.taken)) - np.int64(depth) - 1, depth + ONE, np.uint64(len(follow_at) - 2)
    room, most, views = np.uint64(move.shape[1]), np.uint64(turn_of.shape[1]), np.uint64(len(turn_of))
    base, size, kept = np.int64(bundles.sizes[BASE]), path.size[depth], ZERO
    j, next_bound = tried[depth], tally[NEXT_BOUND]
    while j < size and kept + most <= room:
        last = start if depth == ZERO else np.uint64(move[depth, j])
        first, end, tight = follow_at[last], follow_at[last + ONE], ZERO
        # Bits of views of the inverse whose bound equals all moves that are left. A move that keeps the inverse's image
        # in such a view does not lower this bound, so its successor is pruned without a lookup.
        if dual is not None:
            for u in range(views):
                if np.int64(bounds[depth, j, u]) == left + 1:
                    tight |= ONE << np.uint64(u)
        if counts:
            tally[EXPANDED] += 1
            tally[GENERATED] += np.int64(end - first)
        for i in range(first, end):
            m = following[i]
            if dual is not None and tight & keeping[m] != ZERO:
                next_bound = min(next_bound, np.int64(len(path.taken)) + 1)
                continue
            u = homes[m]
            seen[kept] = ZERO
            if u != NO_VIEW:
                after = slot_after[np.uint64(slot[depth, j, u]), turn_of[u, m]]
                value = value_in(word[depth, j, u], after, shift)
                if value > ZERO and base + np.int64(value) > left:
                    next_bound = min(next_bound, np.int64(below) + base + np.int64(value))
                    continue
                seen[kept] = ONE << u
                word[below, kept, u], slot[below, kept, u] = word[depth, j, u], after
            move[below, kept], parent[below, kept] = np.uint32(m), np.uint32(j)
            listed[kept] = kept
            kept += ONE
        j += ONE
        if one:
            break
    tried[depth], tally[NEXT_BOUND] = j, next_bound
    return kept


@kernel
def look_up_next(
    path: BlockPath, blocks: BundleBlocks, depth: np.uint64, kept: np.uint64, bundles: BundleArrays
) -> np.uint64:
    """Look up each successor in a view in which it has not been looked up yet; return the number of those left.

    Successors that have been looked up in all views are left.
    """
    parent, word, slot, seen, chosen = path.parent, blocks.word, blocks.slot, blocks.seen, blocks.chosen
    left, sought, shift, words, below = blocks.left, blocks.sought, bundles.shift, bundles.words, depth + ONE
    views, count, near, at = np.uint64(len(bundles.moves)), ZERO, ZERO, ZERO
    base, limit, tally = np.int64(bundles.sizes[BASE]), np.int64(len(path.taken)), path.tally
    # Three passes: choose the views, read all words, prune. Reading the words together lets the memory accesses
    # overlap. `at` counts the words in the order in which the first pass asked for them.
    for n in range(kept):
        k = left[n]
        j, best, most = np.uint64(parent[below, k]), NO_VIEW, np.int64(-1)
        for u in range(views):
            if not (seen[k] >> np.uint64(u)) & ONE:
                value = np.int64(value_in(word[depth, j, u], slot[depth, j, u], shift))
                if value > most:
                    best, most = np.uint64(u), value
        chosen[n] = best
        if best != NO_VIEW:
            sought.place[count], sought.turn[count] = k, best
            count += ONE
    find_bundle_digits(path, blocks, below, count, bundles)
    locate(sought, count, bundles)
    for n in range(kept):
        k, u = left[n], chosen[n]
        if u != NO_VIEW:
            found, own = words[sought.place[at]], sought.slot[at]
            at += ONE
            if is_pruned(value_in(found, own, shift), below, base, limit, tally):
                continue
            word[below, k, u], slot[below, k, u] = found, own
            seen[k] |= ONE << u
        left[near] = k
        near += ONE
    return near


@kernel
def find_bundle_digits(
    path: BlockPath, blocks: BundleBlocks, depth: np.uint64, count: np.uint64, bundles: BundleArrays
) -> None:
    """Compute the digits of some positions of a block in some views; see `Sought.place`."""
    digits, parent, move, after, of_view = blocks.digits, path.parent, path.move, bundles.after, bundles.moves
    found, place, view, meta = blocks.sought.digits, blocks.sought.place, blocks.sought.turn, bundles.digits
    moves, leading, above, size = bundles.sizes[MOVES], bundles.sizes[LEADING], depth - ONE, np.uint64(len(meta))
    for c in range(count):  # the table of the leading digit is the largest
        k, u = place[c], view[c]
        digit, m = np.uint64(digits[above, parent[depth, k], u * size + leading]), of_view[u, move[depth, k]]
        prefetch(after, meta[leading, FIRST_AFTER] + digit * moves + m)
    for c in range(count):
        k, u = place[c], view[c]
        j, m = np.uint64(parent[depth, k]), of_view[u, move[depth, k]]
        for d in range(size):
            digit = np.uint64(digits[above, j, u * size + np.uint64(d)])
            found[c, d] = after[meta[d, FIRST_AFTER] + digit * moves + m]
            digits[depth, k, u * size + np.uint64(d)] = found[c, d]


@kernel
def find_home_digits(
    path: BlockPath, blocks: BundleBlocks, depth: np.uint64, kept: np.uint64, bundles: BundleArrays
) -> None:
    """Compute the digits of the positions of a block that are left in their home views."""
    left, place, view, move, homes = blocks.left, blocks.sought.place, blocks.sought.turn, path.move, bundles.home
    count = ZERO
    for n in range(kept):
        home = homes[move[depth, left[n]]]
        if home != NO_VIEW:
            place[count], view[count] = left[n], home
            count += ONE
    find_bundle_digits(path, blocks, depth, count, bundles)


@kernel
def move_together(
    path: BlockPath, blocks: BundleBlocks, depth: np.uint64, kept: np.uint64, dual: DualBlocks | None
) -> None:
    """Move everything known of the positions of a block that are left to the beginning of the block."""
    left, move, parent = blocks.left, path.move, path.parent
    digits, word, slot = blocks.digits, blocks.word, blocks.slot
    if dual is not None:
        bounds, looked_up = dual.bounds, dual.looked_up
    for n in range(kept):
        k, to = left[n], np.uint64(n)
        if k == to:
            continue
        move[depth, to], parent[depth, to] = move[depth, k], parent[depth, k]
        for u in range(np.uint64(word.shape[2])):
            word[depth, to, u], slot[depth, to, u] = word[depth, k, u], slot[depth, k, u]
            if dual is not None:
                bounds[depth, to, u] = bounds[depth, k, u]
        if dual is not None:
            looked_up[depth, to] = looked_up[depth, k]
        for d in range(np.uint64(digits.shape[2])):
            digits[depth, to, d] = digits[depth, k, d]


@kernel
def keep_share(
    path: BlockPath,
    blocks: BundleBlocks,
    depth: np.uint64,
    kept: np.uint64,
    dual: DualBlocks | None,
    part: np.uint64,
    parts: np.uint64,
) -> np.uint64:
    """Number the positions of the block at the split depth; keep those in the `Share`, and return how many."""
    number, tally, left, own = path.number, path.tally, blocks.left, ZERO
    for k in range(kept):
        number[own] = tally[NUMBERED]
        tally[NUMBERED] += 1
        if np.uint64(number[own]) % parts == part:
            left[own] = np.uint64(k)
            own += ONE
    move_together(path, blocks, depth, own, dual)
    return own
