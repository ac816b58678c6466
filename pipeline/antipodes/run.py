"""A run from beginning to end: plan, lock, create or continue the store, search, report."""

import os
import resource
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from antipodes.clock import Clock
from antipodes.config import Config
from antipodes.errors import InputError, StoreError
from antipodes.events import Listener, silence
from antipodes.layers import LayerSearch
from antipodes.lock import Hold
from antipodes.plan import Cut, Plan, available_memory, check_memory, plan_run
from antipodes.scheduler import Scheduler, SchedulerError, check_scheduler_name, open_scheduler
from antipodes.store import NOTHING_COMMITTED, WIDEST, Record, TableStore, check_same_puzzle

CHECKPOINT_EVERY = 120.0
"""Seconds between commits unless told otherwise: little is lost, and writing stays a small part of a long run."""


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
    checkpoint_every: float | None = None
    """Seconds between two commits at least; 0 commits as often as possible, None as often as suits the kind of run."""
    memory_limit: int | None = None
    """Bytes; None: what is available."""
    overwrite: bool = False
    """Whether to begin anew where there is a store."""

    def __post_init__(self) -> None:
        check_scheduler_name(self.scheduler)


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
    peak_memory: int
    """The most bytes that the run took, or a process that it started."""

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
            "peak_memory_bytes": self.peak_memory,
        }


def run_puzzle(
    config: Config,
    store: Path | str,
    options: RunOptions = RunOptions(),
    listener: Listener = silence,
    interrupted: Callable[[], bool] = lambda: False,
    scheduler: Scheduler | None = None,
) -> RunReport:
    """Compute the table of a puzzle, or go on with it; a finished one is only reported.

    A ``scheduler`` that is given is used, and left open, whatever the options say.

    Raises
    ------
    ResourceLimitError
        The puzzle does not fit into the memory that it may use.
    StoreError
        The store belongs to another puzzle or run, is damaged, or cannot be written; what was committed stays.
    """
    begin = time.perf_counter()
    table = TableStore(store)
    with table.lock() as hold:
        record = None if options.overwrite else _found(table, config)
        states = record.states if record else 0
        resumed_from = record.committed_depth if record and record.committed_depth != NOTHING_COMMITTED else None
        clock = Clock()
        if record is None or not record.complete:
            plan = plan_checked(config, options, scheduler, record.cut if record else None)
            plan = plan.widened() if record and record.dtype == WIDEST else plan
            with chosen_scheduler(options, scheduler) as opened:  # before anything is overwritten
                record = record or _create(table, config, plan)
                with saying_what_is_kept(table.address, lambda: _kept(table)):
                    record, clock = _search(config, plan, table, hold, record, opened, options, listener, interrupted)
    seconds = time.perf_counter() - begin
    return RunReport(record, table.address, resumed_from, clock, seconds, record.states - states, peak_memory())


def resume(
    store: Path | str,
    options: RunOptions = RunOptions(),
    listener: Listener = silence,
    interrupted: Callable[[], bool] = lambda: False,
    scheduler: Scheduler | None = None,
) -> RunReport:
    """Go on with an unfinished store, which knows its puzzle; see `run_puzzle`."""
    record = TableStore(store).read()
    return run_puzzle(Config(record.puzzle), store, options, listener, interrupted, scheduler)


def plan_checked(
    config: Config, options: RunOptions, scheduler: Scheduler | None = None, cut: Cut | None = None
) -> Plan:
    """The plan of a run, of the store with this cut if any; ResourceLimitError where it does not fit into memory."""
    workers = scheduler.workers if scheduler else options.workers or available_workers()
    limit = options.memory_limit or available_memory()
    plan = plan_run(config.puzzle, workers, limit, cut)
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
def saying_what_is_kept(store: str, kept: Callable[[], str]) -> Iterator[None]:
    """Add to the message of an error what of the work is not lost, and how to go on."""
    try:
        yield
    except (StoreError, SchedulerError) as error:
        raise type(error)(f"{error}; {kept()}; go on with: antipodes resume {store}") from error


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


def _create(store: TableStore, config: Config, plan: Plan) -> Record:
    if store.exists():
        store.remove()
    return store.create(config, plan)


def chosen_scheduler(options: RunOptions, given: Scheduler | None) -> AbstractContextManager[Scheduler]:
    """The scheduler that was given, which stays open, or the one that the options name."""
    if given is not None:
        return nullcontext(given)
    return open_scheduler(options.scheduler, options.workers or available_workers())


def _search(
    config: Config,
    plan: Plan,
    store: TableStore,
    hold: Hold,
    record: Record,
    scheduler: Scheduler,
    options: RunOptions,
    listener: Listener,
    interrupted: Callable[[], bool],
) -> tuple[Record, Clock]:
    every = CHECKPOINT_EVERY if options.checkpoint_every is None else options.checkpoint_every
    search = LayerSearch(
        puzzle=config.puzzle,
        plan=plan,
        store=store,
        record=record,
        scheduler=scheduler,
        checkpoint_every=every,
        listener=listener,
        interrupted=interrupted,
    )
    return search.run(), search.clock
