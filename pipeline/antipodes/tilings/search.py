"""The search for all tilings: one task for each partition, and commits of the tilings found."""

import os
import socket
import threading
import time
import uuid
from dataclasses import dataclass, field

import numpy as np

from antipodes.events import PartitionSearched, TilingSearchStarted
from antipodes.exact_cover.partitions import partitions_of
from antipodes.exact_cover.problem import TilingProblem
from antipodes.exact_cover.search import Found, search_partition, warm_up
from antipodes.exact_cover.symmetry import Tilings, distinct, symmetry_of
from antipodes.executors.api import Call, Key, Scheduler
from antipodes.runs.session import Session
from antipodes.tilings.commits import TilingCommits
from antipodes.tilings.manifest import Searched, TilingManifest
from antipodes.tilings.store import TilingStore

CHECKPOINT_SECONDS = 1.0
"""Seconds between commits by default: they cost milliseconds, and a partition may take hours."""


@dataclass(frozen=True, eq=False)
class Outcome:
    """The result of a task, and which worker took how long for it."""

    found: Found
    worker: str
    seconds: float


def search_timed(problem: TilingProblem, number: int, method: str) -> Outcome:
    """The task of one partition; see `search_partition`."""
    begin = time.perf_counter()
    found = search_partition(problem, number, method)
    worker = f"{socket.gethostname()}-{os.getpid()}-{threading.get_ident()}"
    return Outcome(found, worker, time.perf_counter() - begin)


@dataclass
class Effort:
    """The work of this run."""

    workers: int = 0
    placements: int = 0
    """Placements made."""
    busy: dict[str, float] = field(default_factory=dict)
    """The seconds for which each worker searched."""
    started: float = 0.0
    """When the search started, on the monotonic clock."""

    def add(self, outcome: Outcome) -> None:
        """Add the work of a task."""
        self.placements += outcome.found.placements
        self.busy[outcome.worker] = self.busy.get(outcome.worker, 0.0) + outcome.seconds

    @property
    def placements_per_second(self) -> float:
        """Placements per second since the search started."""
        return self.placements / (time.monotonic() - self.started)

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

    @property
    def raw_tilings(self) -> int:
        """The tilings known, symmetric copies counted as different."""
        known = self._commits.manifest.raw_tilings
        return self._raw(np.concatenate(self._found)) if known is None else known

    def _raw(self, tilings: Tilings) -> int:
        return int(symmetry_of(self._problem).orbit_sizes(tilings).sum())

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
        calls: dict[Key, Call] = {
            (f"search-{self._run_id}", number): (search_timed, self._problem, number, manifest.method)
            for number in range(manifest.partitions)
            if number not in done
        }
        self.effort.started = time.monotonic()
        self._commits.start()
        scheduler.run_unordered(calls, self._on_result, self._session.stop)

    def _on_result(self, key: Key, outcome: Outcome) -> None:
        """Keep the tilings of a partition, and commit them if it is time to."""
        found = outcome.found
        self._found.append(found.tilings)
        self.effort.add(outcome)
        self._commits.add(Searched(key[1], len(found.tilings), found.placements), found.tilings)
        self._tell_searched()
        self._commits.commit_if_due()

    def _tell_searched(self) -> None:
        commits, tilings = self._commits, sum(map(len, self._found))
        rate = self.effort.placements_per_second
        self._session.listener(PartitionSearched(commits.done, commits.manifest.partitions, tilings, rate))

    def _finish(self) -> None:
        """Commit the last partitions: all tilings together, if every partition is searched."""
        if self._commits.done < self._commits.manifest.partitions:
            self._commits.commit()
            return
        tilings = distinct(np.concatenate(self._found))
        self._commits.finish(tilings, self._raw(tilings))
