"""The layer loop: it finds layer after layer, and commits from time to time."""

import time
from dataclasses import dataclass, field

from antipodes.events import LayerSettled, Listener, PartitionSettled
from antipodes.executors.api import Scheduler, Stop
from antipodes.runs.report import Clock
from antipodes.tables.layers.commits import LayerCommits
from antipodes.tables.layers.groups import PartitionGroups
from antipodes.tables.layers.pace import Pace
from antipodes.tables.store.search_manifest import DEEPEST
from antipodes_tasks.errors import DepthLimitError


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
    """A search from the layer that the groups are at."""

    scheduler: Scheduler
    groups: PartitionGroups
    commits: LayerCommits
    found: Found
    pace: Pace
    stop: Stop
    """Asked between layers whether to commit and stop."""

    def run(self) -> None:
        """Search until there is nothing more to find, workers joined or left, or the run is told to stop.

        In the last two cases everything is committed.

        Raises
        ------
        DepthLimitError
            Positions lie deeper than a table can say; everything up to there is committed.
        """
        while any(self.groups.counts):
            if self.stop() or self.scheduler.workers_changed:
                self._commit()
                return
            if self.pace.is_commit_overdue:
                self._commit()
            if self.found.depth == DEEPEST:
                self._commit()
                raise DepthLimitError(f"expected depths up to {DEEPEST:,}, found positions that lie deeper")
            self._advance()

    def _advance(self) -> None:
        """Find the next layers."""
        layers, begin, depth = self._layers_together(), time.monotonic(), self.found.depth + 1

        def settled(number: int, of: int) -> None:
            self.found.listener(PartitionSettled(depth, number, of))

        with self.found.clock.measure("search"):
            counts = self.groups.advance(self.found.depth, layers, settled)
        self.pace.advanced(layers, time.monotonic() - begin)
        for count in filter(None, counts):
            self.found.add(count)

    def _layers_together(self) -> int:
        """How many layers to submit together, none deeper than a table can say."""
        return min(self.pace.layers_together, DEEPEST - self.found.depth)

    def _commit(self) -> None:
        if self.found.depth > self.commits.manifest.committed_depth:
            self.pace.committed(self.commits.commit(self.groups, self.found.layers))
