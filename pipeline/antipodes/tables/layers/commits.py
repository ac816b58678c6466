"""The commits of a run, from which the next run resumes, and the assembly of its table.

The assembly writes each chunk of depths once, from its segments, after all positions are searched. Chunks are
independent of each other, and a lost task is repeated.
"""

import time
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from antipodes.executors.api import Call, Key, Scheduler, Stop
from antipodes.runs.run_results import Clock
from antipodes.storage.lock import StoreLock
from antipodes.system.events import Assembling, Committed, Committing, Listener
from antipodes.system.options import RunOptions
from antipodes.tables.journal_file import StoredSegments
from antipodes.tables.layers.shard_segments import ShardSegments, flush
from antipodes.tables.store.manifest import NOTHING_COMMITTED, Layers, SearchManifest, TableManifest
from antipodes.tables.store.search_stores import LayerCounts, SearchStore, TableStore
from antipodes_tasks.base.errors import StoreDamagedError
from antipodes_tasks.bfs.segments import Segment, depths_of

if TYPE_CHECKING:
    from antipodes.tables.layers.shards import Shards

CHECKPOINT_SECONDS, CHECKPOINT_SECONDS_ON_CLUSTER = 120.0, 30.0
"""Default seconds between commits: little work can be lost, and writing remains a small part of a long run. The
interval is shorter on a cluster: any worker may be lost there, and all workers then resume from the last commit."""
COMMIT_SHARE = 0.1
"""Default maximum share of the time for commits, since commits of large tables take minutes."""
BLOCK_SECONDS = 2.0
"""Maximum time, in seconds, of the layers submitted together, estimated from the previous layers. An interruption takes
effect only after these layers."""
MAX_TOGETHER = 16
"""Maximum number of layers that are submitted together."""
FIRST_BLOCK = 4
"""Initial number of layers submitted together. It is then doubled or halved."""
WRITE_THREADS = 4
"""Number of chunks that a task writes at the same time: one is compressed while another is written to the disk."""


@dataclass
class CommitPace:
    """The number of layers that are submitted together, and the time of the next commit."""

    checkpoint_every: float
    """Minimum seconds between two commits. 0: commit every layer."""
    commit_share: float
    """Maximum share of the time for commits: after a long commit, the next one waits longer."""
    round_trips: bool
    """Whether submitting a layer takes a round trip to a cluster."""
    _block: int = FIRST_BLOCK
    _commit_seconds: float = 0.0
    _saved_at: float = 0.0
    """When the search last matched the store, on the monotonic clock."""

    @classmethod
    def of(cls, options: RunOptions, shares_memory: bool) -> "CommitPace":
        """Return the pace for the options, on threads of this process or on a cluster."""
        if options.checkpoint_every is not None:
            return cls(options.checkpoint_every, 1.0, not shares_memory)
        every = CHECKPOINT_SECONDS if shares_memory else CHECKPOINT_SECONDS_ON_CLUSTER
        return cls(every, COMMIT_SHARE, not shares_memory)

    def restored(self) -> None:
        """Start again with few layers, now that the search matches the store."""
        self._block, self._saved_at = FIRST_BLOCK, time.monotonic()

    def committed(self, seconds: float) -> None:
        """Count the time until the next commit from now on; the last commit took ``seconds``."""
        self._commit_seconds, self._saved_at = seconds, time.monotonic()

    def advanced(self, layers: int, seconds: float) -> None:
        """Choose how many layers to submit next, given that the last ``layers`` layers took ``seconds``."""
        self._block = max(1, 2 * layers if seconds < BLOCK_SECONDS / 2 else layers // 2)

    @property
    def layers_together(self) -> int:
        """The number of layers to submit together."""
        at_most = MAX_TOGETHER if self.round_trips and self.checkpoint_every > 0 else 1
        return min(self._block, at_most)

    @property
    def is_commit_overdue(self) -> bool:
        """Whether it is time to commit."""
        wait = max(self.checkpoint_every, self._commit_seconds * (1 / self.commit_share - 1))
        return time.monotonic() - self._saved_at >= wait


@dataclass
class Commits:
    """The last commit of a store, which is replaced while layers are searched."""

    store: SearchStore[Any]
    lock: StoreLock
    """The lock of the store, with the token that writers need."""
    manifest: SearchManifest
    """The last commit, or the next one in preparation."""
    listener: Listener
    clock: Clock

    @property
    def has_commit(self) -> bool:
        """Whether there is a commit from which a run can resume."""
        return self.manifest.committed_depth != NOTHING_COMMITTED

    def commit(self, shards: "Shards", layers: Layers) -> float:
        """Write the shards' findings to the journal, then the manifest with the layers; return the seconds taken."""
        before, depth = self.clock.write, layers.depth
        self.listener(Committing(depth))
        with self.clock.measure("write"):
            shards.flush(depth)
            self.manifest = replace(self.manifest, **layers.fields)
            self.store.commit(self.manifest)
        self.listener(Committed(depth))
        return self.clock.write - before

    def complete_counts(self, layers: Layers, antipodes: Sequence[int]) -> None:
        """Commit the layers and the antipodes of a counts-only run, which finishes its store."""
        with self.clock.measure("write"):
            fields = {**layers.fields, "searched": True, "antipodes": tuple(antipodes), "complete": True}
            self.manifest = replace(self.manifest, **fields)
            self.store.commit(self.manifest)
        self.listener(Committed(layers.depth))

    def return_to(self, layers: Layers) -> None:
        """Continue with only these layers committed, since the journal lost the others. They will be found again."""
        self.manifest = replace(self.manifest, **layers.fields)

    def shut_out_lost_workers(self) -> None:
        """Replace the fencing token, so that lost workers cannot write, and remove the files they were writing."""
        self.lock.rotate_token()
        self.store.storage.remove_leftovers()


@dataclass
class TableCommits(Commits):
    """The commits of a table, including its chunks."""

    store: TableStore
    manifest: TableManifest

    def begin_assembly(self, layers: Layers, antipodes: Sequence[int], resumable: bool) -> None:
        """Record that all positions are searched, and create the array of depths.

        If the assembly is ``resumable``, because the journal has all segments, this is committed.
        """
        with self.clock.measure("write"):
            self.manifest = self.manifest.with_layers(layers, antipodes)
            self.store.create_arrays(self.manifest)
            if resumable:
                self.manifest = self.store.commit_arrays(self.manifest)

    def add_chunks(self, written: Mapping[int, int], keys: Mapping[int, int] | None = None) -> None:
        """Commit the digests of written chunks, by their numbers; in a table of keys also the digests of the keys."""
        self.manifest = replace(self.manifest, chunks=self.manifest.chunks.updated(written))
        if keys is not None and self.manifest.keys is not None:
            self.manifest = replace(self.manifest, keys=self.manifest.keys.updated(keys))
        self.manifest = self.store.commit_arrays(self.manifest)

    def search_again(self, damaged: str | None) -> None:
        """Return from the assembly to the search, at the last commit; delete the ``damaged`` file, if given."""
        with self.clock.measure("write"):
            self.manifest = self.store.read()
            if self.manifest.searched:
                self.manifest = self.store.commit_arrays(self.manifest.not_searched())
            if damaged is not None:
                self.store.journal(self.manifest).delete([damaged])

    def complete(
        self, written: Mapping[int, int], counts: LayerCounts, first_keys: NDArray[np.uint64] | None = None
    ) -> None:
        """Commit the last chunks and the finished table; see `TableStore.complete`."""
        self.manifest = replace(self.manifest, chunks=self.manifest.chunks.updated(written))
        self.manifest = self.store.complete(self.manifest, counts, first_keys)


Source = ShardSegments | StoredSegments
"""The segments of adjacent chunks, in a shard or in files."""
TASK_STATES = 1 << 24
"""Number of positions whose chunks one task writes, if their segments are not in a shard."""


def assemble(
    commits: TableCommits, found: Sequence[ShardSegments], scheduler: Scheduler, pace: CommitPace, stop: Stop
) -> None:
    """Write all chunks of a table whose positions are all searched, and finish the table, unless told to stop before.

    The segments come from the shards (``found``), or from the journal if ``found`` is empty. If they come from the
    journal, the chunks written so far are committed from time to time. After a stop they are always committed.

    Raises JournalDamagedError if segments are missing or corrupt, so that their positions must be searched again.
    """
    store, manifest = commits.store, commits.manifest
    chunks = max(1, TASK_STATES // (manifest.chunk_rows * manifest.width))
    sources = found or stored(store, manifest, chunks)
    counts = segment_counts(store, manifest, sources)
    missing = np.flatnonzero(counts.any(axis=1) & (manifest.chunks.digests == 0))
    written: dict[int, int] = {}
    listener, size = commits.listener, manifest.rows * manifest.width
    done = size - len(missing) * manifest.chunk_rows * manifest.width

    def report_chunk(key: Key, digests: dict[int, int]) -> None:
        nonlocal done
        written.update(digests)
        done += len(digests) * manifest.chunk_rows * manifest.width
        listener(Assembling(manifest.standing_for(max(0, min(done, size))), manifest.numbered))
        if not found and pace.is_commit_overdue:
            commits.add_chunks(written)
            pace.committed(0.0)

    with commits.clock.measure("write"):
        listener(Assembling(manifest.standing_for(max(0, done)), manifest.numbered))
        calls = _calls(store, manifest, sources, missing.tolist(), commits.lock.token)
        scheduler.run_unordered(calls, report_chunk, stop)
        if len(written) == len(missing):
            commits.complete(written, counts)
        else:
            flush_unless_stored(found, manifest, commits.lock.token)
            commits.add_chunks(written)


def flush_unless_stored(found: Sequence[ShardSegments], manifest: TableManifest, token: str) -> None:
    """Write the segments of the shards (``found``) to the journal, so that a run can resume from there."""
    if found:
        flush(found, manifest.committed_depth, token)


def stored(store: TableStore, manifest: TableManifest, chunks: int) -> list[StoredSegments]:
    """Return the journal's segments in parts of ``chunks`` chunks; raise JournalDamagedError if some are missing."""
    journal = store.journal(manifest)
    every = journal.load(0, journal.chunks)
    journal.check_known(every, manifest.committed_depth)
    return [every.part(first, min(first + chunks, journal.chunks)) for first in range(0, journal.chunks, chunks)]


def segment_counts(store: TableStore, manifest: TableManifest, sources: Sequence[Source]) -> LayerCounts:
    """Return the number of positions of each chunk at each depth; raise StoreDamagedError if their sums are wrong."""
    counts = np.concatenate([source.counts(len(manifest.layers)) for source in sources])
    if counts.sum(axis=0).tolist() != list(manifest.layers):
        raise StoreDamagedError(
            f"{store.address} is corrupt: the numbers of positions in its journal differ from the committed numbers"
        )
    return counts


def _calls(
    store: TableStore, manifest: TableManifest, sources: Sequence[Source], missing: Iterable[int], token: str
) -> dict[Key, Call]:
    """Return the tasks. Each task writes adjacent chunks, whose segments have the same source."""
    bounds = [source.first_chunk for source in sources]
    chunks: dict[int, list[int]] = {}
    for chunk in missing:
        chunks.setdefault(int(np.searchsorted(bounds, chunk, side="right")) - 1, []).append(chunk)
    sent = replace(manifest, puzzle={}, chunks=manifest.chunks.part(0, 0), metadata={})
    return {
        ("assemble", number): (write_chunks, store, sent, sources[number], here, token)
        for number, here in chunks.items()
    }


def write_chunks(
    store: TableStore, manifest: TableManifest, source: Source, chunks: Sequence[int], token: str
) -> dict[int, int]:
    """Write chunks from the segments of a shard or of the journal; return their digests, by their numbers."""
    journal = store.journal(manifest)

    def segments(chunk: int) -> list[Segment]:
        if isinstance(source, StoredSegments):
            return list(journal.segments(source, source.of_chunks(chunk, chunk + 1)))
        return source.of_chunk(chunk)

    def write(chunk: int) -> tuple[int, int]:
        depths = depths_of(segments(chunk), store.unreached(manifest, chunk))
        return chunk, store.write_chunk(manifest, chunk, depths, token)

    with ThreadPoolExecutor(min(WRITE_THREADS, len(chunks))) as pool:
        return dict(pool.map(write, chunks))
