"""Options that several commands share."""

from collections.abc import Mapping
from typing import Annotated, Any

import typer

from antipodes.system.options import OPTIONS, memory_size, option_of

PUZZLE_HELP = "Name of a bundled puzzle, path of a puzzle file (.toml, .tws, .json, .gap), or path.py:name."
PuzzleArgument = Annotated[str, typer.Argument(metavar="PUZZLE", help=PUZZLE_HELP)]
Store = Annotated[
    str,
    typer.Argument(
        metavar="STORE",
        help="Path or URL of a store, or a puzzle or board (name or file) whose store is in outputs/.",
    ),
]
PuzzleOfStore = Annotated[
    str | None,
    typer.Option(
        "--puzzle",
        metavar="PUZZLE",
        help="Puzzle of the store, such as path.py:name. A store never runs code by itself. "
        "[default: the puzzle that the store names, if you have run or checked it on this machine]",
    ),
]
MoveSequence = Annotated[
    str | None,
    typer.Option(
        "--moves", metavar="MOVES", help='Give the position by the moves that lead to it, such as "R U R\' F2".'
    ),
]
OnlyMoves = Annotated[
    str | None,
    typer.Option(metavar="MOVES", help='Twisty puzzles: use only these moves and their powers, such as "U R F2".'),
]
Omit = Annotated[
    list[str] | None,
    typer.Option(metavar="SET", help="Twisty puzzles: ignore a set of pieces, such as CORNERS. Repeatable."),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON value.")]
Verbose = Annotated[bool, typer.Option("--verbose", help="Also print how the work is divided.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Do not show progress on stderr.")]


def run_option(name: str, **more: Any) -> Any:
    """Return typer's option for an option of `RunOptions`; ``more`` overrides arguments of typer, such as the help."""
    option = OPTIONS[name]
    return typer.Option(option_of(name), **{"metavar": option.metavar, "help": option.help, **more})


Workers = Annotated[int | None, run_option("workers", min=1)]
SchedulerName = Annotated[str | None, run_option("scheduler")]
SchedulerFile = Annotated[str | None, run_option("scheduler_file")]
PerformanceReport = Annotated[str | None, run_option("performance_report")]
CheckpointEvery = Annotated[float | None, run_option("checkpoint_every", min=0)]
MemoryLimit = Annotated[str | None, run_option("memory_limit")]
Overwrite = Annotated[bool, run_option("overwrite")]
Symmetry = Annotated[str | None, run_option("symmetry")]
CountsOnly = Annotated[bool, run_option("counts_only")]


def checked_options(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options of a run after checking the values that are not None.

    Raises InputError with the option's name as on the command line.
    """
    return {
        name: OPTIONS[name].check(value, option_of(name)) if name in OPTIONS and value is not None else value
        for name, value in given.items()
    }


def memory_limit_of(text: str | None) -> int | None:
    """Return ``--memory-limit`` in bytes, or None if it was not given."""
    return None if text is None else memory_size(text, "--memory-limit")


def names_given(options: Mapping[str, object]) -> list[str]:
    """Return the names of the options whose value is not None, False or an empty list."""
    return [name for name, value in options.items() if value is not None and value is not False and value != []]
