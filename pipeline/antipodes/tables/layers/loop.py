"""The layer loop: it finds layer after layer, from a commit that the groups were restored from to the next one."""

import time
from dataclasses import dataclass, field
from enum import Enum, auto

from antipodes.events import LayerSettled, Listener, PartitionSettled
from antipodes.executors.api import Scheduler, Stop
from antipodes.runs.clock import Clock
from antipodes.tables.layers.commits import Commits
from antipodes.tables.layers.groups import PartitionGroups
from antipodes.tables.layers.pace import Pace


class End(Enum):
    """Why a layer loop ended."""

    DONE = auto()
    """All positions are found, or the run was told to stop; everything is committed."""
    COMMITTED = auto()
    """A commit was made on a cluster, where the groups are to be restored from it."""
    TOO_DEEP = auto()
    """The next depth does not fit into the type of the depths."""


@dataclass
class Found:
    """The layers known so far, and what this run found of them."""

    listener: Listener
    clock: Clock
    layers: list[int] = field(default_factory=list)
    """How many positions there are at each depth, committed or not."""
    positions: int = 0
    """Positions that this run has found, recomputed ones each time."""

    @property
    def depth(self) -> int:
        """The depth of the last layer."""
        return len(self.layers) - 1

    def add(self, count: int) -> None:
        """Add a layer of ``count`` positions."""
        self.layers.append(count)
        self.positions += count
        self.listener(LayerSettled(self.depth, count, sum(self.layers), self.positions / self.clock.search))


@dataclass
class LayerLoop:
    """A search from the commit that the groups were restored from."""

    scheduler: Scheduler
    groups: PartitionGroups
    commits: Commits
    found: Found
    pace: Pace
    stop: Stop
    """Asked between layers whether to commit and stop."""
    unwritten: set[int]
    """The numbers of the groups that have changed since they were written."""

    def run(self) -> End:
        """Search until there is nothing more to find, or something else is to be done first."""
        self._commit_if_due()
        while any(self.groups.counts) and not self.stop():
            if self.found.depth + 1 == self.commits.manifest.unreached:
                if self.unwritten:
                    self._commit()
                return End.TOO_DEEP
            self._advance()
            if self._commit_if_due() and not self.scheduler.shares_memory:
                return End.COMMITTED
        if self.unwritten or not (any(self.groups.counts) or self.commits.manifest.complete):
            self._commit()
        return End.DONE

    def _advance(self) -> None:
        """Find the next layers."""
        layers, begin, depth = self._layers_together(), time.monotonic(), self.found.depth + 1

        def settled(number: int, of: int) -> None:
            self.found.listener(PartitionSettled(depth, number, of))

        with self.found.clock.measure("search"):
            changed, counts = self.groups.advance(self.found.depth, layers, settled)
        self.pace.advanced(layers, time.monotonic() - begin)
        self.unwritten |= changed
        for count in filter(None, counts):
            self.found.add(count)

    def _layers_together(self) -> int:
        """How many layers to submit together: one where each is written, and none deeper than the type allows."""
        if not self.groups.plan.hold_depths:
            return 1
        return min(self.pace.layers_together, self.commits.manifest.unreached - 1 - self.found.depth)

    def _commit_if_due(self) -> bool:
        """Commit if it is time to, workers joined or left, or depths do not stay in memory; whether it did."""
        due = self.pace.is_commit_overdue or self.scheduler.workers_changed or not self.groups.plan.hold_depths
        if due and self.unwritten:
            self._commit()
            return True
        return False

    def _commit(self) -> None:
        seconds = self.commits.commit(self.groups, self.unwritten, self.found.layers)
        self.unwritten.clear()
        self.pace.committed(seconds)
