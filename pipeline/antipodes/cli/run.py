"""``antipodes run`` and ``antipodes resume``: compute a table, or resume it."""

from functools import partial
from typing import TYPE_CHECKING, Annotated

import typer

from antipodes.cli.interrupts import Interrupts
from antipodes.cli.loading import loading
from antipodes.cli.options import (
    AsJson,
    CheckpointEvery,
    MemoryLimit,
    PerformanceReport,
    Puzzle,
    Quiet,
    SchedulerFile,
    SchedulerName,
    Store,
    Workers,
    chosen_store,
    find_store,
    run_options,
)
from antipodes.cli.output import INTERRUPTED, complain, print_json, telling_of, terminal_columns
from antipodes.cli.tile import tile_into
from antipodes.storage.address import Address, in_shell

if TYPE_CHECKING:
    from antipodes.config import Config
    from antipodes.tables.run import RunOptions, RunReport


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.command("run")(run)
    app.command("resume")(resume)


def run(
    puzzle: Puzzle,
    store: Annotated[
        str | None, typer.Option(help="Where the table goes, a path or a URL. [default: outputs/PUZZLE.zarr]")
    ] = None,
    workers: Workers = None,
    scheduler: SchedulerName = None,
    scheduler_file: SchedulerFile = None,
    performance_report: PerformanceReport = None,
    checkpoint_every: CheckpointEvery = None,
    memory_limit: MemoryLimit = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace an existing table.")] = False,
    quiet: Quiet = False,
    as_json: AsJson = False,
) -> int:
    """Compute a distance table, or resume it; report a finished one."""
    with Interrupts() as interrupts:
        with loading():
            from antipodes.config import load_config

        config = load_config(puzzle)
        options = run_options(
            dict(config.run),
            workers=workers,
            scheduler=scheduler,
            scheduler_file=scheduler_file,
            performance_report=performance_report,
            checkpoint_every=checkpoint_every,
            memory_limit=memory_limit,
            overwrite=overwrite or None,
            started_by=("run", puzzle),
        )
        address = chosen_store(store, config.run, config.puzzle.name)
        return _run(config, address, options, interrupts, quiet or config.run.get("quiet", False), as_json)


def resume(
    store: Store,
    workers: Workers = None,
    scheduler: SchedulerName = None,
    scheduler_file: SchedulerFile = None,
    performance_report: PerformanceReport = None,
    checkpoint_every: CheckpointEvery = None,
    memory_limit: MemoryLimit = None,
    quiet: Quiet = False,
    as_json: AsJson = False,
) -> int:
    """Resume an unfinished store, of a table or of tilings."""
    with Interrupts() as interrupts:
        with loading():
            from antipodes.cli.stores import open_store
            from antipodes.tilings.config import BoardConfig
            from antipodes.tilings.store import TilingStore

        address = find_store(store)
        options = run_options(
            {},
            workers=workers,
            scheduler=scheduler,
            scheduler_file=scheduler_file,
            performance_report=performance_report,
            checkpoint_every=checkpoint_every,
            memory_limit=memory_limit,
        )
        found = open_store(address)
        if isinstance(found, TilingStore):
            board = BoardConfig(found.read().board)
            return tile_into(board, address, None, options, interrupts, quiet, raw=False, as_json=as_json)
        return _run(found.read().config, address, options, interrupts, quiet, as_json)


def _run(
    config: "Config", store: Address, options: "RunOptions", interrupts: Interrupts, quiet: bool, as_json: bool
) -> int:
    with loading():
        from antipodes.cli.progress import show_progress
        from antipodes.tables.run import run_puzzle

    interrupts.next_command = partial(options.next_command, store)
    with show_progress(quiet) as listener:
        report = run_puzzle(config, store, options, listener, interrupts.requested)
    if as_json:
        print_json(report.to_json())
    if not report.complete:
        kept = f"depths 0 to {report.manifest.radius} are" if report.manifest.layers else "nothing is"
        return complain(f"interrupted: {kept} in {store}; resume with: {options.next_command(store)}", INTERRUPTED)
    if not as_json:
        with telling_of(f"the table in {store} is complete"):
            _print_report(config, report)
    return 0


def _print_report(config: "Config", report: "RunReport") -> None:
    with loading():
        from antipodes.sizes import human
        from antipodes.tables.drawing import draw_layers, draw_positions

    manifest, clock = report.manifest, report.clock
    print(draw_layers(manifest.layers))
    print()
    print(f"{manifest.puzzle['name']}: {manifest.states:,} positions reached, of {manifest.index_size:,}")
    antipodes = manifest.layers[-1]
    print(f"radius {manifest.radius}, {antipodes:,} {'antipode' if antipodes == 1 else 'antipodes'}:")
    print(draw_positions(config.puzzle, report.farthest, terminal_columns()))
    if antipodes > len(report.farthest):
        print(f"and {antipodes - len(report.farthest):,} more: antipodes farthest {in_shell(report.store)}")
    print()
    if clock.search:
        phases = f"move tables {clock.tables:.2f}, search {clock.search:.2f}, writing {clock.write:.2f}"
        print(f"time    {report.seconds:.2f} s: {phases}")
        print(f"speed   {report.states_found / clock.search / 1e6:,.1f} million positions/s in the search")
        print(f"memory  {human(report.peak_memory)} peak")
    else:
        print("time    none: the table was already complete")
    print(f"table   {report.store}")
    farthest = config.puzzle.format(report.farthest[0]).replace("'", r"'\''")
    print(f"query   antipodes query --path {in_shell(report.store)} '{farthest}'")
