"""``antipodes tile`` and ``antipodes boards``: all tilings of a board, and the boards that come with the program."""

import re
from hashlib import sha256
from typing import TYPE_CHECKING, Annotated

import typer

from antipodes.cli.command import add
from antipodes.cli.interrupts import Interrupts
from antipodes.cli.loading import loading
from antipodes.cli.options import (
    AsJson,
    PerformanceReport,
    Quiet,
    SchedulerFile,
    SchedulerName,
    Verbose,
    Workers,
    run_options,
)
from antipodes.cli.output import print_json, printing_about, terminal_columns
from antipodes.cli.running import Request
from antipodes.runs.default_store import chosen_store
from antipodes.storage.address import in_shell
from antipodes_tasks.errors import ConfigError, InputError
from antipodes_tasks.quoting import counted

LONGEST_STORE_NAME = 60
Where = typer.Option(
    "--where", metavar="CONDITION", help="Only tilings such as 'X covers 23' or 'I avoids 0 9'. Repeatable."
)

if TYPE_CHECKING:
    from antipodes.runs.options import RunOptions
    from antipodes.tilings.config import BoardConfig
    from antipodes.tilings.run import TilingReport
    from antipodes_tasks.exact_cover.problem import TilingProblem


def register(app: typer.Typer) -> None:
    """Add the commands."""
    add(app, "Tilings", "tile", tile, "antipodes tile 6x10", "antipodes tile my-board.toml --workers 4")
    add(app, "Tilings", "boards", boards, "antipodes boards", "antipodes boards --json")


def tile(
    board: Annotated[
        str, typer.Argument(metavar="BOARD", help="The name of a bundled board, or the path of a TOML file.")
    ],
    store: Annotated[
        str | None,
        typer.Option(metavar="STORE", help="Where the tilings go, a path or a URL. [default: outputs/BOARD.zarr]"),
    ] = None,
    workers: Workers = None,
    scheduler: SchedulerName = None,
    scheduler_file: SchedulerFile = None,
    performance_report: PerformanceReport = None,
    checkpoint_every: Annotated[
        float | None,
        typer.Option(min=0, metavar="SECONDS", help="Seconds between commits; 0: every partition. [default: 1]"),
    ] = None,
    method: Annotated[
        str | None,
        typer.Option(metavar="METHOD", help="pruning, or plain: first-empty-cell backtracking. [default: pruning]"),
    ] = None,
    where: Annotated[list[str] | None, Where] = None,
    count: Annotated[bool, typer.Option("--count", help="Print the number of tilings, and store nothing.")] = False,
    raw: Annotated[bool, typer.Option("--raw", help="Count rotated and reflected copies as different.")] = False,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace existing tilings.")] = False,
    verbose: Verbose = False,
    quiet: Quiet = False,
    as_json: AsJson = False,
) -> int:
    """Find all tilings of a board, or resume the search."""
    with Interrupts() as interrupts:
        with loading():
            from antipodes.tilings.config import load_board

        config = conditioned(load_board(board), where or [])
        options = run_options(
            config.run,
            workers=workers,
            scheduler=scheduler,
            scheduler_file=scheduler_file,
            performance_report=performance_report,
            checkpoint_every=checkpoint_every,
            overwrite=overwrite or None,
            started_by=("tile", board, *_repeated(where or [], method, raw)),
        )
        quiet = quiet or config.run.get("quiet", False)
        if count:
            _check_count({"--store": store, "--checkpoint-every": checkpoint_every, "--overwrite": overwrite or None})
            return count_only(config, method, options, interrupts, quiet, as_json, raw)
        _check_store(store, config, where or [])
        address = chosen_store(store, config.run, store_name(config.problem, where or []))
        return compute_tilings(config, method, Request(address, options, interrupts, quiet, as_json, verbose), raw)


def _check_count(given: dict[str, object]) -> None:
    """Raise InputError if options about a store are given to a count."""
    if named := [name for name, value in given.items() if value is not None]:
        raise InputError(f"--count: stores nothing; expected no {named[0]}")


def _check_store(store: str | None, config: "BoardConfig", where: list[str]) -> None:
    """Raise InputError if the tilings under conditions would go to the store that the file names for all of them."""
    if where and store is None and (named := config.run.get("store")) is not None:
        raise InputError(
            f"--where: expected --store, too, because [run] store, {named}, is for all tilings of the board"
        )


def _repeated(where: list[str], method: str | None, raw: bool) -> list[str]:
    """The options that a command which starts the search over has to repeat."""
    conditions = [word for condition in where for word in ("--where", condition)]
    return [*conditions, *(["--method", method] if method else []), *(["--raw"] if raw else [])]


def conditioned(config: "BoardConfig", where: list[str]) -> "BoardConfig":
    """The board under the conditions of the option ``--where``; InputError where one is no condition on it."""
    under = config.under(where)
    try:
        under.problem  # noqa: B018  (a wrong condition raises here)
    except ConfigError as error:
        raise InputError(str(error).replace("[board] where", "--where")) from None
    return under


def store_name(problem: "TilingProblem", where: list[str]) -> str:
    """The name of the default store: that of the board, and the conditions, with a digest where these are not enough.

    Parameters
    ----------
    problem
        The board, under the conditions.
    where
        The conditions of the option.
    """
    words = re.findall(r"[\w,]+", " ".join(where))
    name = "-".join([problem.name, *words])
    if len(name) > LONGEST_STORE_NAME:
        return f"{problem.name}-{_digest(problem)}"
    pieces = [piece.name for piece in problem.pieces]
    as_file_names = {piece.casefold() for piece in pieces}  # many file systems do not tell F from f
    same = " ".join(words) == " ".join(" ".join(where).split()) and len(as_file_names) == len(pieces)
    return name if same or not where else f"{name}-{_digest(problem)}"


def _digest(problem: "TilingProblem") -> str:
    conditions = sorted({(one.piece, one.verb, one.cells) for one in problem.where})
    return sha256(repr(conditions).encode()).hexdigest()[:12]


def count_only(
    config: "BoardConfig",
    method: str | None,
    options: "RunOptions",
    interrupts: Interrupts,
    quiet: bool,
    as_json: bool,
    raw: bool,
) -> int:
    """Count the tilings of a board, and print their number; the exit status."""
    with loading():
        from antipodes.progress.show import show_progress
        from antipodes.tilings.search import count_tilings

    interrupts.next_steps = "finishing the partitions that are under way; nothing is stored"
    with show_progress(quiet, began=options.began) as listener:
        count = count_tilings(config, method, options, listener, interrupts.requested)
    if as_json:
        print_json(count.to_json(raw))
        return 0
    print(_numbers(count.board, count.tilings, count.raw_tilings, raw))
    clock = count.clock
    print(f"time     {count.seconds:.2f} s: tables {clock.tables:.2f}, search {clock.search:.2f}")
    tried = f"{counted(count.placements, 'placement')} in {counted(count.partitions, 'partition')}"
    print(f"tried    {tried}; nothing is stored")
    return 0


def boards(as_json: AsJson = False) -> None:
    """List the bundled boards."""
    with loading():
        from antipodes.tilings.config import board_view, bundled_boards, load_board

    problems = [load_board(name).problem for name in bundled_boards()]
    if as_json:
        print_json([board_view(one) for one in problems])
        return
    width = max(len(one.name) for one in problems)
    for one in problems:
        print(f"{one.name:<{width}}  {one.board.size:>3} cells, {counted(one.copies, 'piece')}  {one.description}")


def compute_tilings(config: "BoardConfig", method: str | None, request: Request, raw: bool = False) -> int:
    """Search a board for tilings, and print a report; the exit status."""
    with loading():
        from antipodes.tilings.run import tile_board

    with request.watched("the partitions that are under way") as listener:
        report = tile_board(config, request.store, method, request.options, listener, request.interrupts.requested)
    if request.as_json:
        print_json(report.to_json(raw))
    if not report.complete:
        return request.interrupted(report.saved)
    if not request.as_json:
        with printing_about(f"the tilings in {request.store} are complete"):
            _print_report(config, report, raw, request.verbose)
    return 0


def _print_report(config: "BoardConfig", report: "TilingReport", raw: bool, verbose: bool) -> None:
    _print_drawings(config, report)
    manifest = report.manifest
    print(_numbers(manifest.board["name"], manifest.tilings, report.raw_tilings, raw))
    _print_times(report, verbose)
    print(f"store    {report.store}")
    if report.manifest.tilings:
        print(f"show     antipodes show {in_shell(report.store)} --number {report.manifest.tilings}")
        print(f"         antipodes show {in_shell(report.store)} --all --svg {config.problem.name}.svg")


def _print_drawings(config: "BoardConfig", report: "TilingReport") -> None:
    with loading():
        from antipodes.cli.colour import print_canvas
        from antipodes.tilings.drawing import draw_sheet

    captions = [f"{number + 1:,} of {report.manifest.tilings:,}" for number in report.shown]
    if captions:
        drawn = list(report.shown.values())
        print_canvas(config.problem, draw_sheet(config.problem, drawn, captions, "both", terminal_columns()))
        print()


def _numbers(name: str, different: int, all_of_them: int, raw: bool) -> str:
    tilings = f"{counted(different, 'tiling')} up to the symmetries of the board"
    return f"{name}: {all_of_them:,} in all, {tilings}" if raw else f"{name}: {tilings}, {all_of_them:,} in all"


def _print_times(report: "TilingReport", verbose: bool) -> None:
    from antipodes.sizes import human

    clock = report.clock
    if not clock.search:
        written = f"{report.seconds:.2f} s: earlier runs found all tilings, writing {clock.write:.2f}"
        print(f"time     {written if clock.write else 'none: the tilings were already complete'}")
        return
    phases = f"tables {clock.tables:.2f}, search {clock.search:.2f}, writing {clock.write:.2f}"
    print(f"time     {report.seconds:.2f} s: {phases}")
    rate = report.placements_tried / clock.search / 1e6
    print(f"speed    {rate:,.1f} million placements/s in the search, {report.placements_tried:,} in all")
    shares = ", ".join(f"{seconds / clock.search:.0%}" for seconds in report.busy)
    if verbose and report.manifest.partitions:
        partitions = counted(report.manifest.partitions, "partition")
        print(f"balance  {partitions}; the workers were busy for {shares} of the search")
    print(f"memory   {human(report.peak_memory)} peak")
