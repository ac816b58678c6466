"""The assembly of a table of keys: the list of all keys in ascending order, and their depths, chunk by chunk.

All chunks but the last have the same number of positions, while the journal is divided into ranges of keys. Therefore a
task merges the ranges that its chunks need, and cuts the result into chunks. A range that two tasks need is merged by
both of them.
"""

from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from antipodes.executors.api import Call, Key
from antipodes.system.events import Assembling
from antipodes.tables.journal_file import StoredSegments
from antipodes.tables.layers.assembly import WRITE_THREADS, Assembly, Source, segments_of
from antipodes.tables.store.search_stores import ChunkCounts, TableStore
from antipodes.tables.store.table_manifest import TableManifest
from antipodes_tasks.base.parallel import on_threads
from antipodes_tasks.bfs.key_partition import with_depths
from antipodes_tasks.bfs.segments import Segment
from antipodes_tasks.keys.packing import Keys

TASK_KEYS = 1 << 22
"""Number of positions whose chunks one task writes."""


class KeyChunk(NamedTuple):
    """Facts about a chunk that was written."""

    keys: int
    """The digest of its keys."""
    depths: int
    """The digest of their depths."""
    first: Keys
    """Its first key, ``(1,)`` or ``(1, words)``."""
    layers: NDArray[np.uint32]
    """The number of positions at each depth."""


@dataclass(frozen=True)
class RangeOfSource:
    """A range of keys, and the source of its segments."""

    source: Source
    number: int
    begin: int
    """The index of its first position."""


class KeyAssembly(Assembly[KeyChunk]):
    """Chunks with the keys of positions and the depth of each."""

    @property
    def chunks_of_source(self) -> int:
        """All ranges of keys."""
        return max(1, self.store.journal(self.manifest).chunks)

    def find_missing(self) -> Sequence[int]:
        """Return the chunks without keys or without depths."""
        depths, keys = self.manifest.chunks, self.manifest.keys
        assert keys is not None
        numbers: list[int] = np.flatnonzero((depths.digests == 0) | (keys.digests == 0)).tolist()
        return numbers

    def calls(self) -> dict[Key, Call]:
        """Return the tasks, each with consecutive chunks and the ranges that these chunks need."""
        store, manifest, missing, token = self.store, self.manifest, self.missing, self.commits.lock.token
        ranges = _ranges(self.sources, self.counts)
        sent = replace(manifest, puzzle={}, chunks=manifest.chunks.part(0, 0), keys=None, metadata={})
        begins, size = [one.begin for one in ranges], max(1, TASK_KEYS // manifest.chunk_rows)
        calls: dict[Key, Call] = {}
        for number in range(0, len(missing), size):
            chunks = missing[number : number + size]
            first, end = manifest.rows_of(chunks[0]).start, manifest.rows_of(chunks[-1]).stop
            needed = ranges[int(np.searchsorted(begins, first, side="right")) - 1 : int(np.searchsorted(begins, end))]
            calls["assemble", number] = write_key_chunks, store, sent, _without_others(needed), chunks, token
        return calls

    def progress(self, left: int) -> Assembling:
        """Return the number of positions in written chunks, and of all positions."""
        done = (self.manifest.chunk_count - left) * self.manifest.chunk_rows
        return Assembling(min(self.manifest.rows, done), self.manifest.rows)

    def commit(self) -> None:
        """Commit the digests of the chunks written so far."""
        depths = {chunk: one.depths for chunk, one in self.written.items()}
        self.commits.add_chunks(depths, {chunk: one.keys for chunk, one in self.written.items()})

    def complete(self) -> None:
        """Commit the last chunks, the first key of each chunk, and the counts.

        Chunks written by an earlier run are read again for their first keys and counts.
        """
        self.commit()
        store, manifest = self.commits.store, self.commits.manifest
        every = [self.written.get(chunk) or _read(store, manifest, chunk) for chunk in range(manifest.chunk_count)]
        firsts = np.concatenate([one.first for one in every]).reshape(-1, manifest.key_words)
        self.commits.complete({}, np.array([one.layers for one in every]), firsts)


def _ranges(sources: Sequence[Source], counts: ChunkCounts) -> list[RangeOfSource]:
    """Return the ranges that have positions, in ascending order."""
    sizes = counts.sum(axis=1, dtype=np.int64)
    begins = (np.cumsum(sizes) - sizes).tolist()
    every = [(source, number) for source in sources for number in range(source.first_chunk, source.end_chunk)]
    return [RangeOfSource(source, number, begins[number]) for source, number in every if sizes[number]]


def _without_others(ranges: Sequence[RangeOfSource]) -> list[RangeOfSource]:
    """Return the ranges with sources that contain the stored segments of no other range."""
    if not isinstance(source := ranges[0].source, StoredSegments):
        return list(ranges)
    source = source.part(ranges[0].number, ranges[-1].number + 1)
    return [replace(one, source=source) for one in ranges]


def write_key_chunks(
    store: TableStore, manifest: TableManifest, ranges: Sequence[RangeOfSource], chunks: Sequence[int], token: str
) -> dict[int, KeyChunk]:
    """Write chunks from the segments of ranges; return facts about each chunk, by chunk number.

    Memory holds the positions of a few chunks: those being written, and one more.
    """

    def write(listed: ChunkPositions) -> tuple[int, KeyChunk]:
        return listed.number, _write(store, manifest, listed, token)

    threads = min(WRITE_THREADS, len(chunks))
    return dict(on_threads(write, _cut(store, manifest, ranges, chunks), threads, ahead=threads + 1))


class ChunkPositions(NamedTuple):
    """The positions of a chunk."""

    number: int
    keys: Keys
    depths: NDArray[np.uint16]


def _cut(
    store: TableStore, manifest: TableManifest, ranges: Sequence[RangeOfSource], chunks: Sequence[int]
) -> Iterator[ChunkPositions]:
    """Yield the positions of each chunk. Besides a chunk, memory holds the rest of at most one range."""
    keys, depths = with_depths([], manifest.key_words)
    end, waiting = ranges[0].begin, deque(chunks)
    for segments in _segments(store, manifest, ranges):
        found = with_depths(segments, manifest.key_words)
        keys, depths = np.concatenate((keys, found[0])), np.concatenate((depths, found[1]))
        end += len(found[0])
        begin = end - len(keys)
        while waiting and manifest.rows_of(waiting[0]).stop <= end:
            rows, number = manifest.rows_of(waiting[0]), waiting.popleft()
            here = slice(rows.start - begin, rows.stop - begin)
            yield ChunkPositions(number, keys[here], depths[here])
        done = max(0, manifest.rows_of(waiting[0]).start - begin) if waiting else len(keys)
        keys, depths = keys[done:], depths[done:]


def _segments(store: TableStore, manifest: TableManifest, ranges: Sequence[RangeOfSource]) -> Iterator[list[Segment]]:
    """Yield the segments of each range."""
    for _, some in groupby(ranges, lambda one: id(one.source)):
        same = list(some)
        for found in segments_of(store, manifest, same[0].source, [one.number for one in same]):
            yield from found.values()


def _write(store: TableStore, manifest: TableManifest, listed: ChunkPositions, token: str) -> KeyChunk:
    chunk, keys, depths = listed
    return KeyChunk(
        keys=store.write_keys(manifest, chunk, keys, token),
        depths=store.write_chunk(manifest, chunk, depths.astype(manifest.dtype)[:, np.newaxis], token),
        first=keys[:1].copy(),
        layers=_layers(depths, manifest),
    )


def _layers(depths: NDArray[Any], manifest: TableManifest) -> NDArray[np.uint32]:
    return np.bincount(depths, minlength=len(manifest.layers)).astype(np.uint32)


def _read(store: TableStore, manifest: TableManifest, chunk: int) -> KeyChunk:
    """Return the facts about a chunk that is in the store, without its digests."""
    keys, depths = store.keys_and_depths(manifest, chunk)
    return KeyChunk(0, 0, keys[:1], _layers(depths.ravel(), manifest))
