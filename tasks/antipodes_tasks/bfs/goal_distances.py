"""How far all entries of a space are from the nearest of some goals: the number of moves to it, not from it."""

import numpy as np
from numpy.typing import NDArray

from antipodes_tasks.bfs.successors import ENDED, successor
from antipodes_tasks.jit import kernel
from antipodes_tasks.spaces.move_tables import ILLEGAL, ColumnMap, Indices, MoveTables

UNREACHED = -1
"""The distance of entries that reach no goal."""
BYTES = 4
"""Memory of an entry."""
BUDGET = 1 << 20
"""Entries times moves that one call of the kernel looks at, after which an interruption is answered."""


def goal_distances(tables: MoveTables, goals: Indices) -> NDArray[np.int32]:
    """The fewest moves from each entry ``(n,)`` to a goal, or UNREACHED.

    Where moves can be undone, a layer marks its successors; else each entry that is left looks at its own.
    """
    width = tables.column_maps.shape[1]
    distance = np.full(len(tables.target) * width, UNREACHED, dtype=np.int32)
    distance[goals] = 0
    step = max(1, BUDGET // (max(1, tables.target.shape[1])))
    moves, depth, found = (tables.target, tables.column_map, tables.column_maps), 0, len(goals)
    while found:
        found = sum(
            _next_layer(*moves, tables.undirected, distance, depth, begin, min(begin + step, len(distance)))
            for begin in range(0, len(distance), step)
        )
        depth += 1
    return distance


@kernel
def _next_layer(
    target: NDArray[np.int32],
    column_map: ColumnMap,
    column_maps: NDArray[np.int32],
    undirected: bool,
    distance: NDArray[np.int32],
    depth: int,
    begin: int,
    end: int,
) -> int:
    """Find the entries one move before those at a depth, as far as some entries tell; how many there are."""
    found = 0
    for entry in range(begin, end):
        if distance[entry] != (depth if undirected else UNREACHED):
            continue
        for move in range(target.shape[1]):
            there = successor(target, column_map, column_maps, entry, move)
            if there == ENDED:
                break
            if there == ILLEGAL:
                continue
            if undirected and distance[there] == UNREACHED:
                distance[there] = depth + 1
                found += 1
            elif not undirected and distance[there] == depth:
                distance[entry] = depth + 1
                found += 1
                break
    return found
