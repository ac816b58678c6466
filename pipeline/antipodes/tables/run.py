"""A run from beginning to end: plan, lock, create or continue the store, search, report."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any

from antipodes import arguments
from antipodes.config import Config
from antipodes.errors import (
    InterruptedRunError,
    NotAStoreError,
    SchedulerError,
    StoreDamagedError,
    StoreError,
    WorkerFailedError,
)
from antipodes.events import Listener, silence
from antipodes.executors.api import Scheduler
from antipodes.executors.opening import as_scheduler, open_scheduler
from antipodes.machine import available_workers, peak_memory
from antipodes.puzzles.puzzle import Labels
from antipodes.runs.clock import Clock
from antipodes.runs.options import RunOptions
from antipodes.storage.address import Address
from antipodes.storage.store import Store
from antipodes.tables.fitting import plan_that_fits
from antipodes.tables.plan import Plan
from antipodes.tables.search import LayerSearch
from antipodes.tables.store import NOTHING_COMMITTED, TableManifest, TableStore, check_same_puzzle
from antipodes.tables.table import Table

__all__ = ["RunOptions", "RunReport", "resume", "run_puzzle"]

CHECKPOINT_EVERY, ON_A_CLUSTER = 120.0, 30.0
"""Seconds between commits unless told otherwise: little is lost, and writing stays a small part of a long run.

On a cluster each worker more is one that may be lost, and all go back to the last commit when one is.
"""
SHOWN = 6
"""Antipodes that a run reads back, to be shown."""
COMMIT_SHARE = 0.1
"""The share of the time that commits may take unless told when to commit: those of large tables take minutes."""


A_CONFIG = "a Config, such as load_config(name) or Config(settings) gives"


@dataclass(frozen=True)
class RunReport:
    """What a run came to."""

    manifest: TableManifest
    store: str
    """Its path, or its URL."""
    farthest: Labels
    """The first antipodes, ``(n, places)``, SHOWN at most; none of an unfinished table."""
    resumed_from: int | None
    """The committed depth that the run began with."""
    clock: Clock
    seconds: float
    """All of the run, the reading of the farthest positions included."""
    states_found: int
    """Positions that this run itself found."""
    workers_lost: int
    """How often workers of a cluster were lost."""
    found_again: int
    """Positions that had to be recomputed because workers were lost."""
    peak_memory: int
    """The most bytes that the run took, or a process that it started; workers elsewhere are not seen."""

    @property
    def complete(self) -> bool:
        """Whether the table is finished."""
        return self.manifest.complete

    def to_json(self) -> dict[str, Any]:
        """The report with the keys of the command line's ``--json``."""
        search = self.clock.search
        return {
            "puzzle": self.manifest.puzzle["name"],
            "store": self.store,
            "complete": self.complete,
            "index_size": self.manifest.index_size,
            "states": self.manifest.states,
            "radius": self.manifest.radius,
            "layers": list(self.manifest.layers),
            "antipodes": self.manifest.layers[-1] if self.complete else None,
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
    """Compute the table of a puzzle, or resume it; a finished one is only reported.

    A ``scheduler`` that is given, or a client of dask.distributed, is used, and left open, whatever the options say.

    Raises
    ------
    InputError
        An argument is of another type; a Puzzle alone is no Config.
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
    arguments.instance(config, Config, A_CONFIG)
    check_request(options, listener, interrupted)
    table = TableStore(arguments.address(store, "a store"))
    with table.lock() as hold:
        manifest = None if options.overwrite else _found(table, config)
        states = manifest.states if manifest else 0
        resumed_from = manifest.committed_depth if manifest and manifest.committed_depth != NOTHING_COMMITTED else None
        if manifest is not None and manifest.complete:
            farthest = _farthest(table, manifest, config)
            return _report(table, manifest, farthest, resumed_from, states, begin)
        with (
            saying_what_is_kept(options, table, partial(_kept, table)),
            chosen_scheduler(options, scheduler, listener) as opened,
        ):
            if not opened.wait_for_workers(listener, interrupted):
                raise InterruptedRunError("interrupted: there was no worker yet")
            planned = partial(plan_that_fits, config, options, opened, listener, interrupted)
            first_plan = planned(manifest)  # before anything is overwritten
            search = LayerSearch(
                puzzle=config.puzzle,
                planned=planned,
                store=table,
                hold=hold,
                manifest=manifest or _create(table, config, first_plan, opened),
                scheduler=opened,
                checkpoint_every=_checkpoint_every(options, opened),
                commit_share=COMMIT_SHARE if options.checkpoint_every is None else 1.0,
                listener=listener,
                interrupted=interrupted,
            )
            farthest = _farthest(table, search.run(), config)
    return _report(table, search.manifest, farthest, resumed_from, states, begin, search)


def _farthest(table: TableStore, manifest: TableManifest, config: Config) -> Labels:
    """The first antipodes, read from the table; none of an unfinished one."""
    if not manifest.complete:
        return config.puzzle.start_labels[:0]
    return Table(table, manifest, puzzle=config.puzzle).antipodes(SHOWN)


def check_request(options: RunOptions, listener: Listener, interrupted: Callable[[], bool]) -> None:
    """Raise InputError unless what all runs are given is what it should be."""
    arguments.instance(options, RunOptions, "RunOptions")
    arguments.function(listener, "a listener")
    arguments.function(interrupted, "interrupted")


def _report(
    table: TableStore,
    manifest: TableManifest,
    farthest: Labels,
    resumed_from: int | None,
    states_before: int,
    begin: float,
    search: LayerSearch | None = None,
) -> RunReport:
    return RunReport(
        manifest=manifest,
        store=table.address,
        farthest=farthest,
        resumed_from=resumed_from,
        clock=search.clock if search else Clock(),
        seconds=time.perf_counter() - begin,
        states_found=manifest.states - states_before,
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
    """Resume an unfinished store, which contains its puzzle; see `run_puzzle`."""
    manifest = TableStore(arguments.address(store, "a store")).read()
    return run_puzzle(manifest.config, store, options, listener, interrupted, scheduler)


def _checkpoint_every(options: RunOptions, scheduler: Scheduler) -> float:
    if options.checkpoint_every is not None:
        return options.checkpoint_every
    return CHECKPOINT_EVERY if scheduler.shares_memory else ON_A_CLUSTER


@contextmanager
def saying_what_is_kept(options: RunOptions, store: Store[Any], kept: Callable[[], str]) -> Iterator[None]:
    """Add to the message of an error how much was saved, and the command that resumes; not where a store is damaged."""
    try:
        yield
    except StoreDamagedError as error:
        raise StoreDamagedError(f"{error}; restore it from a copy, or start over with --overwrite") from error
    except (StoreError, SchedulerError, WorkerFailedError, InterruptedRunError) as error:
        verb, command = "resume", options.resume_command(store.address)
        start = options.start_command(store.address)
        untouched = options.overwrite and not store.is_known
        try:
            told = kept()
        except NotAStoreError:  # there is nothing to resume
            if start is None or not isinstance(error, InterruptedRunError):
                raise error from None
            told, verb, command = "nothing is stored yet", "start over", start
        except StoreError as other:
            told = f"cannot read the store to see what is saved ({other})"
        else:
            if untouched:
                told = "the store to be overwritten is unchanged"
                if start is None:
                    raise type(error)(f"{error}; {told}") from error
                verb, command = "start over", start
        raise type(error)(f"{error}; {told}; {verb} with: {command}") from error


def _kept(store: TableStore) -> str:
    committed = store.read().committed_depth
    return "nothing is committed yet" if committed == NOTHING_COMMITTED else f"depths 0 to {committed} are kept"


def _found(store: TableStore, config: Config) -> TableManifest | None:
    """The manifest of the store that is to be continued or reported; None where there is nothing."""
    if not store.exists():
        return None
    manifest = store.read()
    check_same_puzzle(manifest, config, store.address)
    return store.remove_leftovers(manifest)


def _create(store: TableStore, config: Config, plan: Plan, scheduler: Scheduler) -> TableManifest:
    """An empty store, in place of what is there, which stays if there is a worker that could not write the new one."""
    overwrite = store.exists()
    if overwrite:
        store.check_removable()
        scheduler.run_on_all_workers((store.check_reachable, store.manifest_digest()))
    return store.create(config, plan, overwrite)


@contextmanager
def chosen_scheduler(options: RunOptions, given: Any = None, listener: Listener = silence) -> Iterator[Scheduler]:
    """The scheduler that was given, or that of a client that was, which stay open, or the one that the options name."""
    if given is not None:
        opened = as_scheduler(given)
    else:
        workers = options.workers or available_workers()
        opened = open_scheduler(options.scheduler, workers, options.scheduler_file, listener)
    with opened as scheduler, scheduler.performance_report(options.performance_report):
        yield scheduler
