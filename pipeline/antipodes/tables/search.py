"""The layer loop: how many layers it submits together, when it commits, and how it resumes from a commit."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from antipodes.bfs.kernels import warm_up
from antipodes.bfs.partition import RECENT
from antipodes.errors import (
    DepthLimitError,
    ResourceLimitError,
    SchedulerError,
    SchedulerLostError,
    WorkerFailedError,
    WorkersLostError,
)
from antipodes.events import (
    Committed,
    Committing,
    LayerSettled,
    Listener,
    PartitionSettled,
    SearchStarted,
    Widened,
    WorkersLost,
)
from antipodes.executors.api import Scheduler
from antipodes.puzzles.puzzle import Puzzle
from antipodes.runs.clock import Clock
from antipodes.storage.backend import LockHandle
from antipodes.tables.groups import Groups
from antipodes.tables.plan import Plan
from antipodes.tables.store import NOTHING_COMMITTED, WIDEST, TableManifest, TableStore

BLOCK_SECONDS = 2.0
"""Layers are handed over together as long as they take less: a run answers to an interruption after about so long."""
FIRST_BLOCK = 4
"""Layers submitted together at first; twice as many, or half of it, each time from then on."""
LOSSES_ALLOWED = 3
"""So often workers may be lost without a commit in between; after that it is not bad luck."""


@dataclass
class LayerSearch:
    """A breadth-first search, a layer at a time, that resumes from what the store holds."""

    puzzle: Puzzle
    planned: Callable[[TableManifest], Plan]
    """The plan for the workers that there are."""
    store: TableStore
    hold: LockHandle
    """The lock of the store."""
    manifest: TableManifest
    """The last commit."""
    scheduler: Scheduler
    """It is ready."""
    checkpoint_every: float
    """Seconds between two commits at least; 0 commits every layer."""
    commit_share: float
    """The share of the time that commits may take: after a long one, the next one waits longer."""
    listener: Listener
    interrupted: Callable[[], bool]
    """Asked between layers whether to commit and stop."""
    clock: Clock = field(default_factory=Clock)

    groups: Groups | None = None
    begun: bool = False
    """Whether the first take-up is behind."""
    layers: list[int] = field(default_factory=list)
    unwritten: set[int] = field(default_factory=set)
    """Groups that have changed since they were written."""
    taken_up: float = 0.0
    """When the search last went on from the store, or wrote to it."""
    commit_seconds: float = 0.0
    """How long the last commit took."""
    block: int = FIRST_BLOCK
    """How many layers to hand over together."""
    stopping: bool = False
    found: int = 0
    """Positions that this run has found, those that it had to find again counted each time."""
    found_again: int = 0
    """Positions that it had found and lost, with workers, before they were committed."""
    losses: int = 0
    """How often workers were lost."""
    losses_since_commit: int = 0
    """How often since the last commit, lost connections to the scheduler included."""

    def run(self) -> TableManifest:
        """Search until no new position is found, or the run is interrupted; the commit it ends with."""
        self.scheduler.on_worker_start((warm_up,))
        lost = False
        while not self.manifest.complete and not self.stopping:
            if lost or self.scheduler.workers_changed:
                self.groups = None
                if not self.scheduler.wait_for_workers(self.listener, self._stop):
                    break
            try:
                self._take_up()
                self._search()
                lost = False
            except (WorkersLostError, SchedulerLostError) as error:
                self._lose(error)
                lost = True
        return self.manifest

    @property
    def depth(self) -> int:
        """The depth of the last layer."""
        return len(self.layers) - 1

    def _take_up(self) -> None:
        """Have the last commit on the workers that there are."""
        if self.groups is None:
            with self.clock.measure("tables"):
                self.scheduler.run_on_all_workers((self.store.check_reachable, self.store.manifest_digest()))
                self.groups = Groups(self.scheduler, self._plan(), self._stop)
        with self.clock.measure("write"):
            self._go_on(self.groups)
        self.block, self.taken_up = FIRST_BLOCK, time.monotonic()
        if not self.begun:
            self.begun = True
            resumed, plan = self.manifest.committed_depth != NOTHING_COMMITTED, self.groups.plan
            states = sum(self.layers)
            self.listener(
                SearchStarted(self.puzzle.name, plan.space.size, self.depth, states, resumed, plan.hold_depths)
            )

    def _plan(self) -> Plan:
        try:
            return self.planned(self.manifest)
        except ResourceLimitError as error:  # which is nobody's wrong input, now that workers are gone
            raise WorkerFailedError(f"too few workers are left: {error}") from error

    def _go_on(self, groups: Groups) -> None:
        if self.manifest.committed_depth == NOTHING_COMMITTED:
            groups.begin(groups.plan.space.rank(self.puzzle.start_labels), self.manifest)
            self.unwritten = {number for number, count in enumerate(groups.counts) if count}
            self.layers = [sum(groups.counts)]
        else:
            groups.restore(self.store, self.manifest)
            self.unwritten.clear()
            self.layers = list(self.manifest.layers)

    def _search(self) -> None:
        """Search until there is nothing more to find, the run is interrupted, or the last commit is to be taken up."""
        assert self.groups is not None
        if self._is_commit_due():
            self._commit()
        while any(self.groups.counts) and not self._stop():
            if self.depth + 1 == self.manifest.unreached:
                self._widen()
                return
            self._advance(self.groups)
            if self._is_commit_due():
                self._commit()
                if not self.scheduler.shares_memory and not self.manifest.complete:  # truncate the lineage
                    return
        if self.unwritten or not any(self.groups.counts):
            self._commit()

    def _stop(self) -> bool:
        self.stopping = self.stopping or self.interrupted()
        return self.stopping

    def _advance(self, groups: Groups) -> None:
        """Find the next layers."""
        layers, begin, depth = self._layers_at_once(), time.monotonic(), self.depth + 1

        def settled(number: int, of: int) -> None:
            self.listener(PartitionSettled(depth, number, of))

        with self.clock.measure("search"):
            reached, counts = groups.advance(self.depth, layers, settled)
        self.block = max(1, 2 * layers if time.monotonic() - begin < BLOCK_SECONDS / 2 else layers // 2)
        self.unwritten |= reached
        for count in counts:
            if count:
                self._tell_layer(count)

    def _tell_layer(self, count: int) -> None:
        self.layers.append(count)
        self.found += count
        self.listener(LayerSettled(self.depth, count, sum(self.layers), self.found / self.clock.search))

    def _layers_at_once(self) -> int:
        """As many as take less than a moment, but for those that are to be written one by one, or do not fit."""
        assert self.groups is not None
        if self.checkpoint_every == 0 or not self.groups.plan.hold_depths:
            return 1
        at_once = 1 if self.scheduler.shares_memory else RECENT  # a round trip costs milliseconds
        return min(self.block, at_once, self.manifest.unreached - 1 - self.depth)

    def _is_commit_due(self) -> bool:
        assert self.groups is not None
        wait = max(self.checkpoint_every, self.commit_seconds * (1 / self.commit_share - 1))
        overdue = time.monotonic() - self.taken_up >= wait
        return bool(self.unwritten) and (overdue or self.scheduler.workers_changed or not self.groups.plan.hold_depths)

    def _commit(self) -> None:
        assert self.groups is not None
        self.listener(Committing(self.depth))
        written_before = self.clock.write
        with self.clock.measure("write"):
            written = self.groups.write(sorted(self.unwritten), self.store, self.manifest, self.depth, self.hold.token)
            self.manifest = replace(
                self.manifest,
                complete=not any(self.groups.counts),
                committed_depth=self.depth,
                layers=tuple(self.layers),
                chunks=self.manifest.chunks.updated(written),
            )
            self.store.commit(self.manifest)
        self.unwritten.clear()
        self.losses_since_commit = 0
        self.taken_up = time.monotonic()
        self.commit_seconds = self.clock.write - written_before
        self.listener(Committed(self.depth))

    def _lose(self, error: SchedulerError) -> None:
        """Forget what was not committed, and see to it that who is lost does not write any more.

        Raises
        ------
        SchedulerError
            That happened too often since the last commit.
        """
        again = max(0, sum(self.layers) - self.manifest.states)
        self.groups, self.layers = None, list(self.manifest.layers)
        self.losses += isinstance(error, WorkersLostError)
        self.losses_since_commit += 1
        self.found_again += again
        if self.losses_since_commit > LOSSES_ALLOWED:
            raise self._last_loss(error)
        self.hold.rotate_token()
        self.store.storage.remove_leftovers()  # what they were writing
        self.listener(WorkersLost(str(error), self.manifest.committed_depth, again))

    def _last_loss(self, error: SchedulerError) -> SchedulerError:
        if isinstance(error, SchedulerLostError):
            return error
        often = f"workers were lost {self.losses_since_commit} times without a commit in between"
        return SchedulerError(
            f"{often}, the last time {error}: out of memory, or in need of a shorter --checkpoint-every?"
        )

    def _widen(self) -> None:
        """Have 16 bits a depth in the store.

        Raises
        ------
        DepthLimitError
            16 bits do not hold the next depth either; what was found is committed.
        """
        if self.unwritten:
            self._commit()
        if self.manifest.dtype == WIDEST:
            raise DepthLimitError(f"expected depths up to {self.depth:,}, found positions that lie deeper")
        with self.clock.measure("write"):
            self.groups = None  # the depths of a byte each make room for the wider ones
            self.manifest = self.store.widen(self.manifest)
        self.listener(Widened(self.depth))
