"""Distances to goals: the minimum number of moves from each entry of a space to the nearest of some goals."""

import numpy as np
from numpy.typing import NDArray

from antipodes_tasks.base.jit import kernel
from antipodes_tasks.bfs.successors import ENDED, successor
from antipodes_tasks.move_tables import ILLEGAL, ColumnMap, ColumnMaps, Indices, MoveTables

UNREACHED = -1
"""The distance of entries from which no goal is reachable."""
BYTES = 4
"""Memory per entry, in bytes."""
BUDGET = 1 << 20
"""Product of the numbers of entries and moves in one call of the kernel; interruptions are handled between calls."""


def goal_distances(tables: MoveTables, goals: Indices) -> NDArray[np.int32]:
    """Return the minimum number of moves from each entry ``(n,)`` to a goal, or UNREACHED.

    If moves are reversible, the entries of a layer mark their successors; otherwise, every unreached entry tests its
    successors.
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
    column_maps: ColumnMaps,
    undirected: bool,
    distance: NDArray[np.int32],
    depth: int,
    begin: int,
    end: int,
) -> int:
    """Set the distance of the entries one move before the layer at ``depth``; return the number of these entries.

    Only entries from ``begin`` to ``end - 1`` are expanded. If the moves are ``undirected``, these are the entries of
    the layer; otherwise, the unreached entries.
    """
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
