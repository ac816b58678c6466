"""One partition of the search: its state after a layer, and the step to the next layer.

The step is idempotent. It changes only the depths in place, and a second time writes the same bytes there.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from antipodes.bfs.arrays import UNREACHED, Bitmap, Depths, words
from antipodes.bfs.direction import pull_is_cheaper
from antipodes.bfs.kernels import boundary_lines, expand, mark, pull, reached_ranges, recover, settle
from antipodes.bfs.rows import Partition
from antipodes.spaces.move_tables import MoveTables

RECENT = 16
"""Layers of which a state remembers the number of positions: at least as many as a task advances together."""


@dataclass(frozen=True, eq=False, slots=True)
class State:
    """A partition after a layer; immutable but for the depths, which all states of a partition share."""

    number: int
    first_row: int
    rows: NDArray[np.int32]
    """``(lines,)``: the row of each line of the frontier: some rows of the partition in a boundary, else all."""
    frontier: Bitmap
    """``(lines, words)``: the positions at the last depth that has any."""
    visited: Bitmap | None
    """``(rows, words)``: all positions reached; None in a boundary."""
    depths: Depths | None
    """``(rows, width)``; None in a boundary, and where only the store holds the depths."""
    found: tuple[tuple[int, int], ...]
    """Depth and number of positions of the last layers that have any. The frontier is the last of them; it is empty
    in a state that was restored at a greater depth."""
    unvisited: int
    """The number of positions of the partition that are not reached yet."""

    def __sizeof__(self) -> int:
        """Bytes that dask counts, with half of the depths only.

        While a layer is computed, dask counts the states before and after it, which share their depths. If it counted
        these twice, it would move states to disk although memory is not short.
        """
        visited = 0 if self.visited is None else self.visited.nbytes
        depths = 0 if self.depths is None else self.depths.nbytes // 2
        return self.rows.nbytes + self.frontier.nbytes + visited + depths

    @property
    def depth(self) -> int:
        """The depth of the last layer that has any position; -1 if no position is reached yet."""
        return self.found[-1][0] if self.found else -1


def begin(part: Partition, width: int, starts: NDArray[np.int64], dtype: str, hold_depths: bool) -> State:
    """The state at depth 0: the frontier holds the ``starts``, indices ``(n,)``, that lie in the partition."""
    here = starts[(starts >= part.first_row * width) & (starts < part.end_row * width)] - part.first_row * width
    frontier = np.zeros((part.rows, words(width)), dtype=np.uint64)
    row, column = np.divmod(here, width)
    np.bitwise_or.at(frontier, (row, column // 64), np.uint64(1) << (column % 64).astype(np.uint64))
    depths = np.full((part.rows, width), UNREACHED[dtype], dtype=dtype) if hold_depths else None
    if depths is not None:
        depths[row, column] = 0
    found, unvisited = _found(0, len(here)), part.rows * width - len(here)
    return State(part.number, part.first_row, _rows(part), frontier, frontier.copy(), depths, found, unvisited)


def restore(part: Partition, depths: Depths, depth: int, hold_depths: bool) -> State:
    """The state at ``depth``, from the committed depths ``(rows, width)``, none of them greater.

    It remembers the number of positions in all layers.
    """
    frontier = np.zeros((depths.shape[0], words(depths.shape[1])), dtype=np.uint64)
    visited = np.zeros_like(frontier)
    counts = np.zeros(depth + 1, dtype=np.int64)
    recover(depths, depth, frontier, visited, counts)
    found = tuple((at, count) for at, count in enumerate(counts.tolist()) if count)
    held = depths if hold_depths else None
    unvisited = depths.size - int(counts.sum())
    return State(part.number, part.first_row, _rows(part), frontier, visited, held, found, unvisited)


def advance(state: State, predecessors: Sequence[State], tables: MoveTables, depth: int) -> State:
    """The state at ``depth``, from the state before it and the frontiers that lead to it; itself if nothing is new."""
    assert state.visited is not None
    if not state.unvisited:
        return state
    incoming, moves = np.zeros_like(state.visited), (tables.target, tables.column_map, tables.column_maps)
    pulls = tables.undirected and _pulls(state, predecessors, tables)
    for before in predecessors:
        if pulls:
            pull(incoming, state.visited, state.first_row, before.frontier, before.rows, *moves)
        else:
            expand(incoming, state.first_row, before.frontier, before.rows, *moves)
    new = int(settle(incoming, state.visited))
    if not new:
        return state
    if state.depths is not None:
        mark(state.depths, incoming, depth)
    found = (*state.found, *_found(depth, new))[-RECENT:]
    visited = state.visited | incoming
    return replace(state, frontier=incoming, visited=visited, found=found, unvisited=state.unvisited - new)


def _pulls(state: State, predecessors: Sequence[State], tables: MoveTables) -> bool:
    """Whether to pull the frontiers; the partitions that they come from are about as large as this one."""
    frontier = unvisited = 0
    for before in predecessors:
        frontier += before.found[-1][1]
        unvisited += before.unvisited
    number = max(1, len(predecessors))
    return pull_is_cheaper(frontier / number, unvisited / number, state.unvisited, tables.target.shape[1])


def boundary(state: State, tables: MoveTables, first_row: int, end_row: int) -> State:
    """The part of the frontier from which a move leads out of the rows ``first_row`` to ``end_row``."""
    lines = boundary_lines(state.frontier, state.rows, tables.target, first_row, end_row)
    return replace(state, rows=state.rows[lines], frontier=state.frontier[lines], visited=None, depths=None)


def _rows(part: Partition) -> NDArray[np.int32]:
    return np.arange(part.first_row, part.end_row, dtype=np.int32)


def _found(depth: int, count: int) -> tuple[tuple[int, int], ...]:
    return ((depth, count),) if count else ()


def successors(tables: MoveTables, bounds: Sequence[int]) -> list[list[int]]:
    """For each partition the partitions that its moves lead to, by number in ascending order.

    The ``bounds`` are the first row of each partition, and the row past the end of the last one.
    """
    edges = np.array(bounds, dtype=np.int64)
    return [np.flatnonzero(reached_ranges(tables.target[first:end], edges)).tolist() for first, end in pairwise(bounds)]


def predecessors(successors: Sequence[Sequence[int]]) -> list[list[int]]:
    """For each partition the partitions whose moves lead to it, by number in ascending order; from the `successors`."""
    into: list[list[int]] = [[] for _ in successors]
    for source, numbers in enumerate(successors):
        for number in numbers:
            into[number].append(source)
    return into
