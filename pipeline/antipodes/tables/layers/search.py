"""The search for a table: planned for the workers there are, restored from the last commit, then layer by layer.

There is one path for all that may happen to workers. Whether some are lost or others join, the search resumes from
the last commit with a new plan.
"""

from dataclasses import dataclass

from antipodes.bfs.kernels import warm_up
from antipodes.config import Config
from antipodes.errors import (
    ResourceLimitError,
    SchedulerError,
    SchedulerLostError,
    WorkerFailedError,
    WorkersLostError,
)
from antipodes.events import SearchStarted, WorkersLost
from antipodes.executors.api import Scheduler
from antipodes.runs.session import Session
from antipodes.tables.layers.commits import Commits
from antipodes.tables.layers.groups import PartitionGroups
from antipodes.tables.layers.loop import End, Found, LayerLoop
from antipodes.tables.layers.pace import Pace
from antipodes.tables.planning.fitting import plan_that_fits
from antipodes.tables.planning.plan import Plan
from antipodes.tables.store.manifest import NOTHING_COMMITTED, TableManifest
from antipodes.tables.store.table_store import TableStore

LOSSES_ALLOWED = 3
"""Losses of workers without a commit in between that are taken for bad luck; one more ends the run."""


@dataclass
class Losses:
    """How often workers were lost, and what that cost."""

    count: int = 0
    """Losses of workers."""
    recomputed: int = 0
    """Positions that were found but not committed then."""
    since_commit: int = 0
    """Losses since the last commit, lost connections to the scheduler included."""
    _commit: TableManifest | None = None
    """The last commit when `since_commit` was counted."""

    def add(self, error: SchedulerError, commit: TableManifest, recomputed: int) -> None:
        """Count a loss after a commit; SchedulerError if that happened too often since."""
        self.since_commit = self.since_commit + 1 if commit is self._commit else 1
        self._commit = commit
        self.count += isinstance(error, WorkersLostError)
        self.recomputed += recomputed
        if self.since_commit > LOSSES_ALLOWED:
            raise self._last(error)

    def _last(self, error: SchedulerError) -> SchedulerError:
        if isinstance(error, SchedulerLostError):
            return error
        often = f"workers were lost {self.since_commit} times without a commit in between"
        return SchedulerError(
            f"{often}, the last time {error}: out of memory, or in need of a shorter --checkpoint-every?"
        )


class TableSearch:
    """A breadth-first search that resumes from a commit."""

    def __init__(self, session: Session[TableStore], config: Config, scheduler: Scheduler, commits: Commits) -> None:
        self.commits = commits
        self.losses = Losses()
        self._session = session
        self._config = config
        self._scheduler = scheduler
        self._pace = Pace.of(session.options, scheduler.shares_memory)
        self._found = Found(session.listener, session.clock)
        self._started = False
        """Whether the listener was told that the search started."""

    def run(self, plan: Plan) -> TableManifest:
        """Search until no new position is found, or the run is told to stop; the last commit.

        ``plan`` is for the workers that the scheduler has; where these change, it is replaced.
        """
        self._scheduler.on_worker_start((warm_up,))
        valid: Plan | None = plan
        lost = False
        while not self._ended:
            if lost or self._scheduler.workers_changed:
                if not self._scheduler.wait_for_workers(self._session.listener, self._session.stop):
                    break
                valid = None
            try:
                self._search_with(valid or self._plan_again())
                lost = False
            except (WorkersLostError, SchedulerLostError) as error:
                self._roll_back(error)
                lost = True
            valid = None
        return self.commits.manifest

    @property
    def _ended(self) -> bool:
        return self.commits.manifest.complete or self._session.interrupted

    def _plan_again(self) -> Plan:
        """A plan for the workers that are there now, and for the store as it is."""
        with self._session.clock.measure("tables"):
            try:
                return plan_that_fits(self._session, self._config, self._scheduler, self.commits.manifest)
            except ResourceLimitError as error:  # the puzzle fitted until workers were gone
                raise WorkerFailedError(f"too few workers are left: {error}") from error

    def _search_with(self, plan: Plan) -> None:
        """Search until the plan no longer holds: workers have changed, or depths are wider."""
        if self._search_layers(self._place_groups(plan)) is End.TOO_DEEP:
            self.commits.widen()  # the groups, of narrower depths, have made room

    def _place_groups(self, plan: Plan) -> PartitionGroups:
        """Build the move tables on the workers, which must reach the store."""
        store = self.commits.store
        with self._session.clock.measure("tables"):
            self._scheduler.run_on_all_workers((store.check_reachable, store.manifest_digest()))
            return PartitionGroups(self._scheduler, plan, self._session.stop)

    def _search_layers(self, groups: PartitionGroups) -> End:
        """Search with the groups as long as their workers are there; they are restored from each commit."""
        while True:
            unwritten = self._restore(groups)
            self._pace.restored()
            self._tell_start(groups.plan)
            stop = self._session.stop
            loop = LayerLoop(self._scheduler, groups, self.commits, self._found, self._pace, stop, unwritten)
            end = loop.run()
            if end is not End.COMMITTED or self._ended or self._scheduler.workers_changed:
                return end

    def _restore(self, groups: PartitionGroups) -> set[int]:
        """Load the last commit into the groups, or the start; the numbers of those that are not in the store."""
        manifest = self.commits.manifest
        with self._session.clock.measure("write"):
            if manifest.committed_depth != NOTHING_COMMITTED:
                groups.restore(self.commits.store, manifest)
                self._found.layers = list(manifest.layers)
                return set()
            groups.begin(groups.plan.space.rank(self._config.puzzle.start_labels), manifest)
            self._found.layers = [sum(groups.counts)]
            return {number for number, count in enumerate(groups.counts) if count}

    def _tell_start(self, plan: Plan) -> None:
        if self._started:
            return
        self._started = True
        resumed = self.commits.manifest.committed_depth != NOTHING_COMMITTED
        known = sum(self._found.layers)
        name, size, depth = self._config.puzzle.name, plan.space.size, self._found.depth
        self._session.listener(SearchStarted(name, size, depth, known, resumed, plan.hold_depths))

    def _roll_back(self, error: SchedulerError) -> None:
        """Return to the last commit, and keep lost workers from writing to the store.

        Raises
        ------
        SchedulerError
            Workers were lost too often since that commit.
        """
        manifest = self.commits.manifest
        recomputed = max(0, sum(self._found.layers) - manifest.states)
        self._found.layers = list(manifest.layers)
        self.losses.add(error, manifest, recomputed)
        self.commits.shut_out_lost_workers()
        self._session.listener(WorkersLost(str(error), manifest.committed_depth, recomputed))
