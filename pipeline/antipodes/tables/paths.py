"""Shortest paths and best moves of many positions, read from a table in batches.

The paths of a batch are followed together, one depth at a time, so each chunk is read once per depth.
"""

from collections.abc import Iterable, Iterator

import numpy as np
from numpy.typing import NDArray

from antipodes.tables.checked_space import CheckedSpace
from antipodes.tables.reached_positions import reached_positions
from antipodes.tables.store.chunks import TableChunks
from antipodes_tasks.base.array_types import Labels, Numbers
from antipodes_tasks.base.errors import InputError, StoreDamagedError
from antipodes_tasks.rules.moves import LegalMoves

BATCH = 1 << 14
"""Number of positions in a batch."""
Distances = NDArray[np.int32]


def shortest_path(space: CheckedSpace, chunks: TableChunks, position: Labels, distance: int) -> Labels:
    """Return the positions on a path from one position ``(places,)`` back to a start, ``(distance + 1, places)``.

    Raises as `shortest_paths` does.
    """
    return next(shortest_paths(space, chunks, position[np.newaxis], np.array([distance], dtype=np.int32)))


def shortest_paths(
    space: CheckedSpace, chunks: TableChunks, positions: Labels, distances: Distances
) -> Iterator[Labels]:
    """Yield for each position ``(n, places)`` a shortest path to a start, ``(distance + 1, places)``.

    All distances ``(n,)`` must be known. The path of a position does not depend on the other positions.

    Raises
    ------
    StoreDamagedError
        A position on a path has no predecessor at the previous depth, or the last position is not a start.
    """
    for begin in range(0, len(positions), BATCH):
        part = slice(begin, begin + BATCH)
        yield from _paths(space, chunks, positions[part], distances[part])


def _paths(space: CheckedSpace, chunks: TableChunks, positions: Labels, distances: Distances) -> Iterator[Labels]:
    """Yield the paths of a batch; see `shortest_paths`."""
    deepest = int(distances.max())
    walked = np.empty((len(positions), deepest + 1, positions.shape[1]), dtype=np.uint8)
    walked[np.arange(len(positions)), deepest - distances] = positions
    for depth in range(deepest - 1, -1, -1):
        walking = np.flatnonzero(distances > depth)
        here = walked[walking, deepest - depth - 1]
        walked[walking, deepest - depth] = _predecessors(space, chunks, here, depth)
    _check_starts(space, chunks, walked[:, deepest])
    for path, distance in zip(walked, distances.tolist(), strict=True):
        yield path[deepest - distance :]


def _check_starts(space: CheckedSpace, chunks: TableChunks, positions: Labels) -> None:
    """Raise StoreDamagedError unless all positions ``(n, places)`` are starts."""
    starts = set(map(bytes, space.puzzle.start_labels))
    for position in positions:
        if bytes(position) not in starts:
            raise _damaged(space, chunks, position, 0, "but it is not a start")


def _predecessors(space: CheckedSpace, chunks: TableChunks, positions: Labels, depth: int) -> Labels:
    """Return one predecessor at a depth for each position ``(n, places)``, from the first chunk that contains any."""
    if not space.puzzle.moves.invertible:
        return _found_predecessors(space, chunks, positions, depth)
    parents, _, before = space.puzzle.moves.steps_back(positions)
    entries = space.stored.rank(before)
    fitting = np.flatnonzero(chunks.distances(entries) == depth)
    in_order = fitting[np.lexsort((entries[fitting] // chunks.states, parents[fitting]))]  # keeps the order of moves
    of = parents[in_order]
    first = in_order[np.concatenate(([True], of[1:] != of[:-1]))[: len(of)]]
    if len(first) < len(positions):
        stranded = np.setdiff1d(np.arange(len(positions)), parents[first])[0]
        raise _stranded(space, chunks, positions[stranded], depth)
    return before[first]


def _found_predecessors(space: CheckedSpace, chunks: TableChunks, positions: Labels, depth: int) -> Labels:
    """Return the predecessors without inverse moves: apply moves to the positions at ``depth`` until all are found."""
    wanted, of = np.unique(positions, axis=0, return_inverse=True)
    found, missing = np.empty_like(wanted), set(range(len(wanted)))
    batches = reached_positions(space.stored, chunks).batches_at(depth)
    for predecessors, rows in predecessors_among(space, batches, wanted):
        for before, row in zip(predecessors, rows.tolist(), strict=True):
            if row in missing:
                found[row] = before
                missing.remove(row)
        if not missing:
            return found[of.reshape(-1)]
    raise _stranded(space, chunks, wanted[min(missing)], depth)


def predecessors_among(
    space: CheckedSpace, batches: Iterable[Labels], positions: Labels
) -> Iterator[tuple[Labels, Numbers]]:
    """Find predecessors without inverse moves: apply the moves to each batch of positions ``(m, places)``.

    Yields for each batch the predecessors ``(k, places)`` in it, once for each move to one of the ``positions``
    ``(n, places)``, and the rows ``(k,)`` of these ``positions``, which must be distinct.
    """
    row_of = {bytes(position): row for row, position in enumerate(positions)}
    entries = space.stored.rank(positions)
    for labels in batches:
        parents, _, after = space.puzzle.moves.steps(labels)
        near = np.flatnonzero(np.isin(space.stored.rank(after), entries))  # much faster than to look up all positions
        rows = np.array([row_of.get(bytes(position), -1) for position in after[near]], dtype=np.int64)
        yield labels[parents[near[rows >= 0]]], rows[rows >= 0]


def best_moves(space: CheckedSpace, chunks: TableChunks, positions: Labels, distances: Distances) -> LegalMoves:
    """Return the moves that bring each position ``(n, places)`` one move nearer to a start.

    Starts, and positions with a negative distance, have none.

    Raises
    ------
    InputError
        Moves are not reversible, so distances from a start are not distances to a start.
    StoreDamagedError
        A position that should have such a move has none.
    """
    if not space.puzzle.moves.reversible:
        raise InputError(
            f"{space.puzzle.name} has irreversible moves, so its best moves are unknown: "
            "its table has distances from the start, not to it"
        )
    moves = space.puzzle.moves.legal_moves(positions)
    after = chunks.distances(space.stored.rank(moves.positions))
    best = moves.chosen(after == np.where(distances > 0, distances - 1, np.iinfo(np.int32).max)[moves.parents])
    stuck = np.flatnonzero((distances > 0) & (np.bincount(best.parents, minlength=len(distances)) == 0))
    if len(stuck):
        raise _stranded(space, chunks, positions[stuck[0]], int(distances[stuck[0]]) - 1)
    return best


def _stranded(space: CheckedSpace, chunks: TableChunks, position: Labels, depth: int) -> StoreDamagedError:
    """Return the error for a position without a predecessor at the given depth."""
    return _damaged(space, chunks, position, depth + 1, f"but it has no predecessor at depth {depth}")


def _damaged(space: CheckedSpace, chunks: TableChunks, position: Labels, depth: int, but: str) -> StoreDamagedError:
    chunk = chunks.number_of(int(space.stored.rank(position[np.newaxis])[0]))
    text = space.quoted(position)
    return StoreDamagedError(f"{chunks.address} is corrupt: chunk {chunk} has {text} at depth {depth}, {but}")
