"""A shard: partitions side by side, which one task advances after another, and the segments that it found.

Shards are large, since each task costs a scheduler some time. Partitions are small, so that a layer touches only the
rows that it can reach, and stays in cache. In threads a shard is one partition.
"""

import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from antipodes.tables.journal import Checkpoint, Journal
from antipodes.tables.journal_file import Cover, Index, StoredSegments
from antipodes_tasks.bfs.bitmaps import Bitmap
from antipodes_tasks.bfs.partition import Frontier, Links, Partition, State, boundary
from antipodes_tasks.bfs.segments import Segment, SegmentLog
from antipodes_tasks.errors import InterruptedRunError, StoreDamagedError


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


@dataclass(frozen=True)
class Boundary:
    """What other groups need of a group at a depth."""

    depth: int
    parts: tuple[Frontier, ...]

    def frontiers(self, depth: int) -> Sequence[Frontier]:
        """The frontiers at a depth: of the partitions that have any, or of some of their rows."""
        assert depth == self.depth
        return self.parts

    def __sizeof__(self) -> int:
        """Bytes that dask counts."""
        return sum(part.rows.nbytes + part.bits.nbytes for part in self.parts)


class Group:
    """Partitions side by side, changed in place.

    A layer that the journal has already is replayed instead of searched. So a group may be restored at a depth that
    others have passed, or that it had passed itself.

    A group never leaves its process. dask must not move it to disk or to another worker: it would change a copy.
    """

    def __init__(
        self, parts: Sequence[Partition], width: int, chunk_rows: int, journal: Journal, buffer_bytes: int
    ) -> None:
        self.states = [State(part, width, chunk_rows) for part in parts]
        self.depth = -1
        """The depth that the bits are at: positions at greater depths, up to that of other groups, are none."""
        self.segments = GroupSegments(journal, self.states[0].chunks.start, self.states[-1].chunks.stop)
        """What the group found."""
        self.damaged: list[str] = []
        """What the journal lacked when the group was restored."""
        self._memory_bytes = buffer_bytes + sum(state.most_bytes for state in self.states)
        """Bytes that bits and segments may take together after a layer: bits often take less than they may."""
        self._token = ""
        """The fencing token of the tasks that may change the group. None may before `go_back`: dask makes a group
        anew, at its first depth, if a worker comes back at the same address before the run knows that it was lost."""
        self._found: dict[int, int] = {}
        """The number of positions at the depths that the group has passed, for tasks that run twice."""
        self._lock = threading.Lock()

    def begin(self, starts: NDArray[np.int64]) -> int:
        """Find the starts, indices ``(n,)`` of the whole table; how many lie in the group."""
        self.depth = self.segments.searched = 0
        return sum(state.begin(starts, self.segments.log) for state in self.states)

    def restore(self, depth: int, stored: StoredSegments) -> None:
        """Take all layers up to ``depth`` from the journal's segments, or less if files are missing: -1 if all are.

        Raises
        ------
        JournalDamagedError
            A segment is damaged.
        """
        self.segments.restore(depth, stored)
        self.depth = min(depth, self.segments.searched)
        if self.depth >= 0:
            for state in self.states:
                state.restore(self.depth, self.segments.between(state.chunks, 0, self.depth))

    def go_back(self, depth: int, token: str) -> int:
        """Return to a depth that the group has passed, from where it replays; how many positions there are.

        From now on only tasks with the fencing ``token`` change the group: others may be running still.
        """
        with self._lock:
            self._token = token
            if depth < self.depth:
                for state in self.states:
                    state.go_back(depth, self.segments.between(state.chunks, depth, self.depth))
                self.depth = depth
            return self.count(depth)

    def count(self, depth: int) -> int:
        """How many positions there are at ``depth``, one of the last two."""
        return sum(frontier.count for frontier in self.frontiers(depth))

    def advance(
        self, sources: Sequence["Group | Boundary"], links: Links, depth: int, layers: int, token: str
    ) -> list[int]:
        """Find the ``layers`` layers after ``depth``; the number of positions in each.

        More than one layer only where no moves come from other groups, the ``sources``.
        """
        with self._held_by(token):
            return [self._advance(sources, links, at) for at in range(depth + 1, depth + layers + 1)]

    def frontiers(self, depth: int) -> Sequence[Frontier]:
        """The frontiers at ``depth``, one of the last two, of the partitions that have any."""
        found = (state.frontier(depth) for state in self.states)
        return [frontier for frontier in found if frontier is not None]

    def boundary(self, links: Links, depth: int, token: str) -> Boundary:
        """The part of the frontier at ``depth`` from which a move leads out of the group."""
        rows = self.states[0].part.first_row, self.states[-1].part.end_row
        with self._held_by(token):
            parts = [boundary(one, links.tables, *rows) for one in self.frontiers(depth)]
        return Boundary(depth, tuple(part for part in parts if part is not None))

    def flush(self, depth: int, token: str) -> None:
        """Make all durable that the group found up to ``depth``; see `flush`."""
        with self._held_by(token):
            flush([self.segments], depth, token)

    def positions(self, depth: int, limit: int) -> NDArray[np.int64]:
        """The indices of the first positions at ``depth``, one of the last two: ``(n,)``, ascending."""
        found = [np.empty(0, dtype=np.int64)]
        for state in self.states:
            found.append(state.positions(depth, limit - sum(map(len, found))))
        return np.concatenate(found)

    @property
    def layers(self) -> list[int]:
        """The number of positions at each depth up to `depth`, in the files of the journal."""
        counts: list[int] = self.segments.stored.counts(self.depth + 1).sum(axis=0).tolist()
        return counts

    def __reduce__(self) -> NoReturn:
        raise TypeError("a group of partitions cannot leave its process")

    def __sizeof__(self) -> int:
        """Bytes that dask counts."""
        return sum(state.nbytes for state in self.states) + self.segments.log.size

    @contextmanager
    def _held_by(self, token: str) -> Iterator[None]:
        """Let no other task change the group meanwhile; InterruptedRunError unless tasks with this token may."""
        with self._lock:
            if token != self._token:
                raise InterruptedRunError("the run has returned to an earlier depth, or the group was lost")
            yield

    def _advance(self, sources: Sequence["Group | Boundary"], links: Links, depth: int) -> int:
        if depth > self.depth:
            found = self._replay(depth) if depth <= self.segments.searched else self._search(sources, links, depth)
            self._found[depth], self.depth = found, depth
        return self._found[depth]

    def _replay(self, depth: int) -> int:
        return sum(
            state.replay(depth, list(self.segments.between(state.chunks, depth, depth))) for state in self.states
        )

    def _search(self, sources: Sequence["Group | Boundary"], links: Links, depth: int) -> int:
        frontiers = {one.number: one for source in (self, *sources) for one in source.frontiers(depth - 1)}
        found = 0
        for state in self.states:
            numbers = links.predecessors[state.part.number]
            here = [frontiers[number] for number in numbers if number in frontiers]
            found += state.advance(depth, here, links.tables, self.segments.log)
        self.segments.searched = depth
        if self.segments.log.size and sys.getsizeof(self) > self._memory_bytes:
            write([self.segments], depth, self._token, durable=False)
        return found


class NoLog(SegmentLog):
    """A log that keeps nothing."""

    def add(self, chunk: int, depth: int, layer: Bitmap, width: int, count: int) -> None:
        """Do nothing."""


class CountingGroup(Group):
    """Partitions side by side without segments: they cannot go back, only be restored from a checkpoint."""

    def __init__(self, *settings: Any) -> None:
        super().__init__(*settings)
        self.segments.log = NoLog()

    def restore(self, depth: int, sizes: Mapping[str, int]) -> None:  # type: ignore[override]
        """Take the bits at ``depth`` from the files of its checkpoint, of these ``sizes``; -1 if some are damaged."""
        checkpoint = Checkpoint(self.segments.journal, depth)
        try:
            for state in self.states:
                state.restore(depth, checkpoint.segments(state.chunks, sizes))
            self.depth = depth
        except StoreDamagedError as error:
            self.damaged.append(str(error))
            self.depth = -1
        self.segments.searched = self.depth

    def go_back(self, depth: int, token: str) -> int:
        """Take only tasks with the fencing ``token`` from now on; how many positions there are at ``depth``."""
        with self._lock:
            self._token = token
            return self.count(depth)

    @property
    def layers(self) -> list[int]:
        """The number of positions at the last depth; those at lesser depths count as if at the one before it."""
        if self.depth < 0:  # what was restored before the damage was found says nothing
            return []
        if self.depth == 0:
            return [self.count(0)]
        visited = sum(state.part.rows * state.width - state.unvisited for state in self.states)
        last = self.count(self.depth)
        return [*[0] * (self.depth - 1), visited - last, last]

    def write(self, depth: int, token: str) -> None:
        """Write the bits at ``depth``, a file for each partition: memory holds the segments of one at a time."""
        checkpoint = Checkpoint(self.segments.journal, depth)
        with self._held_by(token):
            for state in self.states:
                self.segments.not_durable.append(checkpoint.put(state.chunks, state.checkpoint(depth), token))

    def make_durable(self) -> None:
        """Make durable what was written."""
        self.segments.journal.storage.make_durable(self.segments.not_durable)
        self.segments.not_durable.clear()
