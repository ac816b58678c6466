"""The tasks of a search for tilings, one for each partition: what they find, and when they are abandoned."""

import os
import socket
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial

from antipodes.events import Listener, PartitionSearched, PartitionsUnderWay, TilingSearchStarted
from antipodes.executors.api import Key, Scheduler
from antipodes_tasks.exact_cover.partitions import partitions_of
from antipodes_tasks.exact_cover.problem import TilingProblem
from antipodes_tasks.exact_cover.search import OnProgress, PartitionResult, search_partition, unwatched, warm_up

TOLD_SECONDS = 1.0
"""Seconds between two events about the partitions under way."""
GRACE_SECONDS = 1.0
"""Seconds that the partitions under way have to end, after the run is told to stop."""


class PartitionAbandonedError(Exception):
    """The search of a partition ends before its end, because the run is to stop; its result is lost."""


@dataclass(frozen=True, eq=False)
class TimedResult:
    """The result of a task, and which worker took how long for it."""

    result: PartitionResult
    worker: str
    seconds: float


def search_timed(
    problem: TilingProblem, number: int, method: str, keep: bool, on_progress: OnProgress
) -> TimedResult | None:
    """The task of one partition, see `search_partition`; None if the search was abandoned."""
    begin = time.perf_counter()
    try:
        result = search_partition(problem, number, method, on_progress, keep)
    except PartitionAbandonedError:
        return None
    worker = f"{socket.gethostname()}-{os.getpid()}-{threading.get_ident()}"
    return TimedResult(result, worker, time.perf_counter() - begin)


@dataclass
class PartitionTasks:
    """The partitions that a run searches, and what it has found so far.

    Threads tell of the partitions that they search while they do. Other processes do not: they end each partition that
    they began.
    """

    problem: TilingProblem
    method: str
    keep: bool
    """Whether results have the tilings, not only their number."""
    listener: Listener
    stop: Callable[[], bool]
    done: int = 0
    """Partitions searched, those of earlier runs included."""
    tilings: int = 0
    """Tilings in those."""
    placements: int = 0
    """Placements that this run made, in partitions that it has searched."""
    workers: int = 0
    busy: dict[str, float] = field(default_factory=dict)
    """The seconds for which each worker searched."""
    _under_way: dict[int, tuple[int, int]] = field(default_factory=dict)
    """The placements and tilings so far of each partition under way."""
    _began: float = 0.0
    _told_at: float = 0.0
    _stopped_at: float | None = None
    _lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def partitions(self) -> int:
        """The number of all partitions, those of earlier runs included."""
        return len(partitions_of(self.problem, self.method))

    def busy_seconds(self) -> tuple[float, ...]:
        """The seconds for which each worker searched, the busiest first."""
        idle = [0.0] * (self.workers - len(self.busy))
        return tuple(sorted([*self.busy.values(), *idle], reverse=True))

    def warm_up(self, scheduler: Scheduler) -> None:
        """Prepare the processes that search."""
        scheduler.on_worker_start((warm_up, self.problem, self.method))
        scheduler.run_unordered({}, lambda *_: None, self.stop)  # threads warm up before the search is timed

    def run(
        self,
        scheduler: Scheduler,
        name: str,
        numbers: Sequence[int],
        on_result: Callable[[int, PartitionResult], None],
    ) -> None:
        """Search partitions until the run is told to stop; ``on_result`` is called with the number and result of each.

        The name is that of the keys of the tasks.
        """

        def collect(key: Key, timed: TimedResult | None) -> None:
            if timed is not None:
                self._add(key[1], timed)
                on_result(key[1], timed.result)

        self.workers = scheduler.workers
        self._began = self._told_at = time.monotonic()
        self.listener(TilingSearchStarted(self.problem.name, self.partitions, self.done, self.tilings))
        calls = {}
        for number in numbers:
            on_progress = partial(self._progress, number) if scheduler.shares_memory else unwatched
            calls[name, number] = (search_timed, self.problem, number, self.method, self.keep, on_progress)
        scheduler.run_unordered(calls, collect, self.stop)

    def _add(self, number: int, timed: TimedResult) -> None:
        """Note, and tell, that a partition is searched."""
        self.busy[timed.worker] = self.busy.get(timed.worker, 0.0) + timed.seconds
        with self._lock:
            self._under_way.pop(number, None)
            self.done, self.tilings = self.done + 1, self.tilings + timed.result.count
            self.placements += timed.result.placements
            self._told_at = time.monotonic()
            self.listener(PartitionSearched(self.done, self.partitions, self.tilings, self._rate(self.placements)))

    def _progress(self, number: int, placements: int, tilings: int) -> None:
        """Note how far the search of a partition is; raises PartitionAbandonedError if it is to end."""
        now = time.monotonic()
        if self.stop():
            self._stopped_at = self._stopped_at or now
            if now - self._stopped_at > GRACE_SECONDS:
                raise PartitionAbandonedError
        with self._lock:
            self._under_way[number] = placements, tilings
            if now - self._told_at >= TOLD_SECONDS:
                self._told_at = now
                self.listener(self._event())

    def _event(self) -> PartitionsUnderWay:
        placements = self.placements + sum(made for made, _ in self._under_way.values())
        found = sum(tilings for _, tilings in self._under_way.values())
        return PartitionsUnderWay(
            self.done, self.partitions, len(self._under_way), placements, found, self.tilings, self._rate(placements)
        )

    def _rate(self, placements: int) -> float:
        return placements / (time.monotonic() - self._began)
