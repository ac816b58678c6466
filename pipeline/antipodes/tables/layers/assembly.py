"""The assembly of a table after all positions are searched: each chunk is written once, from its segments.

Chunks are independent of each other, and a lost task is repeated. A subclass of `Assembly` defines what chunks contain.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import ClassVar, Generic, TypeVar

import numpy as np

from antipodes.executors.api import Call, Key, Scheduler, Stop
from antipodes.system.events import Assembling
from antipodes.tables.journal import MAX_READ_BYTES
from antipodes.tables.journal_file import StoredSegments
from antipodes.tables.layers.commits import CommitPace, TableCommits
from antipodes.tables.layers.shard_segments import ShardSegments, flush
from antipodes.tables.store.search_stores import ChunkCounts, TableStore
from antipodes.tables.store.table_manifest import TableManifest
from antipodes_tasks.base.errors import StoreDamagedError
from antipodes_tasks.base.parallel import on_threads
from antipodes_tasks.bfs.segments import Segment, depths_of

Source = ShardSegments | StoredSegments
"""The segments of adjacent chunks, in a shard or in files."""
Written = TypeVar("Written")
"""The facts about a chunk that its task returns."""
WRITE_THREADS = 4
"""Number of chunks that a task writes at the same time: one is compressed while another is written to the disk."""
MIN_READ_BYTES = 1 << 20
"""Number of bytes of segments that are read together even if chunks are small, unless memory is scarce."""
TASK_STATES = 1 << 24
"""Number of positions whose chunks one task writes, if their segments are not in a shard."""


class Assembly(ABC, Generic[Written]):
    """The chunks of a table that are not written yet, and the sources of their segments."""

    def __init__(self, commits: TableCommits, found: Sequence[ShardSegments]) -> None:
        """Find the missing chunks. The segments are those in the shards, or in the journal if ``found`` is empty.

        Raises JournalDamagedError if segments are missing, so that their positions must be searched again, and
        StoreDamagedError if their numbers differ from the committed ones.
        """
        self.commits = commits
        self.store, self.manifest, self.found = commits.store, commits.manifest, found
        self.sources: Sequence[Source] = found or stored(self.store, self.manifest, self.chunks_of_source)
        self.counts = segment_counts(self.store, self.manifest, self.sources)
        self.missing: Sequence[int] = self.find_missing()
        self.written: dict[int, Written] = {}

    @property
    @abstractmethod
    def chunks_of_source(self) -> int:
        """The number of the journal's chunks whose segments one source has."""

    @abstractmethod
    def find_missing(self) -> Sequence[int]:
        """Return the numbers of the chunks to be written, ascending."""

    @abstractmethod
    def calls(self) -> dict[Key, Call]:
        """Return the tasks, each of which returns the facts about the chunks that it writes, by chunk number."""

    @abstractmethod
    def progress(self, left: int) -> Assembling:
        """Return the event that ``left`` chunks are not written yet."""

    @abstractmethod
    def commit(self) -> None:
        """Commit the chunks written so far."""

    @abstractmethod
    def complete(self) -> None:
        """Commit the finished table, whose chunks are all written."""


def assemble(assembly: Assembly[Written], scheduler: Scheduler, pace: CommitPace, stop: Stop) -> int:
    """Write all missing chunks of a table, and finish the table, unless told to stop before.

    Return the number of times that workers were lost. Other workers write their chunks.

    If the segments come from the journal, the chunks written so far are committed from time to time. After a stop they
    are always committed.

    Raises JournalDamagedError if segments are missing or corrupt, so that their positions must be searched again.
    """
    commits, written = assembly.commits, assembly.written

    def report_chunks(key: Key, chunks: Mapping[int, Written]) -> None:
        written.update(chunks)
        commits.listener(assembly.progress(len(assembly.missing) - len(written)))
        if not assembly.found and pace.is_commit_overdue:
            assembly.commit()
            pace.committed(0.0)

    with commits.clock.measure("write"):
        commits.listener(assembly.progress(len(assembly.missing)))
        losses = scheduler.run_unordered(assembly.calls(), report_chunks, stop)
        if losses:
            commits.shut_out_lost_workers()
        if len(written) == len(assembly.missing):
            assembly.complete()
            return losses
        if assembly.found:  # the journal needs their segments, so that a run can resume from there
            flush(assembly.found, assembly.manifest.committed_depth, commits.lock.token)
        assembly.commit()
        return losses


class DepthAssembly(Assembly[int]):
    """Chunks with the depth of each entry. The fact about a chunk is its digest."""

    threads: ClassVar[int] = WRITE_THREADS
    """Number of chunks that a task writes at the same time."""

    @property
    def chunks_of_source(self) -> int:
        """The number of chunks that one task writes."""
        return max(1, TASK_STATES // (self.manifest.chunk_rows * self.manifest.width))

    def find_missing(self) -> Sequence[int]:
        """Return the chunks with positions, since a chunk without any is not written."""
        numbers: list[int] = np.flatnonzero(self.counts.any(axis=1) & (self.manifest.chunks.digests == 0)).tolist()
        return numbers

    def calls(self) -> dict[Key, Call]:
        """Return the tasks. Each task writes adjacent chunks, whose segments have the same source."""
        bounds = [source.first_chunk for source in self.sources]
        chunks: dict[int, list[int]] = {}
        for chunk in self.missing:
            chunks.setdefault(int(np.searchsorted(bounds, chunk, side="right")) - 1, []).append(chunk)
        sent = replace(self.manifest, puzzle={}, chunks=self.manifest.chunks.part(0, 0), metadata={})
        token = self.commits.lock.token
        return {
            ("assemble", number): (write_chunks, self.store, sent, self.sources[number], here, token, self.threads)
            for number, here in chunks.items()
        }

    def progress(self, left: int) -> Assembling:
        """Return the number of positions in written chunks, and of all positions."""
        manifest = self.manifest
        size = manifest.rows * manifest.width
        done = max(0, size - left * manifest.chunk_rows * manifest.width)
        return Assembling(manifest.standing_for(done), manifest.numbered)

    def commit(self) -> None:
        """Commit the digests of the chunks written so far."""
        self.commits.add_chunks(self.written)

    def complete(self) -> None:
        """Commit the last chunks and the counts."""
        self.commits.complete(self.written, self.counts)


def stored(store: TableStore, manifest: TableManifest, chunks: int) -> list[StoredSegments]:
    """Return the journal's segments in parts of ``chunks`` chunks; raise JournalDamagedError if some are missing."""
    journal = store.journal(manifest)
    every = journal.load(0, journal.chunks)
    journal.check_known(every, manifest.committed_depth)
    return [every.part(first, min(first + chunks, journal.chunks)) for first in range(0, journal.chunks, chunks)]


def segment_counts(store: TableStore, manifest: TableManifest, sources: Sequence[Source]) -> ChunkCounts:
    """Return the number of positions of each chunk at each depth; raise StoreDamagedError if their sums are wrong."""
    counts = np.concatenate([source.counts(len(manifest.layers)) for source in sources])
    if counts.sum(axis=0).tolist() != list(manifest.layers):
        raise StoreDamagedError(
            f"{store.address} is corrupt: the numbers of positions in its journal differ from the committed numbers"
        )
    return counts


class SerialDepthAssembly(DepthAssembly):
    """The same chunks. A task writes one after another, which takes less memory."""

    threads = 1


def write_chunks(
    store: TableStore, manifest: TableManifest, source: Source, chunks: Sequence[int], token: str, threads: int
) -> dict[int, int]:
    """Write chunks from the segments of a shard or of the journal; return their digests, by their numbers."""

    def write(one: tuple[int, list[Segment]]) -> tuple[int, int]:
        chunk, segments = one
        depths = depths_of(segments, store.unreached(manifest, chunk))
        return chunk, store.write_chunk(manifest, chunk, depths, token)

    written: dict[int, int] = {}
    # about as many bytes as the segments of the chunks that are written at the same time
    read_bytes = max(MIN_READ_BYTES * (threads > 1), threads * manifest.chunk_rows * manifest.width)
    for found in segments_of(store, manifest, source, chunks, read_bytes):
        written.update(on_threads(write, found.items(), min(threads, len(found))))
    return written


def segments_of(
    store: TableStore, manifest: TableManifest, source: Source, chunks: Sequence[int], read_bytes: int = MAX_READ_BYTES
) -> Iterator[dict[int, list[Segment]]]:
    """Yield all segments of chunks or of ranges of keys, by their numbers, which ascend.

    Chunks are read from files together as long as their segments take at most ``read_bytes``. Each request to a bucket
    takes a while, and a chunk has a segment for each depth.
    """
    stored = source if isinstance(source, StoredSegments) else source.stored
    entries = stored.of_chunks(chunks[0], chunks[-1] + 1)
    lengths = np.bincount(entries["chunk"] - chunks[0], entries["length"], chunks[-1] + 1 - chunks[0])
    ends = np.cumsum(lengths[np.array(chunks) - chunks[0]])
    for some in np.split(chunks, np.flatnonzero(np.diff(ends // max(1, read_bytes))) + 1):
        found: dict[int, list[Segment]] = {chunk: [] for chunk in some.tolist()}
        first, end = int(some[0]), int(some[-1]) + 1
        if isinstance(source, StoredSegments):
            segments = store.journal(manifest).segments(source, source.of_chunks(first, end))
        else:
            segments = source.segments_between(range(first, end), 0, source.searched)
        for one in segments:
            if one.chunk in found:
                found[one.chunk].append(one)
        yield found
