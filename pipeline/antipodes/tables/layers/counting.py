"""Counts only: groups of partitions that keep their bits alone, and checkpoints of these in place of a journal."""

from collections.abc import Iterable, Mapping
from typing import Any

from antipodes.executors.api import Call
from antipodes.tables.journal.checkpoint import Checkpoint
from antipodes.tables.layers.group import Group
from antipodes.tables.layers.groups import PartitionGroups
from antipodes_tasks.bfs.bitmaps import Bitmap
from antipodes_tasks.bfs.segments import SegmentLog
from antipodes_tasks.errors import StoreDamagedError


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


class CountingGroups(PartitionGroups):
    """The groups of a counts-only run. Survivors of a loss cannot go back: all groups are restored."""

    GROUP = CountingGroup

    def flush(self, depth: int) -> None:
        """Write a checkpoint at ``depth``, durably; the disk is busy already when the first file has to be durable."""
        self._gather("write", write, depth, self._token)
        self._gather("durable", make_durable)
        self._unwritten = [{} for _ in self._groups]

    @property
    def lost(self) -> list[int]:
        """The numbers of all groups, if some are lost."""
        return list(range(len(self._groups))) if super().lost else []

    def _restore_arguments(self, depth: int, numbers: Iterable[int], damaged: list[str]) -> Mapping[int, Call]:
        groups = [self._chunks(parts) for parts in self.plan.groups]
        sizes = Checkpoint(self._journal, depth).sizes(groups)
        return {number: (depth, sizes[number]) for number in numbers}


def write(group: CountingGroup, depth: int, token: str) -> None:
    """Write a group to files of a checkpoint; see `CountingGroup.write`."""
    group.write(depth, token)


def make_durable(group: CountingGroup) -> None:
    """Make durable what a group has written."""
    group.make_durable()
