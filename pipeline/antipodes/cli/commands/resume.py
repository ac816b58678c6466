"""``antipodes resume``: resume an unfinished store, of a table, of counts or of tilings."""

from dataclasses import replace

import typer

from antipodes.cli.command import add
from antipodes.cli.commands.run import compute_table
from antipodes.cli.commands.tile import compute_tilings
from antipodes.cli.interrupts import Interrupts
from antipodes.cli.loading import loading
from antipodes.cli.options import (
    AsJson,
    CheckpointEvery,
    Given,
    MemoryLimit,
    PerformanceReport,
    Quiet,
    SchedulerFile,
    SchedulerName,
    Store,
    Workers,
    run_options,
)
from antipodes.cli.running import Request
from antipodes.stores.named import find_store


def register(app: typer.Typer) -> None:
    """Add the command."""
    add(
        app,
        "Tables",
        "resume",
        resume,
        "antipodes resume seven-tiles",
        "antipodes resume outputs/seven-tiles.zarr --workers 4",
    )


def resume(
    store: Store,
    memory_limit: MemoryLimit = None,
    workers: Workers = None,
    checkpoint_every: CheckpointEvery = None,
    quiet: Quiet = False,
    as_json: AsJson = False,
    scheduler: SchedulerName = None,
    scheduler_file: SchedulerFile = None,
    performance_report: PerformanceReport = None,
    puzzle: Given = None,
) -> int:
    """Resume an unfinished store, of a table, of counts or of tilings."""
    with Interrupts() as interrupts:
        with loading():
            from antipodes.stores.kinds import open_store
            from antipodes.tilings.config import BoardConfig
            from antipodes.tilings.store import TilingStore

        address = find_store(store, puzzle)
        options = run_options(
            {},
            workers=workers,
            scheduler=scheduler,
            scheduler_file=scheduler_file,
            performance_report=performance_report,
            checkpoint_every=checkpoint_every,
            memory_limit=memory_limit,
        )
        request = Request(address, options, interrupts, quiet, as_json)
        found = open_store(address)
        if isinstance(found, TilingStore):
            return compute_tilings(BoardConfig(found.read().board), None, request)
        manifest = found.read()
        counting = replace(options, counts_only=manifest.COUNTS_ONLY)
        return compute_table(manifest.config, replace(request, options=counting))
