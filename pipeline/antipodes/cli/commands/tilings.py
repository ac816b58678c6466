"""``antipodes tile`` and ``show``: find all tilings of a board, and draw them."""

import re
from collections.abc import Sequence
from hashlib import sha256
from itertools import groupby
from typing import TYPE_CHECKING, Annotated

import numpy as np
import typer
from numpy.typing import NDArray
from rich.console import Console
from rich.text import Text

from antipodes.cli.command import command, commands, obeys
from antipodes.cli.drawing import Gif, PictureFiles, Png, Size, Svg, in_colour
from antipodes.cli.loading import importing_libraries
from antipodes.cli.running import Interrupts, RunRequest, run_options, store_of_run
from antipodes.cli.shared_options import (
    AsJson,
    GivenOptions,
    Quiet,
    Store,
    Verbose,
    names_given,
    run_option,
    takes_run_options,
)
from antipodes.cli.streams import print_json, print_line, print_lines, print_message, printing_about, terminal_columns
from antipodes.progress.show import show_progress
from antipodes.system.addresses import in_shell
from antipodes.system.machine import human
from antipodes.system.options import CLUSTER, RESOURCES, RunOptions, command_words
from antipodes.system.parameters import one_of
from antipodes.tilings.board_config import BoardConfig, load_board
from antipodes.tilings.drawing import Canvas, colours, draw_sheet, draw_tiling
from antipodes.tilings.drawing import steps as placed_one_by_one
from antipodes.tilings.table import MatchingTilings, Tilings, listed_tilings, open_tilings
from antipodes_tasks.base.errors import ConfigError, InputError
from antipodes_tasks.base.quoting import counted, printable
from antipodes_tasks.exact_cover.tiling_problem import TilingProblem

if TYPE_CHECKING:
    from antipodes.tilings.run import TilingReport

LONGEST_STORE_NAME = 60
DEFAULT_LIMIT, DEFAULT_FILE_LIMIT = 6, 60
"""Number of tilings drawn by default, on the terminal and in files."""
INK = "#1c1c22"
"""Colour of letters on coloured cells."""
Where = typer.Option(
    "--where",
    metavar="CONDITION",
    help="Only tilings that satisfy this condition, such as 'X covers 23' or 'I avoids 0 9'. Repeatable.",
)
WhereCopies = typer.Option(
    "--where",
    metavar="CONDITION",
    help="Only tilings that satisfy this condition, such as 'X covers 23', as they are or rotated or reflected; "
    "the copy that satisfies it is shown. Repeatable.",
)

app = commands()


@command(app, "tile", "antipodes tile 6x10", "antipodes tile my-board.toml --workers 4")
@takes_run_options("tile", store=(RESOURCES, CLUSTER))
def tile(
    given: GivenOptions,
    board: Annotated[
        str, typer.Argument(metavar="BOARD", help="The name of a bundled board, or the path of a TOML file.")
    ],
    store: Annotated[
        str | None,
        typer.Option(metavar="STORE", help="Path or URL of the tilings. [default: outputs/BOARD.zarr]"),
    ] = None,
    checkpoint_every: Annotated[
        float | None,
        run_option("checkpoint_every", help="Seconds between commits; 0: after each partition. [default: 1]"),
    ] = None,
    method: Annotated[
        str | None,
        typer.Option(metavar="METHOD", help="pruning, or plain (first-empty-cell backtracking). [default: pruning]"),
    ] = None,
    where: Annotated[list[str] | None, Where] = None,
    count: Annotated[bool, typer.Option("--count", help="Only print the number of tilings; store nothing.")] = False,
    raw: Annotated[bool, typer.Option("--raw", help="Count rotated and reflected copies as different.")] = False,
    overwrite: Annotated[bool, run_option("overwrite", help="Replace existing tilings.")] = False,
    verbose: Verbose = False,
    quiet: Quiet = False,
    as_json: AsJson = False,
) -> int:
    """Find all tilings of a board, or resume the search."""
    with Interrupts() as interrupts:
        config = conditioned(load_board(board), where or [])
        words = command_words("tile", board, where=where, method=method, raw=raw)
        options = run_options(config.run, given, words)
        quiet = quiet or config.run.get("quiet", False)
        if count:
            # Options of the store would have no effect, so they are refused.
            about_stores = {"--store": store, "--checkpoint-every": checkpoint_every, "--overwrite": overwrite}
            if unfit := names_given(about_stores):
                raise InputError(f"--count stores nothing, so it cannot be combined with {unfit[0]}")
            return count_only(config, method, options, interrupts, quiet, as_json, raw)
        _check_store(store, config, where or [])
        address = store_of_run(store, config.run, store_name(config.problem, where or []))
        return compute_tilings(config, method, RunRequest(address, options, interrupts, quiet, as_json, verbose), raw)


def _check_store(store: str | None, config: BoardConfig, where: list[str]) -> None:
    """Raise InputError if tilings with conditions would go to the store that the config names for all tilings."""
    if where and store is None and (named := config.run.get("store")) is not None:
        raise InputError(f"--where also needs --store: the config's store, {named}, is for all tilings of the board")


def conditioned(config: BoardConfig, where: list[str]) -> BoardConfig:
    """Return the board with the conditions of ``--where``; raise InputError if one is invalid."""
    under = config.under(where)
    try:
        under.problem  # noqa: B018  (an invalid condition raises here)
    except ConfigError as error:
        raise InputError(str(error).replace("[board] where", "--where")) from None
    return under


def store_name(problem: TilingProblem, where: list[str]) -> str:
    """Return the name of the default store: the board's name, the conditions, and a digest if this is ambiguous.

    Parameters
    ----------
    problem
        The board, with the conditions.
    where
        The conditions as the user wrote them.
    """
    words = re.findall(r"[\w,]+", " ".join(where))
    name = "-".join([problem.name, *words])
    if len(name) > LONGEST_STORE_NAME:
        return f"{problem.name}-{_digest(problem)}"
    pieces = [piece.name for piece in problem.pieces]
    as_file_names = {piece.casefold() for piece in pieces}  # many file systems ignore case
    same = " ".join(words) == " ".join(" ".join(where).split()) and len(as_file_names) == len(pieces)
    return name if same or not where else f"{name}-{_digest(problem)}"


def _digest(problem: TilingProblem) -> str:
    conditions = sorted({(one.piece, one.verb, one.cells) for one in problem.where})
    return sha256(repr(conditions).encode()).hexdigest()[:12]


def count_only(
    config: BoardConfig,
    method: str | None,
    options: RunOptions,
    interrupts: Interrupts,
    quiet: bool,
    as_json: bool,
    raw: bool,
) -> int:
    """Count the tilings of a board and print their number; return the exit status."""
    with importing_libraries():
        from antipodes.tilings.tiling_search import count_tilings

    interrupts.next_steps = "finishing the partitions under way; nothing is stored"
    with show_progress(quiet, began=options.began) as listener:
        count = count_tilings(config, method, options, listener, interrupts.requested)
    if as_json:
        print_json(count.to_record(raw))
        return 0
    print_line(_numbers(count.board, count.tilings, count.raw_tilings, raw))
    clock = count.clock
    print_line(f"time     {count.seconds:.2f} s: tables {clock.tables:.2f}, search {clock.search:.2f}")
    if clock.compiling_line:
        print_line(f"compile  {clock.compiling_line}")
    tried = f"{counted(count.placements, 'placement')} in {counted(count.partitions, 'partition')}"
    print_line(f"tried    {tried}; nothing is stored")
    return 0


def compute_tilings(config: BoardConfig, method: str | None, request: RunRequest, raw: bool = False) -> int:
    """Search a board for tilings and print a report; return the exit status."""
    with importing_libraries():  # the libraries of schedulers, which `show` does not need
        from antipodes.tilings.run import tile_board

    with request.watched("the partitions under way") as listener:
        report = tile_board(config, request.store, method, request.options, listener, request.interrupts.requested)
    if request.as_json:
        print_json(report.to_record(raw))
    if not report.complete:
        return request.interrupted(report.saved)
    if not request.as_json:
        with printing_about(f"the tilings in {request.store} are complete"):
            _print_report(config, report, raw, request.verbose)
    return 0


def _print_report(config: BoardConfig, report: "TilingReport", raw: bool, verbose: bool) -> None:
    _print_drawings(config, report)
    manifest = report.manifest
    print_line(_numbers(manifest.board["name"], manifest.tilings, report.raw_tilings, raw))
    _print_times(report, verbose)
    print_line(f"store    {report.store}")
    if report.manifest.tilings:
        print_line(f"show     antipodes show {in_shell(report.store)} --number {report.manifest.tilings}")
        print_line(f"         antipodes show {in_shell(report.store)} --all --svg {config.problem.name}.svg")


def _print_drawings(config: BoardConfig, report: "TilingReport") -> None:
    captions = [f"{number + 1:,} of {report.manifest.tilings:,}" for number in report.shown]
    if captions:
        drawn = list(report.shown.values())
        print_canvas(config.problem, draw_sheet(config.problem, drawn, captions, "both", terminal_columns()))
        print_line()


def _numbers(name: str, different: int, all_of_them: int, raw: bool) -> str:
    tilings = f"{counted(different, 'tiling')} up to the symmetries of the board"
    return f"{name}: {all_of_them:,} in all, {tilings}" if raw else f"{name}: {tilings}, {all_of_them:,} in all"


def _print_times(report: "TilingReport", verbose: bool) -> None:
    clock = report.clock
    if not clock.search:
        written = f"{report.seconds:.2f} s: earlier runs found all tilings, writing {clock.write:.2f}"
        print_line(f"time     {written if clock.write else 'none: the tilings were already complete'}")
        return
    phases = f"tables {clock.tables:.2f}, search {clock.search:.2f}, writing {clock.write:.2f}"
    print_line(f"time     {report.seconds:.2f} s: {phases}")
    if clock.compiling_line:
        print_line(f"compile  {clock.compiling_line}")
    rate = report.placements_tried / clock.search / 1e6
    print_line(f"speed    {rate:,.1f} million placements/s in the search, {report.placements_tried:,} in all")
    shares = ", ".join(f"{seconds / clock.search:.0%}" for seconds in report.busy)
    if verbose and report.manifest.partitions:
        partitions = counted(report.manifest.partitions, "partition")
        print_line(f"balance  {partitions}; the workers were busy for {shares} of the search")
    print_line(f"memory   {human(report.peak_memory)} peak")


@command(
    app,
    "show",
    "antipodes show 6x10",
    "antipodes show 6x10 --number 1000 --lines",
    "antipodes show 6x10 --all --svg 6x10.svg",
)
@obeys(one_of("number", "limit", "every"), every="--all")
def show(
    store: Store,
    letters: Annotated[bool, typer.Option("--letters", help="Draw a letter in each cell.")] = False,
    lines: Annotated[
        bool, typer.Option("--lines", help="Draw lines between the pieces. [default: letters and lines]")
    ] = False,
    steps: Annotated[bool, typer.Option("--steps", help="Draw a tiling piece by piece.")] = False,
    number: Annotated[int | None, typer.Option(metavar="N", help="Draw only tiling N, counted from 1.")] = None,
    limit: Annotated[
        int | None,
        typer.Option(
            min=1,
            metavar="N",
            help=f"Draw at most N tilings. [default: {DEFAULT_LIMIT}; {DEFAULT_FILE_LIMIT} in files]",
        ),
    ] = None,
    every: Annotated[bool, typer.Option("--all", help="Draw all tilings.")] = False,
    where: Annotated[list[str] | None, WhereCopies] = None,
    raw: Annotated[bool, typer.Option("--raw", help="Also show rotated and reflected copies.")] = False,
    svg: Svg = None,
    png: Png = None,
    gif: Gif = None,
    size: Size = None,
    as_json: AsJson = False,
) -> None:
    """Draw tilings from a store: the first few, one of them, or all."""
    style = "letters" if letters and not lines else "lines" if lines and not letters else "both"
    pictures = PictureFiles.of(size, svg=svg, png=png, gif=gif)
    from antipodes.stores import find_store  # loads all kinds of stores, which `tile` does not need

    with open_tilings(find_store(store), raw) as tilings:
        matches = _matches(tilings, where or [])
        shown = None if every else limit or (DEFAULT_FILE_LIMIT if pictures else DEFAULT_LIMIT)
        chosen = _chosen(matches, number, 1 if steps else shown)
        if as_json:
            print_json(listed_tilings(matches, chosen))
        elif not len(matches):
            which = " match" if where and len(tilings) else ""
            print_line(f"{tilings.problem.name}: no tilings{which}{'' if tilings.complete else ' yet'}")
        elif pictures:
            _write(matches, chosen, steps, pictures)
        else:
            _print(matches, chosen, steps, style)
        if where and len(matches) and not as_json:
            print_line(_matching_in_words(matches))
    if not tilings.complete:
        print_message(f"unfinished; resume with: antipodes resume {in_shell(find_store(store))}")


def _matches(tilings: Tilings, where: list[str]) -> MatchingTilings:
    """Return the tilings of which a symmetric copy meets all conditions."""
    try:
        return tilings.matching(*where)
    except ConfigError as error:
        raise InputError(f"--{error}") from None


def _matching_in_words(matches: MatchingTilings) -> str:
    """Return the numbers of matching tilings, up to symmetry and in all."""
    tilings = matches.tilings
    classes, copies = f"{matches.classes:,} of {counted(tilings.classes, 'tiling')}", tilings.copies
    if copies == tilings.classes:
        return f"{tilings.problem.name}: {classes} match"
    in_all = f"{matches.copies:,} of {copies:,} in all"
    return f"{tilings.problem.name}: {classes} up to the symmetries of the board match, {in_all}"


def _chosen(matches: MatchingTilings, number: int | None, limit: int | None) -> Sequence[int]:
    """Return the indices, from 0, of the tilings to show."""
    tilings, count = matches.tilings, len(matches.tilings)
    if number is not None:
        if not 1 <= number <= count:
            if not count:
                raise InputError(f"--number: {tilings.problem.name} has no tilings")
            raise InputError(f"--number: expected 1 to {count}, found {number}")
        if number - 1 not in matches.numbers:
            has_copies = tilings.copies > count
            which = (
                f"no symmetric copy of tiling {number} fulfils" if has_copies else f"tiling {number} does not fulfil"
            )
            raise InputError(f"--number: {which} the conditions of --where")
        return [number - 1]
    chosen: list[int] = matches.numbers[:limit].tolist()
    return chosen


def _print(matches: MatchingTilings, chosen: Sequence[int], in_steps: bool, style: str) -> None:
    problem, count = matches.tilings.problem, len(matches.tilings)
    shown = [one.placements for one in matches.placed(chosen)]
    captions = [f"{index + 1:,} of {count:,}" for index in chosen]
    if in_steps:
        shown = _steps(problem, shown)
        captions = [f"{step % problem.copies + 1} of {problem.copies}" for step in range(len(shown))]
    print_canvas(problem, draw_sheet(problem, shown, captions, style, terminal_columns()))
    if len(chosen) < len(matches) and len(chosen) > 1:
        print_line(f"and {len(matches) - len(chosen):,} more: --all")


def _steps(problem: TilingProblem, tilings: Sequence[NDArray[np.int32]]) -> list[NDArray[np.int32]]:
    return [placed for tiling in tilings for placed in placed_one_by_one(problem, tiling)]


def _write(matches: MatchingTilings, chosen: Sequence[int], in_steps: bool, pictures: PictureFiles) -> None:
    problem = matches.tilings.problem
    tilings = [one.placements for one in matches.placed(chosen)]
    shown = _steps(problem, tilings) if in_steps else tilings
    what = f"tiling {chosen[0] + 1}" if len(chosen) == 1 else counted(len(chosen), "tiling")
    pictures.write([draw_tiling(problem, tiling) for tiling in shown], f"{what} of {len(matches.tilings):,}")


def print_canvas(problem: TilingProblem, drawing: Canvas) -> None:
    """Print a drawing of tilings, in colour if the terminal has colours."""
    if in_colour():
        _print_in_colour(drawing, colours(len(problem.pieces)))
    else:
        print_lines(drawing.text())


def _print_in_colour(drawing: Canvas, palette: Sequence[str]) -> None:
    console = Console()
    for symbols, pieces in zip(drawing.symbols.tolist(), drawing.pieces.tolist(), strict=True):
        line = Text()
        for piece, group in groupby(zip(pieces, symbols, strict=True), key=lambda pair: pair[0]):
            line.append(
                printable("".join(symbol for _, symbol in group)),
                f"bold {INK} on {palette[piece]}" if piece >= 0 else "",
            )
        console.print(line, no_wrap=True, crop=False, overflow="ignore", highlight=False)
