"""Breadth-first search along move tables: with numpy alone, and by the engine in one partition."""

import numpy as np

from antipodes.bfs.partition import advance, begin
from antipodes.bfs.rows import Partition
from antipodes.spaces.move_tables import MoveTables


def layers_by_tables(tables: MoveTables, start: int = 0) -> list[int]:
    """The number of positions at each depth from the position with the index ``start``; all moves must be legal."""
    width = tables.column_maps.shape[1]
    reached = np.zeros(len(tables.target) * width, dtype=np.bool_)
    reached[start] = True
    frontier, found = np.array([start]), []
    while len(frontier):
        found.append(len(frontier))
        rows, columns = np.divmod(frontier, width)
        new = []
        for move in range(tables.target.shape[1]):
            numbers = tables.column_map[rows, move] if width > 1 else 0
            after = tables.target[rows, move].astype(np.int64) * width + tables.column_maps[numbers, columns]
            fresh = after[~reached[after]]  # each move is a bijection, so no index occurs twice
            reached[fresh] = True
            new.append(fresh)
        frontier = np.concatenate(new) if new else frontier[:0]
    return found


def layers_by_engine(tables: MoveTables) -> list[int]:
    """The number of positions at each depth from the first position."""
    rows, width = len(tables.target), tables.column_maps.shape[1]
    state = begin(Partition(0, 0, rows), width, np.array([0]), "uint8", False)
    found = [1]
    while True:
        state = advance(state, [state], tables, len(found))
        if state.depth < len(found):
            return found
        found.append(state.found[-1][1])
