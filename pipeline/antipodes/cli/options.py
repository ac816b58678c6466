"""The options that several commands share."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from antipodes.cli.loading import loading
from antipodes.storage.address import Address, address_from

OUTPUTS = Path("outputs")

Puzzle = Annotated[
    str, typer.Argument(metavar="PUZZLE", help="The name of a bundled puzzle, or the path of a TOML file.")
]
Store = Annotated[
    str, typer.Argument(metavar="STORE", help="The directory or the URL of a table, or the name of a puzzle run here.")
]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON value.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress on stderr.")]
Workers = Annotated[int | None, typer.Option(min=1, help="Number of parallel tasks. [default: all processors]")]
SchedulerName = Annotated[
    str | None,
    typer.Option("--scheduler", help="threads, local (processes) or the address of a dask scheduler."),
]
SchedulerFile = Annotated[
    str | None, typer.Option(help="The file that a dask scheduler wrote its address to, in place of --scheduler.")
]
PerformanceReport = Annotated[
    str | None, typer.Option(metavar="FILE", help="Write dask's performance report (HTML) to FILE.")
]
CheckpointEvery = Annotated[
    float | None,
    typer.Option(min=0, help="Seconds between commits; 0: every layer. [default: 120; 30 on a cluster]"),
]
MemoryLimit = Annotated[
    str | None, typer.Option(help="Memory that the run may take, such as 2GiB. [default: what is available]")
]


def default_store(name: str) -> Path:
    """Where the table of a puzzle lies unless told otherwise."""
    return OUTPUTS / f"{name}.zarr"


def find_store(text: str) -> Address:
    """The store at a path or a URL, or that of a puzzle of this name at its default place."""
    address = address_from(text)
    if not isinstance(address, Path) or os.path.exists(address):
        return address
    named = default_store(text)
    return named if os.path.exists(named) else address


def chosen_store(option: str | None, run: Mapping[str, Any], name: str) -> Address:
    """Where a run's store goes: the option says, else the config's ``[run]`` table, else the default is taken."""
    text = option if option is not None else run.get("store")
    return default_store(name) if text is None else address_from(text)


def run_options(defaults: dict[str, Any], **given: Any) -> Any:
    """The options of a run: those given, else the config's ``[run]`` table, else the program's."""
    with loading():
        from antipodes.runs.options import RunOptions
        from antipodes.sizes import memory_size

    chosen = {**defaults, **{name: value for name, value in given.items() if value is not None}}
    for name in ("store", "quiet"):  # which are not the run's
        chosen.pop(name, None)
    if "memory_limit" in chosen:
        chosen["memory_limit"] = memory_size(chosen["memory_limit"])
    return RunOptions(**chosen)
