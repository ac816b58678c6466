"""The segments that a group of partitions found: some in files of the journal, the others in a log."""

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from antipodes.tables.journal.journal import Journal
from antipodes.tables.journal.journal_file import Cover, Index
from antipodes.tables.journal.stored_segments import StoredSegments
from antipodes_tasks.bfs.segments import Segment, SegmentLog


class GroupSegments:
    """The segments of the chunks of a group."""

    def __init__(self, journal: Journal, first_chunk: int, end_chunk: int) -> None:
        self.journal = journal
        self.log = SegmentLog()
        """The segments that are in no file yet."""
        self.stored = StoredSegments.empty(first_chunk, end_chunk)
        self.searched = -1
        """The depth up to which all segments are stored or in the log; a group that went back is at a lower one."""
        self.not_durable: list[str] = []
        """The files that may be lost if the system crashes."""

    @property
    def first_chunk(self) -> int:
        """The number of the first chunk."""
        return self.stored.first_chunk

    @property
    def end_chunk(self) -> int:
        """The number past that of the last chunk."""
        return self.stored.end_chunk

    @property
    def known(self) -> int:
        """The depth up to which all segments are in files."""
        return int(self.stored.known.min())

    def restore(self, depth: int, stored: StoredSegments) -> None:
        """Take these segments, up to a depth that was committed, and as far beyond it as all are known."""
        self.searched = int(stored.known.min())
        self.stored = stored.before(self.searched + 1)
        if self.searched > depth:
            self.not_durable = list(stored.files)  # a run that was killed has not made the last ones durable

    def of_chunk(self, chunk: int) -> list[Segment]:
        """All segments of a chunk."""
        return list(self.between(range(chunk, chunk + 1), 0, self.searched))

    def between(self, chunks: range, first_depth: int, last_depth: int) -> Iterator[Segment]:
        """The segments of some chunks at some depths."""
        entries = self.stored.of_chunks(chunks.start, chunks.stop)
        within = (entries["depth"] >= first_depth) & (entries["depth"] <= last_depth)
        yield from self.journal.segments(self.stored, entries[within])
        log = self.log.of_chunks(chunks.start, chunks.stop)
        yield from (one for one in log if first_depth <= one.depth <= last_depth)

    def counts(self, depths: int) -> NDArray[np.uint32]:
        """The number of positions of each chunk at each of the depths less than ``depths``: ``(chunks, depths)``."""
        counts = self.stored.counts(depths)
        for one in self.log.segments:
            counts[one.chunk - self.first_chunk, one.depth] = one.positions
        return counts

    def covers(self, depth: int) -> list[Cover]:
        """The depths that a file with all segments of the log covers, if all layers up to ``depth`` are found."""
        known, depth = self.known, max(depth, self.searched)
        return [Cover(self.first_chunk, self.end_chunk, known + 1, depth)] if depth > known else []

    def keep(self, key: str, index: Index, durable: bool) -> None:
        """Take the segments of the log from a file from now on."""
        self.stored = self.stored.with_files([(key, index)])
        self.log = SegmentLog()
        if not durable:
            self.not_durable.append(key)


def flush(found: Sequence[GroupSegments], depth: int, token: str) -> None:
    """Make all segments of some groups durable, which are found up to ``depth``."""
    write(found, depth, token, durable=True)
    storage = found[0].journal.storage
    storage.make_durable(list(dict.fromkeys(key for one in found for key in one.not_durable)))
    for one in found:
        one.not_durable.clear()


def write(found: Sequence[GroupSegments], depth: int, token: str | None, durable: bool) -> None:
    """Write the segments of some groups, found up to ``depth``, to a file of the journal, unless they are in files."""
    unwritten = [one for one in found if one.covers(depth)]
    if unwritten:
        covers = [cover for one in unwritten for cover in one.covers(depth)]
        key, indices = unwritten[0].journal.put(covers, [one.log for one in unwritten], token, durable)
        for one, index in zip(unwritten, indices, strict=True):
            one.keep(key, index, durable)
