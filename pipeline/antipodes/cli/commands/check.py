"""``antipodes check``: whether the definition of a puzzle is consistent."""

from typing import Annotated

import typer

from antipodes.cli.command import add
from antipodes.cli.loading import loading
from antipodes.cli.options import AsJson, Puzzle
from antipodes.cli.output import FAILED, print_json
from antipodes_tasks.quoting import counted


def register(app: typer.Typer) -> None:
    """Add the command."""
    add(app, "Puzzles", "check", check, "antipodes check my-puzzle.toml", "antipodes check puzzles.py:jugs")


def check(
    puzzle: Puzzle,
    seed: Annotated[int, typer.Option(min=0, metavar="N", help="Draw other positions to try.")] = 0,
    as_json: AsJson = False,
) -> int:
    """Check a puzzle: moves, inverses, how positions are written, and a small search against brute force."""
    with loading():
        from antipodes.checking import check_puzzle
        from antipodes.config import load_config

    config = load_config(puzzle)
    report = check_puzzle(config.puzzle, seed)
    if as_json:
        print_json(report.to_json())
        return 0 if report.ok else FAILED
    for problem in report.problems:
        print(problem)
    for note in report.notes:
        print(f"note: {note}")
    if report.ok:
        print(f"{config.puzzle.name} is ok: {'; '.join(report.checked)}")
        return 0
    print(f"{config.puzzle.name}: {counted(len(report.problems), 'problem')}")
    return FAILED
