"""The search for tilings, with one task per partition, and the count of tilings, a search that keeps no tilings."""

from __future__ import annotations

import os
import socket
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from antipodes.executors.api import Key, Scheduler
from antipodes.runs.run_results import Clock, Seconds
from antipodes.runs.session import scheduler_with_workers
from antipodes.system.events import Listener, PartitionSearched, PartitionsInProgress, TilingSearchStarted, silence
from antipodes.system.options import RunOptions
from antipodes.system.records import as_dict
from antipodes.tilings.board_config import BoardConfig, checked_method
from antipodes_tasks.base import arguments
from antipodes_tasks.base.errors import InterruptedRunError
from antipodes_tasks.base.quoting import counted, shorten
from antipodes_tasks.exact_cover.partition_search import (
    OnProgress,
    PartitionResult,
    check_size,
    search_partition,
    unwatched,
    warm_up,
)
from antipodes_tasks.exact_cover.partitions import partitions_of
from antipodes_tasks.exact_cover.tiling_problem import TilingProblem

PROGRESS_SECONDS = 1.0
"""Minimum seconds between two events about the partitions under way."""
GRACE_SECONDS = 1.0
"""Seconds that the partitions under way have to finish after the run is asked to stop."""


class PartitionAbandonedError(Exception):
    """The search of a partition is abandoned because the run has to stop; its result is lost."""


@dataclass(frozen=True, eq=False)
class TimedResult:
    """The result of a task, with the name of the worker and the seconds that it took."""

    result: PartitionResult
    worker: str
    seconds: float


def search_timed(
    problem: TilingProblem, number: int, method: str, keep: bool, on_progress: OnProgress
) -> TimedResult | None:
    """Search one partition and return the result, or None if the search was abandoned; see `search_partition`."""
    begin = time.perf_counter()
    try:
        result = search_partition(problem, number, method, on_progress, keep)
    except PartitionAbandonedError:
        return None
    worker = f"{socket.gethostname()}-{os.getpid()}-{threading.get_ident()}"
    return TimedResult(result, worker, time.perf_counter() - begin)


@dataclass
class PartitionTasks:
    """The partitions that a run searches, and the results so far.

    Threads report progress while they search a partition, and abandon it when the run has to stop. Other processes do
    not: they finish every partition that they have started.
    """

    problem: TilingProblem
    method: str
    keep: bool
    """Whether results contain the tilings, not only their number."""
    listener: Listener
    stop: Callable[[], bool]
    done: int = 0
    """Number of searched partitions, including those of earlier runs."""
    tilings: int = 0
    """Number of tilings in the searched partitions."""
    placements: int = 0
    """Number of placements that this run tried in the partitions that it has searched."""
    workers: int = 0
    busy: dict[str, float] = field(default_factory=dict)
    """Seconds for which each worker searched."""
    _under_way: dict[int, tuple[int, int]] = field(default_factory=dict)
    """Numbers of placements and tilings so far, for each partition under way."""
    _began: float = 0.0
    _told_at: float = 0.0
    _stopped_at: float | None = None
    _lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def partitions(self) -> int:
        """Number of all partitions, including those of earlier runs."""
        return len(partitions_of(self.problem, self.method))

    def busy_seconds(self) -> tuple[float, ...]:
        """Return the seconds for which each worker searched, the busiest worker first."""
        idle = [0.0] * (self.workers - len(self.busy))
        return tuple(sorted([*self.busy.values(), *idle], reverse=True))

    def warm_up(self, scheduler: Scheduler) -> None:
        """Prepare the processes that run the search."""
        scheduler.on_worker_start((warm_up, self.problem, self.method))
        scheduler.run_unordered({}, lambda *_: None, self.stop)  # threads warm up before the search is timed

    def run(
        self,
        scheduler: Scheduler,
        name: str,
        numbers: Sequence[int],
        on_result: Callable[[int, PartitionResult], None],
    ) -> None:
        """Search partitions until the run is asked to stop; ``on_result`` is called with the number and result of each.

        ``name`` is the first part of the keys of the tasks.
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
        """Record a searched partition and notify the listener."""
        self.busy[timed.worker] = self.busy.get(timed.worker, 0.0) + timed.seconds
        with self._lock:
            self._under_way.pop(number, None)
            self.done, self.tilings = self.done + 1, self.tilings + timed.result.count
            self.placements += timed.result.placements
            self._told_at = time.monotonic()
            self.listener(PartitionSearched(self.done, self.partitions, self.tilings, self._rate(self.placements)))

    def _progress(self, number: int, placements: int, tilings: int) -> None:
        """Record the progress of a partition; raise PartitionAbandonedError if its search has to end."""
        now = time.monotonic()
        if self.stop():
            self._stopped_at = self._stopped_at or now
            if now - self._stopped_at > GRACE_SECONDS:
                raise PartitionAbandonedError
        with self._lock:
            self._under_way[number] = placements, tilings
            if now - self._told_at >= PROGRESS_SECONDS:
                self._told_at = now
                self.listener(self._event())

    def _event(self) -> PartitionsInProgress:
        placements = self.placements + sum(made for made, _ in self._under_way.values())
        found = sum(tilings for _, tilings in self._under_way.values())
        return PartitionsInProgress(
            self.done, self.partitions, len(self._under_way), placements, found, self.tilings, self._rate(placements)
        )

    def _rate(self, placements: int) -> float:
        return placements / (time.monotonic() - self._began)


@dataclass(frozen=True, kw_only=True, repr=False)
class TilingCount:
    """The result of a count."""

    board: str
    """Name of the board."""
    tilings: int
    """Number of tilings, up to the symmetries of the board."""
    raw_tilings: int
    """Number of tilings, counting symmetric copies separately."""
    placements: int
    """Number of placements that were tried."""
    partitions: int
    method: str
    clock: Clock
    """Seconds of each phase."""
    seconds: float
    """Seconds that the user waited."""

    def __repr__(self) -> str:
        tilings = f"{counted(self.tilings, 'tiling')}, {self.raw_tilings:,} with symmetric copies"
        return f"<TilingCount of {shorten(self.board, 30)}: {tilings}, {self.seconds:.1f} s>"

    def to_record(self, raw: bool = False) -> TilingCountRecord:
        """Return the count for JSON output; with ``raw``, symmetric copies count as solutions."""
        return TilingCountRecord(
            board=self.board,
            solutions=self.raw_tilings if raw else self.tilings,
            raw_solutions=self.raw_tilings,
            placements=self.placements,
            method=self.method,
            partitions=self.partitions,
            seconds=Seconds(self.seconds, self.clock.compiling, self.clock.tables, self.clock.search),
        )

    def to_json(self, raw: bool = False) -> dict[str, Any]:
        """Return the count with the keys of ``--json``; with ``raw``, symmetric copies count as solutions."""
        return as_dict(self.to_record(raw))


@dataclass(frozen=True, slots=True, kw_only=True)
class TilingCountRecord:
    """The number of tilings of a board, for JSON output."""

    board: str
    solutions: int
    raw_solutions: int
    placements: int
    method: str
    partitions: int
    seconds: Seconds


def count_tilings(
    config: BoardConfig,
    method: str | None = None,
    options: RunOptions = RunOptions(),
    listener: Listener = silence,
    interrupted: Callable[[], bool] = lambda: False,
    scheduler: Any = None,
) -> TilingCount:
    """Count the tilings of a board, even if there are too many to keep; for the parameters see `tile_board`.

    Nothing is stored, and at most one batch of tilings is in memory, so an interrupted count has to start over.

    Raises
    ------
    InputError
        The method is unknown, or an argument has the wrong type.
    ResourceLimitError
        The search would need too much memory.
    InterruptedRunError
        The count was asked to stop; the message gives the progress.
    """
    begin = time.perf_counter()
    chosen = checked_method(config, method)
    options = arguments.instance(options, RunOptions, "RunOptions")
    arguments.function(listener, "a listener")
    arguments.function(interrupted, "interrupted")
    tasks = PartitionTasks(config.problem, chosen, False, listener, interrupted)
    clock, results = Clock(), list[PartitionResult]()
    with scheduler_with_workers(options, scheduler, listener, interrupted) as opened:
        with clock.measure("tables"):
            check_size(config.problem, chosen)
            # The workers compile their kernels in this phase, so that they are not compiled during the search.
            tasks.warm_up(opened)
        with clock.measure("search"):
            tasks.run(opened, "count", range(tasks.partitions), lambda _, result: results.append(result))
    if len(results) < tasks.partitions:
        done = f"{len(results)} of {tasks.partitions} partitions were counted"
        raise InterruptedRunError(f"interrupted: {done}; a count saves nothing, so it has to start over")
    return TilingCount(
        board=config.problem.name,
        tilings=sum(one.count for one in results),
        raw_tilings=sum(one.raw_count for one in results),
        placements=sum(one.placements for one in results),
        partitions=tasks.partitions,
        method=chosen,
        clock=clock,
        seconds=time.perf_counter() - (begin if options.began is None else options.began),
    )
