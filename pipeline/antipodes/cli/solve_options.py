"""The arguments and options of ``antipodes solve``, and the checks that they can be combined."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from antipodes.cli.answer_files import AnswerFile
from antipodes.cli.drawing import Gif, PictureFiles, Png, Size, Svg
from antipodes.cli.options import (
    MOVE_LINES,
    AsJson,
    MemoryLimit,
    MoveSequences,
    PuzzleArgument,
    Quiet,
    SchedulerFile,
    SchedulerName,
    Workers,
    check_only_one,
    memory_limit_of,
    names_given,
)
from antipodes.cli.usage import naming
from antipodes.puzzles.python_source import is_reference, loaded_function
from antipodes.solving.solve import IDA_STAR, implied_method
from antipodes.stores import find_store
from antipodes.system.addresses import Address
from antipodes.system.options import LARGE, SMALL, option_of
from antipodes_tasks.base.errors import InputError
from antipodes_tasks.base.quoting import quote, shorten
from antipodes_tasks.properties.heuristic_function import name_of_function
from antipodes_tasks.properties.heuristics import NAMED
from antipodes_tasks.searches.best_first import ASTAR, BEAM, DEFAULT_WIDTH, MAX_WEIGHT
from antipodes_tasks.searches.guides import Guidance

TABLE, ROUTES = "table", "routes"
METHODS = ("bfs", "bidirectional", "iddfs", IDA_STAR, ASTAR, BEAM, TABLE, ROUTES)
GUIDED = (IDA_STAR, ASTAR, BEAM)
"""The methods that use a heuristic."""
ROUTE_LIMIT = 5
DEFAULT_LIMIT = 20
"""Number of solutions listed by default, one or two screens."""


@dataclass(frozen=True)
class SolveOptions:
    """The arguments and options as given; their names and order are those of the command line."""

    puzzle: PuzzleArgument
    position: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="POSITION",
            help="A position, written as in the config. "
            "[default: the start, if the puzzle has a goal or for --method routes]",
        ),
    ] = None
    moves: MoveSequences = None
    method: Annotated[
        str | None,
        typer.Option(metavar="METHOD", help=f"{', '.join(METHODS)}. [default: chosen for the puzzle and the options]"),
    ] = None
    to: Annotated[
        str | None,
        typer.Option(metavar="GOAL", help="A different goal: a position or a pattern. [default: the puzzle's goal]"),
    ] = None
    every: Annotated[bool, typer.Option("--all", help="Find every shortest solution.")] = False
    max_depth: Annotated[int | None, typer.Option(min=0, metavar="N", help="Maximum length of a solution.")] = None
    max_seconds: Annotated[
        float | None,
        typer.Option(
            min=0, metavar="SECONDS", help="Stop the search after this time. The first compilation does not count."
        ),
    ] = None
    listed: Annotated[
        int, typer.Option("--list", min=0, metavar="N", help="List at most N solutions. All are counted.")
    ] = DEFAULT_LIMIT
    limit: Annotated[
        int | None,
        typer.Option(min=1, metavar="N", help=f"Maximum length of a route (--method routes). [default: {ROUTE_LIMIT}]"),
    ] = None
    memory_limit: MemoryLimit = None
    store: Annotated[
        str | None,
        typer.Option(metavar="STORE", help="Table of the puzzle. [default: outputs/PUZZLE.zarr, if it exists]"),
    ] = None
    heuristic: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help=f"Heuristic of ida-star, astar or beam: {', '.join(NAMED)}, or a function path.py:name "
            "(not for ida-star). Without --method, a name chooses ida-star, and a function chooses astar. "
            "[default: the strongest that applies]",
        ),
    ] = None
    weight: Annotated[
        float | None,
        typer.Option(
            min=1,
            max=MAX_WEIGHT,
            metavar="W",
            help="Accept a path up to W times as long as a shortest one (--method astar). [default: 1]",
        ),
    ] = None
    width: Annotated[
        int | None,
        typer.Option(
            min=1,
            metavar="N",
            help=f"Number of positions kept at each depth (--method beam). [default: {DEFAULT_WIDTH}]",
        ),
    ] = None
    tables: Annotated[
        list[str] | None,
        typer.Option(metavar="STORE", help="Pattern table to use as heuristic of ida-star. Repeatable."),
    ] = None
    threads: Annotated[
        int | None,
        typer.Option(
            min=1,
            metavar="N",
            help="Number of threads for a search with pattern tables (not with --batch). [default: all processors]",
        ),
    ] = None
    batch: Annotated[
        str | None, typer.Option(metavar="FILE", help="Solve the positions in FILE, one per line. - is standard input.")
    ] = None
    output: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="Write the answers of --batch to FILE (.csv, .json or .jsonl). Positions already answered in FILE are "
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
        str | None,
        typer.Option(
            "--build",
            metavar=f"[={SMALL}|{LARGE}]",
            help="Build the puzzle's pattern tables first if they do not exist; large ones only with --build=large.",
        ),
    ] = None
    quiet: Quiet = False
    as_json: AsJson = False

    @property
    def reads_moves(self) -> bool:
        """Whether each line of the batch is a sequence of moves."""
        return self.moves == MOVE_LINES

    @property
    def own_store(self) -> Address | None:
        """The address given by ``--store``, or None."""
        if self.store is None:
            return None
        with naming("--store"):
            return find_store(self.store)

    @property
    def addresses(self) -> list[Address]:
        """The addresses given by ``--tables``."""
        with naming("--tables"):
            return [find_store(store) for store in self.tables or ()]

    @property
    def memory_bytes(self) -> int | None:
        """The memory limit in bytes, or None."""
        return memory_limit_of(self.memory_limit)

    @property
    def pictures(self) -> PictureFiles:
        """The picture files to write."""
        return PictureFiles.of(self.svg, self.png, self.gif, self.size)

    @property
    def takes_patterns(self) -> bool:
        """Whether the puzzle's own pattern tables, if any, guide the search."""
        others = (self.to, self.store, self.heuristic)
        return not self.tables and self.search_method in (None, IDA_STAR) and all(other is None for other in others)

    def check(self) -> None:
        """Raise InputError if the method would ignore an option, or if options cannot be combined."""
        _ = self.memory_bytes, self.pictures  # these raise, too
        if self.batch is not None:
            moves = None if self.reads_moves else self.moves
            check_only_one({"a position": self.position, "--moves": moves, "--batch": self.batch})
        self._check_method()
        self._check_tables()
        self._check_batch()
        self._check_routes()
        if self.build is not None:
            self._check_build()
        if self.output is not None:
            AnswerFile(Path(self.output)).check_writable()

    def _check_method(self) -> None:
        if self.method not in (None, *METHODS):
            raise InputError(f"--method: there is no method {quote(self.method)}; choose one of {', '.join(METHODS)}")
        methods = {"limit": (ROUTES,), "heuristic": GUIDED, "weight": (ASTAR,), "width": (BEAM,), "store": (TABLE,)}
        for option, fitting in methods.items():
            implied = option == "store" and self.search_method is None
            if getattr(self, option) is not None and self.search_method not in fitting and not implied:
                raise InputError(
                    f"--{option} can only be used with --method {' or '.join(fitting)}{self._choice(', not with ')}"
                )
        if self.is_function and self.method == IDA_STAR:
            raise InputError(f"--heuristic: {IDA_STAR} cannot use a function; choose {ASTAR} or {BEAM}")
        if self.every and self.search_method in (ASTAR, BEAM):
            raise InputError(f"--all cannot be combined with {self.search_method}, which finds one path")

    def _choice(self, before: str = "") -> str:
        """Return the option that chooses the method, after the words ``before``; "" if there is none."""
        if self.method is not None:
            return f"{before}--method {shorten(self.method)}"
        implying = names_given({"weight": self.weight, "width": self.width, "heuristic": self.heuristic})
        return f"{before}--{implying[0]}" if implying else ""

    @property
    def is_function(self) -> bool:
        """Whether the heuristic is a function in a Python file."""
        return self.heuristic is not None and is_reference(self.heuristic)

    def loaded_guide(self) -> tuple[Guidance, str | None]:
        """Return the heuristic and its name, or None and None if it is not given.

        A function is loaded, and its name includes the beginning of the SHA-256 of its file, since answers found with
        different versions of a function must not be mixed.
        """
        if self.heuristic is None or not self.is_function:
            return self.heuristic, self.heuristic
        with naming("--heuristic"):
            function, digest = loaded_function(self.heuristic)
        return function, f"{name_of_function(function)}@{digest[:8]}"

    @property
    def search_method(self) -> str | None:
        """The method as given or implied by other options, or None."""
        by_name = self.heuristic is not None and not self.is_function
        return self.method or implied_method(by_name, self.is_function, self.weight, self.width)

    @property
    def further(self) -> dict[str, Any]:
        """The options that only one search has."""
        return {name: value for name in ("weight", "width") if (value := getattr(self, name)) is not None}

    def _check_tables(self) -> None:
        if self.tables and (self.search_method not in (None, IDA_STAR) or self.heuristic):
            other = "--heuristic" if self.heuristic else self._choice()
            raise InputError(f"--tables cannot be combined with {other}; pattern tables are a heuristic of ida-star")
        if self.threads is not None and (self.batch is not None or self.search_method not in (None, IDA_STAR)):
            other = "--batch; set --workers instead" if self.batch is not None else self._choice()
            raise InputError(f"--threads cannot be combined with {other}")
        others = names_given({"tables": self.tables, "batch": self.batch})
        if self.store is not None and others:
            raise InputError(f"--store cannot be combined with --{others[0]}, which does not use the puzzle's table")

    def _check_batch(self) -> None:
        batches = ("output", "workers", "scheduler", "scheduler_file")
        if self.batch is None and (unfit := names_given({name: getattr(self, name) for name in batches})):
            raise InputError(f"{option_of(unfit[0])} can only be used with --batch")
        if self.output is not None and self.as_json:
            raise InputError("--output cannot be combined with --json; the file's suffix chooses .csv, .json or .jsonl")
        if self.batch is not None and (unfit := names_given({"--all": self.every, **self.pictures.files})):
            raise InputError(f"--{unfit[0].lstrip('-')} cannot be combined with --batch")
        if self.batch is not None and self.method in (TABLE, ROUTES):
            raise InputError(
                f"--batch cannot be combined with --method {self.method}; use antipodes query to look up many positions"
            )

    def _check_routes(self) -> None:
        limits = {"max-depth": self.max_depth, "max-seconds": self.max_seconds, "memory-limit": self.memory_limit}
        unfit = names_given({"to": self.to, **limits, **self.pictures.files})
        if self.method == ROUTES and unfit:
            raise InputError(f"--{unfit[0]} cannot be combined with --method {ROUTES}")

    def _check_build(self) -> None:
        """Raise InputError if --build names no set, or an option rules out the puzzle's own pattern tables."""
        if self.build not in (SMALL, LARGE):
            raise InputError(f"--build: expected {SMALL} or {LARGE}, found {quote(self.build)}")
        method = None if self.method == IDA_STAR else self.method
        others = {name: getattr(self, name) for name in ("to", "store", "heuristic", "weight", "width", "tables")}
        if unfit := names_given({"method": method, **others}):
            value = f" {method}" if method else ""
            raise InputError(
                f"--build cannot be combined with --{unfit[0]}{value}, which does not use the puzzle's pattern tables"
            )
