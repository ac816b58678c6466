"""Options that several commands share."""

from collections.abc import Mapping
from typing import Annotated

import typer

PUZZLE_HELP = "A bundled puzzle, the path of its file (.toml, .tws, .json, .gap), or path.py:name."
PuzzleArgument = Annotated[str, typer.Argument(metavar="PUZZLE", help=PUZZLE_HELP)]
Store = Annotated[
    str,
    typer.Argument(
        metavar="STORE",
        help="The path or URL of a store, or a puzzle or board whose store is in outputs/: its name or its file.",
    ),
]
Given = Annotated[
    str | None,
    typer.Option(
        "--puzzle",
        metavar="PUZZLE",
        help="The puzzle of the store, such as path.py:name: a store alone runs no code. "
        "[default: the one that it names, if you have run or checked that here]",
    ),
]
MoveSequence = Annotated[
    str | None,
    typer.Option(
        "--moves", metavar="MOVES", help='Instead of a position: the moves that lead to it, as in "R U R\' F2".'
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON value.")]
Verbose = Annotated[bool, typer.Option("--verbose", help="Print how the work is divided, too.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print no progress on stderr.")]
Workers = Annotated[
    int | None, typer.Option(min=1, metavar="N", help="Number of parallel tasks. [default: all processors]")
]
SchedulerName = Annotated[
    str | None,
    typer.Option(
        "--scheduler",
        metavar="NAME",
        help="threads, local (processes) or the address of a dask scheduler. [default: threads]",
    ),
]
SchedulerFile = Annotated[
    str | None,
    typer.Option(metavar="FILE", help="The file with the address of a dask scheduler, instead of --scheduler."),
]
PerformanceReport = Annotated[
    str | None, typer.Option(metavar="FILE", help="Write dask's performance report (HTML) to FILE.")
]
CheckpointEvery = Annotated[
    float | None,
    typer.Option(
        min=0, metavar="SECONDS", help="Seconds between commits; 0: every layer. [default: 120; 30 on a cluster]"
    ),
]
MemoryLimit = Annotated[
    str | None,
    typer.Option(metavar="SIZE", help="Memory limit, such as 2GiB. [default: the free memory]"),
]
CountsOnly = Annotated[
    bool, typer.Option("--counts-only", help="Keep the layers and the first antipodes, and make no table.")
]


def names_given(options: Mapping[str, object]) -> list[str]:
    """The names of the options that were given a value."""
    return [name for name, value in options.items() if value is not None and value is not False and value != []]
