"""Plans that fit. A run that does not fit into memory or on the disk is refused, if possible before it is planned.

If the workers of a cluster have too little memory for any plan, `plan_that_fits` waits for more workers.
"""

import time
from functools import partial
from math import ceil
from typing import Any

from antipodes.executors.api import WORKER_SHARE, Capacity, Scheduler, Stop, capacity, describe_misfit
from antipodes.puzzles.config import Config
from antipodes.runs.session import Session
from antipodes.storage.store import Store
from antipodes.system.events import WaitingForWorkers
from antipodes.system.machine import MIB, human
from antipodes.system.options import RunOptions
from antipodes.tables.layers.division import Division, plan_chunk
from antipodes.tables.planning.plan import Plan, check_memory, plan_cut, plan_run
from antipodes.tables.store.manifest import ChunkedSpace
from antipodes.tables.store.spill import LayerFolder
from antipodes.tables.strategies.commitment import commitment_of
from antipodes_tasks.base.errors import DiskLimitError, InterruptedRunError, ResourceLimitError
from antipodes_tasks.base.quoting import counted
from antipodes_tasks.spaces.choose_cut import with_listed_rows

JOIN_SECONDS = 60.0
"""Seconds to wait for more workers if the current ones have too little memory."""
POLL_SECONDS = 0.1
"""Seconds between checks for workers that have joined or left."""

IN_MEMORY = "; counts that were begun in memory cannot be resumed with layers on disk, only started over"
"""End of the message that a run that only counts needs more memory to be resumed, although its layers fit on disk."""


def plan_that_fits(
    session: Session[Any],
    config: Config,
    scheduler: Scheduler,
    cut: ChunkedSpace | None,
    division: Division | None = None,
    on_disk: bool | None = None,
) -> Plan:
    """Return the plan of a run for the current workers.

    It keeps the ``cut`` of an existing store and, unless only another division fits, the ``division`` of a search in
    progress. ``on_disk`` is whether committed layers are on disk, or None if that is to be chosen.

    If the workers of a cluster have too little memory, others may join for JOIN_SECONDS.

    Raises ResourceLimitError if the puzzle does not fit into the memory that it may use, and InterruptedRunError if the
    run was told to stop while it waited for workers.
    """
    options, listener, stop = session.options, session.listener, session.stop
    deadline = time.monotonic() + JOIN_SECONDS
    while True:
        try:
            return plan_checked(config, options, scheduler, cut, division, on_disk)
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
    cut: ChunkedSpace | None = None,
    division: Division | None = None,
    on_disk: bool | None = None,
) -> Plan:
    """Return the plan of a run on the largest set of workers into which it fits; ``cut`` is that of an existing store.

    A search in progress keeps its ``division`` unless only another division fits.

    Raises ResourceLimitError if the run fits into no set of workers.
    """
    cut = cut or (division.cut if division else _cut_that_may_fit(config, options, scheduler))
    fits = partial(fits_into, config, options, cut, division, on_disk=on_disk)
    scheduler.choose_workers(fits, partial(describe_misfit, options.memory_limit))
    plan = plan_for(config, options, cut, division, capacity(scheduler), on_disk)
    limit = options.memory_limit or scheduler.memory
    try:
        if limit is not None:
            check_memory(plan, limit)
    except ResourceLimitError as error:
        kept = IN_MEMORY if on_disk is False and not plan.keyed else ""
        raise ResourceLimitError(f"{error}{_worker_limit(plan.min_bytes, options, scheduler)}{kept}") from None
    return plan


def _cut_that_may_fit(config: Config, options: RunOptions, scheduler: Scheduler) -> ChunkedSpace:
    """Return the cut of a new store.

    Raises ResourceLimitError if known bounds already show that the puzzle fits into no set of workers.

    Without these bounds, a run would list rows and fill move tables for minutes before it is refused.
    """
    cut = plan_cut(config.puzzle, options.symmetry, outline=True)
    if not cut[0].numbering.is_outline:
        return cut

    def min_bytes(workers: Capacity) -> int:
        outline = plan_for(config, options, cut, None, workers)
        return outline.min_bytes - max(1, workers.processes) * outline.unsure_bytes

    def may_fit(workers: Capacity) -> bool:
        limit = options.memory_limit or workers.memory
        return limit is None or min_bytes(workers) <= limit

    scheduler.choose_workers(may_fit, partial(describe_misfit, options.memory_limit))
    chosen = capacity(scheduler)
    if not may_fit(chosen):
        space, limit, least = cut[0], options.memory_limit or chosen.memory or 0, min_bytes(chosen)
        raise ResourceLimitError(
            f"{config.puzzle.name} does not fit into {human(limit)} of memory: its "
            f"{space.full_space.size:,} positions, reduced to about {space.size:,} entries, take at least "
            f"{human(least)}"
            f"{_worker_limit(least, options, scheduler)}"
        )
    space = with_listed_rows(cut[0])
    return space, plan_chunk(space)


def fits_into(
    config: Config,
    options: RunOptions,
    cut: ChunkedSpace | None,
    division: Division | None,
    workers: Capacity,
    on_disk: bool | None = None,
) -> bool:
    """Return whether a run fits into the memory that it may take on a set of workers."""
    limit = options.memory_limit or workers.memory
    return limit is None or plan_for(config, options, cut, division, workers, on_disk).min_bytes <= limit


def plan_for(
    config: Config,
    options: RunOptions,
    cut: ChunkedSpace | None,
    division: Division | None,
    workers: Capacity,
    on_disk: bool | None = None,
) -> Plan:
    """Return the plan for a set of workers. It keeps the given division unless only another division fits."""
    limit = options.memory_limit or workers.memory
    plan = partial(
        plan_run,
        config.puzzle,
        workers.workers,
        limit,
        cut,
        workers.processes,
        config.settings,
        commitment=commitment_of(options),
        on_disk=on_disk,
    )
    kept = plan(division) if division else None
    if kept is not None and (limit is None or kept.min_bytes <= limit):
        return kept
    return plan()


def check_disk(plan: Plan, store: Store[Any], spill: LayerFolder | None = None) -> None:
    """Raise DiskLimitError if the files of the run may take more disk space than is free (if this is known).

    The bytes of an existing store count as free: a run resumes from them, or overwrites them before it writes more.
    If the layers are in a folder outside of the store, ``spill``, its disk is checked as well.
    """
    free, stored, needed = store.storage.free_bytes(), store.storage.size(), plan.disk_bytes - plan.rare_disk_bytes
    if spill:
        layers = plan.journal_bytes or needed
        needed -= layers
        folder = spill.storage(store.storage)
        there = folder.free_bytes()
        if there is not None and layers > there + folder.size():
            raise DiskLimitError(
                f"{spill.path} needs {human(layers - folder.size())} of free disk space for the layers, but "
                f"{human(there)} are free"
            )
    if free is not None and needed > free + stored:
        another = "another " if stored else ""
        parts = " and ".join(f"{human(size)} for the {what}" for what, size in plan.disk_parts.items())
        raise DiskLimitError(
            f"{store.address} needs {another}{human(needed - stored)} of free disk space, but "
            f"{human(free)} are free; "
            f"{plan.space.size:,} positions take at most {parts}"
        )


def _worker_limit(min_bytes: int, options: RunOptions, scheduler: Scheduler) -> str:
    """Return a hint with the ``--memory-limit`` that would be enough for the workers of a cluster."""
    if options.memory_limit or not scheduler.processes:
        return ""
    least = ceil(min_bytes / scheduler.processes / WORKER_SHARE / MIB)
    return f"; with {counted(scheduler.processes, 'worker')}, each worker needs a memory limit of {least}MiB or more"


def _joined(scheduler: Scheduler, deadline: float, stop: Stop) -> bool:
    """Wait for workers to join or leave; return whether some did before the deadline."""
    while not scheduler.workers_changed and not stop() and time.monotonic() < deadline:
        time.sleep(POLL_SECONDS)
    return scheduler.workers_changed
