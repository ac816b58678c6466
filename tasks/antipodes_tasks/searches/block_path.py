"""The blocks of positions of a search with pattern tables, and the paths that end at the goal.

Reading memory is slow, but a processor can read many addresses at the same time. So positions are searched in *blocks*:
the successors of several positions at one depth form a block of the next depth, as far as there is room.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from antipodes_tasks.base.array_types import Labels, Numbers, Words
from antipodes_tasks.base.jit import kernel
from antipodes_tasks.searches.depth_first import FAR, FOUND, NEXT_BOUND, lead_to_same
from antipodes_tasks.searches.shares import NODE

ZERO, ONE, TWO = np.uint64(0), np.uint64(1), np.uint64(2)
NO_ROW = ~ZERO
CLASSES, MAPS, COLUMNS, BITS, SYMMETRIES = np.arange(5, dtype=np.uint64)
"""Columns of ``quotients``: where the rows of a reduced table begin in ``classes``, or NO_ROW if the table is not
reduced; where its column maps begin in ``after``; the size of a column map; the number of bits of a column map's
number; where the symmetries of its column maps begin in ``symmetries``."""
NUMBERED = NODE + 1
"""Index in the tally of the number of positions at the split depth that have been numbered."""
DISTINCT = NUMBERED + 1
"""Index in the tally of the number of distinct paths found; FOUND counts sequences of moves."""
TALLY = (0, 0, 0, FAR, 0, 0, 0, 0)
"""The tally before a search begins."""
FIRST, WEIGHT, ROW, FIRST_MAP, WIDTH = np.arange(5, dtype=np.uint64)
"""Columns of ``digits``, which describe a digit of an entry: where its table (or, for a column, its column maps) begins
in ``after``; its weight in the entry; for a column, the digit that is the row, otherwise NO_ROW; where the numbers of
its column maps begin; the size of a column map."""

SHIFT, MASK = np.arange(2, dtype=np.uint64)
"""Columns of ``encodings``, which describe the values of a table: see `Encoding`."""


class ViewArrays(NamedTuple):
    """The views as arrays for the kernels; the digits of all views are concatenated."""

    digit_at: Words
    """``(views + 1,)``: the first digit of each view."""
    digits: Words
    """``(digits, 5)``: see `FIRST` for the columns."""
    after: NDArray[np.uint16 | np.uint32]
    """The tables of all digits, concatenated; each row of a table contains the new digit for each move of the puzzle.
    """
    quotients: Words
    """``(views, 5)``: see `CLASSES` for the columns; the last digit of a reduced table is the column."""
    classes: NDArray[np.uint32]
    """For each row of each reduced table, the representative row and the column map; see `Quotient.class_of`."""
    symmetries: NDArray[np.uint16]
    """For each column map of each reduced table, its symmetry."""
    begin: Words
    """``(views,)``: the offset of the table's values, in bytes."""
    encodings: Words
    """``(views, 2)``: see `SHIFT` for the columns."""
    linked: NDArray[np.bool_]
    """``(views,)``: see `PermutationPatterns.linked`."""


class Followers(NamedTuple):
    """The moves that may follow each move."""

    at: Words
    """``(moves + 2,)``: where the moves begin that may follow each move; the last list contains the possible first
    moves.
    """
    moves: Words

    @classmethod
    def of(cls, listed: Sequence[Sequence[int]]) -> "Followers":
        """Return the arrays for the lists of moves from `followers`."""
        return cls(
            at=np.cumsum([0, *map(len, listed)]).astype(np.uint64),
            moves=np.array([move for own in listed for move in own], dtype=np.uint64),
        )


class MoveEffects(NamedTuple):
    """The moves as changes of labels, to tell which paths end at the goal."""

    of_moves: Numbers
    """``(moves, 2, places)``: for each place, the place from which it gets its label, and the number added."""
    moduli: Numbers
    """``(places,)``: the number of values of each place; sums are taken modulo this number."""


class BlockPath(NamedTuple):
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
    taken: Words
    """``(bound,)``: scratch memory for the moves of a path."""
    labels: Labels
    """``(3, places)``: the position to solve, and scratch memory for two positions."""
    tally: Numbers
    found: Words
    """``(paths, bound)``: the moves of the paths found, while there is room."""

    @classmethod
    def of(cls, root: Labels, depth: int, room: int, views: ViewArrays, found: Words) -> "BlockPath":
        """Return empty blocks of ``room`` positions, for paths of ``depth`` moves from a position ``(places,)``."""
        shape = depth + 1, room
        return cls(
            size=np.zeros(depth + 1, dtype=np.uint64),
            tried=np.zeros(depth + 1, dtype=np.uint64),
            parent=np.zeros(shape, dtype=np.uint32),
            move=np.zeros(shape, dtype=np.uint32),
            number=np.zeros(room, dtype=np.int64),
            digits=np.zeros((*shape, len(views.digits)), dtype=np.uint32),
            view_bounds=np.zeros((*shape, len(views.begin)), dtype=np.uint8),
            taken=np.zeros(depth, dtype=np.uint64),
            labels=np.tile(root, (3, 1)),
            tally=np.array(TALLY),
            found=found,
        )


@kernel
def find_digits(
    digits: NDArray[np.uint32],
    parent: NDArray[np.uint32],
    move: NDArray[np.uint32],
    depth: np.uint64,
    kept: np.uint64,
    first_digit: np.uint64,
    end: np.uint64,
    moves: np.uint64,
    meta: Words,
    after: NDArray[np.uint16 | np.uint32],
) -> None:
    """Compute the digits ``first_digit`` to ``end - 1`` of a block's positions; the puzzle has ``moves`` moves."""
    above = depth - ONE
    for d in range(first_digit, end):
        for k in range(kept):
            before, m = digits[above, parent[depth, k]], np.uint64(move[depth, k])
            digits[depth, k, d] = digit_after(before, np.uint64(d), m, moves, meta, after)


@kernel
def digit_after(
    digits: NDArray[np.uint32],
    d: np.uint64,
    move: np.uint64,
    moves: np.uint64,
    meta: Words,
    after: NDArray[np.uint16 | np.uint32],
) -> np.uint32:
    """Return a digit of a position with these digits after a move."""
    digit, first, row = np.uint64(digits[d]), meta[d, FIRST], meta[d, ROW]
    if row == NO_ROW:
        return np.uint32(after[first + digit * moves + move])
    number = np.uint64(after[meta[d, FIRST_MAP] + np.uint64(digits[row]) * moves + move])
    return np.uint32(after[first + number * meta[d, WIDTH] + digit])


@kernel
def follow_digits(
    path: BlockPath, depth: np.uint64, kept: np.uint64, start: np.uint64, moves: np.uint64, views: ViewArrays
) -> None:
    """Compute the digits of a block's positions from the digits of their predecessors at the depth ``start``.

    The puzzle has ``moves`` moves.
    """
    digits, taken, meta, after = path.digits, path.taken, views.digits, views.after
    for k in range(kept):
        at, above = np.uint64(k), depth
        while above > start:
            taken[above - ONE], at = np.uint64(path.move[above, at]), np.uint64(path.parent[above, at])
            above -= ONE
        digits[depth, k] = digits[start, at]
        for level in range(start, depth):
            m = taken[level]
            for q in range(np.uint64(len(meta))):
                d = np.uint64(len(meta)) - ONE - np.uint64(q)  # a column changes before its row
                digits[depth, k, d] = digit_after(digits[depth, k], d, m, moves, meta, after)


@kernel
def paths_found(
    path: BlockPath, kept: np.uint64, split: np.uint64, goal: Labels, effects: MoveEffects, every: bool
) -> bool:
    """Record the paths that end at the goal, among the first ``kept`` positions of the last depth.

    Returns True if a path was found and one path is enough.
    """
    taken, tally, found, labels = path.taken, path.tally, path.found, path.labels
    move, parent, number, of_moves, moduli = path.move, path.parent, path.number, effects.of_moves, effects.moduli
    if kept > ZERO:
        tally[NEXT_BOUND] = min(tally[NEXT_BOUND], np.int64(len(taken)) + 1)
    for k in range(kept):
        at, first, depth = np.uint64(k), ZERO, np.uint64(len(taken))
        while depth > ZERO:
            this, at = np.uint64(move[depth, at]), np.uint64(parent[depth, at])
            depth -= ONE
            taken[depth] = this
            first = at if depth == split else first
        if leads_to_goal(labels, taken, goal, of_moves, moduli):
            tally[NODE] = number[first]
            tally[FOUND] += 1
            if not every or is_first_sequence(labels, taken, of_moves, moduli):
                if tally[DISTINCT] < len(found):
                    found[tally[DISTINCT]] = taken
                tally[DISTINCT] += 1
            if not every:
                return True
    return False


@kernel
def leads_to_goal(labels: Labels, taken: Words, goal: Labels, of_moves: Numbers, moduli: Numbers) -> bool:
    """Return whether the moves ``taken`` lead from the position in the first row of ``labels`` to the goal.

    The moves are undone for one place of the goal after another, because most positions differ from the goal in one of
    the first places.
    """
    for p in range(np.uint64(len(goal))):
        place, label, left = np.uint64(p), np.int64(goal[p]), np.uint64(len(taken))
        while left > ZERO:
            left -= ONE
            label -= of_moves[taken[left], ONE, place]
            label += moduli[p] if label < 0 else 0
            place = np.uint64(of_moves[taken[left], ZERO, place])
        if np.int64(labels[ZERO, place]) != label:
            return False
    return True


@kernel
def is_first_sequence(labels: Labels, taken: Words, of_moves: Numbers, moduli: Numbers) -> bool:
    """Return whether no lexicographically smaller sequence of moves passes the same positions as the moves ``taken``.

    If pieces are identical, several moves may lead from a position to the same successor. So several sequences of moves
    may pass the positions of one shortest path. The search finds all of them, except sequences in which a move could be
    replaced by an earlier move with the same effect. Since only the first sequence is counted, each path is counted
    exactly once. The last two rows of ``labels`` are overwritten.
    """
    now, then = ONE, TWO
    labels[now] = labels[ZERO]
    for move in taken:
        for earlier in range(move):
            if lead_to_same(labels, now, np.uint64(earlier), move, of_moves, moduli):
                return False
        for p in range(np.uint64(labels.shape[1])):
            label = np.int64(labels[now, np.uint64(of_moves[move, ZERO, p])]) + of_moves[move, ONE, p]
            labels[then, p] = label - moduli[p] if label >= moduli[p] else label
        now, then = then, now
    return True
