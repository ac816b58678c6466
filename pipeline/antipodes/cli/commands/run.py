"""``antipodes run``: compute a table, or resume it."""

from typing import TYPE_CHECKING, Annotated

import typer

from antipodes.cli.command import add
from antipodes.cli.interrupts import Interrupts
from antipodes.cli.loading import loading
from antipodes.cli.options import (
    AsJson,
    CheckpointEvery,
    CountsOnly,
    MemoryLimit,
    PerformanceReport,
    Puzzle,
    Quiet,
    SchedulerFile,
    SchedulerName,
    Workers,
    run_options,
)
from antipodes.cli.output import print_json, printing_about
from antipodes.cli.running import Request
from antipodes.runs.default_store import chosen_store
from antipodes.storage.address import in_shell
from antipodes_tasks.quoting import counted

if TYPE_CHECKING:
    from antipodes.config import Config
    from antipodes.tables.report import RunReport

MOST_LAYERS = 200
"""Depths of a report: of more, such as those of Hanoi, the first and the last are shown."""


def register(app: typer.Typer) -> None:
    """Add the command."""
    add(
        app,
        "Tables",
        "run",
        run,
        "antipodes run eight-puzzle",
        "antipodes run my-puzzle.toml --memory-limit 2GiB",
        "antipodes run seven-tiles --counts-only",
    )


def run(
    puzzle: Puzzle,
    store: Annotated[
        str | None,
        typer.Option(
            metavar="STORE",
            help="Where the table goes, a path or a URL. [default: outputs/PUZZLE.zarr; outputs/PUZZLE.counts.zarr]",
        ),
    ] = None,
    counts_only: CountsOnly = False,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace an existing table.")] = False,
    memory_limit: MemoryLimit = None,
    workers: Workers = None,
    checkpoint_every: CheckpointEvery = None,
    quiet: Quiet = False,
    as_json: AsJson = False,
    scheduler: SchedulerName = None,
    scheduler_file: SchedulerFile = None,
    performance_report: PerformanceReport = None,
) -> int:
    """Compute a distance table, or resume it; report a finished one."""
    with Interrupts() as interrupts:
        with loading():
            from antipodes.config import load_config

        config = load_config(puzzle)
        options = run_options(
            config.run,
            workers=workers,
            scheduler=scheduler,
            scheduler_file=scheduler_file,
            performance_report=performance_report,
            checkpoint_every=checkpoint_every,
            memory_limit=memory_limit,
            overwrite=overwrite or None,
            counts_only=counts_only or None,
            started_by=("run", puzzle),
        )
        address = chosen_store(store, config.run, config.puzzle.name, options.counts_only)
        quiet = quiet or config.run.get("quiet", False)
        return compute_table(config, Request(address, options, interrupts, quiet, as_json))


def compute_table(config: "Config", request: Request) -> int:
    """Compute the table of a puzzle, and print a report; the exit status."""
    with loading():
        from antipodes.tables.run import run_puzzle

    with request.watched("the layer") as listener:
        report = run_puzzle(config, request.store, request.options, listener, request.interrupts.requested)
    if request.as_json:
        print_json(report.to_json())
    if not report.complete:
        return request.interrupted(report.saved)
    if not request.as_json:
        what = "counting in" if report.manifest.COUNTS_ONLY else "the table in"
        with printing_about(f"{what} {request.store} is complete"):
            _print_report(config, report)
    return 0


def _print_report(config: "Config", report: "RunReport") -> None:
    with loading():
        from antipodes.cli.colour import print_positions
        from antipodes.sizes import human
        from antipodes.tables.drawing import draw_layers

    manifest, clock = report.manifest, report.clock
    print(draw_layers(manifest.layers, MOST_LAYERS))
    if len(manifest.layers) > MOST_LAYERS:
        print(f"all {len(manifest.layers):,} depths: antipodes layers {in_shell(report.store)}")
    print()
    print(f"{manifest.puzzle['name']}: {counted(manifest.states, 'position')} reached, of {manifest.index_size:,}")
    antipodes = manifest.layers[-1]
    print(f"radius {manifest.radius}, {counted(antipodes, 'antipode')}:")
    print_positions(config.puzzle, report.farthest)
    if antipodes > len(report.farthest):
        print(f"and {antipodes - len(report.farthest):,} more: antipodes farthest {in_shell(report.store)}")
    print()
    if clock.search:
        phases = f"move tables {clock.tables:.2f}, search {clock.search:.2f}, writing {clock.write:.2f}"
        print(f"time    {report.seconds:.2f} s: {phases}")
        print(f"speed   {report.states_found / clock.search / 1e6:,.1f} million positions/s in the search")
        print(f"memory  {human(report.peak_memory)} peak")
    elif clock.write:
        print(f"time    {report.seconds:.2f} s: every position was found by earlier runs, writing {clock.write:.2f}")
        print(f"memory  {human(report.peak_memory)} peak")
    else:
        print("time    none: it was already complete")
    if manifest.COUNTS_ONLY:
        print(f"counts  {report.store}")
        print("table   none: antipodes run --counts-only keeps no distances")
        return
    print(f"table   {report.store}")
    farthest = config.puzzle.format(report.farthest[0]).replace("'", r"'\''")
    print(f"query   antipodes query --path {in_shell(report.store)} '{farthest}'")
