"""Queries of a table: shortest paths, the positions that fit a pattern, and positions given as texts, in batches."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from antipodes.puzzles.pattern import batches
from antipodes.puzzles.puzzle import Puzzle
from antipodes.tables.checked_space import CheckedSpace
from antipodes.tables.store.chunks import TableChunks
from antipodes_tasks.errors import PositionError, StoreDamagedError
from antipodes_tasks.quoting import counted
from antipodes_tasks.rules.moves import Labels

BATCH = 1 << 14
"""Positions that are moved together."""
Reached = tuple[NDArray[np.int32], NDArray[np.int64]]
"""The distances and the indices ``(n,)`` of positions."""


def shortest_path(space: CheckedSpace, chunks: TableChunks, position: Labels, distance: int) -> Labels:
    """The positions from one ``(places,)`` at a distance back to a start, ``(distance + 1, places)``.

    StoreDamagedError where a position on the path has no predecessor one less deep, or the
    last one is not a start.
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
    chosen = chunks.first_at(space.stored.rank(before), depth)
    if chosen is None:
        raise _damaged(space, chunks, position, depth + 1, f"and no position at depth {depth} leads there")
    predecessor: Labels = before[chosen]
    return predecessor


def _found_predecessor(space: CheckedSpace, chunks: TableChunks, position: Labels, depth: int) -> Labels:
    """As `_predecessor`, where a move has no known inverse: all positions at the depth are moved until one fits."""
    moves = space.puzzle.moves
    for indices in chunks.all_at(depth):
        for first in range(0, len(indices), BATCH):
            _, labels = space.stored.numbering.several(indices[first : first + BATCH])
            for number in range(len(moves)):
                after, legal = moves.after(number, labels)
                fitting = np.flatnonzero(legal & (after == position).all(axis=1))
                if fitting.size:
                    predecessor: Labels = labels[fitting[0]]
                    return predecessor
    raise _damaged(space, chunks, position, depth + 1, f"and no position at depth {depth} leads there")


def _damaged(space: CheckedSpace, chunks: TableChunks, position: Labels, depth: int, but: str) -> StoreDamagedError:
    chunk = chunks.number_of(int(space.stored.rank(position[np.newaxis])[0]))
    text = space.quoted(position)
    return StoreDamagedError(f"{chunks.address} is damaged: chunk {chunk} has {text} at depth {depth}, {but}")


@dataclass(frozen=True, eq=False, slots=True, repr=False)
class Matches:
    """The positions that fit a pattern, counted by their distance."""

    count: int
    """How many positions fit."""
    by_distance: dict[int, int]
    """The number of them at each distance, in ascending order; without those that have no distance."""
    nearest: Labels
    """``(n, places)``: those at the least distance, in the order of their indices."""
    farthest: Labels
    """``(n, places)``: those at the greatest distance."""

    def __repr__(self) -> str:
        span = f", distances {min(self.by_distance)} to {max(self.by_distance)}" if self.by_distance else ""
        return f"<Matches: {counted(self.count, 'position')}, {self.reached:,} reached{span}>"

    @property
    def reached(self) -> int:
        """How many have a distance."""
        return sum(self.by_distance.values())


def match(space: CheckedSpace, chunks: TableChunks, pattern: str) -> Matches:
    """Count the positions that fit a pattern by their distance; the language is that of `Pattern` and `BlockPattern`.

    PatternError where the text is not a pattern of the puzzle; StoreDamagedError where a chunk that is needed is
    damaged.
    """
    count, tally = 0, Counter[int]()
    nearest = farthest = np.empty(0, dtype=np.int32), np.empty(0, dtype=np.int64)
    for labels in batches(space.puzzle, pattern):
        indices = space.unchecked.rank(labels)
        distances = chunks.distances(indices if space.stored is space.unchecked else space.stored.rank(labels))
        count += len(labels)
        known = distances >= 0
        if known.any():
            tally.update(distances[known].tolist())
            found = distances[known], indices[known]
            nearest, farthest = _extreme(np.min, nearest, found), _extreme(np.max, farthest, found)
    ends = (space.unchecked.unrank(np.sort(indices)) for _, indices in (nearest, farthest))
    return Matches(count, dict(sorted(tally.items())), *ends)


def _extreme(best: Callable[[NDArray[np.int32]], np.int32], kept: Reached, found: Reached) -> Reached:
    """Those of the kept and the found positions that are at the best of their distances."""
    distances, indices = np.concatenate((kept[0], found[0])), np.concatenate((kept[1], found[1]))
    at_best = distances == best(distances)
    return distances[at_best], indices[at_best]


@dataclass(frozen=True, eq=False, slots=True)
class Found:
    """A position and its distance."""

    position: Labels
    """``(places,)``."""
    distance: int | None
    """None if the position is unreachable."""
    path: Labels | None
    """``(distance + 1, places)``: a shortest path back to a start, if it was asked for and there is one."""


def parsed(puzzle: Puzzle, texts: Sequence[str]) -> tuple[Labels, dict[int, PositionError]]:
    """The positions among the texts, ``(n, places)``, and the errors of the others by their number."""
    try:
        return puzzle.parse_many(texts), {}
    except PositionError:
        pass
    positions, errors = [np.empty((0, puzzle.places), dtype=np.uint8)], {}
    for number, text in enumerate(texts):
        try:
            positions.append(puzzle.parse(text)[np.newaxis])
        except PositionError as error:
            errors[number] = error
    return np.concatenate(positions), errors
