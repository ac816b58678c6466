"""``antipodes solve``: one position, without a table if need be."""

import signal
import sys
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import typer

from antipodes.cli.interrupts import Stopped
from antipodes.cli.loading import loading
from antipodes.cli.options import AsJson, Puzzle, Quiet, default_store, find_store
from antipodes.cli.solutions import Timed, show_answer, show_exchanges
from antipodes.errors import InputError
from antipodes.quoting import quote, shorten
from antipodes.storage.address import Address

if TYPE_CHECKING:
    from antipodes.cli.search_progress import SearchProgress
    from antipodes.puzzles.puzzle import Puzzle as PuzzleItself
    from antipodes.searches.answer import Answer
    from antipodes.searches.problem import Problem

METHODS = ("bfs", "bidirectional", "iddfs", "ida-star", "table", "routes")
ROUTES = "routes"
ROUTE_LIMIT = 5

Position = Annotated[
    list[str] | None,
    typer.Argument(metavar="POSITION", help="A position as in the config; routes begin at the puzzle's start."),
]
Method = Annotated[str | None, typer.Option(help=f"{', '.join(METHODS)}. [default: what suits the puzzle]")]


@dataclass(frozen=True, slots=True)
class Asked:
    """What the options say."""

    method: str | None
    goal: str | None
    every: bool
    bound: int | None
    listed: int
    limit: int | None
    store: Address | None
    heuristic: str | None
    as_json: bool


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("solve", context_settings={"ignore_unknown_options": True})(solve)


def solve(
    puzzle: Puzzle,
    position: Position = None,
    method: Method = None,
    to: Annotated[str | None, typer.Option(metavar="GOAL", help="Where to. [default: the puzzle's start]")] = None,
    every: Annotated[bool, typer.Option("--all", help="Every shortest solution.")] = False,
    bound: Annotated[int | None, typer.Option(min=0, help="Search at most N moves deep.")] = None,
    listed: Annotated[int, typer.Option("--list", min=0, help="List at most N solutions; all are counted.")] = 1000,
    limit: Annotated[
        int | None, typer.Option(min=1, help=f"Moves of a route, with --method routes. [default: {ROUTE_LIMIT}]")
    ] = None,
    store: Annotated[
        str | None, typer.Option(help="The table of the puzzle. [default: outputs/PUZZLE.zarr, if it exists]")
    ] = None,
    heuristic: Annotated[
        str | None, typer.Option(help="manhattan or linear-conflict, with --method ida-star. [default: the best]")
    ] = None,
    quiet: Quiet = False,
    as_json: AsJson = False,
) -> None:
    """Find a shortest path from a position to the start or another goal."""
    with loading():
        from antipodes.config import load_config

    address = find_store(store) if store is not None else None
    asked = Asked(method, to, every, bound, listed, limit, address, heuristic, as_json)
    _check_options(asked)
    found = load_config(puzzle).puzzle
    with _Stoppable(quiet) as progress:
        if method == ROUTES:
            _exchange(found, position, asked, progress)
        else:
            _solve(found, position, asked, progress)


class _Stoppable:
    """While it is entered, Ctrl-C and SIGTERM end the command with one line that says when, and what is known."""

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
            known = f"{self._progress.proved}; " if self._progress.proved else ""
            raise Stopped(f"stopped after {seconds:.1f} s: {known}nothing was saved, rerunning starts over")


def _check_options(asked: Asked) -> None:
    """Refuse options that the method would ignore."""
    if asked.method not in (None, *METHODS):
        raise InputError(f"--method: expected one of {', '.join(METHODS)}; found {quote(asked.method)}")
    only = {"limit": ROUTES, "heuristic": "ida-star", "store": "table"}
    for option, method in only.items():
        implied = option == "store" and asked.method is None
        if getattr(asked, option) is not None and asked.method != method and not implied:
            raise InputError(f"--{option}: expected --method {method}, found {shorten(asked.method or 'none')}")
    for option, value in (("to", asked.goal), ("bound", asked.bound)):
        if asked.method == ROUTES and value is not None:
            raise InputError(f"--{option}: not with --method {ROUTES}, which finds the ends that its routes lead to")


def _solve(puzzle: "PuzzleItself", position: list[str] | None, asked: Asked, progress: "SearchProgress") -> None:
    from antipodes.searches.problem import Problem

    if not position:
        raise InputError("expected a position to solve, found none")
    goal = None if asked.goal is None else puzzle.parse(asked.goal)
    problem = Problem.of(puzzle, puzzle.parse(" ".join(position)), goal)
    begin, answer, reason = _answer(problem, asked, progress)
    seconds = time.perf_counter() - begin
    progress.clear()
    show_answer(puzzle, Timed(answer, seconds, reason), asked.every, asked.bound, asked.as_json)


def _answer(problem: "Problem", asked: Asked, progress: "SearchProgress") -> tuple[float, "Answer", str | None]:
    """When the search began, its answer, and why its method was chosen unless it was asked for."""
    with loading():
        from antipodes.tables.solve import TABLE, choose_method, load_kernels, solve, solve_by_table

    default = default_store(problem.puzzle.name)
    method, reason = asked.method, None
    if asked.store is not None:
        method = TABLE
    elif method is None:
        choice = choose_method(problem, default)
        method, reason = choice.method, choice.reason
    settings: dict[str, Any] = {"every": asked.every, "bound": asked.bound, "listed": asked.listed}
    if method == TABLE:
        with _open_table(problem, asked.store or default) as table:
            begin = time.perf_counter()
            return begin, solve_by_table(problem, table, **settings), reason
    options: dict[str, Any] = {"heuristic": asked.heuristic} if asked.heuristic is not None else {}
    load_kernels(problem, method, **options)
    begin = time.perf_counter()
    return begin, solve(problem, method, listener=progress, **settings, **options), reason


def _open_table(problem: "Problem", store: Address) -> Any:
    with loading():
        from antipodes.tables.table import open_table

    table = open_table(store)
    if table.puzzle.fingerprint != problem.puzzle.fingerprint:
        raise InputError(f"--store: expected the table of {problem.puzzle.name}, found that of {table.puzzle.name}")
    return table


def _exchange(puzzle: "PuzzleItself", position: list[str] | None, asked: Asked, progress: "SearchProgress") -> None:
    with loading():
        from antipodes.searches.routes import exchanges

    start = puzzle.parse(" ".join(position)) if position else None
    limit = asked.limit or ROUTE_LIMIT
    exchanges(puzzle, min(limit, 3), start, progress)  # loads the kernels
    begin = time.perf_counter()
    found = exchanges(puzzle, limit, start, progress)
    seconds = time.perf_counter() - begin
    progress.clear()
    show_exchanges(puzzle, found, seconds, asked.listed, asked.as_json)
