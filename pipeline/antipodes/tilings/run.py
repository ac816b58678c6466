"""Runs that search for all tilings of a board: create or resume the store, search, commit and report."""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from antipodes.executors.api import Scheduler
from antipodes.runs.run_results import Report, Seconds
from antipodes.runs.session import Session
from antipodes.system.addresses import Address
from antipodes.system.events import Listener, PartitionsCommitted, silence
from antipodes.system.options import RunOptions
from antipodes.system.records import as_dict
from antipodes.tilings.board_config import BoardConfig, checked_method
from antipodes.tilings.display import show_tilings
from antipodes.tilings.store import Searched, TilingManifest, TilingStore
from antipodes.tilings.tiling_search import PartitionTasks
from antipodes_tasks.base import arguments
from antipodes_tasks.base.errors import InputError
from antipodes_tasks.base.quoting import counted, shorten
from antipodes_tasks.exact_cover.partition_search import PartitionResult, check_size
from antipodes_tasks.exact_cover.partitions import partitions_of
from antipodes_tasks.exact_cover.placements import TilingArray, distinct

TILINGS_SHOWN = 3
"""Number of tilings that a run reads back to show them: the first, the last, and one in between."""
CHECKPOINT_SECONDS = 1.0
"""Default number of seconds between commits, which cost milliseconds; a partition may take hours."""


@dataclass(frozen=True, kw_only=True, repr=False)
class TilingReport(Report):
    """The result of a run; ``resumed_from`` is the number of partitions that were searched before."""

    manifest: TilingManifest
    """The last commit."""
    shown: Mapping[int, NDArray[np.int32]]
    """Some tilings ``(copies,)`` by their numbers from 0; empty if the search is unfinished."""
    placements_tried: int
    """Number of placements that this run tried."""
    busy: tuple[float, ...]
    """Seconds for which each worker searched, the busiest worker first."""

    @property
    def complete(self) -> bool:
        """Whether all partitions are searched."""
        return self.manifest.complete

    @property
    def tilings(self) -> int:
        """Number of known tilings, counting symmetric copies as one."""
        return self.manifest.tilings

    @property
    def raw_tilings(self) -> int:
        """Number of known tilings, counting symmetric copies separately."""
        return self.manifest.raw_tilings

    def __repr__(self) -> str:
        found = f"{counted(self.tilings, 'tiling')}{'' if self.complete else ' so far, unfinished'}"
        return f"<TilingReport of {shorten(str(self.manifest.board.get('name')), 30)}: {found}, {self.seconds:.1f} s>"

    def _repr_html_(self) -> str:
        took = [f"searched in {self.seconds:,.1f} s"] if self.placements_tried else []
        return show_tilings(self.manifest, self.store, list(self.shown.values()), took)

    @property
    def saved(self) -> str:
        """Subject and verb of a sentence about the committed partitions: "3 of 8 partitions are"."""
        return self.manifest.saved

    @property
    def balance(self) -> float | None:
        """Fraction of the search time for which the least busy worker worked; None if nothing was searched."""
        return min(self.busy) / self.clock.search if self.clock.search else None

    def to_record(self, raw: bool = False) -> TilingRunRecord:
        """Return the report for JSON output; with ``raw``, symmetric copies count as solutions."""
        manifest = self.manifest
        return TilingRunRecord(
            board=manifest.board["name"],
            store=self.store,
            complete=self.complete,
            solutions=self.raw_tilings if raw else manifest.tilings,
            raw_solutions=self.raw_tilings,
            placements=manifest.placements,
            method=manifest.method,
            partitions=manifest.partitions,
            searched_partitions=len(manifest.searched),
            resumed_from_partitions=self.resumed_from,
            seconds=self.phases,
            placements_per_second=self.per_second(self.placements_tried),
            worker_seconds=list(self.busy),
            balance=self.balance,
            peak_memory_bytes=self.peak_memory,
        )

    def to_json(self, raw: bool = False) -> dict[str, Any]:
        """Return the report with the keys of ``--json``; with ``raw``, symmetric copies count as solutions."""
        return as_dict(self.to_record(raw))


@dataclass(frozen=True, slots=True, kw_only=True)
class TilingRunRecord:
    """The result of a search for tilings, for JSON output."""

    board: str
    store: str
    complete: bool
    solutions: int
    raw_solutions: int
    placements: int
    method: str
    partitions: int
    searched_partitions: int
    resumed_from_partitions: int | None
    seconds: Seconds
    placements_per_second: float | None
    worker_seconds: list[float]
    balance: float | None
    peak_memory_bytes: int


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
        Address of the store for the tilings.
    method
        One of `METHODS`. The default is the method of an existing store, or "pruning" for a new store.
    options
        Options of the run; the memory limit is ignored.
    listener
        Function that is called with the events of the run.
    interrupted
        Function that is called before each partition. If it returns True, no more partitions are started, and the run
        commits the partitions under way and stops.
    scheduler
        A scheduler, or a client of dask.distributed. It takes precedence over the options and stays open.

    Raises
    ------
    StoreError
        The store belongs to another board, method or run, is corrupt, or cannot be written. Committed partitions are
        kept.
    InputError
        The method is unknown, or an argument has the wrong type.
    ResourceLimitError
        The search would need too much memory; nothing is created.
    """
    chosen = checked_method(config, method)
    if arguments.instance(options, RunOptions, "RunOptions").counts_only:
        raise InputError("counts_only: not possible for a board, whose tilings are always kept; see count_tilings")
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
            # Nothing is overwritten before the scheduler has answered.
            search = TilingSearch(session, config, before or _create(session, config, chosen))
            return _report(session, before, search.run(opened), search.tasks)


def _create(session: Session[TilingStore], config: BoardConfig, method: str) -> TilingManifest:
    """Create an empty store, which replaces an existing store."""
    with session.clock.measure("tables"):
        check_size(config.problem, method)
        partitions = len(partitions_of(config.problem, method))
    return session.store.create(config, method, partitions, overwrite=session.store.exists())


class TilingSearch:
    """A search that skips the partitions in the store, and commits the partitions that it searches."""

    def __init__(self, session: Session[TilingStore], config: BoardConfig, manifest: TilingManifest) -> None:
        done, tilings = len(manifest.searched), manifest.tilings
        self.tasks = PartitionTasks(
            config.problem, manifest.method, True, session.listener, session.stop, done, tilings
        )
        self._session = session
        self._manifest = manifest
        """The last commit."""
        self._found: list[TilingArray] = []
        """The tilings of each partition, including those of earlier runs."""
        self._uncommitted: dict[Searched, TilingArray] = {}
        self._committed_at = 0.0
        """Monotonic time of the last commit, or of the start of the search."""

    def run(self, scheduler: Scheduler) -> TilingManifest:
        """Search until all partitions are done or the run is asked to stop; return the last commit."""
        clock, manifest = self._session.clock, self._manifest
        searched = {one.number for one in manifest.searched}
        left = [number for number in range(manifest.partitions) if number not in searched]
        with clock.measure("tables"):
            self.tasks.warm_up(scheduler)
        with clock.measure("write"):
            self._found.append(self._session.store.tilings(manifest))
        with clock.measure("search"):
            self._committed_at = time.monotonic()
            # The name is unique, so that two runs on one cluster do not share results.
            self.tasks.run(scheduler, f"search-{uuid.uuid4().hex}", left, self._on_result)
        with clock.measure("write"):
            self._finish()
        return self._manifest

    def _on_result(self, number: int, result: PartitionResult) -> None:
        """Keep the tilings of a partition, and commit if the time between commits has passed."""
        self._found.append(result.tilings)
        self._uncommitted[Searched(number, result.count, result.raw_count, result.placements)] = result.tilings
        every = self._session.options.checkpoint_every
        if time.monotonic() - self._committed_at >= (CHECKPOINT_SECONDS if every is None else every):
            self._commit()

    def _finish(self) -> None:
        """Commit the last partitions; if every partition is searched, commit all tilings as one array."""
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
    """Return the report of a run, given the manifests ``before`` and ``after`` it."""
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
    """Return some tilings ``(copies,)`` by their numbers from 0; empty if the search is unfinished."""
    if not manifest.complete or not manifest.tilings:
        return {}
    numbers = sorted({step * (manifest.tilings - 1) // (TILINGS_SHOWN - 1) for step in range(TILINGS_SHOWN)})
    return dict(zip(numbers, store.tilings_at(manifest, numbers), strict=True))
