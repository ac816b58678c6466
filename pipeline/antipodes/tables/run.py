"""A run that computes a table: plan, create or resume the store, search, report."""

import secrets
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

from antipodes.executors.api import Scheduler
from antipodes.puzzles import python_source
from antipodes.puzzles.config import Config, register_puzzle
from antipodes.runs.session import Session
from antipodes.storage.directory import DirectoryStorage
from antipodes.storage.store import check_removable
from antipodes.system.addresses import Address
from antipodes.system.events import DefinitionUnchecked, Listener, silence
from antipodes.system.options import RunOptions
from antipodes.tables.json_results import RunReport, committed_depth, saved_depths
from antipodes.tables.planning.fitting import check_disk, plan_that_fits
from antipodes.tables.planning.plan import Plan
from antipodes.tables.search.layer_search import LayerSearch
from antipodes.tables.store.manifest import IN_STORE, OUTSIDE, SearchManifest, on_disk
from antipodes.tables.store.search_stores import (
    M,
    SearchStore,
    check_counts_classes,
    check_same_puzzle,
    check_same_symmetry,
    spill_id_of,
    unknown_folder,
)
from antipodes.tables.store.spill import LayerFolder
from antipodes.tables.store.table_manifest import TableManifest
from antipodes.tables.strategies.commitment import commitment_of
from antipodes.tables.table import open_table
from antipodes_tasks.base import arguments
from antipodes_tasks.base.array_types import Labels
from antipodes_tasks.base.errors import InputError, StoreError
from antipodes_tasks.base.option_names import option
from antipodes_tasks.rules.function_checks import check_functions

__all__ = ["RunOptions", "RunReport", "run_puzzle"]

MAX_SHOWN_ANTIPODES = 6
"""Maximum number of antipodes in a report."""
A_CONFIG = "a Config, such as the result of load_config(name) or Config(settings)"


def run_puzzle(
    config: Config,
    store: Address,
    options: RunOptions = RunOptions(),
    listener: Listener = silence,
    interrupted: Callable[[], bool] = lambda: False,
    scheduler: Any = None,
) -> RunReport:
    """Compute the table of a puzzle, or only its layers, or resume such a run; a finished store is only reported.

    A ``scheduler``, which may be a client of dask.distributed, takes precedence over the options and stays open.

    Raises
    ------
    InputError
        An argument has the wrong type, such as a Puzzle instead of a Config.
    ResourceLimitError
        The puzzle does not fit into the memory that the run may use.
    DiskLimitError
        The journal and the table might not fit on the disk. Nothing was written.
    InterruptedRunError
        The run was interrupted while it waited for the first worker.
    SchedulerError
        The cluster is gone or cannot do the work. Committed layers are kept.
    StoreError
        The store belongs to another puzzle or run, is corrupt, or cannot be written. Committed layers are kept.
    """
    arguments.instance(config, Config, A_CONFIG)
    arguments.instance(options, RunOptions, "RunOptions")
    register_puzzle(config)
    commitment = commitment_of(options)
    session: Session[Any] = Session(commitment.store, store, options, listener, interrupted, scheduler)
    session.store.spill_directory = options.spill
    check = partial(_check, config=config, session=session)
    with session.watching():
        manifest = session.finished(check)
        if manifest is not None:
            return _report(session, config, manifest, manifest, _farthest(manifest, config))
    with session.lock() as lock:
        manifest = session.committed(check)
        if manifest is not None and manifest.complete:
            return _report(session, config, manifest, manifest, _farthest(manifest, config))
        if manifest is not None and manifest.unique is not None:
            session.options = replace(session.options, unique=True)  # `resume` has no such option
        check_functions(config.puzzle.rules, config.puzzle.start_labels)
        new = config.settings if manifest is None else {}
        with python_source.second_process(new) as tried, session.scheduler(_saved) as opened:
            cut = manifest.cut if manifest else None
            plan = plan_that_fits(session, config, opened, cut, on_disk=on_disk(manifest))
            plan.check_classes()
            overwrite = manifest is None and session.store.exists()
            if overwrite:
                check_removable(session.store.storage, commitment.store.KIND)
            old = spill_id_of(session.store.storage) if overwrite else None
            spill, folder = _layers(plan, session, manifest, opened, old)
            check_disk(plan, session.store, folder)
            plan.weights  # noqa: B018  (raises an error before anything is overwritten)
            if unknown := tried():
                listener(DefinitionUnchecked(unknown))
            if folder:
                folder.check_usable()
            first = manifest or _create(session.store, config, plan, opened, overwrite, old)
            first = session.store.keep_layers(first, spill, folder)
            commits = commitment.commits(session.store, lock, first, session.listener, session.clock)
            search = LayerSearch(session, config, opened, commits)
            with plan.strategy.freed_memory(plan.commitment.makes_table):
                last = search.run(plan)
            farthest = _farthest(last, config)
    return _report(session, config, manifest, last, farthest, search)


def _check(manifest: SearchManifest, config: Config, session: Session[Any]) -> None:
    """Raise StoreMismatchError unless the store belongs to this run."""
    check_same_puzzle(manifest, config, session.store.address)
    check_same_symmetry(manifest, session.options.symmetry, session.store.address)
    check_counts_classes(manifest, session.options.unique, session.store.address)


def _layers(
    plan: Plan, session: Session[Any], manifest: SearchManifest | None, scheduler: Scheduler, old: str | None
) -> tuple[str | None, LayerFolder | None]:
    """Return where the run keeps its layers (see `SearchManifest.spill`), and their folder if it is outside.

    ``old`` is the identifier of the folder with the layers of a store to be overwritten, if there is one.

    Raises InputError if the option ``spill`` cannot be used, or committed layers cannot be found without it, and
    StoreError if these are in another folder, or their folder is missing.
    """
    storage, chosen = session.store.storage, session.options.spill
    if chosen is not None and (plan.keyed or not scheduler.shares_memory):
        why = "positions of this puzzle are searched as keys" if plan.keyed else "the run uses a cluster"
        raise InputError(f"{option('spill')} keeps layers of indexed positions in threads of this process; {why}")
    if manifest is not None and manifest.layers:
        return _committed_layers(plan, session.store, manifest, chosen, scheduler.shares_memory)
    if not plan.strategy.on_disk:
        return None, None
    if chosen is not None:
        identifier = (manifest.spill_id if manifest else old) or secrets.token_hex(32)
        return OUTSIDE, LayerFolder.named(chosen, storage, identifier)
    if not isinstance(storage, DirectoryStorage):
        raise InputError(
            f"the positions do not fit into memory, and {storage.address} is not a directory; choose one for them "
            f"with {option('spill')}"
        )
    return IN_STORE, None


def _committed_layers(
    plan: Plan, store: SearchStore[Any], manifest: SearchManifest, chosen: str | None, shares_memory: bool
) -> tuple[str | None, LayerFolder | None]:
    """Return where the committed layers of a store are, as `_layers` does, and check that they are there."""
    if manifest.spill != OUTSIDE:
        if plan.strategy.on_disk and chosen is not None:
            raise InputError(f"the committed layers of {store.address} are in the store; leave out {option('spill')}")
        return IN_STORE if plan.strategy.on_disk else manifest.spill, None
    if not shares_memory:
        raise InputError(
            f"the committed layers of {store.address} are outside of it; only threads of one process can resume it, "
            f"with {option('scheduler', 'threads')}"
        )
    folder = store.layer_folder(manifest)
    if folder is None:
        raise InputError(unknown_folder(store.address))
    known = LayerFolder.recorded(store.storage, folder.owner.identifier)
    if known is not None and known != folder and not folder.is_present:
        raise StoreError(f"the committed layers of {store.address} are in {known.path}, not in {folder.path}")
    folder.check_present()
    return OUTSIDE, folder


def _create(
    store: SearchStore[M], config: Config, plan: Plan, scheduler: Scheduler, overwrite: bool, spill_id: str | None
) -> M:
    """Create an empty store; replace an existing store only if every worker can write there.

    ``spill_id`` is the identifier of the folder with the layers of the existing store, if there is one. Raises
    StoreError if these layers could not be deleted, because something else is at their path.
    """
    if overwrite:
        if spill_id and (old := LayerFolder.recorded(store.storage, spill_id)):
            old.exists()
        scheduler.run_on_all_workers((store.check_reachable, store.manifest_file.current_digest()))
    return store.create(config, plan.cut, overwrite, plan.commitment.unique, spill_id)


def _farthest(manifest: SearchManifest, config: Config) -> Labels:
    """Return the first antipodes, ``(n, places)``. Empty before all positions are searched."""
    return manifest.first_antipodes(MAX_SHOWN_ANTIPODES, config.puzzle)


def _report(
    session: Session[Any],
    config: Config,
    before: SearchManifest | None,
    after: SearchManifest,
    farthest: Labels,
    search: LayerSearch | None = None,
) -> RunReport:
    """Return the report of a run that changed the manifest from ``before`` to ``after``."""
    return RunReport(
        manifest=after,
        store=session.store.address,
        farthest=farthest,
        resumed_from=committed_depth(before),
        clock=session.clock,
        seconds=session.seconds,
        states_found=after.states - (before.states if before else 0),
        start_distance=_start_distance(session.store.address, after, config),
        workers_lost=search.losses.count if search else 0,
        recomputed=search.losses.recomputed if search else 0,
    )


def _saved(manifest: SearchManifest) -> str:
    depths = saved_depths(manifest)
    return f"{depths} kept" if depths else "nothing is committed yet"


def _start_distance(address: Address, manifest: SearchManifest, config: Config) -> int | None:
    """Return the distance of the start from the goal, from a finished table.

    Returns None without a goal, without a finished table, and if the start is unreachable.
    """
    start = config.puzzle.rules.origin
    if start is None or not manifest.complete or not isinstance(manifest, TableManifest):
        return None
    with open_table(address, puzzle=config) as table:
        return table.distance(start, None)
