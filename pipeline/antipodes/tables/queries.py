"""Queries of a table: positions that match a pattern, and batches of positions given as strings."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from antipodes.puzzles.pattern import batches
from antipodes.tables.checked_space import CheckedSpace
from antipodes.tables.store.chunks import TableChunks
from antipodes_tasks.base.array_types import Labels
from antipodes_tasks.base.errors import PositionError
from antipodes_tasks.base.quoting import counted
from antipodes_tasks.spaces.space import NOT_NUMBERED

Reached = tuple[NDArray[np.int32], NDArray[np.int64], Labels]
"""The distances and the indices ``(n,)`` of positions, and the positions ``(n, places)``."""


@dataclass(frozen=True, eq=False, slots=True, repr=False)
class Matches:
    """The positions that match a pattern, counted by distance."""

    count: int
    """Number of matching positions."""
    by_distance: dict[int, int]
    """Number of matching positions at each distance, in ascending order, without those that have no distance."""
    nearest: Labels
    """``(n, places)``: the positions at the minimum distance, in the order of their indices."""
    farthest: Labels
    """``(n, places)``: the positions at the maximum distance, in the order of their indices."""

    def __repr__(self) -> str:
        span = f", distances {min(self.by_distance)} to {max(self.by_distance)}" if self.by_distance else ""
        return f"<Matches: {counted(self.count, 'position')}, {self.reached:,} reached{span}>"

    @property
    def reached(self) -> int:
        """Number of matching positions that have a distance."""
        return sum(self.by_distance.values())


def match(space: CheckedSpace, chunks: TableChunks, pattern: str) -> Matches:
    """Count the positions that match a pattern by distance; `Pattern` and `BlockPattern` define the language.

    Raises PatternError if the text is not a pattern of the puzzle, and StoreDamagedError if a chunk that is needed is
    corrupt.
    """
    count, tally = 0, Counter[int]()
    none = np.empty(0, dtype=np.int32), np.empty(0, dtype=np.int64), space.puzzle.start_labels[:0]
    nearest = farthest = none
    for labels in _different(space, batches(space.puzzle, pattern)):
        indices = space.unchecked.rank(labels)
        distances = chunks.distances(indices if space.stored is space.unchecked else space.stored.rank(labels))
        count += len(labels)
        known = distances >= 0
        if known.any():
            tally.update(distances[known].tolist())
            found = distances[known], indices[known], labels[known]
            nearest, farthest = _extreme(np.min, nearest, found), _extreme(np.max, farthest, found)
    ends = (matching[np.argsort(indices)] for _, indices, matching in (nearest, farthest))
    return Matches(count, dict(sorted(tally.items())), *ends)


def _different(space: CheckedSpace, batches: Iterable[Labels]) -> Iterator[Labels]:
    """Yield the positions of batches, but only one of several positions that free moves connect: they count as one.

    Positions without an index, which are unreachable, are all yielded, because their classes are unknown.
    """
    if not space.puzzle.moves.joins_positions:
        yield from batches
        return
    seen = np.zeros(space.unchecked.size, dtype=np.bool_)
    for labels in batches:
        ranks = space.unchecked.rank(labels)
        indices, first = np.unique(ranks, return_index=True)
        new = (indices != NOT_NUMBERED) & ~seen[indices]
        seen[indices[new]] = True
        yield np.concatenate((labels[first[new]], labels[ranks == NOT_NUMBERED]))


def _extreme(best: Callable[[NDArray[np.int32]], np.int32], kept: Reached, found: Reached) -> Reached:
    """Return those of the ``kept`` and ``found`` positions that have the best distance."""
    distances, indices = np.concatenate((kept[0], found[0])), np.concatenate((kept[1], found[1]))
    labels = np.concatenate((kept[2], found[2]))
    at_best = distances == best(distances)
    return distances[at_best], indices[at_best], labels[at_best]


@dataclass(frozen=True, eq=False, slots=True)
class Found:
    """A position and its distance."""

    position: Labels
    """``(places,)``."""
    distance: int | None
    """None if the position is unreachable."""
    path: Labels | None
    """``(distance + 1, places)``: a shortest path back to a start. None if it was not requested or does not exist."""
    line: int | None = None
    """Number of the line of input that contains the position, from 1."""
    obstacle: str | None = None
    """Why the position is unreachable; None if it is reachable, or if only the table shows that it is not."""


Reading = Callable[[Sequence[str]], Labels]
"""Function that returns the positions ``(n, places)`` of n texts, or raises PositionError."""


def parsed(read: Reading, texts: Sequence[str]) -> tuple[Labels, dict[int, PositionError]]:
    """Return the positions ``(n, places)`` that the strings denote, and the error of each invalid string, by number."""
    try:
        return read(texts), {}
    except PositionError:
        pass
    positions, errors = [read([])], {}
    for number, text in enumerate(texts):
        try:
            positions.append(read([text]))
        except PositionError as error:
            errors[number] = error
    return np.concatenate(positions), errors
