"""Plans for the workers that there are, and what happens where they are too few."""

import time
from collections.abc import Callable
from math import ceil

from antipodes.config import Config
from antipodes.errors import InterruptedRunError, ResourceLimitError
from antipodes.events import Listener, WaitingForWorkers
from antipodes.executors.api import WORKER_SHARE, Scheduler
from antipodes.runs.options import RunOptions
from antipodes.sizes import MIB
from antipodes.tables.plan import Plan, check_memory, plan_run
from antipodes.tables.store import WIDEST, TableManifest

JOIN_SECONDS, POLL_SECONDS = 60.0, 0.1
"""So long workers may join where those that there are have too little memory; and how often that is looked at."""


def plan_checked(
    config: Config, options: RunOptions, scheduler: Scheduler, manifest: TableManifest | None = None
) -> Plan:
    """The plan of a run, of this store if any; ResourceLimitError where it does not fit into memory."""
    limit = options.memory_limit or scheduler.memory
    cut = manifest.cut if manifest else None
    plan = plan_run(config.puzzle, scheduler.workers, limit, cut, scheduler.processes, config.settings)
    plan = plan.widened() if manifest and manifest.dtype == WIDEST else plan
    try:
        if limit is not None:
            check_memory(plan, limit)
    except ResourceLimitError as error:
        raise ResourceLimitError(f"{error}{_least(plan, options, scheduler)}") from None
    return plan


def _least(plan: Plan, options: RunOptions, scheduler: Scheduler) -> str:
    """The limit that would do for the workers of a cluster, as their ``--memory-limit`` takes it."""
    if options.memory_limit or not scheduler.processes:
        return ""
    least = ceil(plan.memory_bytes / scheduler.processes / WORKER_SHARE / MIB)
    return f"; with {scheduler.processes} of them each worker needs a memory limit of {least}MiB or more"


def plan_that_fits(
    config: Config,
    options: RunOptions,
    scheduler: Scheduler,
    listener: Listener,
    interrupted: Callable[[], bool],
    manifest: TableManifest | None,
) -> Plan:
    """As `plan_checked`; where the workers of a cluster are too few, others have a while to join.

    Raises
    ------
    InterruptedRunError
        It was interrupted while it waited for them.
    """
    deadline = time.monotonic() + JOIN_SECONDS
    while True:
        try:
            return plan_checked(config, options, scheduler, manifest)
        except ResourceLimitError as error:
            if scheduler.shares_memory or options.memory_limit or options.scheduler == "local":
                raise
            listener(WaitingForWorkers(str(error)))
            joined = _joined(scheduler, deadline, interrupted) and scheduler.wait_for_workers(listener, interrupted)
            if interrupted():
                raise InterruptedRunError(f"interrupted: {error}") from error
            if not joined:
                raise


def _joined(scheduler: Scheduler, deadline: float, interrupted: Callable[[], bool]) -> bool:
    """Wait for workers to join, or to leave; whether some did before the deadline."""
    while not scheduler.workers_changed and not interrupted() and time.monotonic() < deadline:
        time.sleep(POLL_SECONDS)
    return scheduler.workers_changed
