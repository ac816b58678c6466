"""Look-ups in a table of bundles, for searches in blocks.

The word of a position contains the distances of all positions of its bundle, modulo 3 (see `bundles`). Several views of
one table have different turns: for the cube, each view's turns are those of two opposite faces. So the words of a
position, one in each view, contain the distance of every successor in one view, and most successors are pruned without
reading memory. The others are looked up in one further view after another, the view with the predecessor's largest
distance first. Memory that a kernel will read soon is prefetched: first the list of bundles, and then the words.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from antipodes_tasks.base.jit import kernel
from antipodes_tasks.keys.position_set import Numbers, Words
from antipodes_tasks.searches.block_path import NUMBERED, ONE, ZERO, BlockPath, Followers
from antipodes_tasks.searches.bundles import Bundles
from antipodes_tasks.searches.depth_first import EXPANDED, GENERATED, NEXT_BOUND
from antipodes_tasks.searches.permutation_views import TableLookup
from antipodes_tasks.searches.prefetch import prefetch
from antipodes_tasks.searches.turns import NO_TURN

THREE = np.uint64(3)
NO_VIEW = ~ZERO
FIRST_AFTER, FIRST_TURNED, WEIGHT = np.arange(3, dtype=np.uint64)
"""Columns of ``digits``: where the digit's table begins in ``after``, where it begins in ``turned``, and the digit's
weight in the number of a bundle."""
LEADING, WIDTH, BITS, MOVES = np.arange(4, dtype=np.uint64)
"""Entries of ``sizes``: the leading digit, the number of columns, the number of bits of a column map and a turn in the
list of bundles, and the number of columns of each table in ``after``."""


class BundleArrays(NamedTuple):
    """The views of a table of bundles, as arrays for the kernel."""

    sizes: Words
    """``(4,)``: see `LEADING`."""
    digits: Words
    """``(digits, 3)``: see `FIRST_AFTER`; the last digit is the column."""
    after: NDArray[np.uint16 | np.uint32]
    """The digit after each move of the pattern, ``(size, moves)``, for all digits in turn."""
    turned: NDArray[np.uint16 | np.uint32]
    """The digit after each turn, ``(turns, size)``, for all digits in turn."""
    digit_sizes: Words
    """``(digits,)``: the number of values of each digit."""
    begin: NDArray[np.uint32]
    """See `BundleRows.begin`."""
    turn: NDArray[np.uint8]
    """See `BundleRows.turn`."""
    class_of: NDArray[np.uint32]
    """See `Bundles.class_of`."""
    maps: NDArray[np.uint16 | np.uint32]
    """``(column maps, width)``: see `Bundles.maps`."""
    map_of: NDArray[np.uint16]
    """``(column maps * turns,)``: the column map, by the column map and the turn in ``class_of``."""
    back: NDArray[np.uint8]
    """``(turns, column maps * turns)``: the turn from a position to the row that the column map is for, by the turn
    that leads to the first row of its bundle, and the column map and the turn in ``class_of``."""
    frames: NDArray[np.uint16]
    """``(column maps * turns, turns)``: the frame of a position, by its column map and turn in ``class_of``, and the
    turn in ``back``."""
    frame_after: NDArray[np.uint16]
    """``(frames, turns)``: the frame after each turn."""
    shift: NDArray[np.uint8]
    """``(frames,)``: the bit of a word at which the value of the position begins."""
    moves: Words
    """``(views, moves)``: the table's move that corresponds to the image of each move of the puzzle."""
    turn_of: Words
    """``(views, moves)``: the turn that corresponds to the image of each move of the puzzle; 0 if there is none."""
    home: Words
    """``(moves,)``: a view in which the move is a turn, or NO_VIEW."""
    words: NDArray[np.uint32]
    """See `Bundles.words`."""

    @classmethod
    def of(cls, bundles: Bundles, views: Sequence[TableLookup]) -> "BundleArrays":
        """Return the arrays for some views of the table of these bundles."""
        rows, turns = bundles.rows, bundles.rows.turns
        count, order = len(turns), len(turns.images)
        digits, maps = rows.digits, len(bundles.maps)
        size = max(digit.size for digit in digits)
        word = np.uint16 if max(size, rows.width) < 1 << 16 else np.uint32
        tables = [digit.after.astype(word).ravel() for digit in digits]
        turned = [one.astype(word).ravel() for one in rows.turned]
        moves = np.array([view.moves for view in views], dtype=np.int64)
        turn_of = np.append(turns.of_moves, NO_TURN)[moves]
        way_map, way_turn = np.divmod(np.arange(maps * count), count)
        symmetries = bundles.symmetries.astype(np.int64)[way_map][:, np.newaxis]
        frames = np.arange(order * count)
        of_turn, of_symmetry = frames % count, frames // count
        after = turns.products[of_turn[:, np.newaxis], turns.images[of_symmetry]]
        return cls(
            sizes=np.array(
                [rows.leading, rows.width, bundles.bits, digits[0].after.shape[1]],
                dtype=np.uint64,
            ),
            digits=np.array(
                [np.cumsum([0, *map(len, tables)])[:-1], np.cumsum([0, *map(len, turned)])[:-1], (*rows.weights, 0)],
                dtype=np.uint64,
            ).T.copy(),
            after=np.concatenate(tables),
            turned=np.concatenate(turned),
            digit_sizes=np.array([digit.size for digit in digits], dtype=np.uint64),
            begin=rows.begin,
            turn=rows.turn,
            class_of=bundles.class_of,
            maps=bundles.maps.astype(word),
            map_of=way_map.astype(np.uint16),
            back=turns.products[:, turns.inverses[way_turn]].astype(np.uint8),
            frames=(symmetries * count + turns.images[symmetries, turns.inverses]).astype(np.uint16),
            frame_after=(of_symmetry[:, np.newaxis] * count + after).astype(np.uint16),
            shift=(2 * of_turn).astype(np.uint8),
            moves=moves.astype(np.uint64),
            turn_of=np.maximum(turn_of, 0).astype(np.uint64),
            home=np.where((turn_of > NO_TURN).any(axis=0), (turn_of > NO_TURN).argmax(axis=0), -1).astype(np.uint64),
            words=bundles.words,
        )


class BundleBlocks(NamedTuple):
    """What a search knows of the positions of its blocks in the views of bundles."""

    digits: NDArray[np.uint16 | np.uint32]
    """``(bound + 1, room, views * digits)``: the digits of the position's index in each view."""
    word: NDArray[np.uint32]
    """``(bound + 1, room, views)``: the word of the position's bundle."""
    frame: NDArray[np.uint16]
    """``(bound + 1, room, views)``: the frame of the position; see `Bundles.located`."""
    seen: Words
    """``(room,)``: scratch memory for the views in which a position has been looked up, as bits."""
    view: Words
    """``(room,)``: scratch memory for the view in which each position is looked up now."""
    place: Words
    """``(room,)``: scratch memory for the place of its bundle or word."""
    turn: Words
    """``(room,)``: scratch memory for the turn that takes it to the first row of its bundle."""

    @classmethod
    def of(cls, depth: int, room: int, arrays: BundleArrays) -> "BundleBlocks":
        """Return empty blocks of ``room`` positions, for paths of ``depth`` moves."""
        shape, views = (depth + 1, room), len(arrays.moves)
        return cls(
            digits=np.zeros((*shape, views * len(arrays.digits)), dtype=arrays.after.dtype),
            word=np.zeros((*shape, views), dtype=np.uint32),
            frame=np.zeros((*shape, views), dtype=np.uint16),
            seen=np.zeros(room, dtype=np.uint64),
            view=np.zeros(room, dtype=np.uint64),
            place=np.zeros(room, dtype=np.uint64),
            turn=np.zeros(room, dtype=np.uint64),
        )

    def put(self, depth: int, view: int, bundles: Bundles, indices: Numbers) -> None:
        """Write the digits, words and frames of the positions with these indices ``(n,)`` in a view."""
        n, digits = len(indices), bundles.rows.digits
        places, frames = bundles.located(indices)
        for k, digit in enumerate(digits, view * len(digits)):
            self.digits[depth, :n, k] = indices // digit.weight % digit.size
        self.word[depth, :n, view], self.frame[depth, :n, view] = bundles.words[places], frames


@kernel
def successors_by_bundles(
    path: BlockPath,
    blocks: BundleBlocks,
    depth: np.uint64,
    linked: NDArray[np.bool_],
    bundles: BundleArrays,
    follow: Followers,
    split: np.uint64,
    part: np.uint64,
    parts: np.uint64,
) -> np.uint64:
    """Expand positions of a depth while there is room for their successors; return the number of successors.

    ``split``, ``part`` and ``parts`` are the `Share`; the first share counts the positions above the split.
    """
    counts, views = bool(depth >= split or part == ZERO), np.uint64(len(bundles.moves))
    kept = successors_in_homes(path, blocks, depth, bundles, follow, counts)
    for _ in range(views):
        kept = look_up_next(path, blocks, depth, kept, bundles)
    return keep_linked(path, blocks, depth, kept, linked, bundles, split, part, parts)


@kernel
def changed(distance: np.int64, value: np.int64) -> np.int64:
    """Return the distance with this remainder modulo 3 that differs from ``distance`` by at most one."""
    up = value - (distance + 2) % 3
    return distance - 1 + (up if up >= 0 else up + 3)


@kernel
def successors_in_homes(
    path: BlockPath,
    blocks: BundleBlocks,
    depth: np.uint64,
    bundles: BundleArrays,
    follow: Followers,
    counts: bool,
) -> np.uint64:
    """Expand positions of a depth while there is room; return the number of successors that their home views keep.

    The home view of a successor is a view in which the last move is a turn.
    """
    tried, parent, move, said, tally = path.tried, path.parent, path.move, path.view_bounds, path.tally
    word, frame, seen = blocks.word, blocks.frame, blocks.seen
    frame_after, shift, turn_of, homes = bundles.frame_after, bundles.shift, bundles.turn_of, bundles.home
    follow_at, following = follow
    left, below, start = np.int64(len(path.taken)) - np.int64(depth) - 1, depth + ONE, np.uint64(len(follow_at) - 2)
    room, most, size = np.uint64(move.shape[1]), np.uint64(turn_of.shape[1]), path.size[depth]
    kept, j, next_bound = ZERO, tried[depth], tally[NEXT_BOUND]
    while j < size and kept + most <= room:
        last = start if depth == ZERO else np.uint64(move[depth, j])
        first, end = follow_at[last], follow_at[last + ONE]
        if counts:
            tally[EXPANDED] += 1
            tally[GENERATED] += np.int64(end - first)
        for i in range(first, end):
            m = following[i]
            u = homes[m]
            seen[kept] = ZERO
            if u != NO_VIEW:
                after = frame_after[np.uint64(frame[depth, j, u]), turn_of[u, m]]
                value = (np.uint64(word[depth, j, u]) >> np.uint64(shift[np.uint64(after)])) & THREE
                distance = changed(np.int64(said[depth, j, u]), np.int64(value))
                if distance > left:
                    next_bound = min(next_bound, np.int64(below) + distance)
                    continue
                seen[kept] = ONE << u
                word[below, kept, u], frame[below, kept, u] = word[depth, j, u], after
                said[below, kept, u] = np.uint8(distance)
            move[below, kept], parent[below, kept] = np.uint32(m), np.uint32(j)
            kept += ONE
        j += ONE
    tried[depth], tally[NEXT_BOUND] = j, next_bound
    return kept


@kernel
def look_up_next(
    path: BlockPath, blocks: BundleBlocks, depth: np.uint64, kept: np.uint64, bundles: BundleArrays
) -> np.uint64:
    """Look up each successor in a view in which it has not been looked up yet; return the number of those kept.

    Successors that have been looked up in all views are kept.
    """
    parent, said, tally = path.parent, path.view_bounds, path.tally
    digits, word, frame, seen, view, place, turns = blocks
    sizes, meta, _, turned, values, begin, turn, class_of, maps, map_of, back, frames, _, shift, _, _, _, words = (
        bundles
    )
    all_views, leading, column = np.uint64(len(bundles.moves)), sizes[LEADING], np.uint64(len(meta)) - ONE
    bits, left = sizes[BITS], np.int64(len(path.taken)) - np.int64(depth) - 1
    below, none = depth + ONE, True
    for k in range(kept):
        j, best, most = np.uint64(parent[below, k]), NO_VIEW, np.int64(-1)
        for u in range(all_views):
            if not (seen[k] >> np.uint64(u)) & ONE and np.int64(said[depth, j, u]) > most:
                best, most = np.uint64(u), np.int64(said[depth, j, u])
        view[k] = best
        if best == NO_VIEW:
            place[k] = ZERO
            continue
        none = False
        find_digits_in(path, blocks, depth, np.uint64(k), best, bundles)
        at = best * np.uint64(len(meta))
        lead = np.uint64(digits[below, k, at + leading])
        bundle, t = np.uint64(begin[lead]), np.uint64(turn[lead])
        for d in range(column):
            if np.uint64(d) != leading:
                digit = np.uint64(digits[below, k, at + np.uint64(d)])
                bundle += np.uint64(turned[meta[d, FIRST_TURNED] + t * values[d] + digit]) * meta[d, WEIGHT]
        place[k], turns[k] = bundle, t
    if none:
        return kept
    prefetch_all(class_of, place, kept)
    for k in range(kept):
        u = view[k]
        if u == NO_VIEW:
            continue
        one = np.uint64(class_of[place[k]])
        way = one & ((ONE << bits) - ONE)
        t = np.uint64(back[turns[k], way])
        digit = np.uint64(digits[below, k, u * np.uint64(len(meta)) + column])
        digit = np.uint64(turned[meta[column, FIRST_TURNED] + t * values[column] + digit])
        place[k] = (one >> bits) * sizes[WIDTH] + np.uint64(maps[np.uint64(map_of[way]), digit])
        frame[below, k, u] = frames[way, t]
    prefetch_all(words, place, kept)
    near = ZERO
    for k in range(kept):
        u = view[k]
        if u != NO_VIEW:
            one_word = words[place[k]]
            value = (np.uint64(one_word) >> np.uint64(shift[np.uint64(frame[below, k, u])])) & THREE
            distance = changed(np.int64(said[depth, np.uint64(parent[below, k]), u]), np.int64(value))
            if distance > left:
                tally[NEXT_BOUND] = min(tally[NEXT_BOUND], np.int64(below) + distance)
                continue
            word[below, k, u], said[below, k, u] = one_word, np.uint8(distance)
            seen[k] |= ONE << u
        if near != np.uint64(k):
            move_position(path, blocks, below, np.uint64(k), near)
        near += ONE
    return near


@kernel
def prefetch_all(array: NDArray[np.uint32], places: Words, count: np.uint64) -> None:
    """Prefetch entries of an array.

    A processor waits for the address translation of a prefetched entry before it retires the instruction. In a loop
    that does nothing else, it translates many addresses at the same time.
    """
    for k in range(count):
        prefetch(array, places[k])


@kernel
def keep_linked(
    path: BlockPath,
    blocks: BundleBlocks,
    depth: np.uint64,
    kept: np.uint64,
    linked: NDArray[np.bool_],
    bundles: BundleArrays,
    split: np.uint64,
    part: np.uint64,
    parts: np.uint64,
) -> np.uint64:
    """Keep the successors that the linked views do not prune and that belong to the share; return their number.

    Compute the digits of those kept in their home views.
    """
    said, number, tally, below, near = path.view_bounds, path.number, path.tally, depth + ONE, ZERO
    links, left = linked.sum(), np.int64(len(path.taken)) - np.int64(below)
    for k in range(kept):
        tight = np.int64(0)
        for u in range(np.uint64(len(linked))):
            tight += np.int64(linked[u] and np.int64(said[below, k, u]) == left)
        if links > 0 and tight == links and left > 0:
            tally[NEXT_BOUND] = min(tally[NEXT_BOUND], np.int64(len(path.taken)) + 1)
            continue
        if below == split:
            number[near] = tally[NUMBERED]
            tally[NUMBERED] += 1
            if np.uint64(number[near]) % parts != part:
                continue
        home = bundles.home[path.move[below, k]]
        if home != NO_VIEW:
            find_digits_in(path, blocks, depth, np.uint64(k), home, bundles)
        if near != np.uint64(k):
            move_position(path, blocks, below, np.uint64(k), near)
        prefetch_moves(blocks, below, near, bundles)
        near += ONE
    return near


@kernel
def prefetch_moves(blocks: BundleBlocks, depth: np.uint64, k: np.uint64, bundles: BundleArrays) -> None:
    """Prefetch the leading digits after all moves, in all views, of a position of a block."""
    digits, meta, after, moves = blocks.digits, bundles.digits, bundles.after, bundles.sizes[MOVES]
    for u in range(np.uint64(len(bundles.moves))):
        digit = np.uint64(digits[depth, k, np.uint64(u) * np.uint64(len(meta)) + bundles.sizes[LEADING]])
        first = meta[bundles.sizes[LEADING], FIRST_AFTER] + digit * moves
        prefetch(after, first)
        prefetch(after, first + moves - ONE)


@kernel
def find_digits_in(
    path: BlockPath, blocks: BundleBlocks, depth: np.uint64, k: np.uint64, view: np.uint64, bundles: BundleArrays
) -> None:
    """Compute the digits of the successor ``k`` of a position of this depth in a view."""
    digits, meta, moves, below = blocks.digits, bundles.digits, bundles.sizes[MOVES], depth + ONE
    j, m = np.uint64(path.parent[below, k]), bundles.moves[view, path.move[below, k]]
    at = view * np.uint64(len(meta))
    for d in range(np.uint64(len(meta))):
        digit = np.uint64(digits[depth, j, at + np.uint64(d)])
        digits[below, k, at + np.uint64(d)] = bundles.after[meta[d, FIRST_AFTER] + digit * moves + m]


@kernel
def move_position(path: BlockPath, blocks: BundleBlocks, depth: np.uint64, k: np.uint64, to: np.uint64) -> None:
    """Copy everything known of position ``k`` of a block to position ``to``."""
    digits, word, frame, seen, _, _, _ = blocks
    said = path.view_bounds
    path.move[depth, to], path.parent[depth, to], seen[to] = path.move[depth, k], path.parent[depth, k], seen[k]
    for u in range(np.uint64(word.shape[2])):
        word[depth, to, u], frame[depth, to, u] = word[depth, k, u], frame[depth, k, u]
        said[depth, to, u] = said[depth, k, u]
    for d in range(np.uint64(digits.shape[2])):
        digits[depth, to, d] = digits[depth, k, d]
