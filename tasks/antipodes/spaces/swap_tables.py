"""The move tables of single pieces that go to empty places: their size, and the blocks in which they are filled."""

from collections.abc import Callable, Sequence
from functools import partial
from math import prod
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from antipodes.puzzles.puzzle import Puzzle, Swaps
from antipodes.spaces.arrangements import Index

BLOCK = 1 << 23
"""Entries that are filled in one go, in some 20 ms: so soon an interruption is answered."""
COLUMNS_AT_ONCE = 64
"""Columns whose sums are held at once: a line of each column map is then written as a whole."""

if TYPE_CHECKING:
    from antipodes.spaces.swap_kernels import Graph

Fill = Callable[[], None]


def most_moves(puzzle: Puzzle, moves: Swaps) -> int:
    """At least as many moves as any position allows.

    Those onto an empty place are no more than the most that lead to as many places as are empty, nor than the most
    that leave as many as are occupied.
    """
    origins, destinations = (np.sort(np.bincount(ends, minlength=puzzle.places))[::-1] for ends in moves.pairs.T)
    empty = puzzle.counts[0]
    return int(min(destinations[:empty].sum(), origins[: puzzle.places - empty].sum()))


def map_numbers(puzzle: Puzzle, moves: Swaps, index: Index) -> tuple[NDArray[np.int64], int]:
    """Where the column maps of pieces begin that pass so many free places up or down, and how many maps there are.

    The numbers ``(2, free places)`` count from 1, since map 0 is the identity; -1 where no piece does that. A piece
    passes at most the free places between its ends, and at least those that the row's own cannot fill.
    """
    free = sum(index.column_counts)
    firsts = np.full((2, max(1, free)), -1, dtype=np.int64)
    count = 1
    if index.width == 1:
        return firsts, count
    others = puzzle.places - 1 - free
    origins, destinations = moves.pairs.T.astype(np.int64)
    for shifted in np.flatnonzero(np.bincount(destinations - origins + puzzle.places)).tolist():
        step = shifted - puzzle.places
        between = abs(step) - 1
        for passed in range(max(1, between - others), min(between, free - 1) + 1):
            direction = int(step < 0) if passed > 1 else 0  # two neighbours swap either way
            if firsts[direction, passed] < 0:
                firsts[direction, passed] = count
                count += free - passed
    firsts[1, 1:2] = firsts[0, 1:2]
    return firsts, count


def fills(
    puzzle: Puzzle,
    moves: Swaps,
    index: Index,
    target: NDArray[np.int32],
    column_map: NDArray[np.int16] | NDArray[np.int32],
    column_maps: NDArray[np.int32],
) -> list[Fill]:
    """The calls that fill the tables; each may run in a thread of its own."""
    from antipodes.spaces.ranking import numbering
    from antipodes.spaces.swap_kernels import fill_columns, fill_rows  # compiled, so not loaded by those who plan

    firsts, _ = map_numbers(puzzle, moves, index)
    rows, graph = numbering(index.row_counts), _graph(puzzle, moves)
    a_row = target.shape[1] + 2 * puzzle.places * len(index.row_counts)
    calls: list[Fill] = [
        partial(fill_rows, target[first:end], column_map[first:end], first, rows, graph, firsts)
        for first, end in _blocks(index.rows, a_row)
    ]
    if index.width > 1:
        columns = numbering(index.column_counts)
        a_column = len(column_maps) + 2 * firsts.shape[1] * len(index.column_counts)
        blocks = _blocks(index.width, a_column, COLUMNS_AT_ONCE)
        calls += [partial(fill_columns, column_maps, first, end, columns, firsts) for first, end in blocks]
    return calls


def filling_bytes(puzzle: Puzzle, moves: Swaps, index: Index) -> int:
    """At least as many bytes as a thread that fills the tables takes besides them, and what all threads share."""
    free, kinds = sum(index.column_counts), len(index.column_counts)
    a_column = COLUMNS_AT_ONCE * (free + 1) * 8 * (2 * kinds + 3)
    a_row = (puzzle.places + 1) * 8 * (2 * len(index.row_counts) + 5)
    shared = _numbering_bytes(index.row_counts) + _numbering_bytes(index.column_counts) + 32 * len(moves)
    return a_column + a_row + shared


def _numbering_bytes(counts: Sequence[int]) -> int:
    """What an `antipodes.spaces.ranking.Numbering` takes while it is made, at most."""
    states, places, kinds = prod(count + 1 for count in counts), sum(counts), len(counts)
    return 8 * (states * (3 * kinds + 8) + 3 * (places + 1) * (max(counts) + 2))


def _graph(puzzle: Puzzle, moves: Swaps) -> "Graph":
    """The ways of pieces by the kind of places, empty or not, of which there are fewer."""
    from antipodes.spaces.swap_kernels import Graph

    by_destination = 2 * puzzle.counts[0] <= puzzle.places
    ends = moves.pairs[:, 0 if by_destination else 1]
    grouped = moves.pairs[:, 1 if by_destination else 0]
    order = np.argsort(grouped, kind="stable")
    at = np.searchsorted(grouped[order], np.arange(puzzle.places + 1)).astype(np.int64)
    return Graph(at, ends[order].astype(np.uint16), by_destination)


def _blocks(size: int, entries: int, least: int = 1) -> list[tuple[int, int]]:
    """Ranges of rows or columns, of so many entries each, that are filled in one go."""
    step = max(least, BLOCK // entries)
    return [(first, min(first + step, size)) for first in range(0, size, step)]
