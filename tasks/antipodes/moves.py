"""The moves of a puzzle as three small arrays: to which row, and how the columns are shuffled."""

from collections import Counter
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from antipodes.index import BATCH, Index, rank_arrangements, rank_rearranged, unrank_arrangements
from antipodes.puzzles.puzzle import Move, Puzzle

ILLEGAL = -1
_HASH_SEED = 0x5EED


class MoveTables(NamedTuple):
    """The successor of ``(row, column)`` by move ``m`` is ``(target[row, m], shuffles[shuffle[row, m], column])``.

    The legal moves of a row come first; which of the puzzle's moves they are is not kept.
    """

    target: NDArray[np.int32]
    """``(rows, moves)``: the row that a move leads to; ILLEGAL behind the last legal move."""
    shuffle: NDArray[np.int16]
    """``(rows, moves)``: which of the shuffles applies; 0 is the identity."""
    shuffles: NDArray[np.int32]
    """``(shuffles, width)``: the column that each column goes to."""


class _Step(NamedTuple):
    """What one move does to the rows that allow it."""

    rows: NDArray[np.intp]
    target: NDArray[np.int64]
    free_origin: NDArray[np.int16]
    """``(rows, free)``: which of the free places, in relative order, each free place gets its piece from."""


def move_tables(puzzle: Puzzle, index: Index) -> MoveTables:
    """The move tables of a puzzle under an index whose rows hold at least the empty places."""
    patterns = unrank_arrangements(np.arange(index.rows), index.row_counts)
    relative = np.cumsum(patterns == index.leading, axis=1, dtype=np.int16) - np.int16(1)
    occupied = np.ascontiguousarray((patterns != 0).T)  # a place a line: most moves look at two of many
    steps = [
        _step(move, np.flatnonzero(move.legal_where(occupied)), patterns, relative, index) for move in puzzle.moves
    ]
    distinct, numbers = _distinct([step.free_origin for step in steps], sum(index.column_counts))
    slots = _slots(steps, index.rows)
    most = 1 + max((int(slot.max(initial=-1)) for slot in slots), default=-1)
    target = np.full((index.rows, most), ILLEGAL, dtype=np.int32)
    shuffle = np.zeros((index.rows, most), dtype=np.int16)
    for step, slot, number in zip(steps, slots, numbers, strict=True):
        target[step.rows, slot] = step.target
        shuffle[step.rows, slot] = number
    return MoveTables(target, shuffle, _shuffles(distinct, index))


def most_moves(puzzle: Puzzle) -> int:
    """At least as many moves as any position allows.

    Those onto an empty place are no more than the most that lead to as many places as are empty, nor than the most
    that leave as many as are occupied.
    """
    exchanges = [move for move in puzzle.moves if move.empty and move.occupied]
    onto = Counter(move.empty[0] for move in exchanges).most_common(puzzle.counts[0])
    away = Counter(move.occupied[0] for move in exchanges).most_common(puzzle.places - puzzle.counts[0])
    fewer = min(sum(number for _, number in onto), sum(number for _, number in away))
    return len(puzzle.moves) - len(exchanges) + fewer


def most_shuffles(puzzle: Puzzle, index: Index) -> int:
    """At least as many shuffles as the moves of a puzzle make.

    A piece that goes from one place to another passes the free places between them. A move of several pieces is not
    looked into: each row may have its own shuffle.
    """
    if any(len(move.cycles) != 1 or len(move.cycles[0]) != 2 or not move.empty for move in puzzle.moves):
        return min(index.rows * most_moves(puzzle), len(puzzle.moves) * index.rows) + 1
    free = sum(index.column_counts)
    others_taken = puzzle.places - 1 - free
    passed: set[tuple[bool, int]] = set()
    for move in puzzle.moves:
        a, b = move.cycles[0]
        between = abs(a - b) - 1
        fewest, most = max(1, between - others_taken), min(between, free - 1)
        passed.update((a < b, number) for number in range(fewest, most + 1))
    return 1 + sum(free - number for _, number in passed)


def table_bytes(puzzle: Puzzle, index: Index) -> int:
    """At least as many bytes as the move tables take."""
    return index.rows * most_moves(puzzle) * 6 + most_shuffles(puzzle, index) * index.width * 4


def building_bytes(puzzle: Puzzle, index: Index) -> int:
    """At least as many bytes as lie in memory, besides the tables, while they are built.

    For each row its pattern and the relative order of its places, for each move of a row what a `_Step` holds; twice
    that for the intermediate results of a move, which are those of all rows at the most.
    """
    free = sum(index.column_counts)
    return index.rows * (4 * puzzle.places + most_moves(puzzle) * (2 * free + 40) + 4 * puzzle.places + 2 * free + 40)


def _step(
    move: Move, rows: NDArray[np.intp], patterns: NDArray[np.uint8], relative: NDArray[np.int16], index: Index
) -> _Step:
    """What the move does to the rows; ``relative`` numbers the free places of each pattern in their order."""
    origin = move.origin(patterns.shape[1])
    places = np.flatnonzero(origin != np.arange(len(origin)))  # few, so that the others are not shuffled around
    after, origins = patterns[rows], relative[rows]
    after[:, places] = after[:, origin[places]]
    origins[:, places] = origins[:, origin[places]]
    target = rank_arrangements(after, index.row_counts)
    free_origin = origins[after == index.leading].reshape(len(rows), sum(index.column_counts))
    return _Step(rows, target, free_origin)


def _slots(steps: list[_Step], rows: int) -> list[NDArray[np.intp]]:
    """Where in its row each move goes, so that the legal ones stand side by side."""
    used = np.zeros(rows, dtype=np.intp)
    slots = []
    for step in steps:
        slots.append(used[step.rows])
        used[step.rows] += 1
    return slots


def _distinct(
    permutations: list[NDArray[np.int16]], free: int
) -> tuple[list[NDArray[np.int16]], list[NDArray[np.intp]]]:
    """The different rows of the arrays, the identity first, and for each array which of them its rows are.

    Rows are told apart by a hash; that no two different ones share it is checked.
    """
    weights = np.random.default_rng(_HASH_SEED).integers(1 << 62, size=free, dtype=np.int64)
    identity = np.arange(free, dtype=np.int16)
    seen = {int(identity @ weights): 0}
    distinct, numbers = [identity], []
    for permutation in permutations:
        hashes, first, inverse = np.unique(permutation @ weights, return_index=True, return_inverse=True)
        for one, row in zip(hashes.tolist(), first, strict=True):
            if one not in seen:
                seen[one] = len(distinct)
                distinct.append(permutation[row])
        numbers.append(np.array([seen[one] for one in hashes.tolist()], dtype=np.intp)[inverse])
    found = np.array(distinct)
    if any((found[number] != permutation).any() for number, permutation in zip(numbers, permutations, strict=True)):
        raise ArithmeticError("two different shuffles have the same hash: choose another seed")
    return distinct, numbers


def _shuffles(distinct: list[NDArray[np.int16]], index: Index) -> NDArray[np.int32]:
    shuffles = np.empty((len(distinct), index.width), dtype=np.int32)
    for first in range(0, index.width, BATCH):
        batch = slice(first, min(first + BATCH, index.width))
        columns = unrank_arrangements(np.arange(batch.start, batch.stop), index.column_counts)
        shuffles[:, batch] = rank_rearranged(columns, np.array(distinct), index.column_counts)
    return shuffles
