"""A group of partitions, which one task advances after another, and the segments that it found.

Groups are large, since each task costs a scheduler some time. Partitions are small, so that a layer touches only the
rows that it can reach, and stays in cache. In threads a group is one partition.
"""

import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import NoReturn

import numpy as np
from numpy.typing import NDArray

from antipodes.tables.journal.journal import Journal
from antipodes.tables.journal.stored_segments import StoredSegments
from antipodes.tables.layers.group_segments import GroupSegments, flush, write
from antipodes_tasks.bfs.partition import Frontier, Links, Partition, State, boundary
from antipodes_tasks.errors import InterruptedRunError


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
