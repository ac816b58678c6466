"""One partition of the search: its state as a value, and how the next one is made of it.

Doing that twice is harmless: it reads the states that it is given, and what it changes in place, the depths,
are bytes that it would write again.
"""

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from antipodes.bfs.arrays import UNREACHED, Bitmap, Depths, words
from antipodes.bfs.kernels import expand, is_full, leaving, mark, reached_ranges, recover, settle
from antipodes.spaces.move_tables import MoveTables

RECENT = 16
"""A state remembers how many positions it found in so many layers: in all those that may be asked for at once."""


class State(NamedTuple):
    """What a partition knows after a layer."""

    number: int
    first_row: int
    rows: NDArray[np.int32]
    """``(lines,)``: which row each line of the frontier is: all rows of the partition, but in a copy for others."""
    frontier: Bitmap
    """``(lines, words)``: the positions at the last depth at which there were any."""
    visited: Bitmap | None
    """All positions reached, a line a row; None in a copy for other partitions."""
    depths: Depths | None
    """``(rows, width)``; None where the store alone holds the depths."""
    found: tuple[tuple[int, int], ...]
    """Depth and number of positions, of the last layers that had any. The frontier is empty in a state that was
    restored at a greater depth than the last of them, else it is the last of them."""

    @property
    def depth(self) -> int:
        """That of the last layer that had any position; -1 if none was reached yet."""
        return self.found[-1][0] if self.found else -1


def begin(
    number: int, first_row: int, rows: int, width: int, starts: NDArray[np.int64], dtype: str, hold_depths: bool
) -> State:
    """The state at depth 0: the frontier is those of the ``starts``, indices, that lie in the partition."""
    here = starts[(starts >= first_row * width) & (starts < (first_row + rows) * width)] - first_row * width
    frontier = np.zeros((rows, words(width)), dtype=np.uint64)
    row, column = np.divmod(here, width)
    np.bitwise_or.at(frontier, (row, column // 64), np.uint64(1) << (column % 64).astype(np.uint64))
    depths = np.full((rows, width), UNREACHED[dtype], dtype=dtype) if hold_depths else None
    if depths is not None:
        depths[row, column] = 0
    return State(number, first_row, _rows(first_row, rows), frontier, frontier.copy(), depths, _found(0, len(here)))


def restore(number: int, first_row: int, depths: Depths, depth: int, hold_depths: bool) -> State:
    """The state at ``depth``, from the depths in the store, of which none is greater; it remembers all layers."""
    frontier = np.zeros((depths.shape[0], words(depths.shape[1])), dtype=np.uint64)
    visited = np.zeros_like(frontier)
    counts = np.zeros(depth + 1, dtype=np.int64)
    recover(depths, depth, frontier, visited, counts)
    found = tuple((at, count) for at, count in enumerate(counts.tolist()) if count)
    rows = _rows(first_row, len(depths))
    return State(number, first_row, rows, frontier, visited, depths if hold_depths else None, found)


def advance(state: State, sources: Sequence[State], tables: MoveTables, depth: int) -> State:
    """The state at ``depth``, from that before it and all frontiers that lead here; itself if nothing is new."""
    assert state.visited is not None
    if is_full(state.visited, tables.column_maps.shape[1]):
        return state
    incoming = np.zeros_like(state.visited)
    for source in sources:
        expand(incoming, state.first_row, source.frontier, source.rows, *tables)
    new = int(settle(incoming, state.visited))
    if not new:
        return state
    if state.depths is not None:
        mark(state.depths, incoming, depth)
    found = (*state.found, *_found(depth, new))[-RECENT:]
    return state._replace(frontier=incoming, visited=state.visited | incoming, found=found)


def for_others(state: State, tables: MoveTables, first_row: int, end_row: int) -> State:
    """What those need of the state who have other rows than these: where the frontier moves out of them."""
    lines = leaving(state.frontier, state.rows, tables.target, first_row, end_row)
    return state._replace(rows=state.rows[lines], frontier=state.frontier[lines], visited=None, depths=None)


def _rows(first_row: int, rows: int) -> NDArray[np.int32]:
    return np.arange(first_row, first_row + rows, dtype=np.int32)


def _found(depth: int, count: int) -> tuple[tuple[int, int], ...]:
    return ((depth, count),) if count else ()


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
    edges = np.array(bounds, dtype=np.int64)
    return [np.flatnonzero(reached_ranges(tables.target[first:end], edges)).tolist() for first, end in pairwise(bounds)]
