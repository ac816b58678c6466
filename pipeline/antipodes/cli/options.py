"""Options that several commands share."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from antipodes.cli.loading import loading
from antipodes.storage.address import Address, address_from

if TYPE_CHECKING:
    from antipodes.runs.options import RunOptions

OUTPUTS = Path("outputs")

PUZZLE_HELP = "A bundled puzzle, the path of its file (.toml, .tws, .json, .gap), or path.py:name."
Puzzle = Annotated[str, typer.Argument(metavar="PUZZLE", help=PUZZLE_HELP)]
Store = Annotated[
    str,
    typer.Argument(
        metavar="STORE",
        help="The path or URL of a store, or a puzzle or board whose store is in outputs/: its name or its file.",
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


def default_store(name: str, counts_only: bool = False) -> Path:
    """The path of the store of a puzzle or board of this name."""
    return OUTPUTS / f"{name}{'.counts' if counts_only else ''}.zarr"


def chosen_store(option: str | None, run: Mapping[str, Any], name: str, counts_only: bool = False) -> Address:
    """The store of a run: that of the option, else of the config's ``[run]`` table, else the default one."""
    text = option if option is not None else run.get("store")
    return default_store(name, counts_only) if text is None else address_from(text)


def run_options(defaults: Mapping[str, Any], **given: Any) -> "RunOptions":
    """The options of a run: those given, else the config's ``[run]`` table, else the program's."""
    with loading():
        from antipodes.machine import process_began
        from antipodes.runs.options import RunOptions
        from antipodes.sizes import memory_size

    chosen = {**defaults, **{name: value for name, value in given.items() if value is not None}}
    for name in ("store", "quiet"):  # the command's own
        chosen.pop(name, None)
    if "memory_limit" in chosen:
        chosen["memory_limit"] = memory_size(chosen["memory_limit"])
    return RunOptions(**chosen, began=process_began())
