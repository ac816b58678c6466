"""A run that searches a board for all tilings: create or resume the store, search, report."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from antipodes.events import Listener, silence
from antipodes.runs.options import RunOptions
from antipodes.runs.session import Session
from antipodes.storage.address import Address
from antipodes.tilings.config import BoardConfig
from antipodes.tilings.manifest import TilingManifest
from antipodes.tilings.method import checked_method
from antipodes.tilings.report import TilingReport, saved_partitions
from antipodes.tilings.search import TilingSearch
from antipodes.tilings.store import TilingStore, check_same_problem
from antipodes_tasks import arguments
from antipodes_tasks.errors import InputError
from antipodes_tasks.exact_cover.partitions import PRUNING, in_scan_order, partitions_of
from antipodes_tasks.exact_cover.search import check_size

__all__ = ["TilingReport", "tile_board"]

SHOWN = 3
"""Tilings that a run reads back, to be shown: the first, the last, and between them."""
A_CONFIG = "a BoardConfig, such as load_board(name) or BoardConfig(settings) gives"


def tile_board(
    config: BoardConfig,
    store: Address,
    method: str | None = None,
    options: RunOptions = RunOptions(),
    listener: Listener = silence,
    interrupted: Callable[[], bool] = lambda: False,
    scheduler: Any = None,
) -> TilingReport:
    """Find all tilings of a board, or resume the search; a finished store is only reported.

    Parameters
    ----------
    config
        Board and pieces.
    store
        Where the tilings go.
    method
        One of `METHODS`; None: that of the store, and "pruning" for a new one.
    options
        How to run; there is no memory limit.
    listener
        Told what happens.
    interrupted
        Asked before each partition whether to begin no more, commit those that are under way, and stop.
    scheduler
        A scheduler, or a client of dask.distributed: used, and left open, whatever the options say.

    Raises
    ------
    StoreError
        The store belongs to another board, method or run, is damaged, or cannot be written; what was committed
        stays.
    InputError
        There is no such method, or an argument is of another type.
    ResourceLimitError
        The search would need more memory than it may; nothing is created.
    """
    arguments.instance(config, BoardConfig, A_CONFIG)
    method = checked_method(method)
    in_scan_order(config.problem, method or PRUNING)  # refuses boards that the method does not take
    _check_kept(options)
    session = Session(TilingStore, store, options, listener, interrupted, scheduler)

    def check(manifest: TilingManifest) -> None:
        check_same_problem(manifest, config, method, session.store.address)
        session.store.check_partitions(manifest)

    with session.lock():
        before = session.committed(check)
        if before is not None and before.complete:
            return _report(session, before, before)
        with session.scheduler(_saved) as opened:  # it answers before anything is overwritten
            first = before or _create(session, config, method or PRUNING)
            search = TilingSearch(session, config.problem, first)
            return _report(session, before, search.run(opened), search)


def _report(
    session: Session[TilingStore],
    before: TilingManifest | None,
    after: TilingManifest,
    search: TilingSearch | None = None,
) -> TilingReport:
    """The report of a run that found the store as it was ``before``, and leaves it as it is ``after``."""
    return TilingReport(
        manifest=after,
        store=session.store.address,
        resumed_from=(len(before.searched) or None) if before else None,
        shown=_shown(session.store, after),
        clock=session.clock,
        seconds=session.seconds,
        placements_tried=search.effort.placements if search else 0,
        busy=search.effort.busy_seconds() if search else (),
    )


def _check_kept(options: RunOptions) -> None:
    """Raise InputError if tilings are to be counted only."""
    if arguments.instance(options, RunOptions, "RunOptions").counts_only:
        raise InputError("counts_only: expected false for a board, whose tilings are always kept")


def _create(session: Session[TilingStore], config: BoardConfig, method: str) -> TilingManifest:
    """Create an empty store; it replaces an existing one."""
    with session.clock.measure("tables"):
        check_size(config.problem, method)
        partitions = len(partitions_of(config.problem, method))
    return session.store.create(config, method, partitions, overwrite=session.store.exists())


def _shown(store: TilingStore, manifest: TilingManifest) -> dict[int, NDArray[np.int32]]:
    """Some tilings, ``(copies,)`` each, by their numbers from 0; none of an unfinished search."""
    if not manifest.complete or not manifest.tilings:
        return {}
    numbers = sorted({step * (manifest.tilings - 1) // (SHOWN - 1) for step in range(SHOWN)})
    return dict(zip(numbers, store.picked(manifest, numbers), strict=True))


def _saved(manifest: TilingManifest) -> str:
    return f"{saved_partitions(manifest)} kept"
