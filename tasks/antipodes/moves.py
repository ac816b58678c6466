"""The moves of a puzzle as three small arrays: to which row, and how the columns are shuffled."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from antipodes.index import Index, rank_arrangements, unrank_arrangements
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
    free_origin: NDArray[np.intp]
    """``(rows, free)``: which of the free places, in relative order, each free place gets its piece from."""


def move_tables(puzzle: Puzzle, index: Index) -> MoveTables:
    """The move tables of a puzzle under an index whose rows hold at least the empty places."""
    patterns = unrank_arrangements(np.arange(index.rows), index.row_counts)
    steps = [_step(move, patterns, index) for move in puzzle.moves]
    steps = [step for step in steps if len(step.rows)]
    distinct, which = _distinct([step.free_origin for step in steps], sum(index.column_counts))
    slots = _slots(steps, index.rows)
    most = 1 + max((int(slot.max()) for slot in slots), default=-1)
    target = np.full((index.rows, most), ILLEGAL, dtype=np.int32)
    shuffle = np.zeros((index.rows, most), dtype=np.int16)
    for step, slot, shuffle_of in zip(steps, slots, which, strict=True):
        target[step.rows, slot] = step.target
        shuffle[step.rows, slot] = shuffle_of
    return MoveTables(target, shuffle, _shuffles(distinct, index))


def _step(move: Move, patterns: NDArray[np.uint8], index: Index) -> _Step:
    rows = np.flatnonzero(move.legal(patterns))
    origin = move.origin(patterns.shape[1])
    before = patterns[rows]
    after = before[:, origin]
    target = rank_arrangements(after, index.row_counts)
    relative = np.cumsum(before == index.leading, axis=1) - 1
    free_origin = relative[:, origin][after == index.leading].reshape(len(rows), -1)
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
    permutations: list[NDArray[np.intp]], free: int
) -> tuple[NDArray[np.intp], list[NDArray[np.intp]]]:
    """The different rows of the arrays, the identity first, and for each array which of them its rows are.

    Rows are told apart by a hash; that no two different ones share it is checked.
    """
    weights = np.random.default_rng(_HASH_SEED).integers(1 << 62, size=free, dtype=np.int64)
    hashes = [permutation @ weights for permutation in permutations]
    identity = np.arange(free)
    keys, first = np.unique(
        np.concatenate([[identity @ weights], *hashes]), return_index=True
    )
    order = np.argsort(first != 0, kind="stable")
    position = np.empty_like(order)
    position[order] = np.arange(len(order))
    distinct = np.concatenate([identity[np.newaxis], *permutations])[first[order]]
    which = [position[np.searchsorted(keys, one)] for one in hashes]
    for permutation, number in zip(permutations, which, strict=True):
        if not np.array_equal(distinct[number], permutation):
            raise AssertionError("two shuffles share a hash; change the seed")
    return distinct, which


def _shuffles(distinct: NDArray[np.intp], index: Index) -> NDArray[np.int32]:
    columns = unrank_arrangements(np.arange(index.width), index.column_counts)
    shuffled = [rank_arrangements(columns[:, origin], index.column_counts) for origin in distinct]
    return np.array(shuffled, dtype=np.int32).reshape(len(distinct), index.width)
