"""The distances of the positions that fit a pattern: the nearest and the farthest of many goals."""

from collections import Counter
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from antipodes.puzzles.goals import batches
from antipodes.tables.checked_space import CheckedSpace
from antipodes.tables.store.chunks import TableChunks
from antipodes_tasks.quoting import counted
from antipodes_tasks.rules.moves import Labels


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

    Raises
    ------
    PatternError
        The text is not a pattern of the puzzle.
    StoreDamagedError
        A chunk that is needed is damaged.
    """
    count, tally = 0, Counter[int]()
    nearest, farthest = _Extreme(-1), _Extreme(1)
    for labels in batches(space.puzzle, pattern):
        indices = space.unchecked.rank(labels)
        distances = chunks.distances(indices)
        count += len(labels)
        known = distances >= 0
        if known.any():
            tally.update(distances[known].tolist())
            for extreme in (nearest, farthest):
                extreme.see(distances[known], indices[known])
    return Matches(count, dict(sorted(tally.items())), nearest.positions(space), farthest.positions(space))


class _Extreme:
    """The indices at the greatest distance seen so far, or, with a sign of -1, at the least."""

    def __init__(self, sign: int) -> None:
        self._sign = sign
        self._best: int | None = None
        self._indices = np.empty(0, dtype=np.int64)

    def see(self, distances: NDArray[np.int32], indices: NDArray[np.int64]) -> None:
        signed = self._sign * distances
        best = int(signed.max())
        if self._best is None or best > self._best:
            self._best, self._indices = best, self._indices[:0]
        if best == self._best:
            self._indices = np.concatenate((self._indices, indices[signed == best]))

    def positions(self, space: CheckedSpace) -> Labels:
        return space.unchecked.unrank(np.sort(self._indices))
