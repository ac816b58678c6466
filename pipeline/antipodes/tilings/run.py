"""A run that searches a board for all tilings: create or resume the store, search, commit, report."""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from antipodes.events import Listener, PartitionsCommitted, silence
from antipodes.executors.api import Scheduler
from antipodes.runs.options import RunOptions
from antipodes.runs.run_results import Report
from antipodes.runs.session import Session
from antipodes.storage.address import Address
from antipodes.tilings.config import BoardConfig, checked_method
from antipodes.tilings.display import show_tilings
from antipodes.tilings.store import Searched, TilingManifest, TilingStore
from antipodes.tilings.tiling_search import PartitionTasks
from antipodes_tasks import arguments
from antipodes_tasks.errors import InputError
from antipodes_tasks.exact_cover.partition_search import PartitionResult, check_size
from antipodes_tasks.exact_cover.partitions import partitions_of
from antipodes_tasks.exact_cover.placements import TilingArray, distinct
from antipodes_tasks.quoting import counted, shorten

TILINGS_SHOWN = 3
"""Tilings that a run reads back, to be shown: the first, the last, and between them."""
CHECKPOINT_SECONDS = 1.0
"""Seconds between commits by default: they cost milliseconds, and a partition may take hours."""


@dataclass(frozen=True, kw_only=True, repr=False)
class TilingReport(Report):
    """The result of a run; ``resumed_from`` is the number of partitions searched before."""

    manifest: TilingManifest
    """The last commit."""
    shown: Mapping[int, NDArray[np.int32]]
    """Some tilings, ``(copies,)`` each, by their numbers from 0; none of an unfinished search."""
    placements_tried: int
    """Placements that this run made."""
    busy: tuple[float, ...]
    """The seconds for which each worker searched, the busiest first."""

    @property
    def complete(self) -> bool:
        """Whether all partitions are searched."""
        return self.manifest.complete

    @property
    def tilings(self) -> int:
        """How many tilings are known, symmetric copies counted as one."""
        return self.manifest.tilings

    @property
    def raw_tilings(self) -> int:
        """How many tilings are known, symmetric copies counted as different."""
        return self.manifest.raw_tilings

    def __repr__(self) -> str:
        found = f"{counted(self.tilings, 'tiling')}{'' if self.complete else ' so far, unfinished'}"
        return f"<TilingReport of {shorten(str(self.manifest.board.get('name')), 30)}: {found}, {self.seconds:.1f} s>"

    def _repr_html_(self) -> str:
        took = [f"searched in {self.seconds:,.1f} s"] if self.placements_tried else []
        return show_tilings(self.manifest, self.store, list(self.shown.values()), took)

    @property
    def saved(self) -> str:
        """The committed partitions."""
        return self.manifest.saved

    @property
    def balance(self) -> float | None:
        """The share of the search for which the least busy worker worked; None if nothing was searched."""
        return min(self.busy) / self.clock.search if self.clock.search else None

    def to_json(self, raw: bool = False) -> dict[str, Any]:
        """The report with the keys of the command line's ``--json``; ``raw`` counts symmetric copies as solutions."""
        manifest = self.manifest
        return {
            "board": manifest.board["name"],
            "store": self.store,
            "complete": self.complete,
            "solutions": self.raw_tilings if raw else manifest.tilings,
            "raw_solutions": self.raw_tilings,
            "placements": manifest.placements,
            "method": manifest.method,
            "partitions": manifest.partitions,
            "searched_partitions": len(manifest.searched),
            "resumed_from_partitions": self.resumed_from,
            "seconds": self.seconds_to_json(),
            "placements_per_second": self.per_second(self.placements_tried),
            "worker_seconds": list(self.busy),
            "balance": self.balance,
            "peak_memory_bytes": self.peak_memory,
        }


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
    chosen = checked_method(config, method)
    if arguments.instance(options, RunOptions, "RunOptions").counts_only:
        raise InputError("counts_only: expected false for a board, whose tilings are always kept")
    session = Session(TilingStore, store, options, listener, interrupted, scheduler)

    def check(manifest: TilingManifest) -> None:
        session.store.check_same_problem(manifest, config, method)
        session.store.check_partitions(manifest)

    with session.watching():
        before = session.finished(check)
        if before is not None:
            return _report(session, before, before)
    with session.lock():
        before = session.committed(check)
        if before is not None and before.complete:
            return _report(session, before, before)
        with session.scheduler(lambda manifest: f"{manifest.saved} kept") as opened:
            # The scheduler answers before anything is overwritten.
            search = TilingSearch(session, config, before or _create(session, config, chosen))
            return _report(session, before, search.run(opened), search.tasks)


def _create(session: Session[TilingStore], config: BoardConfig, method: str) -> TilingManifest:
    """Create an empty store; it replaces an existing one."""
    with session.clock.measure("tables"):
        check_size(config.problem, method)
        partitions = len(partitions_of(config.problem, method))
    return session.store.create(config, method, partitions, overwrite=session.store.exists())


class TilingSearch:
    """A search that resumes after the partitions that the store holds, and commits those that it searches."""

    def __init__(self, session: Session[TilingStore], config: BoardConfig, manifest: TilingManifest) -> None:
        done, tilings = len(manifest.searched), manifest.tilings
        self.tasks = PartitionTasks(
            config.problem, manifest.method, True, session.listener, session.stop, done, tilings
        )
        self._session = session
        self._manifest = manifest
        """The last commit."""
        self._found: list[TilingArray] = []
        """The tilings of each partition, those of earlier runs among them."""
        self._uncommitted: dict[Searched, TilingArray] = {}
        self._committed_at = 0.0
        """When the last commit was, or the search started, on the monotonic clock."""

    def run(self, scheduler: Scheduler) -> TilingManifest:
        """Search until all partitions are done, or the run is told to stop; the last commit."""
        clock, manifest = self._session.clock, self._manifest
        searched = {one.number for one in manifest.searched}
        left = [number for number in range(manifest.partitions) if number not in searched]
        with clock.measure("tables"):
            self.tasks.warm_up(scheduler)
        with clock.measure("write"):
            self._found.append(self._session.store.tilings(manifest))
        with clock.measure("search"):
            self._committed_at = time.monotonic()
            # A name of its own for each run, so that two runs on one cluster do not share results.
            self.tasks.run(scheduler, f"search-{uuid.uuid4().hex}", left, self._on_result)
        with clock.measure("write"):
            self._finish()
        return self._manifest

    def _on_result(self, number: int, result: PartitionResult) -> None:
        """Keep the tilings of a partition, and commit them if it is time to."""
        self._found.append(result.tilings)
        self._uncommitted[Searched(number, result.count, result.raw_count, result.placements)] = result.tilings
        every = self._session.options.checkpoint_every
        if time.monotonic() - self._committed_at >= (CHECKPOINT_SECONDS if every is None else every):
            self._commit()

    def _finish(self) -> None:
        """Commit the last partitions: all tilings together, if every partition is searched."""
        if self.tasks.done == self._manifest.partitions:
            tilings = distinct(np.concatenate(self._found))
            self._committed(self._session.store.finish(self._manifest, self._uncommitted, tilings))
        elif self._uncommitted:
            self._commit()

    def _commit(self) -> None:
        self._committed(self._session.store.add(self._manifest, self._uncommitted))

    def _committed(self, manifest: TilingManifest) -> None:
        self._manifest, self._committed_at = manifest, time.monotonic()
        self._uncommitted.clear()
        self._session.listener(PartitionsCommitted(len(manifest.searched), manifest.partitions))


def _report(
    session: Session[TilingStore],
    before: TilingManifest | None,
    after: TilingManifest,
    tasks: PartitionTasks | None = None,
) -> TilingReport:
    """The report of a run that found the store as it was ``before``, and leaves it as it is ``after``."""
    return TilingReport(
        manifest=after,
        store=session.store.address,
        resumed_from=(len(before.searched) or None) if before else None,
        shown=_shown(session.store, after),
        clock=session.clock,
        seconds=session.seconds,
        placements_tried=tasks.placements if tasks else 0,
        busy=tasks.busy_seconds() if tasks else (),
    )


def _shown(store: TilingStore, manifest: TilingManifest) -> dict[int, NDArray[np.int32]]:
    """Some tilings, ``(copies,)`` each, by their numbers from 0; none of an unfinished search."""
    if not manifest.complete or not manifest.tilings:
        return {}
    numbers = sorted({step * (manifest.tilings - 1) // (TILINGS_SHOWN - 1) for step in range(TILINGS_SHOWN)})
    return dict(zip(numbers, store.tilings_at(manifest, numbers), strict=True))
