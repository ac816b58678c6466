"""The search of all positions, layer by layer, on the available workers, and the assembly of the table.

If workers are lost, their shards are restored from the journal and search the lost layers again. The other shards
replay these layers from their own segments. If workers join, the rows are divided again and all shards are restored.
"""

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from numpy.typing import NDArray

from antipodes.executors.api import Scheduler
from antipodes.puzzles.config import Config
from antipodes.runs.run_results import Clock
from antipodes.runs.session import Session
from antipodes.system.events import (
    Committed,
    Committing,
    JournalCorrupt,
    LayerFinished,
    Listener,
    PartitionFinished,
    SearchStarted,
    WorkersLost,
)
from antipodes.tables.journal import JournalDamagedError
from antipodes.tables.layers.assembly import assemble
from antipodes.tables.layers.commits import CommitPace, Commits, TableCommits
from antipodes.tables.layers.shard_segments import ShardSegments
from antipodes.tables.planning.fitting import plan_that_fits
from antipodes.tables.planning.plan import Plan
from antipodes.tables.search.shards import Shards
from antipodes.tables.store.found_layers import Layers, LayerSize
from antipodes.tables.store.manifest import DEEPEST, MAX_ANTIPODES, NOTHING_COMMITTED, SearchManifest, on_disk
from antipodes_tasks.base.errors import (
    DepthLimitError,
    ResourceLimitError,
    SchedulerError,
    SchedulerLostError,
    StoreDamagedError,
    WorkerFailedError,
    WorkersLostError,
    WorkersRetiredError,
)
from antipodes_tasks.base.option_names import option
from antipodes_tasks.base.quoting import counted
from antipodes_tasks.keys.encoded_runs import integers


@dataclass
class LayersFound:
    """The layers known so far, and the number of positions that this run found."""

    listener: Listener
    clock: Clock
    layers: Layers = field(default_factory=Layers)
    """All layers found so far, committed or not."""
    positions: int = 0
    """Number of positions that this run has found. Recomputed positions count each time."""

    @property
    def depth(self) -> int:
        """The depth of the last layer."""
        return self.layers.depth

    def add(self, size: LayerSize) -> None:
        """Add a layer."""
        self.layers.add(size)
        self.positions += size.positions
        speed = self.positions / self.clock.search
        self.listener(LayerFinished(self.depth, size.positions, self.layers.positions, speed))


LOSSES_ALLOWED = 3
"""Maximum number of losses of workers, without a commit in between, after which a run still continues."""


@dataclass
class Losses:
    """How often workers were lost, and the positions recomputed because of it."""

    count: int = 0
    """Number of losses of workers."""
    recomputed: int = 0
    """Number of positions that were found but not committed when workers were lost."""
    since_commit: int = 0
    """Losses since the last commit, including lost connections to the scheduler, but without retired workers."""
    _commit: SearchManifest | None = None
    """The last commit at the time of the last loss."""

    def add(self, error: SchedulerError, commit: SearchManifest, recomputed: int) -> None:
        """Count a loss after a commit; raise SchedulerError if there were too many since that commit."""
        self.recomputed += recomputed
        if isinstance(error, WorkersRetiredError):
            return
        self.since_commit = self.since_commit + 1 if commit is self._commit else 1
        self._commit = commit
        self.count += isinstance(error, WorkersLostError)
        if self.since_commit > LOSSES_ALLOWED:
            raise self._last_error(error)

    def _last_error(self, error: SchedulerError) -> SchedulerError:
        if isinstance(error, SchedulerLostError):
            return error
        often = f"workers were lost {self.since_commit} times without a commit in between"
        return SchedulerError(
            f"{often} (last error: {error}); check the workers' memory, or set a shorter {option('checkpoint_every')}"
        )


class LayerSearch:
    """A breadth-first search that resumes from a commit, for a table or for counts only."""

    def __init__(self, session: Session[Any], config: Config, scheduler: Scheduler, commits: Commits) -> None:
        self.commits = commits
        self.losses = Losses()
        self._session = session
        self._config = config
        self._scheduler = scheduler
        self._pace = CommitPace.of(session.options, scheduler.shares_memory)
        self._found = LayersFound(session.listener, session.clock)
        self._shards: Shards | None = None
        """The shards being searched (some may be lost), or None if the rows have to be divided again."""
        self._damage: list[str] = []
        """Problems found in the journal, of which the listener is notified when the search resumes."""
        self._started = False
        """Whether the listener was notified of the start of the search."""

    def run(self, plan: Plan) -> SearchManifest:
        """Search until the store is complete or the run is told to stop; return the last commit.

        ``plan`` is for the current workers of the scheduler. If these change, it is replaced.
        """
        shares_memory = self._scheduler.shares_memory
        self._pace = CommitPace.of(self._session.options, shares_memory, plan.strategy.on_disk)
        if call := plan.strategy.warm_up(plan.space, shares_memory):
            self._scheduler.on_worker_start(call)
        valid: Plan | None = plan
        lost = False
        while not (self.commits.manifest.complete or self._session.interrupted):
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

    def _plan_again(self) -> Plan:
        """Return a plan for the current workers and the current state of the store."""
        division = self._shards.plan if self._shards else None
        with self._session.clock.measure("tables"):
            try:
                return plan_that_fits(
                    self._session, self._config, self._scheduler, self.commits.manifest.cut, division, self._on_disk
                )
            except ResourceLimitError as error:  # the puzzle fitted before workers were lost
                raise WorkerFailedError(f"the remaining workers have too little memory: {error}") from error

    @property
    def _on_disk(self) -> bool | None:
        """Whether committed layers are on disk, or None if they may be or not."""
        return on_disk(self.commits.manifest)

    def _continue_with(self, plan: Plan) -> None:
        """Search until workers change. When all positions are searched, finish the store."""
        commits = self.commits
        found: Sequence[ShardSegments] = ()
        try:
            if not commits.manifest.searched:
                self._place(plan)
                shards = self._search()
                if shards is None or self._session.interrupted:
                    return
                found = self._end_search(shards)
                self._shards = None
            if isinstance(commits, TableCommits):
                assembly = plan.strategy.assembly(commits, found)
                self.losses.count += assemble(assembly, self._scheduler, self._pace, self._session.stop)
        except JournalDamagedError as error:
            self._damage.append(str(error))
            self._shards = None
            commits.search_again(error.key)

    def _place(self, plan: Plan) -> None:
        """Create all shards, or those that were lost, at the last commit; check that all workers reach the store."""
        store, token, stop = self.commits.store, self.commits.lock.token, self._session.stop
        store.check_layers(self.commits.manifest)  # otherwise the search would start over in an empty folder
        starts = plan.starts
        depth = self.commits.manifest.committed_depth
        with self._session.clock.measure("tables"):
            self._scheduler.run_on_all_workers((store.check_reachable, store.manifest_file.current_digest()))
            kept = self._shards if self._shards and self._shards.plan.divides_like(plan) else None
            if kept is not None and self._recovered(kept, depth, starts):
                kept.batch_size = plan.batch_size
                return
            self._shards = None
            journal = store.journal(self.commits.manifest)
            shards = Shards(self._scheduler, plan, journal, stop, self._session.listener)
        with self._session.clock.measure("write"):
            self._found.layers = self._restored(shards, depth, token)
            if not self._found.layers.sizes:
                journal.delete()  # leftovers of a killed run would only take space
                shards.begin(starts, token)
                found = [sum(shards.counts)]
                self._found.layers = Layers(shards.weighed(0, found))
        self._shards = shards
        self._pace.restored()
        self._tell_start(plan)

    def _recovered(self, shards: Shards, depth: int, starts: NDArray[Any]) -> bool:
        """Restore the lost shards at a depth or an earlier one; return False if all must be created again."""
        reached = shards.recover(depth, starts, self.commits.lock.token, self._session.stop)
        if reached < 0:
            return False
        self._found.layers = self._found.layers.first(reached + 1)
        if reached < depth:
            self.commits.return_to(self._found.layers)
        self._pace.restored()
        return True

    def _restored(self, shards: Shards, depth: int, token: str) -> Layers:
        """Restore the shards at a depth, or an earlier one if the journal is corrupt; return the layers up to there.

        Raises StoreDamagedError if the numbers of positions differ from the committed numbers.
        """
        if depth == NOTHING_COMMITTED:
            return Layers()
        manifest = self.commits.manifest
        layers, damaged = shards.restore(depth, token, manifest.states)
        damaged, self._damage = [*self._damage, *damaged], []
        expected = manifest.journal_layers[: len(layers)]
        if layers != list(expected):
            wrong = next(depth for depth, count in enumerate(layers) if count != expected[depth])
            raise StoreDamagedError(
                f"{self.commits.store.address} is corrupt: {counted(expected[wrong], 'position')} at depth {wrong} "
                f"were committed, but its journal holds {layers[wrong]:,}"
            )
        if len(layers) > depth:
            shards.forget(depth)  # if the last run was killed just before
        if damaged or len(layers) <= depth:
            self.commits.return_to(manifest.found.first(len(layers)))
            self._session.listener(JournalCorrupt(tuple(damaged), len(layers) - 1))
        return manifest.found.first(len(layers))

    def _search(self) -> Shards | None:
        """Search layer by layer until all positions are searched, workers join or leave, or the run is told to stop.

        If workers change or the run stops, everything is committed. Returns the shards, or None if the rows have to be
        divided again.

        Raises DepthLimitError if positions are deeper than a table can store. All layers up to there are committed.
        """
        shards = self._shards
        assert shards is not None
        while any(shards.counts):
            if self._session.stop() or self._scheduler.workers_changed:
                self._commit(shards)
                self._shards = None
                break
            if self._pace.is_commit_overdue:
                self._commit(shards)
            if self._found.depth == DEEPEST:
                self._commit(shards)
                raise DepthLimitError(f"some positions are deeper than {DEEPEST:,}, the maximum depth of a table")
            self._advance(shards)
        return self._shards

    def _advance(self, shards: Shards) -> None:
        """Find the next layers: as many at once as the pace allows, and none deeper than a table can store."""
        found, begin, depth = self._found, time.monotonic(), self._found.depth + 1
        layers = min(self._pace.layers_together, DEEPEST - found.depth)

        def settled(number: int, of: int) -> None:
            found.listener(PartitionFinished(depth, number, of))

        with found.clock.measure("search"):
            counts = [*filter(None, shards.advance(found.depth, layers, settled))]
            sizes = shards.weighed(depth, counts)
        self._pace.advanced(layers, time.monotonic() - begin)
        for size in sizes:
            found.add(size)

    def _commit(self, shards: Shards) -> None:
        """Commit the layers found so far, unless they are committed already."""
        layers, listener, clock = self._found.layers, self._session.listener, self._session.clock
        if layers.depth <= self.commits.manifest.committed_depth:
            return
        before = clock.write
        listener(Committing(layers.depth))
        with clock.measure("write"):
            shards.flush(layers.depth)
            self.commits.commit(layers)
            shards.forget(layers.depth)
        listener(Committed(layers.depth))
        self._pace.committed(clock.write - before)

    def _end_search(self, shards: Shards) -> Sequence[ShardSegments]:
        """Record that all positions are searched; return the segments of a table that are not in the journal.

        A run can resume within the assembly on a cluster, if there is an earlier commit, or if a commit is due.
        """
        commits, layers, pace = self.commits, self._found.layers, self._pace
        makes_table = shards.plan.commitment.makes_table
        resumable = commits.has_commit or pace.is_commit_overdue or pace.round_trips
        if makes_table and resumable:
            self._commit(shards)
        commits.end_search(layers, integers(shards.positions(layers.depth, MAX_ANTIPODES)), resumable)
        segments = shards.release()
        return segments if makes_table and not resumable else ()

    def _tell_start(self, plan: Plan) -> None:
        if self._started:
            return
        self._started = True
        resumed = self.commits.has_commit
        known = self._found.layers.positions
        name, size, depth = self._config.puzzle.name, plan.index_size, self._found.depth
        started = SearchStarted(name, size, depth, known, resumed, plan.reachable, plan.commitment.makes_table)
        self._session.listener(started)

    def _roll_back(self, error: SchedulerError) -> None:
        """Return to the last commit, and keep lost workers from writing to the store.

        Raises SchedulerError if workers were lost too often since that commit.
        """
        manifest, recomputed = self.commits.manifest, 0
        if shards := self._shards:
            lost = range(shards.plan.shard_count) if isinstance(error, SchedulerLostError) else shards.lost
            recomputed = shards.unwritten_positions(lost)
            if isinstance(error, SchedulerLostError) or not shards.plan.commitment.goes_back:
                self._shards = None
        depth = max(0, manifest.committed_depth)
        self._found.layers = self._found.layers.first(depth + 1)
        self.losses.add(error, manifest, recomputed)
        self.commits.shut_out_lost_workers()
        self._session.listener(WorkersLost(str(error), manifest.committed_depth, recomputed))
