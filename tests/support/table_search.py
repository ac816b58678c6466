"""Breadth-first search with move tables: with numpy only, and with the engine in one partition."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from antipodes_tasks.bfs.partition import Partition, State
from antipodes_tasks.move_tables import ILLEGAL, MoveTables
from antipodes_tasks.spaces.space import Space


def layers_of_space(space: Space) -> list[int]:
    """Return the number of positions at each depth, found with the move tables of a space."""
    return layers_by_tables(space.filler.filled(), space.rank(space.rules.start_labels))


def layers_by_tables(tables: MoveTables, starts: Sequence[int] | NDArray[np.int64] = (0,)) -> list[int]:
    """Return the number of positions at each depth, from the positions with the indices ``starts``."""
    width = tables.column_maps.shape[1]
    reached = np.zeros(len(tables.target) * width, dtype=np.bool_)
    frontier, found = np.unique(starts), []
    reached[frontier] = True
    while len(frontier):
        found.append(len(frontier))
        rows, columns = np.divmod(frontier, width)
        new = [frontier[:0]]
        for move in range(tables.target.shape[1]):
            target = tables.target[rows, move]
            numbers = tables.column_map[rows, move] if width > 1 else np.zeros(len(rows), dtype=np.int64)
            after = tables.column_maps[numbers, columns]
            legal = (target != ILLEGAL) & (after != ILLEGAL)
            indices = target[legal].astype(np.int64) * width + after[legal]
            new.append(np.unique(indices[~reached[indices]]))
            reached[new[-1]] = True
        frontier = np.concatenate(new)
    return found


def layers_by_engine(tables: MoveTables, starts: Sequence[int] | NDArray[np.int64] = (0,)) -> list[int]:
    """Return the same as `layers_by_tables`, found by the engine in one partition."""
    rows, width = len(tables.target), tables.column_maps.shape[1]
    state = State(Partition(0, 0, rows), width, rows)
    found = [state.begin(np.array(starts), None)]
    while (frontier := state.frontier(len(found) - 1)) is not None:
        if count := state.advance(len(found), [frontier], tables, None):
            found.append(count)
        else:
            break
    return found
