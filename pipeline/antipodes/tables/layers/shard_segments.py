"""The segments that a shard has found: in its memory, and in the files of the journal."""

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from antipodes.tables.journal import Journal
from antipodes.tables.journal_file import Cover, FileIndex, StoredSegments
from antipodes_tasks.bfs.segments import Segment, SegmentLog


class ShardSegments:
    """The segments of the chunks of a shard."""

    def __init__(self, journal: Journal, first_chunk: int, end_chunk: int, max_gaps: float = 1.0) -> None:
        """Create the segments of a shard; see `SegmentLog` for ``max_gaps``."""
        self.journal = journal
        self.max_gaps = max_gaps
        self.log = SegmentLog(max_gaps)
        """The segments that are not in a file yet."""
        self.stored = StoredSegments.empty(first_chunk, end_chunk)
        self.searched = -1
        """The depth up to which all segments are in files or in the log. After `go_back`, the shard is less deep."""
        self.not_durable: list[str] = []
        """The files that a crash of the system may lose."""

    @property
    def first_chunk(self) -> int:
        """The number of the first chunk."""
        return self.stored.first_chunk

    @property
    def end_chunk(self) -> int:
        """The number of the last chunk, plus one."""
        return self.stored.end_chunk

    @property
    def known(self) -> int:
        """The depth up to which all segments are in files."""
        return int(self.stored.known.min())

    def restore(self, depth: int, stored: StoredSegments) -> None:
        """Adopt the ``stored`` segments up to ``depth``, and beyond it up to the depth to which all are known."""
        self.searched = int(stored.known.min())
        self.stored = stored.segments_before(self.searched + 1)
        if self.searched > depth:
            self.not_durable = list(stored.files)  # a killed run may not have made its last files durable

    def forget_before(self, depth: int) -> None:
        """Forget the segments in files at smaller depths than ``depth``, whose files are about to be deleted."""
        entries = self.stored.entries[self.stored.entries["depth"] >= depth]
        stored = StoredSegments(self.first_chunk, self.end_chunk, self.stored.files, entries, self.stored.known)
        self.stored = stored.part(self.first_chunk, self.end_chunk)

    def segments_between(self, chunks: range, first_depth: int, last_depth: int) -> Iterator[Segment]:
        """Yield the segments of some chunks at depths from ``first_depth`` to ``last_depth``."""
        entries = self.stored.of_chunks(chunks.start, chunks.stop)
        within = (entries["depth"] >= first_depth) & (entries["depth"] <= last_depth)
        yield from self.journal.segments(self.stored, entries[within])
        log = self.log.of_chunks(chunks.start, chunks.stop)
        yield from (one for one in log if first_depth <= one.depth <= last_depth)

    def counts(self, depths: int) -> NDArray[np.uint32]:
        """Return the number of positions of each chunk at each depth less than ``depths``: ``(chunks, depths)``."""
        counts = self.stored.counts(depths)
        for one in self.log.segments:
            counts[one.chunk - self.first_chunk, one.depth] = one.positions
        return counts

    def covers(self, depth: int) -> list[Cover]:
        """Return the chunks and depths that a file of the whole log would cover if layers up to ``depth`` are found."""
        known, depth = self.known, max(depth, self.searched)
        return [Cover(self.first_chunk, self.end_chunk, known + 1, depth)] if depth > known else []

    def keep(self, key: str, index: FileIndex, durable: bool) -> None:
        """Replace the segments in the log by those in a file that was written."""
        self.stored = self.stored.with_files([(key, index)])
        self.log = SegmentLog(self.max_gaps)
        if not durable:
            self.not_durable.append(key)


def flush(found: Sequence[ShardSegments], depth: int, token: str) -> None:
    """Make all segments of some shards durable. All layers up to ``depth`` must be found."""
    write(found, depth, token, durable=True)
    make_durable(found)


def make_durable(found: Sequence[ShardSegments]) -> None:
    """Make the files that some shards have written durable."""
    storage = found[0].journal.storage
    storage.make_durable(list(dict.fromkeys(key for one in found for key in one.not_durable)))
    for one in found:
        one.not_durable.clear()


def write(found: Sequence[ShardSegments], depth: int, token: str | None, durable: bool) -> None:
    """Write the segments of some shards up to ``depth`` to a journal file, except for segments already in files."""
    unwritten = [one for one in found if one.covers(depth)]
    if unwritten:
        covers = [cover for one in unwritten for cover in one.covers(depth)]
        key, indices = unwritten[0].journal.put(covers, [one.log for one in unwritten], token, durable)
        for one, index in zip(unwritten, indices, strict=True):
            one.keep(key, index, durable)
