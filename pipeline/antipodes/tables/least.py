"""Tables of least distances over the regions of the blank, folded from tables with regions; verified by folding again.

Such a table is no search of its own, see `antipodes_tasks.spaces.placements`. So a run first makes the table with
regions in a store beside it, an ordinary one, which an interrupted run leaves and the next one resumes; then it folds
that, and deletes it, unless it was finished before.
"""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from numpy.typing import NDArray

from antipodes.config import Config
from antipodes.events import Assembling, Listener
from antipodes.machine import MIB
from antipodes.puzzles.families.sliding import LEAST
from antipodes.runs.options import RunOptions
from antipodes.runs.session import Session
from antipodes.storage.address import Address, is_url
from antipodes.tables.layers.commits import TableCommits
from antipodes.tables.planning.plan import WRITE_THREADS
from antipodes.tables.report import RunReport, committed_depth
from antipodes.tables.store.manifest import MOST_ANTIPODES, Layers, TableManifest
from antipodes.tables.store.stores import LayerCounts, TableStore, check_same_puzzle
from antipodes.tables.table import start_distance
from antipodes_tasks.errors import InputError, StoreMismatchError
from antipodes_tasks.option_names import option
from antipodes_tasks.spaces.placements import Placements
from antipodes_tasks.spaces.space import Space

CHUNK_ENTRIES = 4 * MIB
FOLDED_TOGETHER = 16 * MIB
"""Entries with regions that are read at once, about."""
Run = Callable[..., RunReport]
"""`antipodes.tables.run.run_puzzle`."""


def has_least(settings: Any) -> bool:
    """Whether a table of these settings is to have the least distances over regions."""
    return bool(settings.get(LEAST))


def run_least(
    config: Config,
    store: Address,
    options: RunOptions,
    listener: Listener,
    interrupted: Callable[[], bool],
    scheduler: Any,
    run: Run,
) -> RunReport:
    """Compute the table of least distances of a config, or resume that; arguments and errors as of `run_puzzle`.

    The report of an interrupted run is that of the table with regions.
    """
    if options.counts_only:
        raise InputError(f"{LEAST}: expected a run that makes a table, found {option('counts_only', True)}")
    if options.symmetry == "on":
        raise InputError(f"{LEAST}: expected a table that is not reduced, found {option('symmetry', 'on')}")
    beside = _beside(store)
    session: Session[TableStore] = Session(TableStore, store, options, listener, interrupted, scheduler)
    with session.lock() as lock:
        manifest = session.committed(partial(_check_same, config=config, address=session.store.address))
        last = manifest
        if last is None or not last.complete:
            finished = is_finished(beside)
            inner = replace(options, overwrite=False, symmetry="off")
            report = run(_with_regions(config), beside, inner, listener, interrupted, scheduler)
            if not report.complete:
                return report
            session.clock.tables, session.clock.search = report.clock.tables, report.clock.search
            source = TableStore(beside)
            space = Space(config.puzzle.rules, Placements.of(config.puzzle.rules), Placements.CUT)
            chunk_rows = max(1, min(space.rows, CHUNK_ENTRIES // space.width))
            first = session.store.create(config, (space, chunk_rows), session.store.exists())
            last = _written(TableCommits(session.store, lock, first, listener, session.clock), source)
            if not finished:  # a table that someone made before stays
                source.storage.remove()
    return RunReport(
        manifest=last,
        store=session.store.address,
        farthest=last.cut[0].unrank(np.array(last.antipodes[:6], dtype=np.int64)),
        resumed_from=committed_depth(manifest),
        clock=session.clock,
        seconds=session.seconds,
        states_found=last.states - (manifest.states if manifest else 0),
        start_distance=start_distance(session.store.address, last, config),
    )


def _check_same(manifest: TableManifest, config: Config, address: str) -> None:
    """As `check_same_puzzle`; the table with regions is another."""
    check_same_puzzle(manifest, config, address)
    if manifest.space != Placements.KIND:
        raise StoreMismatchError(f"{address} holds the table with regions")


def is_finished(store: Address) -> bool:
    """Whether there is a finished table at an address."""
    found = TableStore(store)
    return found.exists() and found.read().complete


def _with_regions(config: Config) -> Config:
    """The config of the table that is folded."""
    return Config({key: value for key, value in config.settings.items() if key != LEAST}, config.run)


def _beside(store: Address) -> Address:
    """Where the table with regions is until it is folded."""
    name = f"{str(store).removesuffix('.zarr')}.regions.zarr"
    return name if is_url(store) else Path(name)


def _written(commits: TableCommits, source: TableStore) -> TableManifest:
    """Fold a finished table, and write what that makes; the manifest of the finished store."""
    depths = folded(source, commits.manifest)
    counts = _counts(commits.manifest, depths)
    layers = counts.sum(axis=0).tolist()
    antipodes = np.flatnonzero(depths.ravel() == len(layers) - 1)[:MOST_ANTIPODES].tolist()
    commits.begin_assembly(Layers(layers, list(layers)), antipodes, resumable=False)
    manifest = commits.manifest

    def write(chunk: int) -> tuple[int, int]:
        rows = manifest.rows_of(chunk)
        written = depths[rows.start : rows.stop].astype(manifest.dtype)
        return chunk, commits.store.write_chunk(manifest, chunk, written, commits.lock.token)

    size = manifest.index_size
    commits.listener(Assembling(0, size))
    with commits.clock.measure("write"), ThreadPoolExecutor(WRITE_THREADS) as pool:
        commits.complete(dict(pool.map(write, range(manifest.chunk_count))), counts)
    commits.listener(Assembling(size, size))
    return commits.manifest


def _counts(manifest: TableManifest, depths: NDArray[np.integer]) -> LayerCounts:
    """The number of entries of each chunk at each depth."""
    reached = depths[depths != np.iinfo(depths.dtype).max]
    chunks = [depths[rows.start : rows.stop].ravel() for rows in map(manifest.rows_of, range(manifest.chunk_count))]
    most = int(reached.max()) + 1
    return np.array([np.bincount(chunk[chunk < most], minlength=most) for chunk in chunks], dtype=np.uint32)


def folded(source: TableStore, manifest: TableManifest) -> NDArray[np.integer]:
    """The least depths ``(placements, width)`` of a finished table with regions, for the table of a manifest."""
    numbering = manifest.cut[0].numbering
    assert isinstance(numbering, Placements)
    return np.concatenate([numbering.folded(first, rows) for first, rows in _placements(source, numbering)])


def _placements(source: TableStore, numbering: Placements) -> Iterator[tuple[int, NDArray[np.integer]]]:
    """The depths of whole placements ``(rows, width)``, and the number of the first of them, in their order."""
    manifest, first_row = source.read(), numbering.board.first_row
    step = max(1, FOLDED_TOGETHER // (manifest.chunk_rows * manifest.width))
    waiting, row, placement = np.empty((0, manifest.width), dtype=manifest.dtype), 0, 0
    for chunk in range(0, manifest.chunk_count, step):
        read = source.read_chunks(manifest, chunk, min(chunk + step, manifest.chunk_count))
        waiting = np.concatenate((waiting, read))
        end = int(np.searchsorted(first_row, row + len(waiting), side="right")) - 1
        whole = int(first_row[end]) - row
        if whole:
            yield placement, waiting[:whole]
            waiting, row, placement = waiting[whole:], row + whole, end


def wrong_least(
    store: TableStore, manifest: TableManifest, workers: int, memory_limit: int | None, run: Run
) -> Iterator[str]:
    """A line if a table of least distances has others than the table with regions, which is searched again, gives.

    It is searched on ``workers`` threads of this process, wherever the store is, within the memory limit, in bytes.
    """
    with TemporaryDirectory() as folder:
        again = Path(folder) / "regions.zarr"
        run(
            _with_regions(manifest.config),
            again,
            RunOptions(symmetry="off", workers=workers, memory_limit=memory_limit),
        )
        expected = folded(TableStore(again), manifest)
    found = store.read_chunks(manifest, 0, manifest.chunk_count)
    wrong = np.flatnonzero(found.ravel() != expected.ravel())
    if len(wrong):
        puzzle = manifest.config.puzzle
        shown = "; ".join(puzzle.format(labels) for labels in manifest.cut[0].unrank(wrong[:3]))
        yield f"{len(wrong):,} x not the least distance over regions: {shown}"
