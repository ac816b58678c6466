"""The search for all tilings: a task for each partition, and what is committed of them when."""

import os
import socket
import threading
import time
import uuid
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from antipodes.events import Listener, PartitionsCommitted, PartitionSearched, TilingSearchStarted
from antipodes.exact_cover.partitions import partitions_of
from antipodes.exact_cover.problem import TilingProblem
from antipodes.exact_cover.search import Found, search_partition, warm_up
from antipodes.exact_cover.symmetry import Tilings, distinct, symmetry_of
from antipodes.executors.api import Call, Key, Scheduler
from antipodes.runs.clock import Clock
from antipodes.tilings.store import Searched, TilingManifest, TilingStore


@dataclass
class TilingSearch:
    """A search that resumes after the partitions that the store holds."""

    problem: TilingProblem
    store: TilingStore
    checkpoint_every: float
    """Seconds between two commits at least; 0 commits each partition."""
    listener: Listener
    interrupted: Callable[[], bool]
    manifest: TilingManifest
    """The last commit."""
    clock: Clock = field(default_factory=Clock)
    run_id: str = field(default_factory=lambda: uuid.uuid4().hex)
    """Part of every key, so that two runs on one cluster do not share results."""

    found: list[Tilings] = field(default_factory=list)
    """The tilings of each partition, those of earlier runs among them."""
    uncommitted: dict[Searched, Tilings] = field(default_factory=dict)
    placements: int = 0
    """Placements that this run has made."""
    busy: dict[str, float] = field(default_factory=dict)
    """The seconds for which each worker searched."""
    workers: int = 0
    begun: float = 0.0
    """When the search did, on the monotonic clock."""
    last_commit: float = 0.0

    def run(self, scheduler: Scheduler) -> None:
        """Search until all partitions are done, or the run is interrupted."""
        self.workers = scheduler.workers
        with self.clock.measure("tables"):
            self._prepare(scheduler)
        with self.clock.measure("write"):
            self.found.append(self.store.tilings(self.manifest))
        self._tell_begin()
        with self.clock.measure("search"):
            self._search(scheduler)
        with self.clock.measure("write"):
            self._finish()

    @property
    def raw_tilings(self) -> int:
        """The tilings known, images under symmetries counted as different."""
        if self.manifest.raw_tilings is not None:
            return self.manifest.raw_tilings
        return int(symmetry_of(self.problem).orbit_sizes(np.concatenate(self.found)).sum())

    def busy_seconds(self) -> tuple[float, ...]:
        """The seconds for which each worker searched, the busiest first."""
        idle = [0.0] * (self.workers - len(self.busy))
        return tuple(sorted([*self.busy.values(), *idle], reverse=True))

    def _prepare(self, scheduler: Scheduler) -> None:
        partitions_of(self.problem, self.manifest.method)
        scheduler.on_worker_start((warm_up, self.problem, self.manifest.method))
        scheduler.run_unordered({}, lambda *_: None, self.interrupted)  # threads warm up before the search is timed

    def _tell_begin(self) -> None:
        done, tilings = len(self.manifest.searched), self.manifest.tilings
        self.listener(TilingSearchStarted(self.problem.name, self.manifest.partitions, done, tilings))

    def _search(self, scheduler: Scheduler) -> None:
        done = {one.number for one in self.manifest.searched}
        calls: dict[Key, Call] = {
            (f"search-{self.run_id}", number): (search_timed, self.problem, number, self.manifest.method)
            for number in range(self.manifest.partitions)
            if number not in done
        }
        self.begun = self.last_commit = time.monotonic()
        scheduler.run_unordered(calls, self._searched, self.interrupted)

    def _searched(self, key: Key, outcome: "Outcome") -> None:
        """Keep what a task found, and commit it if it is time."""
        found = outcome.found
        self.found.append(found.tilings)
        self.uncommitted[Searched(key[1], len(found.tilings), found.placements)] = found.tilings
        self.placements += found.placements
        self.busy[outcome.worker] = self.busy.get(outcome.worker, 0.0) + outcome.seconds
        self._tell_searched()
        if time.monotonic() - self.last_commit >= self.checkpoint_every:
            self._commit()

    def _tell_searched(self) -> None:
        done = len(self.manifest.searched) + len(self.uncommitted)
        tilings = sum(map(len, self.found))
        rate = self.placements / (time.monotonic() - self.begun)
        self.listener(PartitionSearched(done, self.manifest.partitions, tilings, rate))

    def _commit(self) -> None:
        self.manifest = self.store.add(self.manifest, self.uncommitted)
        self.uncommitted.clear()
        self.last_commit = time.monotonic()
        self.listener(PartitionsCommitted(len(self.manifest.searched), self.manifest.partitions))

    def _finish(self) -> None:
        """Commit what is left; all tilings together, sorted, if no partition is."""
        if len(self.manifest.searched) + len(self.uncommitted) < self.manifest.partitions:
            if self.uncommitted:
                self._commit()
            return
        tilings = distinct(np.concatenate(self.found))
        raw = int(symmetry_of(self.problem).orbit_sizes(tilings).sum())
        self.manifest = self.store.finish(self.manifest, self.uncommitted, tilings, raw)
        self.listener(PartitionsCommitted(self.manifest.partitions, self.manifest.partitions))


@dataclass(frozen=True, eq=False)
class Outcome:
    """What a task came to, and who did it how fast."""

    found: Found
    worker: str
    seconds: float


def search_timed(problem: TilingProblem, number: int, method: str) -> Outcome:
    """The task of one partition; see `search_partition`."""
    begin = time.perf_counter()
    found = search_partition(problem, number, method)
    worker = f"{socket.gethostname()}-{os.getpid()}-{threading.get_ident()}"
    return Outcome(found, worker, time.perf_counter() - begin)
