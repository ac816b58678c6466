"""``antipodes solve``: shortest paths from one position."""

import signal
import sys
import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated

import typer

from antipodes.cli.command import PositionsCommand, add
from antipodes.cli.interrupts import Stopped
from antipodes.cli.loading import loading
from antipodes.cli.options import AsJson, MemoryLimit, MoveSequence, Puzzle, Quiet
from antipodes.cli.pictures import Gif, PictureFiles, Png, Size, Svg
from antipodes.cli.solutions import show_routes, show_solved
from antipodes.runs.default_store import default_store
from antipodes.storage.address import Address
from antipodes.stores.named import find_store
from antipodes_tasks.errors import InputError
from antipodes_tasks.quoting import quote, shorten

if TYPE_CHECKING:
    from antipodes.cli.search_progress import SearchProgress
    from antipodes.puzzles.puzzle import Puzzle as PuzzleItself
    from antipodes_tasks.rules.moves import Labels

TABLE, ROUTES = "table", "routes"
METHODS = ("bfs", "bidirectional", "iddfs", "ida-star", TABLE, ROUTES)
ROUTE_LIMIT = 5
LISTED = 20
"""Solutions that are listed by default: a screen or two."""

Position = Annotated[
    list[str] | None,
    typer.Argument(metavar="POSITION", help="A position as in the config; routes begin at the puzzle's start."),
]
Method = Annotated[
    str | None,
    typer.Option(metavar="METHOD", help=f"{', '.join(METHODS)}. [default: the one that suits the puzzle]"),
]


@dataclass(frozen=True, slots=True)
class Options:
    """The options and arguments."""

    method: str | None
    goal: str | None
    every: bool
    max_depth: int | None
    max_seconds: float | None
    listed: int
    limit: int | None
    memory_limit: int | None
    store: Address | None
    heuristic: str | None
    pictures: PictureFiles
    as_json: bool


def register(app: typer.Typer) -> None:
    """Add the command."""
    add(
        app,
        "Puzzles",
        "solve",
        solve,
        'antipodes solve eight-puzzle "1 2 3 / 4 0 5 / 7 8 6"',
        'antipodes solve 2x2x2 --moves "R U R\' F2" --all',
        "antipodes solve eight-puzzle 867254301 --to 123456708",
        kind=PositionsCommand,
    )


def solve(
    puzzle: Puzzle,
    position: Position = None,
    moves: MoveSequence = None,
    method: Method = None,
    to: Annotated[
        str | None,
        typer.Option(metavar="GOAL", help="Another goal: a position or a pattern. [default: the puzzle's own]"),
    ] = None,
    every: Annotated[bool, typer.Option("--all", help="Find every shortest solution.")] = False,
    max_depth: Annotated[int | None, typer.Option(min=0, metavar="N", help="Search at most N moves deep.")] = None,
    max_seconds: Annotated[
        float | None, typer.Option(min=0, metavar="SECONDS", help="Stop the search after this time.")
    ] = None,
    listed: Annotated[
        int, typer.Option("--list", min=0, metavar="N", help="List at most N solutions; all are counted.")
    ] = LISTED,
    limit: Annotated[
        int | None,
        typer.Option(
            min=1, metavar="N", help=f"Moves of a route at most, with --method routes. [default: {ROUTE_LIMIT}]"
        ),
    ] = None,
    memory_limit: MemoryLimit = None,
    store: Annotated[
        str | None,
        typer.Option(metavar="STORE", help="The table of the puzzle. [default: outputs/PUZZLE.zarr, if it exists]"),
    ] = None,
    heuristic: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="manhattan or linear-conflict, with --method ida-star. [default: the stronger one that fits]",
        ),
    ] = None,
    svg: Svg = None,
    png: Png = None,
    gif: Gif = None,
    size: Size = None,
    quiet: Quiet = False,
    as_json: AsJson = False,
) -> None:
    """Find a shortest path from a position to the start or a goal."""
    with loading():
        from antipodes.config import load_config
        from antipodes.sizes import memory_size

    room = None if memory_limit is None else memory_size(memory_limit)
    pictures = PictureFiles.of(svg, png, gif, size)
    options = Options(
        method, to, every, max_depth, max_seconds, listed, limit, room, store, heuristic, pictures, as_json
    )
    _check_options(options)
    if store is not None:
        options = replace(options, store=find_store(store))
    found = load_config(puzzle).puzzle
    labels = _labels(found, position, moves)
    with _Stoppable(quiet) as progress:
        if method == ROUTES:
            _routes(found, labels, options, progress)
        else:
            _solve(found, labels, options, progress)


def _labels(puzzle: "PuzzleItself", position: list[str] | None, moves: str | None) -> "Labels | None":
    """The position that is given as it is, or by the moves that lead to it; None if it is not given."""
    if moves is None:
        return puzzle.parse(" ".join(position)) if position else None
    if position:
        raise InputError("expected a position or --moves, found both")
    labels: Labels = puzzle.follow(moves)[-1]
    return labels


class _Stoppable:
    """Inside it, Ctrl-C and SIGTERM end the command with one line: the time, and the moves that are ruled out."""

    def __init__(self, quiet: bool) -> None:
        self._quiet = quiet

    def __enter__(self) -> "SearchProgress":
        from antipodes.cli.search_progress import SearchProgress

        self._begin = time.perf_counter()
        self._before = signal.signal(signal.SIGTERM, signal.default_int_handler)
        self._progress = SearchProgress(sys.stderr, self._quiet)
        return self._progress

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        signal.signal(signal.SIGTERM, self._before)
        self._progress.clear()
        if kind is not None and issubclass(kind, KeyboardInterrupt):
            seconds = time.perf_counter() - self._begin
            known = f"{self._progress.ruled_out}; " if self._progress.ruled_out else ""
            raise Stopped(f"stopped after {seconds:.1f} s: {known}nothing was saved; rerunning starts over")


def _check_options(options: Options) -> None:
    """Refuse options that the method would ignore."""
    if options.method not in (None, *METHODS):
        raise InputError(f"--method: expected one of {', '.join(METHODS)}; found {quote(options.method)}")
    only = {"limit": ROUTES, "heuristic": "ida-star", "store": TABLE}
    for option, method in only.items():
        implied = option == "store" and options.method is None
        if getattr(options, option) is not None and options.method != method and not implied:
            raise InputError(f"--{option}: expected --method {method}, found {shorten(options.method or 'none')}")
    not_with_routes = {
        "to": options.goal is not None,
        "max-depth": options.max_depth is not None,
        "max-seconds": options.max_seconds is not None,
        "memory-limit": options.memory_limit is not None,
        **dict.fromkeys(options.pictures.files, True),
    }
    for option, given in not_with_routes.items():
        if options.method == ROUTES and given:
            raise InputError(f"--{option}: not with --method {ROUTES}, which searches along its routes only")


def _solve(puzzle: "PuzzleItself", position: "Labels | None", options: Options, progress: "SearchProgress") -> None:
    from antipodes.config import give
    from antipodes.puzzles.pattern import aimed_at, goals_in
    from antipodes_tasks.searches.problem import Problem

    if position is None:
        raise InputError("expected a position to solve, found none")
    goal = None if options.goal is None else goals_in(puzzle, options.goal)
    problem = Problem.of(puzzle.rules, position, goal)
    with loading():
        from antipodes.tables.solve import solve_timed

    give(puzzle)  # a table of it may be opened
    drawn = puzzle if options.goal is None else aimed_at(puzzle, [options.goal])
    solved = solve_timed(
        problem,
        options.method if options.store is None else TABLE,
        default_store(puzzle.name) if options.store is None else options.store,
        listener=progress,
        heuristic=options.heuristic,
        memory_limit=options.memory_limit,
        every=options.every,
        max_depth=options.max_depth,
        max_seconds=options.max_seconds,
        listed=options.listed,
    )
    progress.clear()
    show_solved(drawn, solved, options.every, options.as_json)
    for path in solved.answer.solutions[:1]:
        options.pictures.draw_way(drawn, path)


def _routes(puzzle: "PuzzleItself", start: "Labels | None", options: Options, progress: "SearchProgress") -> None:
    with loading():
        from antipodes_tasks.searches.routes import exchanges

    limit = options.limit or ROUTE_LIMIT
    exchanges(puzzle.rules, min(limit, 3), start, progress)  # loads the kernels
    begin = time.perf_counter()
    found = exchanges(puzzle.rules, limit, start, progress)
    seconds = time.perf_counter() - begin
    progress.clear()
    show_routes(puzzle, found, seconds, options.listed, options.as_json)
