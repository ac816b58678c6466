"""The search of all positions, layer by layer, with the workers there are, and the assembly of a table.

If workers are lost, their groups are restored from the journal, and find again what was lost with them; the others
replay. If workers join, all groups are divided anew and restored.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from antipodes.config import Config
from antipodes.events import JournalDamaged, SearchStarted, WorkersLost
from antipodes.executors.api import Scheduler
from antipodes.runs.session import Session
from antipodes.tables.journal.journal import JournalDamagedError
from antipodes.tables.layers.assembly import assemble
from antipodes.tables.layers.commits import Commits, LayerCommits
from antipodes.tables.layers.group_segments import GroupSegments
from antipodes.tables.layers.groups import PartitionGroups
from antipodes.tables.layers.loop import Found, LayerLoop
from antipodes.tables.layers.pace import Pace
from antipodes.tables.planning.fitting import plan_that_fits
from antipodes.tables.planning.plan import Plan
from antipodes.tables.store.search_manifest import MOST_ANTIPODES, NOTHING_COMMITTED, SearchManifest
from antipodes_tasks.bfs.partition import warm_up
from antipodes_tasks.errors import (
    ResourceLimitError,
    SchedulerError,
    SchedulerLostError,
    StoreDamagedError,
    WorkerFailedError,
    WorkersLostError,
    WorkersRetiredError,
)
from antipodes_tasks.quoting import counted

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
    """Losses since the last commit, lost connections to the scheduler included, but no workers that retired."""
    _commit: SearchManifest | None = None
    """The last commit when `since_commit` was counted."""

    def add(self, error: SchedulerError, commit: SearchManifest, recomputed: int) -> None:
        """Count a loss after a commit; SchedulerError if that happened too often since."""
        self.recomputed += recomputed
        if isinstance(error, WorkersRetiredError):
            return
        self.since_commit = self.since_commit + 1 if commit is self._commit else 1
        self._commit = commit
        self.count += isinstance(error, WorkersLostError)
        if self.since_commit > LOSSES_ALLOWED:
            raise self._last(error)

    def _last(self, error: SchedulerError) -> SchedulerError:
        if isinstance(error, SchedulerLostError):
            return error
        often = f"workers were lost {self.since_commit} times without a commit in between"
        return SchedulerError(
            f"{often}, the last time {error}: out of memory, or in need of a shorter --checkpoint-every?"
        )


class LayerSearch(ABC):
    """A breadth-first search that resumes from a commit."""

    GROUPS: ClassVar[type[PartitionGroups]] = PartitionGroups
    commits: LayerCommits

    def __init__(self, session: Session[Any], config: Config, scheduler: Scheduler, commits: LayerCommits) -> None:
        self.commits = commits
        self.losses = Losses()
        self._session = session
        self._config = config
        self._scheduler = scheduler
        self._pace = Pace.of(session.options, scheduler.shares_memory)
        self._found = Found(session.listener, session.clock)
        self._groups: PartitionGroups | None = None
        """The groups of the search, some of which may be lost; None where they are to be divided anew."""
        self._damage: list[str] = []
        """What was found damaged in the journal, of which the listener is told when the search resumes."""
        self._started = False
        """Whether the listener was told that the search started."""

    def run(self, plan: Plan) -> SearchManifest:
        """Search until the store is complete, or the run is told to stop; the last commit.

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
                self._continue_with(valid or self._plan_again())
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
        division = self._groups.plan if self._groups else None
        with self._session.clock.measure("tables"):
            try:
                return plan_that_fits(self._session, self._config, self._scheduler, self.commits.manifest, division)
            except ResourceLimitError as error:  # the puzzle fitted until workers were gone
                raise WorkerFailedError(f"too few workers are left: {error}") from error

    @abstractmethod
    def _continue_with(self, plan: Plan) -> None:
        """Search until workers change; once nothing is left to be found, complete the store."""

    def _place(self, plan: Plan) -> None:
        """Make the groups, or those that were lost, at the last commit; the workers must reach the store."""
        store, token, stop = self.commits.store, self.commits.lock.token, self._session.stop
        starts = plan.space.rank(plan.space.start_labels)
        depth = self.commits.manifest.committed_depth
        with self._session.clock.measure("tables"):
            self._scheduler.run_on_all_workers((store.check_reachable, store.manifest_digest()))
            if self._groups is not None and self._recovered(self._groups, depth, starts):
                return
            self._groups = None
            journal = store.journal(self.commits.manifest)
            groups = self.GROUPS(self._scheduler, plan, journal, stop, self._session.listener)
        with self._session.clock.measure("write"):
            self._found.layers = self._restored(groups, depth, token)
            if not self._found.layers:
                journal.delete()  # what a killed run left there would only take space
                groups.begin(starts, token)
                self._found.layers = [sum(groups.counts)]
        self._groups = groups
        self._pace.restored()
        self._tell_start(plan)

    def _recovered(self, groups: PartitionGroups, depth: int, starts: NDArray[np.int64]) -> bool:
        """Restore the groups that were lost, at a depth or an earlier one; False if all must be made anew."""
        reached = groups.recover(depth, starts, self.commits.lock.token, self._session.stop)
        if reached < 0:
            return False
        del self._found.layers[reached + 1 :]
        if reached < depth:
            self.commits.return_to(self._found.layers)
        self._pace.restored()
        return True

    def _restored(self, groups: PartitionGroups, depth: int, token: str) -> list[int]:
        """Restore the groups at a depth, or an earlier one if the journal is damaged; the layers up to there.

        Raises
        ------
        StoreDamagedError
            There are not as many positions at each depth as were committed.
        """
        if depth == NOTHING_COMMITTED:
            return []
        manifest = self.commits.manifest
        layers, damaged = groups.restore(depth, token)
        damaged, self._damage = [*self._damage, *damaged], []
        expected = manifest.journal_layers[: len(layers)]
        if layers != list(expected):
            wrong = next(depth for depth, count in enumerate(layers) if count != expected[depth])
            raise StoreDamagedError(
                f"{self.commits.store.address} is damaged: expected {counted(expected[wrong], 'position')} at depth "
                f"{wrong}, as committed, found {layers[wrong]:,}"
            )
        if damaged or len(layers) <= depth:
            self.commits.return_to(layers)
            self._session.listener(JournalDamaged(tuple(damaged), len(layers) - 1))
        return list(manifest.layers[: len(layers)])

    def _search(self) -> None:
        """Search layer by layer; afterwards there are no groups if they are to be divided anew."""
        assert self._groups is not None
        stop = self._session.stop
        LayerLoop(self._scheduler, self._groups, self.commits, self._found, self._pace, stop).run()
        if any(self._groups.counts):
            self._groups = None

    def _tell_start(self, plan: Plan) -> None:
        if self._started:
            return
        self._started = True
        resumed = self.commits.any
        known = sum(self._found.layers)
        name, size, depth = self._config.puzzle.name, plan.space.size, self._found.depth
        assembles = not self.commits.manifest.COUNTS_ONLY
        started = SearchStarted(name, size, depth, known, resumed, plan.space.reachable, assembles)
        self._session.listener(started)

    def _roll_back(self, error: SchedulerError) -> None:
        """Return to the last commit, and keep lost workers from writing to the store.

        Raises
        ------
        SchedulerError
            Workers were lost too often since that commit.
        """
        manifest, recomputed = self.commits.manifest, 0
        if groups := self._groups:
            lost = range(groups.plan.group_count) if isinstance(error, SchedulerLostError) else groups.lost
            recomputed = groups.unwritten_positions(lost)
        if isinstance(error, SchedulerLostError):
            self._groups = None
        depth = max(0, manifest.committed_depth)
        del self._found.layers[depth + 1 :]
        self.losses.add(error, manifest, recomputed)
        self.commits.shut_out_lost_workers()
        self._session.listener(WorkersLost(str(error), manifest.committed_depth, recomputed))


class TableSearch(LayerSearch):
    """A search for a table, and its assembly."""

    commits: Commits

    def _continue_with(self, plan: Plan) -> None:
        """Search until workers change; once nothing is left to be found, assemble the table."""
        try:
            self._search_and_assemble(plan)
        except JournalDamagedError as error:
            self._damage.append(str(error))
            self._groups = None
            self.commits.search_again(error.key)

    def _search_and_assemble(self, plan: Plan) -> None:
        groups: Sequence[GroupSegments] = ()
        if not self.commits.manifest.searched:
            self._place(plan)
            self._search()
            if self._groups is None or self._session.interrupted:
                return
            groups = self._end_search(self._groups)
        assemble(self.commits, groups, self._scheduler, self._pace, self._session.stop)

    def _end_search(self, groups: PartitionGroups) -> Sequence[GroupSegments]:
        """Note what is known when all positions are searched; the segments of the groups, if some are nowhere else.

        Where a run could resume from an earlier commit, or that would be due, the assembly can be resumed, too.
        """
        layers, commits = self._found.layers, self.commits
        antipodes = groups.positions(self._found.depth, MOST_ANTIPODES).tolist()
        resumable = commits.any or self._pace.is_commit_overdue or not self._scheduler.shares_memory
        if resumable and self._found.depth > commits.manifest.committed_depth:
            commits.commit(groups, layers)
        commits.begin_assembly(layers, antipodes, resumable)
        self._groups, found = None, groups.release()
        return () if resumable else found
