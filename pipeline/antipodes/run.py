"""A run from beginning to end: plan, lock, create or continue the store, search, report."""

import os
import resource
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any

from antipodes.clock import Clock
from antipodes.config import Config
from antipodes.errors import InputError, InterruptedRunError, StoreError, WorkerFailedError
from antipodes.events import Listener, silence
from antipodes.layers import LayerSearch
from antipodes.plan import Plan, check_memory, plan_run
from antipodes.scheduler import Scheduler, SchedulerError, as_scheduler, check_scheduler_name, open_scheduler
from antipodes.storage.address import Address
from antipodes.store import NOTHING_COMMITTED, WIDEST, Record, TableStore, check_same_puzzle

CHECKPOINT_EVERY, ON_A_CLUSTER = 120.0, 30.0
"""Seconds between commits unless told otherwise: little is lost, and writing stays a small part of a long run.

On a cluster each worker more is one that may be lost, and all go back to the last commit when one is.
"""


COMMIT_SHARE = 0.1
"""The share of the time that commits may take unless told when to commit: those of large tables take minutes."""


def available_workers() -> int:
    """How many processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@dataclass(frozen=True)
class RunOptions:
    """How to run, whatever the puzzle."""

    workers: int | None = None
    """Tasks at once; None: as many as there are processors."""
    scheduler: str = "threads"
    """``threads``, ``local`` or the address of a dask scheduler."""
    scheduler_file: str | None = None
    """The file that a dask scheduler wrote its address to; it goes before ``scheduler``."""
    performance_report: str | None = None
    """Where dask's own report of a cluster's run goes, a web page."""
    checkpoint_every: float | None = None
    """Seconds between two commits at least; 0 commits as often as possible, None as often as suits the kind of run."""
    memory_limit: int | None = None
    """Bytes; None: what is available."""
    overwrite: bool = False
    """Whether to begin anew where there is a store."""

    def __post_init__(self) -> None:
        check_scheduler_name(self.scheduler)

    def resume_command(self, store: Address) -> str:
        """What goes on with a run, where this one did its work."""
        where = "" if self.scheduler == "threads" else f" --scheduler {self.scheduler}"
        if self.scheduler_file is not None:
            where = f" --scheduler-file {self.scheduler_file}"
        return f"antipodes resume {store}{where}"


@dataclass(frozen=True)
class RunReport:
    """What a run came to."""

    record: Record
    store: str
    """Its path, or its URL."""
    resumed_from: int | None
    """The committed depth that the run began with."""
    clock: Clock
    seconds: float
    """All of the run."""
    states_found: int
    """Positions that this run itself found."""
    workers_lost: int
    """How often workers of a cluster were lost."""
    found_again: int
    """Positions that had to be found again since workers were lost."""
    peak_memory: int
    """The most bytes that the run took, or a process that it started; workers elsewhere are not seen."""

    @property
    def complete(self) -> bool:
        """Whether the table is finished."""
        return self.record.complete

    def to_json(self) -> dict[str, Any]:
        """The report with the keys of the command line's ``--json``."""
        search = self.clock.search
        return {
            "puzzle": self.record.puzzle["name"],
            "store": self.store,
            "complete": self.complete,
            "index_size": self.record.index_size,
            "states": self.record.states,
            "radius": self.record.radius,
            "layers": list(self.record.layers),
            "antipodes": self.record.layers[-1] if self.complete else None,
            "resumed_from": self.resumed_from,
            "seconds": {
                "total": self.seconds,
                "tables": self.clock.tables,
                "search": search,
                "write": self.clock.write,
            },
            "states_per_second": self.states_found / search if search else None,
            "workers_lost": self.workers_lost,
            "states_found_again": self.found_again,
            "peak_memory_bytes": self.peak_memory,
        }


def run_puzzle(
    config: Config,
    store: Address,
    options: RunOptions = RunOptions(),
    listener: Listener = silence,
    interrupted: Callable[[], bool] = lambda: False,
    scheduler: Any = None,
) -> RunReport:
    """Compute the table of a puzzle, or go on with it; a finished one is only reported.

    A ``scheduler`` that is given, or a client of dask.distributed, is used, and left open, whatever the options say.

    Raises
    ------
    ResourceLimitError
        The puzzle does not fit into the memory that it may use.
    InterruptedRunError
        It was interrupted while it waited for the first worker.
    SchedulerError
        The cluster is gone, or cannot do the work; what was committed stays.
    StoreError
        The store belongs to another puzzle or run, is damaged, or cannot be written; what was committed stays.
    """
    begin = time.perf_counter()
    table = TableStore(store)
    with table.lock() as hold:
        record = None if options.overwrite else _found(table, config)
        states = record.states if record else 0
        resumed_from = record.committed_depth if record and record.committed_depth != NOTHING_COMMITTED else None
        if record is not None and record.complete:
            return _report(table, record, resumed_from, states, begin)
        with chosen_scheduler(options, scheduler) as opened:
            if not opened.ready(listener, interrupted):
                raise InterruptedRunError("interrupted: there was no worker yet")
            planned = partial(plan_checked, config, options, opened)
            first_plan = planned(record)  # before anything is overwritten
            search = LayerSearch(
                puzzle=config.puzzle,
                planned=planned,
                store=table,
                hold=hold,
                record=record or _create(table, config, first_plan, opened),
                scheduler=opened,
                checkpoint_every=_checkpoint_every(options, opened),
                commit_share=COMMIT_SHARE if options.checkpoint_every is None else 1.0,
                listener=listener,
                interrupted=interrupted,
            )
            with saying_what_is_kept(options.resume_command(table.address), lambda: _kept(table)):
                search.run()
    return _report(table, search.record, resumed_from, states, begin, search)


def _report(
    table: TableStore,
    record: Record,
    resumed_from: int | None,
    states_before: int,
    begin: float,
    search: LayerSearch | None = None,
) -> RunReport:
    return RunReport(
        record=record,
        store=table.address,
        resumed_from=resumed_from,
        clock=search.clock if search else Clock(),
        seconds=time.perf_counter() - begin,
        states_found=record.states - states_before,
        workers_lost=search.losses if search else 0,
        found_again=search.found_again if search else 0,
        peak_memory=peak_memory(),
    )


def resume(
    store: Address,
    options: RunOptions = RunOptions(),
    listener: Listener = silence,
    interrupted: Callable[[], bool] = lambda: False,
    scheduler: Any = None,
) -> RunReport:
    """Go on with an unfinished store, which knows its puzzle; see `run_puzzle`."""
    record = TableStore(store).read()
    return run_puzzle(Config(record.puzzle), store, options, listener, interrupted, scheduler)


def _checkpoint_every(options: RunOptions, scheduler: Scheduler) -> float:
    if options.checkpoint_every is not None:
        return options.checkpoint_every
    return CHECKPOINT_EVERY if scheduler.shares_memory else ON_A_CLUSTER


def plan_checked(config: Config, options: RunOptions, scheduler: Scheduler, record: Record | None = None) -> Plan:
    """The plan of a run, of this store if any; ResourceLimitError where it does not fit into memory."""
    limit = options.memory_limit or scheduler.memory
    cut = record.cut if record else None
    plan = plan_run(config.puzzle, scheduler.workers, limit, cut, scheduler.processes)
    plan = plan.widened() if record and record.dtype == WIDEST else plan
    if limit is not None:
        check_memory(plan, limit)
    return plan


def memory_size(text: str | int) -> int:
    """Bytes from a number or a text such as ``800MB`` or ``1.5 GiB``; InputError where it is none."""
    from dask.utils import parse_bytes

    try:
        size = int(parse_bytes(text))
    except (ValueError, AttributeError, OverflowError) as error:
        raise InputError(f"memory limit: expected a size such as 800MB or 2GiB, found {text!r}") from error
    if size <= 0:
        raise InputError(f"memory limit: expected more than nothing, found {text!r}")
    return size


def peak_memory() -> int:
    """The most memory, in bytes, that this process, or the largest one that it started, has taken."""
    kilobytes = max(resource.getrusage(who).ru_maxrss for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return kilobytes * 1024


@contextmanager
def saying_what_is_kept(resume: str, kept: Callable[[], str]) -> Iterator[None]:
    """Add to the message of an error what of the work is not lost, and the command that goes on."""
    try:
        yield
    except (StoreError, SchedulerError, WorkerFailedError) as error:
        raise type(error)(f"{error}; {kept()}; go on with: {resume}") from error


def _kept(store: TableStore) -> str:
    try:
        committed = store.read().committed_depth
    except StoreError as error:
        return f"what is kept cannot be told ({error})"
    return "nothing is committed yet" if committed == NOTHING_COMMITTED else f"depths 0 to {committed} are kept"


def _found(store: TableStore, config: Config) -> Record | None:
    """The record of the store that is to be continued or reported; None where there is nothing."""
    if not store.exists():
        return None
    record = store.read()
    check_same_puzzle(record, config, store.address)
    return store.sweep(record)


def _create(store: TableStore, config: Config, plan: Plan, scheduler: Scheduler) -> Record:
    """An empty store, in place of what is there, which stays if there is a worker that could not write the new one."""
    if store.exists():
        store.check_removable()
        scheduler.everywhere((store.check_reachable, store.record_digest()))
        store.remove()
    return store.create(config, plan)


@contextmanager
def chosen_scheduler(options: RunOptions, given: Any = None) -> Iterator[Scheduler]:
    """The scheduler that was given, or that of a client that was, which stay open, or the one that the options name."""
    if given is not None:
        opened = as_scheduler(given)
    else:
        opened = open_scheduler(options.scheduler, options.workers or available_workers(), options.scheduler_file)
    with opened as scheduler, scheduler.reporting(options.performance_report):
        yield scheduler
