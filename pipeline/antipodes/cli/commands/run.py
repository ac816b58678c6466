"""``antipodes run`` and ``antipodes resume``: compute a table, or resume an unfinished run."""

from dataclasses import replace
from typing import Annotated

import typer

from antipodes.cli.command import OPTION, command, commands
from antipodes.cli.drawing import print_positions
from antipodes.cli.running import Interrupts, RunRequest, run_options, store_of_run
from antipodes.cli.shared_options import (
    AsJson,
    GivenOptions,
    Omit,
    OnlyMoves,
    PuzzleArgument,
    PuzzleOfStore,
    Quiet,
    Store,
    takes_run_options,
)
from antipodes.cli.streams import print_json, print_line, print_lines, printing_about
from antipodes.puzzles.config import Config, load_config, restrict_moves
from antipodes.runs.session import damage_hint
from antipodes.stores import find_store, open_store
from antipodes.system.addresses import in_shell, quoted_word
from antipodes.system.machine import human
from antipodes.system.options import CLUSTER, CONTENTS, RESOURCES, command_words
from antipodes.tables.drawing import draw_layers
from antipodes.tables.json_results import RunReport
from antipodes.tables.run import run_puzzle
from antipodes.tilings.board_config import BoardConfig
from antipodes.tilings.store import TilingManifest
from antipodes_tasks.base.errors import DiskLimitError, ResourceLimitError, SizeLimitError
from antipodes_tasks.base.quoting import counted

MAX_LAYERS = 200
"""Maximum number of depths in a report; for deeper tables, such as Hanoi's, it shows the first and last depths."""

app = commands()


@command(
    app,
    "run",
    "antipodes run eight-puzzle",
    "antipodes run my-puzzle.toml --memory-limit 2GiB",
    "antipodes run seven-tiles --counts-only",
)
@takes_run_options("run", store=(CONTENTS,), omit=(RESOURCES,), as_json=(CLUSTER,))
def run(
    given: GivenOptions,
    puzzle: PuzzleArgument,
    store: Annotated[
        str | None,
        typer.Option(
            metavar="STORE",
            help="Path or URL of the table. [default: outputs/PUZZLE.zarr, or outputs/PUZZLE.counts.zarr]",
        ),
    ] = None,
    only_moves: OnlyMoves = None,
    omit: Omit = None,
    quiet: Quiet = False,
    as_json: AsJson = False,
) -> int:
    """Compute a distance table, or resume an unfinished one; print the report of a finished one."""
    with Interrupts() as interrupts:
        config = restrict_moves(load_config(puzzle), only_moves, omit or ())
        words = command_words("run", puzzle, only_moves=only_moves, omit=omit)
        options = run_options(config.run, given, words)
        address = store_of_run(store, config.run, config.puzzle.name, options.counts_only)
        quiet = quiet or config.run.get("quiet", False)
        request = RunRequest(address, options, interrupts, quiet, as_json)
        try:
            return _compute(config, request)
        except (SizeLimitError, ResourceLimitError, DiskLimitError) as error:
            restricted = only_moves is not None or omit
            if not restricted and (config.patterns or isinstance(error, SizeLimitError)):
                tables = " with its pattern tables" if config.patterns else ""
                hint = f"solve single positions{tables}: antipodes solve {in_shell(puzzle)} POSITION"
                raise type(error)(f"{error}; {hint}") from None
            raise


@command(app, "resume", "antipodes resume seven-tiles", "antipodes resume outputs/seven-tiles.zarr --workers 4")
@takes_run_options("resume", store=(RESOURCES,), as_json=(CLUSTER,))
def resume(
    given: GivenOptions,
    store: Store,
    quiet: Quiet = False,
    as_json: AsJson = False,
    puzzle: PuzzleOfStore = None,
) -> int:
    """Resume an unfinished store: a table, a counts-only run or a set of tilings."""
    with Interrupts() as interrupts:
        address = find_store(store, puzzle)
        options = run_options({}, given, command_words("resume", store, puzzle=puzzle))
        request = RunRequest(address, options, interrupts, quiet, as_json)
        with damage_hint(options, address):
            manifest = open_store(address).read()
        if isinstance(manifest, TilingManifest):
            from antipodes.cli.commands.tilings import compute_tilings  # not needed for tables

            return compute_tilings(BoardConfig(manifest.board), None, request)
        counting = replace(options, counts_only=manifest.COUNTS_ONLY)
        return _compute(manifest.config, replace(request, options=counting))


def _compute(config: Config, request: RunRequest) -> int:
    """Compute the table of a puzzle and print a report; return the exit status."""
    with request.watched("the layer") as listener:
        report = run_puzzle(config, request.store, request.options, listener, request.interrupts.requested)
    if request.as_json:
        print_json(report.to_record())
    if not report.complete:
        return request.interrupted(report.saved)
    if not request.as_json:
        what = "counting in" if report.manifest.COUNTS_ONLY else "the table in"
        with printing_about(f"{what} {request.store} is complete"):
            _print_report(config, report)
    return 0


def _print_report(config: Config, report: RunReport) -> None:
    manifest, clock = report.manifest, report.clock
    print_lines(draw_layers(manifest.positions, MAX_LAYERS))
    if len(manifest.positions) > MAX_LAYERS:
        print_line(f"all {len(manifest.positions):,} depths: antipodes layers {in_shell(report.store)}")
    print_line()
    found = "all" if manifest.states == manifest.numbered else f"{manifest.states:,} of"
    print_line(f"{manifest.puzzle['name']}: reached {found} {counted(manifest.numbered, 'position')}")
    antipodes = manifest.positions[-1]
    if manifest.unique:
        counts = f"antipodes layers {in_shell(report.store)} --unique"
        print_line(f"up to symmetry {counted(sum(manifest.unique), 'position')}; at each depth: {counts}")
    print_line(f"radius {manifest.radius}, {counted(antipodes, 'antipode')}:")
    print_positions(config.puzzle, report.farthest)
    if antipodes > len(report.farthest):
        print_line(f"and {antipodes - len(report.farthest):,} more: antipodes farthest {in_shell(report.store)}")
    print_line()
    if config.puzzle.rules.origin is not None and not manifest.COUNTS_ONLY:
        distance = report.start_distance
        far = "unreachable from the goal" if distance is None else f"{counted(distance, 'move')} from the goal"
        print_line(f"start   {far}")
    if manifest.symmetry > 1:
        print_line(f"reduced by {manifest.symmetry} symmetries to {counted(manifest.index_size, 'entry', 'entries')}")
    # A run that resumes may only have to write the table, or may have nothing left to do.
    if clock.search:
        phases = f"move tables {clock.tables:.2f}, search {clock.search:.2f}, writing {clock.write:.2f}"
        print_line(f"time    {report.seconds:.2f} s: {phases}")
        if clock.compiling_line:
            print_line(f"compile {clock.compiling_line}")
        print_line(f"speed   {report.states_found / clock.search / 1e6:,.1f} million positions/s in the search")
        print_line(f"memory  {human(report.peak_memory)} peak")
    elif clock.write:
        found = "earlier runs found every position"
        print_line(f"time    {report.seconds:.2f} s: {found}, writing {clock.write:.2f}")
        print_line(f"memory  {human(report.peak_memory)} peak")
    else:
        print_line("time    none: it was already complete")
    if manifest.COUNTS_ONLY:
        print_line(f"counts  {report.store}")
        print_line("table   none, because of --counts-only")
        return
    print_line(f"table   {report.store}")
    text = config.puzzle.format(report.farthest[0])
    farthest = f"{'-- ' if OPTION.fullmatch(text) else ''}{quoted_word(text)}"
    print_line(f"query   antipodes query --path {in_shell(report.store)} {farthest}")
