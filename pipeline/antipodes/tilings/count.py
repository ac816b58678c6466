"""The number of a board's tilings, without a store: where there are too many to keep."""

import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any

from antipodes.events import Listener, TilingSearchStarted, silence
from antipodes.executors.api import Key, Scheduler
from antipodes.executors.opening import as_scheduler, open_scheduler
from antipodes.machine import available_workers
from antipodes.runs.options import RunOptions
from antipodes.runs.report import Clock
from antipodes.tilings.config import BoardConfig
from antipodes.tilings.method import checked_method
from antipodes.tilings.under_way import PartitionsOfRun
from antipodes_tasks import arguments
from antipodes_tasks.errors import InterruptedRunError
from antipodes_tasks.exact_cover.partitions import PRUNING, in_scan_order, partitions_of
from antipodes_tasks.exact_cover.problem import TilingProblem
from antipodes_tasks.exact_cover.search import Counted, check_size, count_partition, warm_up


@dataclass(frozen=True, kw_only=True)
class TilingCount:
    """The result of a count."""

    board: str
    """The name of the board."""
    tilings: int
    """Up to the symmetries of the board."""
    raw_tilings: int
    """Symmetric copies counted as different."""
    placements: int
    """Placements tried."""
    partitions: int
    method: str
    clock: Clock
    """Seconds of each phase."""
    seconds: float
    """Seconds that the user waited."""

    def to_json(self, raw: bool = False) -> dict[str, Any]:
        """The count with the keys of the command line's ``--json``; ``raw`` counts symmetric copies as solutions."""
        return {
            "board": self.board,
            "solutions": self.raw_tilings if raw else self.tilings,
            "raw_solutions": self.raw_tilings,
            "placements": self.placements,
            "method": self.method,
            "partitions": self.partitions,
            "seconds": {"total": self.seconds, "tables": self.clock.tables, "search": self.clock.search},
        }


def count_tilings(
    config: BoardConfig,
    method: str | None = None,
    options: RunOptions = RunOptions(),
    listener: Listener = silence,
    interrupted: Callable[[], bool] = lambda: False,
    scheduler: Any = None,
) -> TilingCount:
    """Count the tilings of a board; parameters as for `tile_board`.

    Nothing is stored, and no more than a batch of tilings is in memory: a count that is interrupted starts over.

    Raises
    ------
    InputError
        There is no such method, or an argument is of another type.
    ResourceLimitError
        The search would need more memory than it may.
    InterruptedRunError
        The count was told to stop; the message says how far it was.
    """
    begin = time.perf_counter()
    arguments.instance(config, BoardConfig, "a BoardConfig")
    options = arguments.instance(options, RunOptions, "RunOptions")
    chosen = checked_method(method) or PRUNING
    in_scan_order(config.problem, chosen)  # refuses boards that the method does not take
    arguments.function(listener, "a listener")
    arguments.function(interrupted, "interrupted")
    count = _Count(config.problem, chosen, listener, interrupted)
    with _opened(options, listener, scheduler) as opened, opened.performance_report(options.performance_report):
        count.run(opened)
    began = begin if options.began is None else options.began
    return count.result(time.perf_counter() - began)


def _opened(options: RunOptions, listener: Listener, scheduler: Any) -> AbstractContextManager[Scheduler]:
    if scheduler is not None:
        return as_scheduler(scheduler)
    return open_scheduler(options.scheduler, options.workers or available_workers(), options.scheduler_file, listener)


class _Count:
    """A count under way."""

    def __init__(
        self, problem: TilingProblem, method: str, listener: Listener, interrupted: Callable[[], bool]
    ) -> None:
        self._problem, self._method = problem, method
        self._listener, self._interrupted = listener, interrupted
        self._clock = Clock()
        self._counted: list[Counted] = []
        self._partitions = 0

    def run(self, scheduler: Scheduler) -> None:
        """Count each partition as a task; InterruptedRunError if the count is told to stop."""
        if not scheduler.wait_for_workers(self._listener, self._interrupted):
            raise InterruptedRunError("interrupted: there was no worker yet")
        with self._clock.measure("tables"):
            check_size(self._problem, self._method)
            self._partitions = len(partitions_of(self._problem, self._method))
            scheduler.on_worker_start((warm_up, self._problem, self._method))
            scheduler.run_unordered({}, lambda *_: None, self._interrupted)
        self._listener(TilingSearchStarted(self._problem.name, self._partitions, 0, 0))
        self._run = PartitionsOfRun(self._partitions, 0, 0, self._listener, self._interrupted)
        task = (count_partition, self._problem, self._method)
        calls = self._run.calls(scheduler, "count", list(range(self._partitions)), task)
        with self._clock.measure("search"):
            scheduler.run_unordered(calls, self._on_result, self._interrupted)
        if len(self._counted) < self._partitions:
            done = f"{len(self._counted)} of {self._partitions} partitions were counted"
            raise InterruptedRunError(f"interrupted: {done}; a count saves nothing, and starts over")

    def result(self, seconds: float) -> TilingCount:
        """The count of all partitions."""
        return TilingCount(
            board=self._problem.name,
            tilings=sum(one.tilings for one in self._counted),
            raw_tilings=sum(one.raw_tilings for one in self._counted),
            placements=sum(one.placements for one in self._counted),
            partitions=self._partitions,
            method=self._method,
            clock=self._clock,
            seconds=seconds,
        )

    def _on_result(self, key: Key, counted: Counted | None) -> None:
        if counted is not None:
            self._counted.append(counted)
            self._run.searched(key[1], counted.placements, counted.tilings)
