"""The arguments and options of ``antipodes solve``, and which of them fit together."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from antipodes.cli.answer_files import AnswerFile
from antipodes.cli.drawing import Gif, PictureFiles, Png, Size, Svg
from antipodes.cli.options import (
    AsJson,
    MemoryLimit,
    MoveSequence,
    PuzzleArgument,
    Quiet,
    SchedulerFile,
    SchedulerName,
    Workers,
    memory_limit_of,
    names_given,
)
from antipodes.cli.usage import naming
from antipodes.runs.options import option_of
from antipodes.storage.address import Address
from antipodes.stores import find_store
from antipodes.tables.solve import IDA_STAR
from antipodes_tasks.errors import InputError
from antipodes_tasks.quoting import quote, shorten

TABLE, ROUTES = "table", "routes"
METHODS = ("bfs", "bidirectional", "iddfs", IDA_STAR, TABLE, ROUTES)
ROUTE_LIMIT = 5
DEFAULT_LIMIT = 20
"""Solutions that are listed by default: a screen or two."""


@dataclass(frozen=True)
class SolveOptions:
    """The arguments and options of the command, as they were given; names and order are those of the command line."""

    puzzle: PuzzleArgument
    position: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="POSITION",
            help="A position as in the config. [default: the start, of a config with a goal and of routes]",
        ),
    ] = None
    moves: MoveSequence = None
    method: Annotated[
        str | None,
        typer.Option(metavar="METHOD", help=f"{', '.join(METHODS)}. [default: the one that suits the puzzle]"),
    ] = None
    to: Annotated[
        str | None,
        typer.Option(metavar="GOAL", help="Another goal: a position or a pattern. [default: the puzzle's own]"),
    ] = None
    every: Annotated[bool, typer.Option("--all", help="Find every shortest solution.")] = False
    max_depth: Annotated[int | None, typer.Option(min=0, metavar="N", help="Search at most N moves deep.")] = None
    max_seconds: Annotated[
        float | None,
        typer.Option(
            min=0, metavar="SECONDS", help="Stop the search after this time, compiling at a first use not counted."
        ),
    ] = None
    listed: Annotated[
        int, typer.Option("--list", min=0, metavar="N", help="List at most N solutions; all are counted.")
    ] = DEFAULT_LIMIT
    limit: Annotated[
        int | None,
        typer.Option(
            min=1, metavar="N", help=f"Moves of a route at most, with --method routes. [default: {ROUTE_LIMIT}]"
        ),
    ] = None
    memory_limit: MemoryLimit = None
    store: Annotated[
        str | None,
        typer.Option(metavar="STORE", help="The table of the puzzle. [default: outputs/PUZZLE.zarr, if it exists]"),
    ] = None
    heuristic: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="manhattan or linear-conflict, with --method ida-star. [default: the stronger one that fits]",
        ),
    ] = None
    tables: Annotated[
        list[str] | None,
        typer.Option(metavar="STORE", help="A table of a pattern as heuristic of ida-star; several times for several."),
    ] = None
    threads: Annotated[
        int | None,
        typer.Option(
            min=1,
            metavar="N",
            help="Threads that search together with tables; not with --batch. [default: all processors]",
        ),
    ] = None
    batch: Annotated[
        str | None, typer.Option(metavar="FILE", help="Solve the positions of a file, one a line; - is standard input.")
    ] = None
    output: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="With --batch: write there, .csv, .json or .jsonl; positions that it has, in the same order, are "
            "skipped.",
        ),
    ] = None
    workers: Workers = None
    scheduler: SchedulerName = None
    scheduler_file: SchedulerFile = None
    svg: Svg = None
    png: Png = None
    gif: Gif = None
    size: Size = None
    build: Annotated[
        bool, typer.Option("--build", help="First make the tables of the puzzle's patterns, if they are not there.")
    ] = False
    quiet: Quiet = False
    as_json: AsJson = False

    @property
    def own_store(self) -> Address | None:
        """The table of the puzzle, if one is named."""
        if self.store is None:
            return None
        with naming("--store"):
            return find_store(self.store)

    @property
    def addresses(self) -> list[Address]:
        """The stores of the tables that are named."""
        with naming("--tables"):
            return [find_store(store) for store in self.tables or ()]

    @property
    def room(self) -> int | None:
        """The memory limit in bytes."""
        return memory_limit_of(self.memory_limit)

    @property
    def pictures(self) -> PictureFiles:
        """The pictures that are asked for."""
        return PictureFiles.of(self.svg, self.png, self.gif, self.size)

    @property
    def takes_patterns(self) -> bool:
        """Whether the tables of the puzzle's own patterns guide the search, where there are any."""
        others = (self.to, self.store, self.heuristic)
        return not self.tables and self.method in (None, IDA_STAR) and all(other is None for other in others)

    def check(self) -> None:
        """Raise InputError for options that the method would ignore, or that do not fit together."""
        _ = self.room, self.pictures  # these raise, too
        given = names_given({"a position": self.position, "--moves": self.moves, "--batch": self.batch})
        if self.batch is not None and len(given) > 1:
            raise InputError(f"expected one of a position, --moves and --batch, found {' and '.join(given)}")
        self._check_method()
        self._check_tables()
        self._check_batch()
        self._check_routes()
        if self.build:
            self._check_build()
        if self.output is not None:
            AnswerFile(Path(self.output)).check_writable()

    def _check_method(self) -> None:
        if self.method not in (None, *METHODS):
            raise InputError(f"--method: expected one of {', '.join(METHODS)}; found {quote(self.method)}")
        for option, method in (("limit", ROUTES), ("heuristic", IDA_STAR), ("store", TABLE)):
            implied = option == "store" and self.method is None
            if getattr(self, option) is not None and self.method != method and not implied:
                raise InputError(f"--{option}: expected --method {method}, found {shorten(self.method or 'none')}")

    def _check_tables(self) -> None:
        if self.tables and (self.method not in (None, IDA_STAR) or self.heuristic):
            other = "--heuristic" if self.heuristic else f"--method {shorten(self.method or '')}"
            raise InputError(f"--tables: not with {other}: tables are a heuristic of ida-star")
        if self.threads is not None and (self.batch is not None or self.method not in (None, IDA_STAR)):
            other = "--batch, whose threads are --workers" if self.batch is not None else f"--method {self.method}"
            raise InputError(f"--threads: not with {other}")
        others = names_given({"tables": self.tables, "batch": self.batch})
        if self.store is not None and others:
            raise InputError(f"--store: not with --{others[0]}, which reads no whole table")

    def _check_batch(self) -> None:
        batches = ("output", "workers", "scheduler", "scheduler_file")
        if self.batch is None and (unfit := names_given({name: getattr(self, name) for name in batches})):
            raise InputError(f"{option_of(unfit[0])}: expected --batch, found none")
        if self.output is not None and self.as_json:
            raise InputError("--output: not with --json: its name says the form, .csv, .json or .jsonl")
        if self.batch is not None and (unfit := names_given({"--all": self.every, **self.pictures.files})):
            raise InputError(f"--{unfit[0].lstrip('-')}: not with --batch")
        if self.batch is not None and self.method in (TABLE, ROUTES):
            raise InputError(f"--batch: not with --method {self.method}; antipodes query reads tables")

    def _check_routes(self) -> None:
        limits = {"max-depth": self.max_depth, "max-seconds": self.max_seconds, "memory-limit": self.memory_limit}
        unfit = names_given({"to": self.to, **limits, **self.pictures.files})
        if self.method == ROUTES and unfit:
            raise InputError(f"--{unfit[0]}: not with --method {ROUTES}, which searches along its routes only")

    def _check_build(self) -> None:
        """Raise InputError for options with which the tables of the puzzle's own patterns are not used."""
        method = None if self.method == IDA_STAR else self.method
        others = {"to": self.to, "store": self.store, "heuristic": self.heuristic, "tables": self.tables}
        if unfit := names_given({"method": method, **others}):
            value = f" {method}" if method else ""
            raise InputError(
                f"--build: not with --{unfit[0]}{value}, which uses no tables of the puzzle's own patterns"
            )
