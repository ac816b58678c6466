"""The arguments and options of ``antipodes solve``, and the checks that they can be combined."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from antipodes.cli.answer_files import AnswerFile
from antipodes.cli.drawing import Gif, PictureFiles, Png, Size, Svg
from antipodes.cli.shared_options import (
    MOVE_LINES,
    AsJson,
    MemoryLimit,
    MoveSequences,
    PuzzleArgument,
    Quiet,
    SchedulerFile,
    SchedulerName,
    Workers,
    memory_limit_of,
)
from antipodes.cli.usage import naming
from antipodes.puzzles.python_source import is_reference, loaded_function
from antipodes.solving.solve import IDA_STAR, implied_method
from antipodes.stores import find_store
from antipodes.system.addresses import Address
from antipodes.system.options import LARGE, SMALL
from antipodes.system.parameters import Chosen, Rule, as_options, check_rules, excludes, needs, one_of
from antipodes_tasks.base.errors import InputError
from antipodes_tasks.base.quoting import quote
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


def _method(*values: str | None) -> Chosen:
    """Return the condition that the search has one of these methods, which other options can imply."""
    return Chosen("search_method", values, ("method", "weight", "width", "heuristic"))


PICTURES = ("svg", "png", "gif")
NOT_IDA_STAR = _method(*(method for method in METHODS if method != IDA_STAR))
RULES: tuple[Rule, ...] = (
    one_of("position", "moves", "batch"),
    *needs(("limit",), _method(ROUTES)),
    *needs(("heuristic",), _method(*GUIDED)),
    *needs(("weight",), _method(ASTAR)),
    *needs(("width",), _method(BEAM)),
    *needs(("store",), _method(TABLE, None)),
    excludes("every", _method(ASTAR, BEAM), hint=f"; {ASTAR} and {BEAM} find only one path"),
    excludes("tables", "heuristic", NOT_IDA_STAR, hint=f"; pattern tables are a heuristic of {IDA_STAR}"),
    excludes("threads", "batch", hint="; set --workers instead"),
    excludes("threads", NOT_IDA_STAR),
    excludes("store", "tables", "batch", hint=", which does not use the puzzle's table"),
    *needs(("output", "workers", "scheduler", "scheduler_file"), "batch"),
    excludes("output", "as_json", hint="; the file's suffix chooses .csv, .json or .jsonl"),
    *(excludes(name, "batch") for name in ("every", *PICTURES)),
    excludes("batch", _method(TABLE, ROUTES), hint="; use antipodes query to look up many positions"),
    *(excludes(name, _method(ROUTES)) for name in ("to", "max_depth", "max_seconds", "memory_limit", *PICTURES)),
    excludes(
        "build",
        NOT_IDA_STAR,
        *("to", "store", "heuristic", "weight", "width", "tables"),
        hint=", which does not use the puzzle's pattern tables",
    ),
)
"""Which arguments and options can be given together; ``search_method`` is `SolveOptions.search_method`."""
SPELL = as_options({"position": "a position", "every": "--all", "as_json": "--json"})


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
        return PictureFiles.of(self.size, svg=self.svg, png=self.png, gif=self.gif)

    @property
    def takes_patterns(self) -> bool:
        """Whether the puzzle's own pattern tables, if any, guide the search."""
        others = (self.to, self.store, self.heuristic)
        return not self.tables and self.search_method in (None, IDA_STAR) and all(other is None for other in others)

    def check(self) -> None:
        """Raise InputError if the method would ignore an option, or if options cannot be combined."""
        _ = self.memory_bytes, self.pictures  # these raise, too
        if self.method not in (None, *METHODS):
            raise InputError(f"--method: there is no method {quote(self.method)}; choose one of {', '.join(METHODS)}")
        if self.is_function and self.method == IDA_STAR:
            raise InputError(f"--heuristic: {IDA_STAR} cannot use a function; choose {ASTAR} or {BEAM}")
        if self.build not in (None, SMALL, LARGE):
            raise InputError(f"--build: expected {SMALL} or {LARGE}, found {quote(self.build)}")
        given = {**vars(self), "moves": None if self.reads_moves else self.moves, "search_method": self.search_method}
        check_rules(RULES, given, SPELL)
        if self.output is not None:
            AnswerFile(Path(self.output)).check_writable()

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
