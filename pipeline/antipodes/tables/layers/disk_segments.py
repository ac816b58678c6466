"""The segments of a shard whose layers are on disk: written while a layer is found, and read as a stream."""

import threading
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from antipodes.system.machine import MIB
from antipodes.tables.journal import Journal
from antipodes.tables.journal_file import Cover, FileIndex, StoredSegments
from antipodes.tables.layers.shard_segments import ShardSegments, write
from antipodes_tasks.base.parallel import read_ahead
from antipodes_tasks.bfs.bitmaps import Bitmap
from antipodes_tasks.bfs.segments import Segment

READ_BYTES = MIB
"""Maximum number of bytes that are read from a file in one piece, unless a single segment is longer."""
MIN_BYTES_AHEAD = 4 * READ_BYTES
"""Minimum size in bytes of a stream that a second thread reads ahead. For a shorter one, starting it takes longer."""
PIECES_IN_MEMORY = 3
"""Maximum number of pieces of a stream in memory: being processed, read ahead, and, as a copy, being checked."""


class DiskSegments(ShardSegments):
    """The segments of the chunks of a shard. Other threads read earlier layers while a layer is added."""

    def __init__(
        self, journal: Journal, first_chunk: int, end_chunk: int, buffer_bytes: int, max_gaps: float = 1.0
    ) -> None:
        """Create the segments of a shard; ``buffer_bytes`` of segments are collected before they are written."""
        super().__init__(journal, first_chunk, end_chunk, max_gaps)
        self.buffer_bytes = buffer_bytes
        """Maximum size of the log in bytes."""
        self._changing = threading.Lock()
        """Held while segments move from the log to a file, so that readers find each segment in one of them."""

    def count(self, chunks: range, depth: int) -> int:
        """Return the number of positions of some chunks at a depth."""
        stored, log = self._now
        entries = stored.of_chunks(chunks.start, chunks.stop)
        counted = int(entries["count"][entries["depth"] == depth].sum(dtype=np.int64))
        return counted + sum(one.positions for one in log if one.depth == depth and one.chunk in chunks)

    def segments_between(
        self, chunks: range, first_depth: int, last_depth: int, needed: NDArray[np.bool_] | None = None
    ) -> Iterator[Segment]:
        """Yield the segments of some chunks at depths from ``first_depth`` to ``last_depth``.

        If ``needed`` ``(all chunks,)`` is given, only these of the chunks are read.
        """
        stored, log = self._now
        entries = stored.of_chunks(chunks.start, chunks.stop)
        entries = entries[(entries["depth"] >= first_depth) & (entries["depth"] <= last_depth)]
        if needed is not None:
            entries, log = entries[needed[entries["chunk"]]], [one for one in log if needed[one.chunk]]
        pieces = self.journal.pieces(stored, entries, READ_BYTES, max_gap=0)
        ahead = int(entries["length"].sum(dtype=np.int64)) >= MIN_BYTES_AHEAD
        for piece in read_ahead(pieces) if ahead else pieces:
            yield from piece
        yield from (one for one in log if first_depth <= one.depth <= last_depth and one.chunk in chunks)

    def keep(self, key: str, index: FileIndex, durable: bool) -> None:
        """Replace the segments in the log by those in a file that was written."""
        with self._changing:
            super().keep(key, index, durable)

    def forget_before(self, depth: int) -> None:
        """Forget the segments in files at smaller depths than ``depth``, whose files are about to be deleted."""
        with self._changing:
            super().forget_before(depth)

    def covers(self, depth: int) -> list[Cover]:
        """Return the chunks and depths that a file of the whole log would cover if layers up to ``depth`` are found.

        If a part of the last layer is in files already, its chunks, which are the first ones, are not covered again.
        """
        known, depth = self.known, max(depth, self.searched)
        if depth <= known:
            return []
        first = self.first_chunk + int(np.argmin(self.stored.known))
        return [Cover(first, self.end_chunk, known + 1, depth)]

    def write_to(self, end_chunk: int, depth: int, token: str) -> None:
        """Write the log to a file, which is not durable yet; the layer at ``depth`` is found up to ``end_chunk - 1``.

        All earlier layers must be in files.
        """
        (rest,) = self.covers(depth)
        cover = rest._replace(end_chunk=end_chunk)
        key, (index,) = self.journal.put([cover], [self.log], token, durable=False)
        self.keep(key, index, durable=False)

    @property
    def _now(self) -> tuple[StoredSegments, list[Segment]]:
        """The segments in files, and a copy of the log, at the same moment."""
        with self._changing:
            return self.stored, list(self.log.segments)


class LayerLog:
    """The log of one layer of a shard. It writes segments to files when they take too much memory."""

    def __init__(self, segments: DiskSegments, token: str) -> None:
        self._segments = segments
        self._token = token
        if segments.log.segments:  # of the layer before, which ends at another chunk
            write([segments], segments.searched, token, durable=False)

    def add(self, chunk: int, depth: int, layer: Bitmap, width: int, count: int) -> None:
        """Add a segment; see `SegmentLog.add`. The chunks of a layer ascend."""
        self._segments.log.add(chunk, depth, layer, width, count)
        if self._segments.log.size > self._segments.buffer_bytes:
            self._segments.write_to(chunk + 1, depth, self._token)
