"""A run that computes a table: plan, create or resume the store, search, report."""

from collections.abc import Callable
from functools import partial
from typing import Any

from antipodes import arguments
from antipodes.config import Config
from antipodes.events import Listener, silence
from antipodes.executors.api import Scheduler
from antipodes.puzzles.puzzle import Labels
from antipodes.runs.options import RunOptions
from antipodes.runs.session import Session
from antipodes.storage.address import Address
from antipodes.tables.layers.commits import Commits
from antipodes.tables.layers.search import TableSearch
from antipodes.tables.planning.fitting import plan_that_fits
from antipodes.tables.planning.plan import Plan
from antipodes.tables.report import RunReport, committed_depth, saved_depths
from antipodes.tables.store.manifest import TableManifest
from antipodes.tables.store.table_store import TableStore, check_same_puzzle
from antipodes.tables.table import Table

__all__ = ["RunOptions", "RunReport", "resume", "run_puzzle"]

SHOWN = 6
"""Antipodes that a run reads back, to be shown."""
A_CONFIG = "a Config, such as load_config(name) or Config(settings) gives"


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
    arguments.instance(config, Config, A_CONFIG)
    session = Session(TableStore, store, options, listener, interrupted, scheduler)
    with session.lock() as lock:
        manifest = session.committed(partial(check_same_puzzle, config=config, address=session.store.address))
        if manifest is not None and manifest.complete:
            return _report(session, manifest, manifest, _farthest(session.store, manifest, config))
        with session.scheduler(_saved) as opened:
            plan = plan_that_fits(session, config, opened, manifest)  # before anything is overwritten
            first = manifest or _create(session.store, config, plan, opened)
            commits = Commits(session.store, lock, first, session.listener, session.clock)
            search = TableSearch(session, config, opened, commits)
            last = search.run(plan)
            farthest = _farthest(session.store, last, config)
    return _report(session, manifest, last, farthest, search)


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


def _create(store: TableStore, config: Config, plan: Plan, scheduler: Scheduler) -> TableManifest:
    """Create an empty store; it replaces an existing one only if every worker can write there."""
    overwrite = store.exists()
    if overwrite:
        store.check_removable()
        scheduler.run_on_all_workers((store.check_reachable, store.manifest_digest()))
    return store.create(config, plan, overwrite)


def _farthest(store: TableStore, manifest: TableManifest, config: Config) -> Labels:
    """The first antipodes, ``(n, places)``, read from the table; none of an unfinished one."""
    if not manifest.complete:
        return config.puzzle.start_labels[:0]
    return Table(store, manifest, puzzle=config.puzzle).antipodes(SHOWN)


def _report(
    session: Session[TableStore],
    before: TableManifest | None,
    after: TableManifest,
    farthest: Labels,
    search: TableSearch | None = None,
) -> RunReport:
    """The report of a run that found the store as it was ``before``, and leaves it as it is ``after``."""
    return RunReport(
        manifest=after,
        store=session.store.address,
        farthest=farthest,
        resumed_from=committed_depth(before),
        clock=session.clock,
        seconds=session.seconds,
        states_found=after.states - (before.states if before else 0),
        workers_lost=search.losses.count if search else 0,
        recomputed=search.losses.recomputed if search else 0,
    )


def _saved(manifest: TableManifest) -> str:
    depths = saved_depths(manifest)
    return f"{depths} kept" if depths else "nothing is committed yet"
