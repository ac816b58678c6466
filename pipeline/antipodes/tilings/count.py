"""The number of a board's tilings, without a store: where there are too many to keep."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from antipodes.events import Listener, silence
from antipodes.executors.opening import as_scheduler, open_scheduler
from antipodes.machine import available_workers
from antipodes.runs.options import RunOptions
from antipodes.runs.report import Clock
from antipodes.tilings.config import BoardConfig, checked_method
from antipodes.tilings.search import PartitionTasks
from antipodes_tasks import arguments
from antipodes_tasks.errors import InterruptedRunError
from antipodes_tasks.exact_cover.search import PartitionResult, check_size


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
    chosen = checked_method(config, method)
    options = arguments.instance(options, RunOptions, "RunOptions")
    arguments.function(listener, "a listener")
    arguments.function(interrupted, "interrupted")
    tasks = PartitionTasks(config.problem, chosen, False, listener, interrupted)
    clock, results = Clock(), list[PartitionResult]()
    if scheduler is not None:
        opening = as_scheduler(scheduler)
    else:
        workers = options.workers or available_workers()
        opening = open_scheduler(options.scheduler, workers, options.scheduler_file, listener)
    with opening as opened, opened.performance_report(options.performance_report):
        if not opened.wait_for_workers(listener, interrupted):
            raise InterruptedRunError("interrupted: there was no worker yet")
        with clock.measure("tables"):
            check_size(config.problem, chosen)
            tasks.warm_up(opened)
        with clock.measure("search"):
            tasks.run(opened, "count", range(tasks.partitions), lambda _, result: results.append(result))
    if len(results) < tasks.partitions:
        done = f"{len(results)} of {tasks.partitions} partitions were counted"
        raise InterruptedRunError(f"interrupted: {done}; a count saves nothing, and starts over")
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
