"""Look-ups in a table of bundles, for searches in blocks far from the goal.

The word of a position contains the bounds of all positions of its bundle (see `bundles`). Several views of one table
have different turns: for the cube, each view's turns are those of two opposite faces. So the words of a position, one
in each view, contain a bound of every successor, and most successors are pruned without reading memory. The remaining
successors are looked up in one further view after another, the view with the largest bound of the predecessor first.
Memory that a kernel will read soon is prefetched: first the list of bundles, and then the words.

The inverses of positions with few moves left are looked up, too; see `dual_indices`.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from antipodes_tasks.base.jit import kernel
from antipodes_tasks.keys.position_set import Numbers, Words
from antipodes_tasks.rules.moves import Labels
from antipodes_tasks.searches.block_path import NUMBERED, ONE, ZERO, BlockPath, Followers, MoveEffects
from antipodes_tasks.searches.bundles import Bundles
from antipodes_tasks.searches.depth_first import EXPANDED, GENERATED, NEXT_BOUND
from antipodes_tasks.searches.dual_indices import DualIndices, write_digits, write_inverse
from antipodes_tasks.searches.permutation_views import TableLookup
from antipodes_tasks.searches.prefetch import prefetch
from antipodes_tasks.searches.turns import NO_TURN

THREE = np.uint64(3)
NO_VIEW = ~ZERO
DUAL = 2
"""Dual look-ups are made if fewer moves are left than this number plus the `Encoding` base. Farther from the goal, they
would prune few positions."""
FIRST_AFTER, FIRST_TURNED, WEIGHT = np.arange(3, dtype=np.uint64)
"""Columns of ``digits``: where the digit's table begins in ``after``, where it begins in ``turned``, and the digit's
weight in the number of a bundle."""
LEADING, WIDTH, BITS, MOVES, BASE = np.arange(5, dtype=np.uint64)
"""Entries of ``sizes``: the leading digit, the number of columns, the number of bits of a column map and a turn in the
list of bundles, the number of columns of each table in ``after``, and the `Encoding` base."""


class BundleArrays(NamedTuple):
    """The views of a table of bundles, as arrays for the kernel."""

    sizes: Words
    """``(5,)``: see `LEADING`."""
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
    slots: NDArray[np.uint16]
    """``(column maps * turns, turns)``: the slot of a position, by its column map and turn in ``class_of``, and the
    turn in ``back``."""
    slot_after: NDArray[np.uint16]
    """``(slots, turns)``: the slot after each turn."""
    shift: NDArray[np.uint8]
    """``(slots,)``: the bit of a word at which the value of the position begins."""
    moves: Words
    """``(views, moves)``: the table's move that corresponds to the image of each move of the puzzle."""
    turn_of: Words
    """``(views, moves)``: the turn that corresponds to the image of each move of the puzzle; 0 for other moves."""
    home: Words
    """``(moves,)``: a view in which the move is a turn, or NO_VIEW."""
    words: NDArray[np.uint32]
    """See `Bundles.words`."""

    @property
    def base(self) -> int:
        """The number of moves left up to which the table does not distinguish distances, at least 1.

        So the last move of a path is never searched by bundles.
        """
        return int(self.sizes[BASE])

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
        assert maps < 1 << 16
        of_map, own_turn = np.divmod(np.arange(maps * count), count)
        symmetries = bundles.symmetries.astype(np.int64)[of_map][:, np.newaxis]
        slots = np.arange(order * count)
        of_turn, of_symmetry = slots % count, slots // count
        after = turns.products[of_turn[:, np.newaxis], turns.images[of_symmetry]]
        return cls(
            sizes=np.array(
                [rows.leading, rows.width, bundles.bits, digits[0].after.shape[1], bundles.base],
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
            map_of=of_map.astype(np.uint16),
            back=turns.products[:, turns.inverses[own_turn]].astype(np.uint8),
            slots=(symmetries * count + turns.images[symmetries, turns.inverses]).astype(np.uint16),
            slot_after=(of_symmetry[:, np.newaxis] * count + after).astype(np.uint16),
            shift=(2 * of_turn).astype(np.uint8),
            moves=moves.astype(np.uint64),
            turn_of=np.maximum(turn_of, 0).astype(np.uint64),
            home=np.where((turn_of > NO_TURN).any(axis=0), (turn_of > NO_TURN).argmax(axis=0), -1).astype(np.uint64),
            words=bundles.words,
        )


class Sought(NamedTuple):
    """Look-ups of a block of positions."""

    digits: NDArray[np.uint16 | np.uint32]
    """``(room, digits)``: the digits of each index."""
    place: Words
    """``(room,)``: the place of its bundle, and then of its word."""
    turn: Words
    """``(room,)``: the turn that takes the position to the first row of its bundle."""
    slot: NDArray[np.uint16]
    """``(room,)``: the slot of the position."""


class BundleBlocks(NamedTuple):
    """The positions of the blocks of a search, in addition to the `BlockPath`."""

    labels: Labels
    """``(bound + 1, room, places)``: the position; ``places`` is 0 without dual look-ups."""
    digits: NDArray[np.uint16 | np.uint32]
    """``(bound + 1, room, views * digits)``: the digits of the position's index in each view."""
    word: NDArray[np.uint32]
    """``(bound + 1, room, views)``: the word of the position's bundle."""
    slot: NDArray[np.uint16]
    """``(bound + 1, room, views)``: the slot of the position; see `Bundles.located`."""
    left: Words
    """``(room,)``: the numbers of the positions of a block that no look-up has pruned yet, ascending."""
    seen: Words
    """``(room,)``: scratch memory for the views in which a position has been looked up, as bits."""
    chosen: Words
    """``(room,)``: scratch memory for the view in which each position left is looked up now."""
    sought: Sought
    """Scratch memory for the look-ups of a block."""
    inverses: Labels
    """``(room, places)``: scratch memory for inverse positions."""

    @classmethod
    def of(cls, depth: int, room: int, places: int, arrays: BundleArrays) -> "BundleBlocks":
        """Return empty blocks of ``room`` positions, for paths of ``depth`` moves."""
        shape, views, word = (depth + 1, room), len(arrays.moves), arrays.after.dtype
        return cls(
            labels=np.zeros((*shape, places), dtype=np.uint8),
            digits=np.zeros((*shape, views * len(arrays.digits)), dtype=word),
            word=np.zeros((*shape, views), dtype=np.uint32),
            slot=np.zeros((*shape, views), dtype=np.uint16),
            left=np.zeros(room, dtype=np.uint64),
            seen=np.zeros(room, dtype=np.uint64),
            chosen=np.zeros(room, dtype=np.uint64),
            sought=Sought(
                digits=np.zeros((room, len(arrays.digits)), dtype=word),
                place=np.zeros(room, dtype=np.uint64),
                turn=np.zeros(room, dtype=np.uint64),
                slot=np.zeros(room, dtype=np.uint16),
            ),
            inverses=np.zeros((room, places), dtype=np.uint8),
        )

    def put(self, depth: int, view: int, bundles: Bundles, indices: Numbers) -> None:
        """Write the digits, words and slots of the positions with these indices ``(n,)`` in a view."""
        n, digits = len(indices), bundles.rows.digits
        places, slots = bundles.located(indices)
        for k, digit in enumerate(digits, view * len(digits)):
            self.digits[depth, :n, k] = indices // digit.weight % digit.size
        self.word[depth, :n, view], self.slot[depth, :n, view] = bundles.words[places], slots


@kernel
def successors_by_bundles(
    path: BlockPath,
    blocks: BundleBlocks,
    depth: np.uint64,
    bundles: BundleArrays,
    dual: DualIndices | None,
    effects: MoveEffects,
    follow: Followers,
    counts: bool,
) -> np.uint64:
    """Expand positions of a depth while there is room for their successors; return the number of successors.

    ``dual`` is None if there are no dual look-ups. With ``counts``, the positions are counted.
    """
    kept, views = successors_in_homes(path, blocks, depth, bundles, follow, counts), np.uint64(len(bundles.moves))
    below, left = depth + ONE, np.int64(len(path.taken)) - np.int64(depth) - 1
    for _ in range(views):
        kept = look_up_next(path, blocks, depth, kept, bundles)
    if dual is not None:
        move_labels(path, blocks, depth, kept, effects)
        if left < np.int64(bundles.sizes[BASE]) + DUAL:
            write_inverses(blocks, below, kept, dual)
            for u in range(views):
                kept = look_up_dual(path, blocks, below, kept, np.uint64(u), bundles, dual)
    for n in range(kept):
        k = blocks.left[n]
        home = bundles.home[path.move[below, k]]
        if home != NO_VIEW:
            find_digits_in(path, blocks, depth, k, home, bundles)
        if k != np.uint64(n):
            move_position(path, blocks, below, k, np.uint64(n))
        prefetch_moves(blocks, below, np.uint64(n), bundles)
    return kept


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
    tried, parent, move, tally = path.tried, path.parent, path.move, path.tally
    word, slot, seen = blocks.word, blocks.slot, blocks.seen
    slot_after, shift, turn_of, homes = bundles.slot_after, bundles.shift, bundles.turn_of, bundles.home
    follow_at, following = follow
    left, below, start = np.int64(len(path.taken)) - np.int64(depth) - 1, depth + ONE, np.uint64(len(follow_at) - 2)
    room, most, size = np.uint64(move.shape[1]), np.uint64(turn_of.shape[1]), path.size[depth]
    base, kept, j, next_bound = np.int64(bundles.sizes[BASE]), ZERO, tried[depth], tally[NEXT_BOUND]
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
                after = slot_after[np.uint64(slot[depth, j, u]), turn_of[u, m]]
                value = value_in(word[depth, j, u], after, shift)
                if value > ZERO and base + np.int64(value) > left:
                    next_bound = min(next_bound, np.int64(below) + base + np.int64(value))
                    continue
                seen[kept] = ONE << u
                word[below, kept, u], slot[below, kept, u] = word[depth, j, u], after
            move[below, kept], parent[below, kept] = np.uint32(m), np.uint32(j)
            blocks.left[kept] = kept
            kept += ONE
        j += ONE
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
    left, sought, shift, below, none = blocks.left, blocks.sought, bundles.shift, depth + ONE, True
    for n in range(kept):
        k = left[n]
        j, best, most = np.uint64(parent[below, k]), NO_VIEW, np.int64(-1)
        for u in range(np.uint64(len(bundles.moves))):
            if not (seen[k] >> np.uint64(u)) & ONE:
                value = np.int64(value_in(word[depth, j, u], slot[depth, j, u], shift))
                if value > most:
                    best, most = np.uint64(u), value
        chosen[n] = best
        if best != NO_VIEW:
            none = False
            find_digits_in(path, blocks, depth, k, best, bundles)
            at = best * np.uint64(sought.digits.shape[1])
            for d in range(np.uint64(sought.digits.shape[1])):
                sought.digits[n, d] = blocks.digits[below, k, at + np.uint64(d)]
    if none:
        return kept
    locate(sought, kept, bundles)
    near = ZERO
    for n in range(kept):
        k, u = left[n], chosen[n]
        if u != NO_VIEW:
            found = bundles.words[sought.place[n]]
            if is_pruned(path, below, value_in(found, sought.slot[n], shift), bundles):
                continue
            word[below, k, u], slot[below, k, u] = found, sought.slot[n]
            seen[k] |= ONE << u
        left[near] = k
        near += ONE
    return near


@kernel
def look_up_dual(
    path: BlockPath,
    blocks: BundleBlocks,
    depth: np.uint64,
    kept: np.uint64,
    view: np.uint64,
    bundles: BundleArrays,
    dual: DualIndices,
) -> np.uint64:
    """Look up the inverses of the positions of a block in a view; return the number of positions left."""
    left, sought, near = blocks.left, blocks.sought, ZERO
    for n in range(kept):
        write_digits(blocks.inverses[left[n]], view, sought.digits, np.uint64(n), dual)
    locate(sought, kept, bundles)
    for n in range(kept):
        value = value_in(bundles.words[sought.place[n]], sought.slot[n], bundles.shift)
        if not is_pruned(path, depth, value, bundles):
            left[near] = left[n]
            near += ONE
    return near


@kernel
def locate(sought: Sought, count: np.uint64, bundles: BundleArrays) -> None:
    """Find the places and slots of the words of some positions, and prefetch the words; see `Bundles.located`."""
    digits, place, turns, slot = sought
    meta, turned, sizes, maps = bundles.digits, bundles.turned, bundles.digit_sizes, bundles.maps
    leading, bits, width = bundles.sizes[LEADING], bundles.sizes[BITS], bundles.sizes[WIDTH]
    column = np.uint64(len(meta)) - ONE
    for k in range(count):
        lead = np.uint64(digits[k, leading])
        bundle, t = np.uint64(bundles.begin[lead]), np.uint64(bundles.turn[lead])
        for d in range(column):
            if np.uint64(d) != leading:
                after = turned[meta[d, FIRST_TURNED] + t * sizes[d] + np.uint64(digits[k, d])]
                bundle += np.uint64(after) * meta[d, WEIGHT]
        place[k], turns[k] = bundle, t
    prefetch_all(bundles.class_of, place, count)
    for k in range(count):
        one = np.uint64(bundles.class_of[place[k]])
        map_turn = one & ((ONE << bits) - ONE)
        t = np.uint64(bundles.back[turns[k], map_turn])
        digit = np.uint64(turned[meta[column, FIRST_TURNED] + t * sizes[column] + np.uint64(digits[k, column])])
        place[k] = (one >> bits) * width + np.uint64(maps[np.uint64(bundles.map_of[map_turn]), digit])
        slot[k] = bundles.slots[map_turn, t]
    prefetch_all(bundles.words, place, count)


@kernel
def value_in(word: np.uint32, slot: np.uint16, shift: NDArray[np.uint8]) -> np.uint64:
    """Return the value of a position in the word of its bundle."""
    value: np.uint64 = (np.uint64(word) >> np.uint64(shift[np.uint64(slot)])) & THREE
    return value


@kernel
def is_pruned(path: BlockPath, depth: np.uint64, value: np.uint64, bundles: BundleArrays) -> bool:
    """Return whether a value prunes a position at a depth; if so, record the length of the paths that it allows."""
    bound = np.int64(depth) + np.int64(bundles.sizes[BASE]) + np.int64(value)
    if value == ZERO or bound <= np.int64(len(path.taken)):
        return False
    path.tally[NEXT_BOUND] = min(path.tally[NEXT_BOUND], bound)
    return True


@kernel
def move_labels(path: BlockPath, blocks: BundleBlocks, depth: np.uint64, kept: np.uint64, effects: MoveEffects) -> None:
    """Compute the labels of the successors of positions of a depth that are left."""
    labels, of_moves, moduli, below = blocks.labels, effects.of_moves, effects.moduli, depth + ONE
    for n in range(kept):
        k = blocks.left[n]
        j, m = np.uint64(path.parent[below, k]), np.uint64(path.move[below, k])
        for i in range(np.uint64(labels.shape[2])):
            label = np.int64(labels[depth, j, np.uint64(of_moves[m, ZERO, i])]) + of_moves[m, ONE, i]
            labels[below, k, i] = label - moduli[i] if label >= moduli[i] else label


@kernel
def write_inverses(blocks: BundleBlocks, depth: np.uint64, kept: np.uint64, dual: DualIndices) -> None:
    """Write the inverses of the positions of a block that are left."""
    for n in range(kept):
        write_inverse(blocks.labels[depth, blocks.left[n]], blocks.inverses[blocks.left[n]], dual)


@kernel
def prefetch_all(array: NDArray[np.uint32], places: Words, count: np.uint64) -> None:
    """Prefetch entries of an array.

    A processor waits for the address translation of a prefetched entry before it retires the instruction. In a loop
    that does nothing else, it translates many addresses at the same time.
    """
    for k in range(count):
        prefetch(array, places[k])


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
    labels, digits, word, slot = blocks.labels, blocks.digits, blocks.word, blocks.slot
    path.move[depth, to], path.parent[depth, to] = path.move[depth, k], path.parent[depth, k]
    for u in range(np.uint64(word.shape[2])):
        word[depth, to, u], slot[depth, to, u] = word[depth, k, u], slot[depth, k, u]
    for d in range(np.uint64(digits.shape[2])):
        digits[depth, to, d] = digits[depth, k, d]
    for i in range(np.uint64(labels.shape[2])):
        labels[depth, to, i] = labels[depth, k, i]


@kernel
def keep_share(
    path: BlockPath, blocks: BundleBlocks, depth: np.uint64, kept: np.uint64, part: np.uint64, parts: np.uint64
) -> np.uint64:
    """Number the positions of the block at the split depth, and keep those of the `Share`; return their number."""
    number, tally, own = path.number, path.tally, ZERO
    for k in range(kept):
        number[own] = tally[NUMBERED]
        tally[NUMBERED] += 1
        if np.uint64(number[own]) % parts == part:
            move_position(path, blocks, depth, np.uint64(k), own)
            own += ONE
    return own
