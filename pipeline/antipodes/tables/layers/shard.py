"""A shard: partitions side by side, which one task advances after another, and the segments that it found.

Shards are large, since each task costs a scheduler some time. Partitions are small, so that a layer touches only the
rows that it can reach, and stays in cache. In threads a shard is one partition.
"""

import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from antipodes.tables.journal import Checkpoint, Journal
from antipodes.tables.journal_file import Cover, FileIndex, StoredSegments
from antipodes.tables.layers.temporary_files import Folder
from antipodes_tasks.bfs.key_partition import KeyLinks, KeyState, Room, Successors
from antipodes_tasks.bfs.partition import Frontier, Links, Partition, State, boundary
from antipodes_tasks.bfs.segments import Segment, SegmentLog
from antipodes_tasks.errors import InterruptedRunError, StoreDamagedError
from antipodes_tasks.keys.sums import hash_sum


class ShardSegments:
    """The segments of the chunks of a shard."""

    def __init__(self, journal: Journal, first_chunk: int, end_chunk: int) -> None:
        self.journal = journal
        self.log = SegmentLog()
        """The segments that are in no file yet."""
        self.stored = StoredSegments.empty(first_chunk, end_chunk)
        self.searched = -1
        """The depth up to which all segments are stored or in the log; a shard that went back is at a lower one."""
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
        self.stored = stored.segments_before(self.searched + 1)
        if self.searched > depth:
            self.not_durable = list(stored.files)  # a run that was killed has not made the last ones durable

    def of_chunk(self, chunk: int) -> list[Segment]:
        """All segments of a chunk."""
        return list(self.segments_between(range(chunk, chunk + 1), 0, self.searched))

    def segments_between(self, chunks: range, first_depth: int, last_depth: int) -> Iterator[Segment]:
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

    def keep(self, key: str, index: FileIndex, durable: bool) -> None:
        """Take the segments of the log from a file from now on."""
        self.stored = self.stored.with_files([(key, index)])
        self.log = SegmentLog()
        if not durable:
            self.not_durable.append(key)


def flush(found: Sequence[ShardSegments], depth: int, token: str) -> None:
    """Make all segments of some shards durable, which are found up to ``depth``."""
    write(found, depth, token, durable=True)
    make_durable(found)


def make_durable(found: Sequence[ShardSegments]) -> None:
    """Make durable the files that some shards have written."""
    storage = found[0].journal.storage
    storage.make_durable(list(dict.fromkeys(key for one in found for key in one.not_durable)))
    for one in found:
        one.not_durable.clear()


def write(found: Sequence[ShardSegments], depth: int, token: str | None, durable: bool) -> None:
    """Write the segments of some shards, found up to ``depth``, to a file of the journal, unless they are in files."""
    unwritten = [one for one in found if one.covers(depth)]
    if unwritten:
        covers = [cover for one in unwritten for cover in one.covers(depth)]
        key, indices = unwritten[0].journal.put(covers, [one.log for one in unwritten], token, durable)
        for one, index in zip(unwritten, indices, strict=True):
            one.keep(key, index, durable)


@dataclass(frozen=True)
class Boundary:
    """What other shards need of a shard at a depth."""

    depth: int
    parts: tuple[Frontier, ...]

    def frontiers(self, depth: int) -> Sequence[Frontier]:
        """The frontiers at a depth: of the partitions that have any, or of some of their rows."""
        assert depth == self.depth
        return self.parts

    def __sizeof__(self) -> int:
        """Bytes that dask counts."""
        return sum(part.rows.nbytes + part.bits.nbytes for part in self.parts)


AnyState = State | KeyState
"""A partition of bits or of keys."""


class Shard:
    """Partitions side by side, changed in place.

    A layer that the journal has already is replayed instead of searched. So a shard may be restored at a depth that
    others have passed, or that it had passed itself.

    A shard never leaves its process. dask must not move it to disk or to another worker: it would change a copy.
    """

    def __init__(
        self,
        parts: Sequence[Partition],
        make: Callable[[Partition], AnyState],
        journal: Journal,
        buffer_bytes: int,
        counts_only: bool = False,
        weights: NDArray[np.int64] | None = None,
        settled_later: bool = False,
    ) -> None:
        """Shard of positions not found yet; ``weights`` ``(rows,)`` are those of all rows of the space.

        With ``settled_later`` others read its frontiers in place, so it must be told when they are done, by `settle`.
        """
        self.states = [make(part) for part in parts]
        self.depth = -1
        """The depth that the bits are at: positions at greater depths, up to that of other shards, are none."""
        self.segments = ShardSegments(journal, self.states[0].chunks.start, self.states[-1].chunks.stop)
        """The positions that the shard found; none of a counts-only run."""
        self._counts_only = counts_only
        self.damaged: list[str] = []
        """What the journal lacked when the shard was restored."""
        self._memory_bytes = buffer_bytes + sum(state.most_bytes for state in self.states)
        """Bytes that bits and segments may take together after a layer: bits often take less than they may. Keys may
        take half of it, and what their moves lead to the other half."""
        self.folder = Folder.for_store(journal.storage)
        self._token = ""
        """The fencing token of the tasks that may change the shard. None may before `go_back`: dask makes a shard
        anew, at its first depth, if a worker comes back at the same address before the run knows that it was lost."""
        self._found: dict[int, int] = {}
        """The number of entries at the depths that the shard has passed, for tasks that run twice."""
        self._settled_later = settled_later
        self._weights = weights
        self._weighed: dict[int, int] = {}
        """The number of positions at these depths, if entries have weights."""
        self._lock = threading.Lock()

    def begin(self, starts: NDArray[Any]) -> int:
        """Find the starts, indices ``(n,)`` of the whole table or keys; how many lie in the shard."""
        self.depth = self.segments.searched = 0
        found = sum(state.begin(starts, self._log) for state in self.states)
        self._weigh(0)
        return found

    def restore(self, depth: int, source: StoredSegments | Mapping[str, int]) -> None:
        """Take all layers up to ``depth`` from the journal's segments, or less if files are missing: -1 if all are.

        A counts-only run takes the bits at ``depth`` from the files of its checkpoint, of these sizes by their keys; -1
        if some are damaged.

        JournalDamagedError where a segment of the journal is damaged.
        """
        if isinstance(source, StoredSegments):
            self.segments.restore(depth, source)
            self.depth = min(depth, self.segments.searched)
            if self.depth >= 0:
                for state in self.states:
                    first = state.restored_from(self.depth)
                    state.restore(self.depth, self.segments.segments_between(state.chunks, first, self.depth))
                    self._make_room()
            return
        checkpoint = Checkpoint(self.segments.journal, depth)
        try:
            for state in self.states:
                state.restore(depth, checkpoint.segments(state.chunks, source))
                self._make_room()
            self.depth = depth
        except StoreDamagedError as error:
            self.damaged.append(str(error))
        self.segments.searched = self.depth

    def go_back(self, depth: int, token: str) -> int:
        """Return to a depth that the shard has passed, from where it replays; how many positions there are.

        From now on only tasks with the fencing ``token`` change the shard: others may be running still.
        """
        with self._lock:
            self._token = token
            if depth < self.depth:
                for state in self.states:
                    state.go_back(
                        depth, self.segments.segments_between(state.chunks, state.kept_from(depth), self.depth)
                    )
                self.depth = depth
            return self.count(depth)

    def count(self, depth: int) -> int:
        """How many positions there are at ``depth``, one of the last two."""
        return sum(frontier.count for frontier in self.frontiers(depth))

    def advance(
        self, sources: Sequence[Any], links: Links | KeyLinks, depth: int, layers: int, token: str
    ) -> list[int]:
        """Find the ``layers`` layers after ``depth``; the number of positions in each.

        More than one layer only where no moves come from other shards, the ``sources``.
        """
        with self.held_by(token):
            return [self._advance(sources, links, at) for at in range(depth + 1, depth + layers + 1)]

    def settle(self, depth: int, token: str) -> None:
        """Settle the layer at ``depth``, which all shards have found; shards that are ``settled_later`` need that."""
        with self.held_by(token):
            self._settle(depth)

    def frontiers(self, depth: int) -> Sequence[Any]:
        """The frontiers at ``depth``, one of the last two, of the partitions that have any."""
        found = (state.frontier(depth) for state in self.states)
        return [frontier for frontier in found if frontier is not None]

    def weighed(self, first_depth: int, layers: int) -> list[int]:
        """The number of positions in the ``layers`` layers from a depth on, which the shard has passed."""
        return [self._weighed.get(depth, 0) for depth in range(first_depth, first_depth + layers)]

    def boundary(self, links: Links, depth: int, token: str) -> Boundary:
        """The part of the frontier at ``depth`` from which a move leads out of the shard."""
        rows = self.states[0].part.first_row, self.states[-1].part.end_row
        with self.held_by(token):
            parts = [boundary(one, links.tables, *rows) for one in self.frontiers(depth)]
        return Boundary(depth, tuple(part for part in parts if part is not None))

    def hash_sum(self, depth: int, seed: int) -> int:
        """The sum of the hashes of the keys at ``depth``, one of the last two, modulo 2^64."""
        total = sum(hash_sum(keys, seed) for frontier in self.frontiers(depth) for keys in frontier.batches())
        return total % (1 << 64)

    def write_checkpoint(self, depth: int, token: str) -> None:
        """Write the bits at ``depth``, a file for each partition: memory holds the segments of one at a time."""
        checkpoint = Checkpoint(self.segments.journal, depth)
        with self.held_by(token):
            for state in self.states:
                self.segments.not_durable.append(checkpoint.put(state.chunks, state.checkpoint(depth), token))

    def make_durable(self) -> None:
        """Make durable what was written."""
        make_durable([self.segments])

    def positions(self, depth: int, limit: int) -> NDArray[Any]:
        """The indices, or the keys, of the first positions at ``depth``, one of the last two, ascending."""
        found: list[NDArray[Any]] = []
        for state in self.states:
            found.append(state.positions(depth, limit - sum(map(len, found))))
        return np.concatenate(found)

    @property
    def layers(self) -> list[int]:
        """The number of positions at each depth up to `depth`, in the files of the last commit.

        A checkpoint has the last depth alone; positions at lesser depths count as if at the one before it, of keys
        those that it has.
        """
        if not self._counts_only:
            counts: list[int] = self.segments.stored.counts(self.depth + 1).sum(axis=0).tolist()
            return counts
        if self.depth <= 0:  # what was restored before the damage was found says nothing
            return [self.count(0)] if self.depth == 0 else []
        before = sum(state.positions_before(self.depth) for state in self.states)
        return [*[0] * (self.depth - 1), before, self.count(self.depth)]

    def __reduce__(self) -> NoReturn:
        raise TypeError("a shard of partitions cannot leave its process")

    def __sizeof__(self) -> int:
        """Bytes that dask counts."""
        return sum(state.nbytes for state in self.states) + self.segments.log.size

    @property
    def _log(self) -> SegmentLog | None:
        """Where partitions log the positions that they find; a counts-only run keeps none."""
        return None if self._counts_only else self.segments.log

    @contextmanager
    def held_by(self, token: str) -> Iterator[None]:
        """Let no other task change the shard meanwhile; InterruptedRunError unless tasks with this token may."""
        with self._lock:
            if token != self._token:
                raise InterruptedRunError("the run has returned to an earlier depth, or the shard was lost")
            yield

    def _advance(self, sources: Sequence[Any], links: Links | KeyLinks, depth: int) -> int:
        if depth > self.depth:
            found = self._replay(depth) if depth <= self.segments.searched else self._search(sources, links, depth)
            self._found[depth], self.depth = found, depth
            if not self._settled_later:
                self._settle(depth)
        return self._found[depth]

    def _settle(self, depth: int) -> None:
        for state in self.states:
            if isinstance(state, State):
                state.forget_before(depth)
        self._weigh(depth)

    def _weigh(self, depth: int) -> None:
        if self._weights is not None:
            self._weighed[depth] = sum(one.weigh(self._weights) for one in self.frontiers(depth))

    def _replay(self, depth: int) -> int:
        return sum(
            state.replay(depth, list(self.segments.segments_between(state.chunks, depth, depth)))
            for state in self.states
        )

    def _search(self, sources: Sequence[Any], links: Links | KeyLinks, depth: int) -> int:
        if isinstance(links, KeyLinks):
            found = self._merge(sources or [_expanded([self], links, depth - 1)], depth)
        else:
            found = self._reach(sources, links, depth)
        self.segments.searched = depth
        if self.segments.log.size and sys.getsizeof(self) > self.memory_limit:
            write([self.segments], depth, self._token, durable=False)
        self._make_room()
        return found

    @property
    def memory_limit(self) -> int:
        """Bytes that positions and segments may take."""
        return self._memory_bytes // 2 if self._keyed else self._memory_bytes

    @property
    def _keyed(self) -> bool:
        return isinstance(self.states[0], KeyState)

    def _make_room(self) -> None:
        """Put the keys of the last layers, and all that were seen if they are needed, on disk where they do not fit."""
        if self._keyed and sum(state.nbytes for state in self.states) > self.memory_limit:
            disk = self.folder.file()
            for state in self.states:
                assert isinstance(state, KeyState)
                state.to_disk(disk)

    def _reach(self, sources: Sequence["Shard | Boundary"], links: Links, depth: int) -> int:
        """Find the positions at ``depth`` from frontiers; how many are new."""
        frontiers = {one.number: one for source in (self, *sources) for one in source.frontiers(depth - 1)}
        found = 0
        for state in self.states:
            assert isinstance(state, State)
            numbers = links.predecessors[state.part.number]
            here = [frontiers[number] for number in numbers if number in frontiers]
            found += state.advance(depth, here, links.tables, self._log)
        return found

    def _merge(self, sources: Sequence[Successors], depth: int) -> int:
        """Find the positions at ``depth`` among keys that moves lead to; how many are new."""
        found = 0
        for state in self.states:
            assert isinstance(state, KeyState)
            found += state.advance(depth, [one for source in sources for one in source.found], self._log)
        return found


@contextmanager
def _all_held(shards: Sequence[Shard], token: str) -> Iterator[None]:
    with ExitStack() as held:
        for one in shards:
            held.enter_context(one.held_by(token))
        yield


def expanded(shards: Sequence[Shard], links: KeyLinks, depth: int, token: str) -> Successors:
    """The keys one move after those of some shards at ``depth``."""
    with _all_held(shards, token):
        return _expanded(shards, links, depth)


def _expanded(shards: Sequence[Shard], links: KeyLinks, depth: int) -> Successors:
    room = Room(sum(one.memory_limit for one in shards), shards[0].folder.file)
    return links.successors(depth, (frontier for one in shards for frontier in one.frontiers(depth)), room)


def flush_shards(shards: Sequence[Shard], depth: int, token: str) -> None:
    """Make all durable that some shards found up to ``depth``; see `flush`."""
    with _all_held(shards, token):
        flush([one.segments for one in shards], depth, token)
