"""The search for all tilings: one task for each partition, and commits of the tilings found."""

import os
import socket
import threading
import time
import uuid
from dataclasses import dataclass, field

import numpy as np

from antipodes.events import TilingSearchStarted
from antipodes.executors.api import Key, Scheduler
from antipodes.runs.session import Session
from antipodes.tilings.commits import TilingCommits
from antipodes.tilings.manifest import Searched, TilingManifest
from antipodes.tilings.store import TilingStore
from antipodes.tilings.under_way import PartitionsOfRun
from antipodes_tasks.exact_cover.partitions import partitions_of
from antipodes_tasks.exact_cover.problem import TilingProblem
from antipodes_tasks.exact_cover.search import Found, OnProgress, search_partition, warm_up
from antipodes_tasks.exact_cover.symmetry import Tilings, distinct

CHECKPOINT_SECONDS = 1.0
"""Seconds between commits by default: they cost milliseconds, and a partition may take hours."""


@dataclass(frozen=True, eq=False)
class Outcome:
    """The result of a task, and which worker took how long for it."""

    found: Found
    worker: str
    seconds: float


def search_timed(problem: TilingProblem, number: int, method: str, on_progress: OnProgress) -> Outcome:
    """The task of one partition; see `search_partition`."""
    begin = time.perf_counter()
    found = search_partition(problem, number, method, on_progress)
    worker = f"{socket.gethostname()}-{os.getpid()}-{threading.get_ident()}"
    return Outcome(found, worker, time.perf_counter() - begin)


@dataclass
class Effort:
    """The work of this run."""

    workers: int = 0
    busy: dict[str, float] = field(default_factory=dict)
    """The seconds for which each worker searched."""
    placements: int = 0
    """Placements made, in partitions searched."""

    def add(self, outcome: Outcome) -> None:
        """Add the work of a task."""
        self.placements += outcome.found.placements
        self.busy[outcome.worker] = self.busy.get(outcome.worker, 0.0) + outcome.seconds

    def busy_seconds(self) -> tuple[float, ...]:
        """The seconds for which each worker searched, the busiest first."""
        idle = [0.0] * (self.workers - len(self.busy))
        return tuple(sorted([*self.busy.values(), *idle], reverse=True))


class TilingSearch:
    """A search that resumes after the partitions that the store holds."""

    def __init__(self, session: Session[TilingStore], problem: TilingProblem, manifest: TilingManifest) -> None:
        every = session.options.checkpoint_every
        self.effort = Effort()
        self._session = session
        self._problem = problem
        self._commits = TilingCommits(
            session.store, manifest, CHECKPOINT_SECONDS if every is None else every, session.listener
        )
        self._run_id = uuid.uuid4().hex
        """Part of every key, so that two runs on one cluster do not share results."""
        self._found: list[Tilings] = []
        """The tilings of each partition, those of earlier runs among them."""

    def run(self, scheduler: Scheduler) -> TilingManifest:
        """Search until all partitions are done, or the run is told to stop; the last commit."""
        clock = self._session.clock
        self.effort.workers = scheduler.workers
        with clock.measure("tables"):
            self._warm_up(scheduler)
        with clock.measure("write"):
            self._found.append(self._session.store.tilings(self._commits.manifest))
        self._tell_start()
        with clock.measure("search"):
            self._search(scheduler)
        with clock.measure("write"):
            self._finish()
        return self._commits.manifest

    def _warm_up(self, scheduler: Scheduler) -> None:
        """Prepare the processes that search."""
        method = self._commits.manifest.method
        partitions_of(self._problem, method)
        scheduler.on_worker_start((warm_up, self._problem, method))
        scheduler.run_unordered({}, lambda *_: None, self._session.stop)  # threads warm up before the search is timed

    def _tell_start(self) -> None:
        manifest = self._commits.manifest
        done, tilings = len(manifest.searched), manifest.tilings
        self._session.listener(TilingSearchStarted(self._problem.name, manifest.partitions, done, tilings))

    def _search(self, scheduler: Scheduler) -> None:
        manifest = self._commits.manifest
        done = {one.number for one in manifest.searched}
        left = [number for number in range(manifest.partitions) if number not in done]
        session, task = self._session, (search_timed, self._problem, manifest.method)
        self._partitions = PartitionsOfRun(
            manifest.partitions, len(done), manifest.tilings, session.listener, session.stop
        )
        self._commits.start()
        calls = self._partitions.calls(scheduler, f"search-{self._run_id}", left, task)
        scheduler.run_unordered(calls, self._on_result, session.stop)

    def _on_result(self, key: Key, outcome: Outcome | None) -> None:
        """Keep the tilings of a partition, and commit them if it is time to."""
        if outcome is None:
            return
        found, number = outcome.found, key[1]
        self._found.append(found.tilings)
        self.effort.add(outcome)
        self._commits.add(Searched(number, len(found.tilings), found.raw_tilings, found.placements), found.tilings)
        self._partitions.searched(number, found.placements, len(found.tilings))
        self._commits.commit_if_due()

    def _finish(self) -> None:
        """Commit the last partitions: all tilings together, if every partition is searched."""
        if self._commits.done < self._commits.manifest.partitions:
            self._commits.commit()
            return
        self._commits.finish(distinct(np.concatenate(self._found)))
