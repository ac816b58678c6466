"""The reached positions of a table, listed by depth, numbered and drawn. An entry may represent several positions."""

from collections.abc import Iterator
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from antipodes.tables.store.chunks import TableChunks, by_chunk
from antipodes_tasks.base.array_types import Labels
from antipodes_tasks.move_tables import Indices
from antipodes_tasks.spaces.space import Space

BATCH = 1 << 14
"""Number of positions that are unranked together."""
EVALUATED = 1 << 16
"""Number of positions of all depths that are unranked together."""
Depths = NDArray[np.int32]


class ReachedPositions:
    """The reached positions of a table whose entries are single positions, in the order of their indices."""

    def __init__(self, space: Space, chunks: TableChunks) -> None:
        self._space = space
        self._chunks = chunks

    def first_of(self, depth: int, count: int) -> Labels:
        """Return the first positions at a depth, ``(count, places)``; raise StoreDamagedError if there are fewer."""
        return self._space.unrank(self._chunks.first_of(depth, count))

    def batches_at(self, depth: int) -> Iterator[Labels]:
        """Yield all positions at a depth in batches of thousands. A chunk is read when its first position is needed."""
        for indices in self._chunks.all_at(depth):
            for first in range(0, len(indices), BATCH):
                yield self._space.unrank(indices[first : first + BATCH])

    def numbered_at(self, depth: int, numbers: NDArray[np.int64]) -> Labels:
        """Return the positions ``(n, places)`` with these ``numbers``, counted from 0 at a depth.

        Raises StoreDamagedError if the depth has fewer positions.
        """
        return self._space.unrank(self._chunks.numbered_at(depth, numbers))

    def numbered(self, numbers: NDArray[np.int64]) -> tuple[Labels, Depths]:
        """Return the positions ``(n, places)`` with these ``numbers``, counted from 0 by depth, and their depths."""
        indices, depths = self._chunks.numbered(numbers)
        return self._space.unrank(indices), depths

    def iterate(self) -> Iterator[tuple[Labels, Depths]]:
        """Yield all positions ``(n, places)`` and their depths ``(n,)`` in batches of thousands."""
        for number in self._chunks.numbers_at():
            yield from self.in_chunk(number)

    def in_chunk(self, number: int, depth: int | None = None) -> Iterator[tuple[Labels, Depths]]:
        """Yield what `iterate` yields for one chunk, or only its positions at a ``depth`` if one is given."""
        indices, depths = self._chunks.reached_in(number)
        if depth is not None:
            indices = indices[depths == depth]
            depths = np.full(len(indices), depth, dtype=np.int32)
        for first in range(0, len(indices), self._entries_at_once):
            here = slice(first, first + self._entries_at_once)
            of, labels = self._space.numbering.positions_of_entries(indices[here])
            yield labels, depths[here][of]

    def entries_in(self, number: int, size: int) -> Iterator[tuple[Labels, Depths, NDArray[np.int64]]]:
        """Yield one position ``(n, places)`` of each reached entry of a chunk, its depth, and the entry's weight.

        The weight ``(n,)`` is the number of positions that the entry represents. A batch has at most ``size`` entries.
        """
        indices, depths = self._chunks.reached_in(number)
        for first in range(0, len(indices), size):
            here = slice(first, first + size)
            yield self._space.unrank(indices[here]), depths[here], self._weights_of(indices[here])

    def _weights_of(self, indices: Indices) -> NDArray[np.int64]:
        """Return the number of positions that each entry ``(n,)`` represents."""
        return np.ones(len(indices), dtype=np.int64)

    @property
    def _entries_at_once(self) -> int:
        """Number of entries whose positions are listed together."""
        return max(1, EVALUATED // self._space.numbering.symmetries)


class WeightedPositions(ReachedPositions):
    """The reached positions of a table whose entries represent several positions, in the order of the entries."""

    def first_of(self, depth: int, count: int) -> Labels:
        """Return the first positions at a depth, ``(count, places)``."""
        found, missing = [np.empty((0, self._space.rules.places), dtype=np.uint8)], count
        for labels in self.batches_at(depth) if count else ():
            found.append(labels[:missing])
            missing -= len(found[-1])
            if missing <= 0:
                break
        return np.concatenate(found)

    def batches_at(self, depth: int) -> Iterator[Labels]:
        """Yield all positions at a depth in batches of thousands."""
        size = max(1, BATCH // self._space.numbering.symmetries)
        for indices in self._chunks.all_at(depth):
            for first in range(0, len(indices), size):
                yield self._space.numbering.positions_of_entries(indices[first : first + size])[1]

    def numbered_at(self, depth: int, numbers: NDArray[np.int64]) -> Labels:
        """Return the positions ``(n, places)`` with these ``numbers``, counted from 0 at a depth."""
        return self.numbered(numbers + int(self._counts[:, :depth].sum()))[0]

    def numbered(self, numbers: NDArray[np.int64]) -> tuple[Labels, Depths]:
        """Return the positions ``(n, places)`` with these ``numbers``, counted from 0 by depth, and their depths."""
        counts = self._counts.T.ravel()  # by depth, then by chunk
        ends = np.cumsum(counts, dtype=np.int64)
        cells = np.searchsorted(ends, numbers, side="right")
        places = numbers - (ends - counts)[cells]
        depths = cells // len(self._counts)
        indices, which = np.empty(len(numbers), dtype=np.int64), np.empty(len(numbers), dtype=np.int64)
        for cell, group in by_chunk(cells, 1):
            depth, chunk = divmod(cell, len(self._counts))
            here = self._chunks.indices_at(chunk, depth)
            last = np.cumsum(self._weights_of(here))
            entry = np.searchsorted(last, places[group], side="right")
            indices[group] = here[entry]
            which[group] = places[group] - (last - self._weights_of(here))[entry]
        return self._space.numbering.one_of(indices, which), depths.astype(np.int32)

    @cached_property
    def _counts(self) -> NDArray[np.int64]:
        """The number of positions of each chunk at each depth, ``(chunks, depths)``. Computing it reads all chunks."""
        counts = np.zeros(self._chunks.layer_counts.shape, dtype=np.int64)
        for chunk, depth in zip(*(found.tolist() for found in np.nonzero(self._chunks.layer_counts)), strict=True):
            counts[chunk, depth] = self._weights_of(self._chunks.indices_at(chunk, depth)).sum()
        return counts

    def _weights_of(self, indices: Indices) -> NDArray[np.int64]:
        """Return the number of positions that each entry ``(n,)`` represents."""
        assert self._space.weights is not None
        weights: NDArray[np.int64] = self._space.weights[indices // self._space.width]
        return weights


def reached_positions(space: Space, chunks: TableChunks) -> ReachedPositions:
    """Return the reached positions of a table."""
    several = space.full_space is not space
    return WeightedPositions(space, chunks) if several else ReachedPositions(space, chunks)
