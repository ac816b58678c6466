"""Shortest paths read from a table: from a position back to a start, one predecessor at a time."""

import numpy as np

from antipodes.tables.checked_space import CheckedSpace
from antipodes.tables.store.chunks import TableChunks
from antipodes_tasks.errors import StoreDamagedError
from antipodes_tasks.rules.moves import Labels

BATCH = 1 << 14
"""Positions that are moved together."""


def shortest_path(space: CheckedSpace, chunks: TableChunks, position: Labels, distance: int) -> Labels:
    """The positions from one ``(places,)`` at a distance back to a start, ``(distance + 1, places)``.

    Raises
    ------
    StoreDamagedError
        A position on the path has no predecessor one less deep, or the last one is not a start.
    """
    path = [position]
    for depth in range(distance - 1, -1, -1):
        path.append(_predecessor(space, chunks, path[-1], depth))
    if not (space.puzzle.start_labels == path[-1]).all(axis=1).any():
        raise _damaged(space, chunks, path[-1], 0, "which is no start")
    return np.array(path)


def _predecessor(space: CheckedSpace, chunks: TableChunks, position: Labels, depth: int) -> Labels:
    """One of the positions at a depth from which a move leads to this one, in the first chunk that has one."""
    if not space.puzzle.moves.invertible:
        return _found_predecessor(space, chunks, position, depth)
    before = space.puzzle.moves.predecessors(position)
    chosen = chunks.first_at(space.unchecked.rank(before), depth)
    if chosen is None:
        raise _damaged(space, chunks, position, depth + 1, f"and no position at depth {depth} leads there")
    predecessor: Labels = before[chosen]
    return predecessor


def _found_predecessor(space: CheckedSpace, chunks: TableChunks, position: Labels, depth: int) -> Labels:
    """As `_predecessor`, where a move has no known inverse: all positions at the depth are moved until one fits."""
    moves = space.puzzle.moves
    for indices in chunks.all_at(depth):
        for first in range(0, len(indices), BATCH):
            labels = space.unchecked.unrank(indices[first : first + BATCH])
            for number in range(len(moves)):
                after, legal = moves.after(number, labels)
                fitting = np.flatnonzero(legal & (after == position).all(axis=1))
                if fitting.size:
                    predecessor: Labels = labels[fitting[0]]
                    return predecessor
    raise _damaged(space, chunks, position, depth + 1, f"and no position at depth {depth} leads there")


def _damaged(space: CheckedSpace, chunks: TableChunks, position: Labels, depth: int, but: str) -> StoreDamagedError:
    chunk = chunks.number_of(int(space.unchecked.rank(position[np.newaxis])[0]))
    text = space.quoted(position)
    return StoreDamagedError(f"{chunks.address} is damaged: chunk {chunk} has {text} at depth {depth}, {but}")
