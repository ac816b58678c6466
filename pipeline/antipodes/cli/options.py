"""Options that several commands share."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from antipodes.cli.loading import loading
from antipodes.runs.default_store import default_store
from antipodes.storage.address import Address, address_from

if TYPE_CHECKING:
    from antipodes.runs.options import RunOptions

PUZZLE_HELP = "A bundled puzzle, the path of its file (.toml, .tws, .json, .gap), or path.py:name."
Puzzle = Annotated[str, typer.Argument(metavar="PUZZLE", help=PUZZLE_HELP)]
Store = Annotated[
    str,
    typer.Argument(
        metavar="STORE", help="The path or URL of a store, or the name of a puzzle or board whose store is in outputs/."
    ),
]
MoveSequence = Annotated[
    str | None,
    typer.Option(
        "--moves", metavar="MOVES", help='Instead of a position: the moves that lead to it, as in "R U R\' F2".'
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON value.")]
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


def find_store(text: str) -> Address:
    """The store at a path or a URL; where nothing is there, the default store of a puzzle of this name."""
    address = address_from(text)
    if not isinstance(address, Path) or os.path.exists(address):
        return address
    named = [default_store(text), default_store(text, counts_only=True)]
    return next(filter(os.path.exists, named), address)


def run_options(defaults: Mapping[str, Any], **given: Any) -> "RunOptions":
    """The options of a run: those given, else the config's ``[run]`` table, else the program's."""
    with loading():
        from antipodes.machine import process_began
        from antipodes.runs.options import RunOptions

    return RunOptions.chosen(defaults, **given, began=process_began())
