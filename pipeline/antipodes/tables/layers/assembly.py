"""The assembly of a table: each chunk of depths is written once, from its segments, after all positions are searched.

Chunks do not depend on each other: whoever has the segments of a chunk can write it, and a lost task is repeated.
"""

from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np

from antipodes.events import Assembling
from antipodes.executors.api import Call, Key, Scheduler, Stop
from antipodes.tables.journal.stored_segments import StoredSegments
from antipodes.tables.layers.commits import Commits
from antipodes.tables.layers.group_segments import GroupSegments, flush
from antipodes.tables.layers.pace import Pace
from antipodes.tables.planning.plan import AT_ONCE
from antipodes.tables.store.depth_array import LayerCounts
from antipodes.tables.store.manifest import TableManifest
from antipodes.tables.store.table_store import TableStore
from antipodes_tasks.bfs.segments import Segment, depths_of
from antipodes_tasks.errors import StoreDamagedError

Source = GroupSegments | StoredSegments
"""What has the segments of chunks side by side."""
TASK_STATES = 1 << 24
"""Positions whose chunks one task writes, where no group has their segments."""


def assemble(commits: Commits, found: Sequence[GroupSegments], scheduler: Scheduler, pace: Pace, stop: Stop) -> None:
    """Write all chunks of a table that is searched, and finish it, unless told to stop before.

    The segments are those that groups ``found``, or without any those in the journal. In the second case the chunks so
    far are committed now and then. After a stop they always are.

    Raises
    ------
    JournalDamagedError
        Segments are missing or damaged, so that they must be searched again.
    """
    store, manifest = commits.store, commits.manifest
    sources = found or _stored(store, manifest)
    counts = _counts(store, manifest, sources)
    missing = np.flatnonzero(counts.any(axis=1) & (manifest.chunks.digests == 0))
    written: dict[int, int] = {}
    listener, size = commits.listener, manifest.rows * manifest.width
    done = size - len(missing) * manifest.chunk_rows * manifest.width

    def tell(key: Key, digests: dict[int, int]) -> None:
        nonlocal done
        written.update(digests)
        done += len(digests) * manifest.chunk_rows * manifest.width
        listener(Assembling(max(0, min(done, size)), size))
        if not found and pace.is_commit_overdue:
            commits.add_chunks(written)
            pace.committed(0.0)

    with commits.clock.measure("write"):
        listener(Assembling(max(0, done), size))
        calls = _calls(store, manifest, sources, missing.tolist(), commits.lock.token)
        scheduler.run_unordered(calls, tell, stop)
        if len(written) == len(missing):
            commits.complete(written, counts)
        else:
            if found:
                flush(found, manifest.committed_depth, commits.lock.token)
            commits.add_chunks(written)


def _stored(store: TableStore, manifest: TableManifest) -> list[StoredSegments]:
    """The segments in the journal, a part for each task; JournalDamagedError if some are missing."""
    journal, count = store.journal(manifest), manifest.chunk_count
    stored = journal.load(0, count)
    journal.check_known(stored, manifest.committed_depth)
    chunks = max(1, TASK_STATES // (manifest.chunk_rows * manifest.width))
    return [stored.part(first, min(first + chunks, count)) for first in range(0, count, chunks)]


def _counts(store: TableStore, manifest: TableManifest, sources: Sequence[Source]) -> LayerCounts:
    """The number of positions of each chunk at each depth; StoreDamagedError if they are not those of the layers."""
    counts = np.concatenate([source.counts(len(manifest.layers)) for source in sources])
    if counts.sum(axis=0).tolist() != list(manifest.layers):
        raise StoreDamagedError(f"{store.address} is damaged: its journal has not as many positions as were committed")
    return counts


def _calls(
    store: TableStore, manifest: TableManifest, sources: Sequence[Source], missing: Iterable[int], token: str
) -> dict[Key, Call]:
    """The tasks, each with chunks side by side, and what has their segments."""
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
    """Write chunks from the segments of a group, or from those in the journal; their digests, by their numbers."""
    journal = store.journal(manifest)

    def segments(chunk: int) -> list[Segment]:
        if isinstance(source, StoredSegments):
            return list(journal.segments(source, source.of_chunks(chunk, chunk + 1)))
        return source.of_chunk(chunk)

    def write(chunk: int) -> tuple[int, int]:
        shape = len(manifest.rows_of(chunk)), manifest.width
        unreached = np.full(shape, manifest.unreached, dtype=np.dtype(manifest.dtype))
        return chunk, store.write_chunk(manifest, chunk, depths_of(segments(chunk), unreached), token)

    with ThreadPoolExecutor(min(AT_ONCE, len(chunks))) as pool:
        return dict(pool.map(write, chunks))
