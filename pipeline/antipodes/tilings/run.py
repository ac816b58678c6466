"""A run for tilings from beginning to end: lock, create or continue the store, search, report."""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from antipodes import arguments
from antipodes.errors import InputError, InterruptedRunError
from antipodes.events import Listener, silence
from antipodes.exact_cover.partitions import METHODS, PRUNING, partitions_of
from antipodes.machine import peak_memory
from antipodes.runs.clock import Clock
from antipodes.runs.options import RunOptions
from antipodes.tables.run import check_request, chosen_scheduler, saying_what_is_kept
from antipodes.tilings.config import BoardConfig
from antipodes.tilings.search import TilingSearch
from antipodes.tilings.store import TilingManifest, TilingStore, check_same_problem

SHOWN = 3
"""Tilings that a run reads back, to be shown: the first, the last, and between them."""
CHECKPOINT_EVERY = 1.0
"""Seconds between commits unless told otherwise: they cost milliseconds, and a partition may take hours."""


@dataclass(frozen=True)
class TilingReport:
    """What a run came to."""

    manifest: TilingManifest
    store: str
    """Its path, or its URL."""
    resumed_from: int | None
    """How many partitions were searched before the run began; None if it was the first."""
    shown: Mapping[int, NDArray[np.int32]]
    """Some tilings, ``(pieces,)`` each, by their numbers from 0; none of an unfinished search."""
    raw_tilings: int
    """The tilings known, images under symmetries counted as different."""
    clock: Clock
    seconds: float
    """All of the run, the reading of the shown tilings included."""
    placements_tried: int
    """Placements that this run itself made."""
    busy: tuple[float, ...]
    """The seconds for which each worker searched, the busiest first."""

    @property
    def complete(self) -> bool:
        """Whether all partitions are searched."""
        return self.manifest.complete

    @property
    def balance(self) -> float | None:
        """The share of the search for which the least busy worker worked; None if nothing was searched."""
        return min(self.busy) / self.clock.search if self.clock.search else None

    def to_json(self, raw: bool = False) -> dict[str, Any]:
        """The report with the keys of the command line's ``--json``; ``raw`` counts every image as a solution."""
        clock = self.clock
        return {
            "board": self.manifest.board["name"],
            "store": self.store,
            "complete": self.complete,
            "solutions": self.raw_tilings if raw else self.manifest.tilings,
            "raw_solutions": self.raw_tilings,
            "placements": self.manifest.placements,
            "method": self.manifest.method,
            "partitions": self.manifest.partitions,
            "searched_partitions": len(self.manifest.searched),
            "resumed_from_partitions": self.resumed_from,
            "seconds": {
                "total": self.seconds,
                "tables": clock.tables,
                "search": clock.search,
                "write": clock.write,
            },
            "placements_per_second": self.placements_tried / clock.search if clock.search else None,
            "worker_seconds": list(self.busy),
            "balance": self.balance,
            "peak_memory_bytes": peak_memory(),
        }


def tile_board(
    config: BoardConfig,
    store: Path | str,
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
    """
    begin = time.perf_counter()
    arguments.instance(config, BoardConfig, "a BoardConfig, such as load_board(name) or BoardConfig(settings) gives")
    check_request(options, listener, interrupted)
    if method is not None and (not isinstance(method, str) or method not in METHODS):
        raise InputError(f"--method: expected {' or '.join(METHODS)}, found {arguments.found(method)}")
    tilings = TilingStore(arguments.address(store, "a store"))
    every = CHECKPOINT_EVERY if options.checkpoint_every is None else options.checkpoint_every
    with tilings.lock():
        manifest = None if options.overwrite else _found(tilings, config, method)
        resumed_from = (len(manifest.searched) or None) if manifest else None
        clock = Clock()
        begun = partial(TilingSearch, config.problem, tilings, every, listener, interrupted, clock=clock)
        if manifest is not None and manifest.complete:
            search = begun(manifest)
        else:
            with (
                saying_what_is_kept(options, tilings, partial(_kept, tilings)),
                chosen_scheduler(options, scheduler, listener) as opened,
            ):
                if not opened.wait_for_workers(listener, interrupted):  # before anything is overwritten
                    raise InterruptedRunError("interrupted: there was no worker yet")
                search = begun(manifest or _create(tilings, config, method or PRUNING, clock))
                search.run(opened)
        shown = _shown(tilings, search.manifest)
    return TilingReport(
        search.manifest,
        tilings.address,
        resumed_from,
        shown,
        search.raw_tilings,
        clock,
        time.perf_counter() - begin,
        search.placements,
        search.busy_seconds(),
    )


def _shown(store: TilingStore, manifest: TilingManifest) -> dict[int, NDArray[np.int32]]:
    if not manifest.complete or not manifest.tilings:
        return {}
    numbers = sorted({step * (manifest.tilings - 1) // (SHOWN - 1) for step in range(SHOWN)})
    return dict(zip(numbers, store.picked(manifest, numbers), strict=True))


def _found(store: TilingStore, config: BoardConfig, method: str | None) -> TilingManifest | None:
    """The manifest of the store, which is that of these tilings; None where there is no store."""
    if not store.exists():
        return None
    manifest = store.read()
    check_same_problem(manifest, config, method, store.address)
    store.check_partitions(manifest)
    store.remove_leftovers(manifest)
    return manifest


def _create(store: TilingStore, config: BoardConfig, method: str, clock: Clock) -> TilingManifest:
    """An empty store, in place of what is there."""
    with clock.measure("tables"):
        partitions = len(partitions_of(config.problem, method))
    return store.create(config, method, partitions, overwrite=store.exists())


def _kept(store: TilingStore) -> str:
    manifest = store.read()
    return f"{len(manifest.searched)} of {manifest.partitions} partitions are kept"
