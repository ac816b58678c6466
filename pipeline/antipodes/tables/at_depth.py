"""The positions at one depth of a table, of which there may be more than fit into memory."""

from collections.abc import Iterator

import numpy as np

from antipodes.puzzles.puzzle import Labels
from antipodes.tables.checked_space import CheckedSpace
from antipodes.tables.store.chunks import TableChunks

BATCH = 1 << 14
"""Positions that are unranked together."""


class PositionsAtDepth:
    """The positions at a depth, in the order of their indices, read chunk by chunk."""

    def __init__(self, space: CheckedSpace, chunks: TableChunks, depth: int, count: int) -> None:
        self.count = count
        """How many there are."""
        self._space = space
        self._chunks = chunks
        self._depth = depth

    def batches(self, limit: int | None = None) -> Iterator[Labels]:
        """All of them, or the first ``limit``: some thousand at a time, ``(n, places)``."""
        missing = self.count if limit is None else min(limit, self.count)
        if missing == 0:
            return
        for indices in self._chunks.all_at(self._depth):
            for first in range(0, min(missing, len(indices)), BATCH):
                yield self._space.unchecked.unrank(indices[first : min(first + BATCH, missing)])
            missing -= len(indices)
            if missing <= 0:
                return

    def sample(self, number: int, rng: np.random.Generator) -> Labels:
        """As many, ``(n, places)``, drawn uniformly and none twice, in random order; all if there are no more."""
        drawn = rng.choice(self.count, size=min(number, self.count), replace=False)
        return self._space.unchecked.unrank(self._chunks.numbered(self._depth, drawn))
