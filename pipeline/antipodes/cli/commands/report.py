"""``antipodes report`` and ``antipodes export``: publish a store as a web page, or as JSON and CSV."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from antipodes.bridges import parquet as parquet_files
from antipodes.bridges import pddl as planning_tasks
from antipodes.cli.command import command, commands, obeys
from antipodes.cli.running import preparing
from antipodes.cli.shared_options import AsJson, PuzzleOfStore, Store
from antipodes.cli.streams import print_json, print_message
from antipodes.cli.usage import naming
from antipodes.puzzles.config import load_config
from antipodes.report_page.page import check_output
from antipodes.report_page.result_files import DEFAULT_LIMIT, write_results
from antipodes.report_page.store_report import DEFAULT_TILINGS, write_report
from antipodes.stores import find_named
from antipodes.system.machine import human
from antipodes.system.parameters import excludes, needs
from antipodes_tasks.base.quoting import shorten

app = commands()


@dataclass(frozen=True, slots=True)
class WrittenReport:
    """A report that was written to a file, for JSON output."""

    store: str
    output: str
    bytes: int


@dataclass(frozen=True, slots=True)
class WrittenResults:
    """Results that were written to a folder, for JSON output."""

    store: str
    folder: str
    files: list[str]


@dataclass(frozen=True, slots=True)
class WrittenTask:
    """A planning task that was written to a folder, for JSON output."""

    puzzle: str
    folder: str
    files: list[str]


@command(
    app,
    "report",
    "antipodes report eight-puzzle --output eight-puzzle.html",
    "antipodes report 6x10 --output 6x10.html --limit 60",
)
def report(
    store: Store,
    output: Annotated[Path, typer.Option(metavar="FILE", help="Path of the page; must end in .html.")],
    limit: Annotated[
        int, typer.Option(min=1, max=1000, metavar="N", help="Draw at most N antipodes or tilings.")
    ] = DEFAULT_TILINGS,
    as_json: AsJson = False,
    puzzle: PuzzleOfStore = None,
) -> None:
    """Write a report on a store: one HTML page to send or publish."""
    named = find_named(store, puzzle)
    with naming("--output"):
        check_output(output)
    write_report(named.address, output, limit, named.puzzle)
    size = output.stat().st_size
    if as_json:
        print_json(WrittenReport(str(named.address), str(output), size))
    else:
        print_message(f"report written to {shorten(str(output))}, {human(size)}")


@command(
    app,
    "export",
    "antipodes export eight-puzzle results",
    "antipodes export 2x2x2-corner results --unique",
    "antipodes export three-colours data --parquet --sample 1000000 --seed 1",
    'antipodes export eight-puzzle task --pddl --position "1 2 3 4 0 5 7 8 6"',
)
@obeys(
    *needs(("sample", "rows_per_file"), "parquet"),
    *needs(("seed",), "sample"),
    *needs(("position",), "pddl"),
    excludes("parquet", "limit", "unique"),
    excludes("pddl", "limit", "unique", "parquet", "puzzle"),
)
def export(
    store: Store,
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="Folder to write to; created if it does not exist.")],
    limit: Annotated[
        int | None,
        typer.Option(min=1, metavar="N", help=f"List at most N antipodes or tilings. [default: {DEFAULT_LIMIT}]"),
    ] = None,
    unique: Annotated[
        bool,
        typer.Option("--unique", help="Also count positions up to symmetry; list one antipode per symmetry class."),
    ] = False,
    parquet: Annotated[
        bool,
        typer.Option(
            "--parquet", help="Write all positions with distances and best moves as a dataset in Parquet files."
        ),
    ] = False,
    sample: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="With --parquet: only N positions, drawn at random.")
    ] = None,
    seed: Annotated[
        int | None,
        typer.Option(
            min=0, metavar="S", help="With --sample: seed, to draw the same positions again. [default: random]"
        ),
    ] = None,
    rows_per_file: Annotated[
        int | None,
        typer.Option(
            min=1,
            metavar="N",
            help=f"With --parquet: maximum number of rows of a file. [default: {parquet_files.ROWS_PER_FILE}]",
        ),
    ] = None,
    pddl: Annotated[
        bool,
        typer.Option(
            "--pddl", help="STORE is a puzzle: write it as a planning task in PDDL (sliding tiles, Hanoi, blocks)."
        ),
    ] = False,
    position: Annotated[
        str | None,
        typer.Option(
            metavar="POSITION",
            help="With --pddl: the position at which the plan begins. "
            "[default: the puzzle's start if it also has a goal, otherwise the same 1,000 random moves away]",
        ),
    ] = None,
    as_json: AsJson = False,
    puzzle: PuzzleOfStore = None,
) -> None:
    """Export the results in a finished store as JSON and CSV, or a dataset."""
    if pddl:
        found = load_config(store).puzzle
        paths = planning_tasks.export(found, folder, position=position)
        _print_written(WrittenTask(found.name, str(folder), [path.name for path in paths]), as_json)
        return
    named = find_named(store, puzzle)
    with preparing():
        if parquet:
            paths = parquet_files.export(
                named.address,
                folder,
                sample=sample,
                seed=seed,
                rows_per_file=rows_per_file or parquet_files.ROWS_PER_FILE,
                puzzle=named.puzzle,
            )
            files = [path.relative_to(folder).as_posix() for path in paths]
        else:
            files = write_results(named.address, folder, limit or DEFAULT_LIMIT, named.puzzle, unique)
    _print_written(WrittenResults(str(named.address), str(folder), files), as_json)


def _print_written(written: WrittenResults | WrittenTask, as_json: bool) -> None:
    if as_json:
        print_json(written)
    else:
        print_message(f"{', '.join(written.files)} written to {shorten(written.folder)}")
