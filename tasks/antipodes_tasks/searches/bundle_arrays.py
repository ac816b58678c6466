"""The views of a table of bundles, the blocks of a search that looks up positions there, and a look-up in one view.

Memory that a kernel will read soon is prefetched: first the list of bundles, and then the words.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from antipodes_tasks.base.array_types import Numbers, Words
from antipodes_tasks.base.jit import kernel
from antipodes_tasks.searches.block_path import ONE, ZERO
from antipodes_tasks.searches.bundles import Bundles
from antipodes_tasks.searches.depth_first import NEXT_BOUND
from antipodes_tasks.searches.permutation_views import TableLookup
from antipodes_tasks.searches.prefetch import prefetch
from antipodes_tasks.searches.turns import NO_TURN

THREE = np.uint64(3)
NO_VIEW = ~ZERO
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
        # A pair of a column map and a turn has the number `map * count + turn`, and a pair of a symmetry and a turn, a
        # slot, has the number `symmetry * count + turn`.
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
    """``(room,)``: at first the number of the position in its block, then the place of its bundle, then of its word."""
    turn: Words
    """``(room,)``: at first the view, then the turn that takes the position to the first row of its bundle."""
    slot: NDArray[np.uint16]
    """``(room,)``: the slot of the position."""
    column_map: NDArray[np.uint16]
    """``(room,)``: the column map of the row of its bundle."""


class BundleBlocks(NamedTuple):
    """The positions of the blocks of a search, in addition to the `BlockPath`."""

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

    @classmethod
    def of(cls, depth: int, room: int, arrays: BundleArrays) -> "BundleBlocks":
        """Return empty blocks of ``room`` positions, for paths of ``depth`` moves."""
        shape, views, word = (depth + 1, room), len(arrays.moves), arrays.after.dtype
        return cls(
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
                column_map=np.zeros(room, dtype=np.uint16),
            ),
        )

    def put(self, depth: int, view: int, bundles: Bundles, indices: Numbers) -> None:
        """Write the digits, words and slots of the positions with these indices ``(n,)`` in a view."""
        n, digits = len(indices), bundles.rows.digits
        places, slots = bundles.located(indices)
        for k, digit in enumerate(digits, view * len(digits)):
            self.digits[depth, :n, k] = indices // digit.weight % digit.size
        self.word[depth, :n, view], self.slot[depth, :n, view] = bundles.words[places], slots


@kernel
def locate(sought: Sought, count: np.uint64, bundles: BundleArrays) -> None:
    """Find the places and slots of the words of some positions, and prefetch the words; see `Bundles.located`."""
    digits, place, turns, slot, column_map = sought
    class_of, map_of, back, slots = bundles.class_of, bundles.map_of, bundles.back, bundles.slots
    meta, turned, sizes, maps = bundles.digits, bundles.turned, bundles.digit_sizes, bundles.maps
    leading, bits, width = bundles.sizes[LEADING], bundles.sizes[BITS], bundles.sizes[WIDTH]
    column = np.uint64(len(meta)) - ONE
    columns, of_column = sizes[column], meta[column, FIRST_TURNED]
    for k in range(count):
        lead = np.uint64(digits[k, leading])
        bundle, t = np.uint64(bundles.begin[lead]), np.uint64(bundles.turn[lead])
        for d in range(column):
            if np.uint64(d) != leading:
                after = turned[meta[d, FIRST_TURNED] + t * sizes[d] + np.uint64(digits[k, d])]
                bundle += np.uint64(after) * meta[d, WEIGHT]
        place[k], turns[k] = bundle, t
    prefetch_all(class_of, place, count)
    for k in range(count):  # two short loops, so that the processor works on more positions at the same time
        one = np.uint64(class_of[place[k]])
        map_turn = one & ((ONE << bits) - ONE)
        t = np.uint64(back[turns[k], map_turn])
        place[k], turns[k] = (one >> bits) * width, t
        column_map[k], slot[k] = map_of[map_turn], slots[map_turn, t]
    for k in range(count):
        digit = np.uint64(turned[of_column + turns[k] * columns + np.uint64(digits[k, column])])
        place[k] += np.uint64(maps[np.uint64(column_map[k]), digit])
    prefetch_all(bundles.words, place, count)


@kernel
def value_in(word: np.uint32, slot: np.uint16, shift: NDArray[np.uint8]) -> np.uint64:
    """Return the value of a position in the word of its bundle."""
    value: np.uint64 = (np.uint64(word) >> np.uint64(shift[np.uint64(slot)])) & THREE
    return value


@kernel
def is_pruned(value: np.uint64, depth: np.uint64, base: np.int64, limit: np.int64, tally: Numbers) -> bool:
    """Return whether a value prunes a position at a depth; if so, record the length of the paths that it allows.

    ``limit`` is the maximum length of a path.
    """
    bound = np.int64(depth) + base + np.int64(value)
    if value == ZERO or bound <= limit:
        return False
    tally[NEXT_BOUND] = min(tally[NEXT_BOUND], bound)
    return True


@kernel
def prefetch_all(array: NDArray[np.uint32], places: Words, count: np.uint64) -> None:
    """Prefetch entries of an array.

    A processor waits for the address translation of a prefetched entry before it retires the instruction. In a loop
    that does nothing else, it translates many addresses at the same time.
    """
    for k in range(count):
        prefetch(array, places[k])
