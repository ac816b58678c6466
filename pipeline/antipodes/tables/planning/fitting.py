"""Plans for the workers there are, and the wait for others where these have too little memory."""

import time
from math import ceil
from typing import Any

from antipodes.config import Config
from antipodes.events import WaitingForWorkers
from antipodes.executors.api import WORKER_SHARE, Scheduler, Stop
from antipodes.runs.options import RunOptions
from antipodes.runs.session import Session
from antipodes.sizes import MIB, human
from antipodes.tables.planning.plan import Division, Plan, check_memory, plan_run
from antipodes.tables.store.search_manifest import SearchManifest
from antipodes.tables.store.search_store import SearchStore
from antipodes_tasks.errors import DiskLimitError, InterruptedRunError, ResourceLimitError

JOIN_SECONDS = 60.0
"""Seconds for which workers may join where those there are have too little memory."""
POLL_SECONDS = 0.1
"""Seconds between two checks whether workers joined or left."""


def plan_that_fits(
    session: Session[Any],
    config: Config,
    scheduler: Scheduler,
    manifest: SearchManifest | None,
    division: Division | None = None,
) -> Plan:
    """The plan of a run for the workers there are, for a store if any, and for a search that goes on.

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
            return plan_checked(config, options, scheduler, manifest, division)
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
    config: Config,
    options: RunOptions,
    scheduler: Scheduler,
    manifest: SearchManifest | None = None,
    division: Division | None = None,
) -> Plan:
    """The plan of a run, for a store and a division if any; ResourceLimitError if it does not fit into memory."""
    limit = options.memory_limit or scheduler.memory
    cut = manifest.cut if manifest else None
    plan = plan_run(
        config.puzzle,
        scheduler.workers,
        limit,
        cut,
        scheduler.processes,
        config.settings,
        division,
        counts_only=options.counts_only,
    )
    try:
        if limit is not None:
            check_memory(plan, limit)
    except ResourceLimitError as error:
        raise ResourceLimitError(f"{error}{_least(plan, options, scheduler)}") from None
    return plan


def check_disk(plan: Plan, store: SearchStore[Any]) -> None:
    """Raise DiskLimitError if the files of the run may take more disk than is free, where that is known.

    The bytes of a store that is there count as free: a run resumes from them, or overwrites them before it writes more.
    """
    free, stored = store.storage.free_bytes(), store.bytes_stored()
    if free is not None and plan.disk_bytes > free + stored:
        more = " more" if stored else ""
        parts = " and ".join(f"{human(size)} for the {what}" for what, size in plan.disk_parts.items())
        raise DiskLimitError(
            f"expected {human(plan.disk_bytes - stored)}{more} of free disk for {store.address}, found {human(free)}; "
            f"{plan.space.size:,} positions take at most {parts}"
        )


def _least(plan: Plan, options: RunOptions, scheduler: Scheduler) -> str:
    """The limit that would do for the workers of a cluster, as their ``--memory-limit`` takes it."""
    if options.memory_limit or not scheduler.processes:
        return ""
    least = ceil(plan.least_bytes / scheduler.processes / WORKER_SHARE / MIB)
    return f"; with {scheduler.processes} of them each worker needs a memory limit of {least}MiB or more"


def _joined(scheduler: Scheduler, deadline: float, stop: Stop) -> bool:
    """Wait for workers to join or leave; whether some did before the deadline."""
    while not scheduler.workers_changed and not stop() and time.monotonic() < deadline:
        time.sleep(POLL_SECONDS)
    return scheduler.workers_changed
