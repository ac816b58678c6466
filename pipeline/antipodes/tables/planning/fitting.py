"""Plans that fit: what does not fit into memory or on the disk is refused, at once if bounds show that.

Where the workers of a cluster have too little memory for any plan, `plan_that_fits` waits for others.
"""

import time
from math import ceil
from typing import Any

from antipodes.config import Config
from antipodes.events import WaitingForWorkers
from antipodes.executors.api import WORKER_SHARE, Scheduler, Stop
from antipodes.machine import MIB, human
from antipodes.runs.options import RunOptions
from antipodes.runs.session import Session
from antipodes.storage.store import Store
from antipodes.tables.planning.plan import Cut, Division, Plan, check_memory, plan_chunk, plan_cut, plan_run
from antipodes_tasks.errors import DiskLimitError, InterruptedRunError, ResourceLimitError
from antipodes_tasks.spaces.reduction import listed

JOIN_SECONDS = 60.0
"""Seconds for which workers may join where those there are have too little memory."""
POLL_SECONDS = 0.1
"""Seconds between two checks whether workers joined or left."""


def plan_that_fits(
    session: Session[Any], config: Config, scheduler: Scheduler, cut: Cut | None, division: Division | None = None
) -> Plan:
    """The plan of a run for the workers there are, for a store if any, and for a search that goes on.

    Where the workers of a cluster have too little memory, others may join for JOIN_SECONDS.

    ResourceLimitError where the puzzle does not fit into the memory that it may use; InterruptedRunError where the run
    was told to stop while it waited for workers.
    """
    options, listener, stop = session.options, session.listener, session.stop
    deadline = time.monotonic() + JOIN_SECONDS
    while True:
        try:
            return plan_checked(config, options, scheduler, cut, division)
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
    config: Config, options: RunOptions, scheduler: Scheduler, cut: Cut | None = None, division: Division | None = None
) -> Plan:
    """The plan of a run, for a store and a division if any; ResourceLimitError if it does not fit into memory."""
    limit = options.memory_limit or scheduler.memory
    if cut is None and division is None:
        cut = _cut_that_may_fit(config, options, scheduler, limit)
    plan = plan_run(
        config.puzzle,
        scheduler.workers,
        limit,
        cut,
        scheduler.processes,
        config.settings,
        division,
        counts_only=options.counts_only,
        symmetry=options.symmetry,
    )
    try:
        if limit is not None:
            check_memory(plan, limit)
    except ResourceLimitError as error:
        raise ResourceLimitError(f"{error}{_least(plan, options, scheduler)}") from None
    return plan


def _cut_that_may_fit(config: Config, options: RunOptions, scheduler: Scheduler, limit: int | None) -> Cut:
    """The cut of a new store, unless bounds that are known at once show that the puzzle does not fit into memory.

    Otherwise a run would list rows and fill move tables for minutes before it is refused.
    """
    cut = plan_cut(config.puzzle, options.symmetry, outline=True)
    if not cut[0].numbering.is_outline:
        return cut
    processes, counts_only = scheduler.processes, options.counts_only
    outline = plan_run(config.puzzle, scheduler.workers, limit, cut, processes, counts_only=counts_only)
    least = outline.least_bytes - max(1, processes) * outline.unsure_bytes
    if limit is not None and least > limit:
        raise ResourceLimitError(
            f"expected a puzzle that fits into {human(limit)} of memory; about {outline.space.size:,} entries, to "
            f"which its symmetries reduce {outline.space.whole.size:,} positions, take at least {human(least)}"
        )
    space = listed(cut[0])
    return space, plan_chunk(space)


def check_disk(plan: Plan, store: Store[Any]) -> None:
    """Raise DiskLimitError if the files of the run may take more disk than is free, where that is known.

    The bytes of a store that is there count as free: a run resumes from them, or overwrites them before it writes more.
    """
    free, stored = store.storage.free_bytes(), store.storage.size()
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
