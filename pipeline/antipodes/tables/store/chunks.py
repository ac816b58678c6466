"""The depths in the chunks of a table, looked up by index or listed by depth."""

from collections.abc import Iterator
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from antipodes.system.recently_used import RecentlyUsed
from antipodes.tables.store.manifest import MAX_CHUNK_STATES
from antipodes.tables.store.search_stores import ChunkCounts, TableStore
from antipodes.tables.store.table_manifest import TableManifest
from antipodes_tasks.base.errors import StoreChangedError, StoreDamagedError
from antipodes_tasks.base.quoting import counted
from antipodes_tasks.bfs.bitmaps import Depths
from antipodes_tasks.move_tables import Indices
from antipodes_tasks.spaces.space import NOT_NUMBERED


def by_chunk(indices: NDArray[np.int64], chunk_states: int) -> Iterator[tuple[int, NDArray[np.int64]]]:
    """Yield each chunk that contains some of ``indices`` ``(n,)``, ascending, and where they are in ``indices``."""
    if not len(indices):
        return
    chunk_of = indices // chunk_states
    first, last = int(chunk_of.min()), int(chunk_of.max())
    if first == last:
        yield first, np.arange(len(indices))
        return
    if last < 1 << 16:
        chunk_of = chunk_of.astype(np.uint16)  # numpy uses radix sort for 16 bits, which is ten times as fast
    order = np.argsort(chunk_of, kind="stable")
    counts = np.bincount(chunk_of)
    ends = np.cumsum(counts)
    for number in np.flatnonzero(counts).tolist():
        yield number, order[ends[number] - counts[number] : ends[number]]


CLOSED = "the table {} was closed; open it again"
UNREACHABLE = -1
"""The value in place of a distance if the position is unreachable."""
UNKNOWN = -2
"""The value in place of a distance if the table is unfinished and its committed layers do not contain the position."""


class TableChunks:
    """The depths of a table. Up to ``cache_bytes`` of chunks stay in memory. Threads can share this object."""

    def __init__(self, store: TableStore, manifest: TableManifest, cache_bytes: int) -> None:
        self.address = store.address
        self._store = store
        self._identity = store.identity()
        self._manifest = manifest
        self._states = manifest.chunk_rows * manifest.width
        chunk_bytes = min(self._states, MAX_CHUNK_STATES) * np.dtype(manifest.dtype).itemsize
        self._chunks: RecentlyUsed[int, Depths] = RecentlyUsed(max(1, cache_bytes // chunk_bytes))

    @property
    def _not_numbered(self) -> int:
        """The value in place of the distance of a position without an index."""
        return self._missing if self._manifest.keyed else UNREACHABLE

    def close(self) -> None:
        """Drop the chunks in memory. From now on, reading raises ClosedError."""
        self._chunks.close(CLOSED.format(self.address))

    def check_readable(self) -> None:
        """Raise ClosedError after `close`, and StoreChangedError if another store has taken the address."""
        self._chunks.check_open()
        self._check_not_replaced()

    @property
    def states(self) -> int:
        """Number of entries in a chunk."""
        return self._states

    def number_of(self, index: int) -> int:
        """Return the number of the chunk that contains the depth of a position."""
        return index // self._states

    def distance(self, index: int) -> int:
        """Return the distance of one position, like `distances`, but without creating arrays."""
        if index == NOT_NUMBERED:
            self._chunks.check_open()
            return self._not_numbered
        number, place = divmod(index, self._states)
        depth: int = self._chunks.get(number, self._read).item(place)
        return depth if depth <= self._manifest.committed_depth else self._missing

    def distances(self, indices: Indices) -> NDArray[np.int32]:
        """Return the distance of each position ``(n,)`` as ``(n,)``: UNREACHABLE or UNKNOWN for those without one.

        A position that is NOT_NUMBERED is unreachable, or unknown if the list of keys is unfinished.
        """
        self._chunks.check_open()
        distances = np.full(len(indices), self._not_numbered, dtype=np.int32)
        numbered = np.flatnonzero(indices != NOT_NUMBERED)
        for number, group in by_chunk(indices[numbered], self._states):
            distances[numbered[group]] = self._distances_in(number, indices[numbered[group]])
        return distances

    def all_at(self, depth: int) -> Iterator[Indices]:
        """Yield the indices of the positions at a depth, in ascending order, chunk by chunk."""
        for number in self.numbers_at(depth):
            yield self.indices_at(number, depth)

    def indices_at(self, number: int, depth: int) -> Indices:
        """Return the indices in a chunk at a depth, in ascending order."""
        indices: Indices = np.flatnonzero(self._chunks.get(number, self._read).ravel() == depth) + number * self._states
        return indices

    def first_of(self, depth: int, count: int) -> Indices:
        """Return the indices of the first positions at a depth, ``(count,)``; raise StoreDamagedError if too few."""
        parts, missing = [np.empty(0, dtype=np.int64)], count
        for indices in self.all_at(depth):
            parts.append(indices[:missing])
            missing -= len(parts[-1])
            if missing <= 0:
                break
        if missing > 0:
            raise self._fewer(depth)
        return np.concatenate(parts)

    def numbered_at(self, depth: int, numbers: NDArray[np.int64]) -> Indices:
        """Return the indices ``(n,)`` of the positions with these ``numbers``, counted from 0 at a depth.

        Raises StoreDamagedError if the depth has fewer positions.
        """
        ends = np.cumsum(self.layer_counts[:, depth], dtype=np.int64)
        indices = np.empty(len(numbers), dtype=np.int64)
        chunk_of = np.searchsorted(ends, numbers, side="right")
        for chunk in np.unique(chunk_of).tolist():
            if chunk == len(ends):
                raise self._fewer(depth)
            here = np.flatnonzero(self._chunks.get(chunk, self._read).ravel() == depth) + chunk * self._states
            if len(here) != self.layer_counts[chunk, depth]:
                raise self._fewer(depth)
            wanted = chunk_of == chunk
            indices[wanted] = here[numbers[wanted] - ends[chunk]]  # a negative number counts from the end of the chunk
        return indices

    def numbered(self, numbers: NDArray[np.int64]) -> tuple[Indices, NDArray[np.int32]]:
        """Return the indices and depths ``(n,)`` of positions by their numbers, counted from 0 by depth, then by index.

        Only chunks that contain one of them are read. Raises as `numbered_at` does.
        """
        counts = self.layer_counts.T.ravel()  # by depth, then by chunk
        ends = np.cumsum(counts, dtype=np.int64)
        cells = np.searchsorted(ends, numbers, side="right")
        depths, chunks = np.divmod(cells, len(self.layer_counts))
        places, indices = numbers - (ends - counts)[cells], np.empty(len(numbers), dtype=np.int64)
        for chunk, group in by_chunk(chunks, 1):
            order, begins = self._by_depth(chunk)
            indices[group] = order[begins[depths[group]] + places[group]] + chunk * self._states
        return indices, depths.astype(np.int32)

    def _by_depth(self, chunk: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the offsets of a chunk's entries, sorted by depth, and where each depth begins among them."""
        depths, counts = self._chunks.get(chunk, self._read).ravel(), self.layer_counts[chunk]
        ends = np.cumsum(np.bincount(depths, minlength=len(counts))[: len(counts)])
        if (wrong := np.flatnonzero(np.diff(ends, prepend=0) != counts)).size:
            raise self._fewer(int(wrong[0]))
        return np.argsort(depths, kind="stable"), ends - counts

    def reached(self) -> Iterator[tuple[Indices, NDArray[np.int32]]]:
        """Yield the indices ``(n,)`` and depths ``(n,)`` of all reached positions, chunk by chunk, ascending."""
        return map(self.reached_in, self.numbers_at())

    def reached_in(self, number: int) -> tuple[Indices, NDArray[np.int32]]:
        """Return the indices ``(n,)``, in ascending order, and depths ``(n,)`` of the reached positions of a chunk."""
        depths = self._chunks.get(number, self._read).ravel()
        here = np.flatnonzero(depths <= self._manifest.committed_depth)
        return here + number * self._states, depths[here].astype(np.int32)

    def numbers_at(self, depth: int | None = None) -> list[int]:
        """Return the numbers of the chunks with a position at a depth (None: at any depth), in ascending order."""
        counts = self.layer_counts.any(axis=1) if depth is None else self.layer_counts[:, depth]
        return [int(number) for number in np.flatnonzero(counts)]

    @cached_property
    def layer_counts(self) -> ChunkCounts:
        """The number of positions of each chunk at each depth, ``(chunks, depths)``.

        Raises StoreDamagedError if their sums differ from the numbers in the manifest.
        """
        try:
            counts = self._store.layer_counts(self._manifest)
        finally:
            self._check_not_replaced()
        if counts.sum(axis=0, dtype=np.int64).tolist() != list(self._manifest.layers):
            raise StoreDamagedError(
                f"{self.address} is corrupt: the numbers of positions in its chunks differ from the manifest"
            )
        return counts

    def _fewer(self, depth: int) -> StoreDamagedError:
        expected = self._manifest.layers[depth]
        return StoreDamagedError(
            f"{self.address} is corrupt: its chunks do not hold {counted(expected, 'position')} at depth {depth}"
        )

    def _distances_in(self, number: int, indices: Indices) -> NDArray[np.int32]:
        depths = self._chunks.get(number, self._read).ravel()[indices % self._states]
        return np.where(depths > self._manifest.committed_depth, self._missing, depths.astype(np.int32))

    @property
    def _missing(self) -> int:
        """The value in place of the distance of a position that was not reached."""
        return UNREACHABLE if self._manifest.complete else UNKNOWN

    def _read(self, number: int) -> Depths:
        try:
            return self._store.read_chunk(self._manifest, number)
        finally:
            self._check_not_replaced()

    def _check_not_replaced(self) -> None:
        """Raise StoreChangedError if another store is at the address now: distances could be wrong, or seem corrupt.

        A store that a run has finished counts as another store: its journal is gone, and its arrays are new.
        """
        if self._store.identity() != self._identity:
            raise StoreChangedError(f"{self.address} was finished or replaced after it was opened; open it again")
