"""Plans for the workers there are, and the wait for others where these have too little memory."""

import time
from math import ceil

from antipodes.config import Config
from antipodes.errors import InterruptedRunError, ResourceLimitError
from antipodes.events import WaitingForWorkers
from antipodes.executors.api import WORKER_SHARE, Scheduler, Stop
from antipodes.runs.options import RunOptions
from antipodes.runs.session import Session
from antipodes.sizes import MIB
from antipodes.tables.planning.plan import Plan, check_memory, plan_run
from antipodes.tables.store.manifest import WIDEST, TableManifest
from antipodes.tables.store.table_store import TableStore

JOIN_SECONDS = 60.0
"""Seconds for which workers may join where those there are have too little memory."""
POLL_SECONDS = 0.1
"""Seconds between two checks whether workers joined or left."""


def plan_that_fits(
    session: Session[TableStore], config: Config, scheduler: Scheduler, manifest: TableManifest | None
) -> Plan:
    """The plan of a run for the workers there are, and for a store if any.

    Where the workers of a cluster have too little memory, others may join for JOIN_SECONDS.

    Raises
    ------
    ResourceLimitError
        The puzzle does not fit into the memory that it may use.
    InterruptedRunError
        The run was told to stop while it waited for workers.
    """
    options, listener, stop = session.options, session.listener, session.stop
    deadline = time.monotonic() + JOIN_SECONDS
    while True:
        try:
            return plan_checked(config, options, scheduler, manifest)
        except ResourceLimitError as error:
            if scheduler.shares_memory or options.memory_limit or options.scheduler == "local":
                raise
            listener(WaitingForWorkers(str(error)))
            joined = _joined(scheduler, deadline, stop) and scheduler.wait_for_workers(listener, stop)
            if stop():
                raise InterruptedRunError(f"interrupted: {error}") from error
            if not joined:
                raise


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


def _joined(scheduler: Scheduler, deadline: float, stop: Stop) -> bool:
    """Wait for workers to join or leave; whether some did before the deadline."""
    while not scheduler.workers_changed and not stop() and time.monotonic() < deadline:
        time.sleep(POLL_SECONDS)
    return scheduler.workers_changed
