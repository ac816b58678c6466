"""One partition of the search: its state as a value, and the tasks that make the next one of it.

Running a task twice is harmless: it reads the states that it is given, and what it changes in place, the depths,
are bytes that it would write again.
"""

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from antipodes.arrays import UNREACHED, Bitmap, Depths, words
from antipodes.kernels import expand, mark, recover, settle
from antipodes.moves import ILLEGAL, MoveTables


class State(NamedTuple):
    """What a partition knows after a layer; all arrays cover its rows."""

    first_row: int
    frontier: Bitmap
    """The positions at the last depth."""
    visited: Bitmap | None
    """All positions reached; None in a copy for other partitions."""
    depths: Depths | None
    """``(rows, width)``; None where the store alone holds the depths."""
    found: int
    """How many positions the frontier has."""


def begin(first_row: int, rows: int, width: int, starts: NDArray[np.int64], dtype: str, hold_depths: bool) -> State:
    """The state at depth 0: the frontier is those of the ``starts``, indices, that lie in the partition."""
    here = starts[(starts >= first_row * width) & (starts < (first_row + rows) * width)] - first_row * width
    frontier = np.zeros((rows, words(width)), dtype=np.uint64)
    row, column = np.divmod(here, width)
    np.bitwise_or.at(frontier, (row, column // 64), np.uint64(1) << (column % 64).astype(np.uint64))
    depths = np.full((rows, width), UNREACHED[dtype], dtype=dtype) if hold_depths else None
    if depths is not None:
        depths[row, column] = 0
    return State(first_row, frontier, frontier.copy(), depths, len(here))


def restore(first_row: int, depths: Depths, depth: int, hold_depths: bool) -> State:
    """The state at ``depth``, from the depths in the store."""
    frontier = np.zeros((depths.shape[0], words(depths.shape[1])), dtype=np.uint64)
    visited = np.zeros_like(frontier)
    recover(depths, depth, frontier, visited)
    size = int(np.bitwise_count(frontier).sum())
    return State(first_row, frontier, visited, depths if hold_depths else None, size)


def advance(state: State, sources: Sequence[State], tables: MoveTables, depth: int) -> State:
    """The state at ``depth``, from that before it and those of all partitions that move into this one."""
    assert state.visited is not None
    visited = state.visited.copy()
    frontier = np.zeros_like(visited)
    for source in sources:
        rows = slice(source.first_row, source.first_row + len(source.frontier))
        expand(
            frontier,
            state.first_row,
            source.frontier,
            tables.target[rows],
            tables.shuffle[rows],
            tables.shuffles,
        )
    new = int(settle(frontier, visited))
    if state.depths is not None and new:
        mark(state.depths, frontier, depth)
    return State(state.first_row, frontier, visited, state.depths, new)


def for_others(state: State) -> State:
    """What other partitions need of the state: the frontier."""
    return state._replace(visited=None, depths=None)


def found(state: State) -> int:
    """How many positions the frontier has."""
    return state.found


def sources(reached: Sequence[Sequence[int]]) -> list[list[int]]:
    """From which partitions moves lead into each, by number in ascending order: `reaches` turned round."""
    into: list[list[int]] = [[] for _ in reached]
    for source, numbers in enumerate(reached):
        for number in numbers:
            into[number].append(source)
    return into


def reaches(tables: MoveTables, bounds: Sequence[int]) -> list[list[int]]:
    """Which partitions the moves of each partition lead to, by number in ascending order.

    The ``bounds`` are the first row of each partition, and the row behind the last one.
    """
    partition_of = np.repeat(np.arange(len(bounds) - 1), np.diff(bounds))
    reached = []
    for first, end in pairwise(bounds):
        target = tables.target[first:end]
        reached.append(np.unique(partition_of[target[target != ILLEGAL]]).tolist())
    return reached
