"""``antipodes solve``: shortest paths from one position."""

import signal
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, TextIO

import typer

from antipodes.cli.answer_files import AnswerFile
from antipodes.cli.command import PositionsCommand, command, commands
from antipodes.cli.drawing import Gif, PictureFiles, Png, Size, Svg, print_path
from antipodes.cli.failures import Stopped
from antipodes.cli.loading import importing_libraries
from antipodes.cli.options import (
    AsJson,
    MemoryLimit,
    MoveSequence,
    PuzzleArgument,
    Quiet,
    SchedulerFile,
    SchedulerName,
    Workers,
    names_given,
)
from antipodes.cli.streams import print_json, say
from antipodes.config import give, load_config
from antipodes.progress.searches import describe_search, ruled_out
from antipodes.puzzles.pattern import aimed_at, goals_in
from antipodes.puzzles.puzzle import Puzzle
from antipodes.runs.options import default_store, memory_size, option_of
from antipodes.storage.address import Address
from antipodes.stores import find_store
from antipodes.tables.drawing import draw_moves
from antipodes.tables.patterns import load_patterns
from antipodes.tables.report import routes_view, solved_view
from antipodes.tables.solve import IDA_STAR, Solved, answers, solve_timed
from antipodes_tasks.errors import InputError, ResourceLimitError
from antipodes_tasks.quoting import counted, quote, shorten
from antipodes_tasks.rules.moves import Labels
from antipodes_tasks.searches.answer import Answer, Outcome, unsolved
from antipodes_tasks.searches.patterns import Patterns
from antipodes_tasks.searches.problem import Problem
from antipodes_tasks.searches.progress import Deadline, Progress, Pulse, TimeLimitReached
from antipodes_tasks.searches.routes import Exchanges, exchanges

TABLE, ROUTES = "table", "routes"
METHODS = ("bfs", "bidirectional", "iddfs", "ida-star", TABLE, ROUTES)
ROUTE_LIMIT = 5
LISTED = 20
"""Solutions that are listed by default: a screen or two."""

LISTABLE = 10_000
"""Solutions of which all may be listed: billions fit into no memory."""
FIRST, REDRAWN, REPEATED = 2.0, 0.5, 10.0
"""Seconds until the first line of progress, between two updates on a terminal, and between two lines elsewhere."""

Position = Annotated[
    list[str] | None,
    typer.Argument(metavar="POSITION", help="A position as in the config; routes begin at the puzzle's start."),
]
Method = Annotated[
    str | None,
    typer.Option(metavar="METHOD", help=f"{', '.join(METHODS)}. [default: the one that suits the puzzle]"),
]
Tables = Annotated[
    list[str] | None,
    typer.Option(metavar="STORE", help="A table of a pattern as heuristic of ida-star; several times for several."),
]
BatchFile = Annotated[
    str | None, typer.Option(metavar="FILE", help="Solve the positions of a file, one a line; - is standard input.")
]
Threads = Annotated[
    int | None,
    typer.Option(min=1, metavar="N", help="Threads that search together with tables. [default: all processors]"),
]
Build = Annotated[
    bool, typer.Option("--build", help="First make the tables of the puzzle's patterns, if they are not there.")
]
Output = Annotated[
    str | None,
    typer.Option(
        metavar="FILE",
        help="With --batch: write there, .csv, .json or .jsonl; positions that it has, in the same order, are skipped.",
    ),
]

app = commands()


@dataclass(frozen=True, slots=True)
class SolveOptions:
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
    tables: list[str]
    threads: int | None
    batch: str | None
    output: str | None
    workers: int | None
    scheduler: str | None
    scheduler_file: str | None
    pictures: PictureFiles
    as_json: bool
    own_tables: bool = False
    """Whether the tables are those of the puzzle's own patterns, for which nobody asked."""

    @property
    def addresses(self) -> list[Address]:
        """The stores of the tables."""
        return [find_store(store) for store in self.tables]

    @property
    def takes_patterns(self) -> bool:
        """Whether the tables of the puzzle's own patterns guide the search, where there are any."""
        others = (self.goal, self.store, self.heuristic)
        return not self.tables and self.method in (None, IDA_STAR) and all(other is None for other in others)

    def check(self) -> None:
        """Raise InputError for options that the method would ignore."""
        if self.method not in (None, *METHODS):
            raise InputError(f"--method: expected one of {', '.join(METHODS)}; found {quote(self.method)}")
        for option, method in (("limit", ROUTES), ("heuristic", "ida-star"), ("store", TABLE)):
            implied = option == "store" and self.method is None
            if getattr(self, option) is not None and self.method != method and not implied:
                raise InputError(f"--{option}: expected --method {method}, found {shorten(self.method or 'none')}")
        if self.tables and (self.method not in (None, "ida-star") or self.heuristic):
            other = "--heuristic" if self.heuristic else f"--method {shorten(self.method or '')}"
            raise InputError(f"--tables: not with {other}: tables are a heuristic of ida-star")
        if self.threads is not None and (self.batch is not None or self.method not in (None, IDA_STAR)):
            other = "--batch, whose threads are --workers" if self.batch is not None else f"--method {self.method}"
            raise InputError(f"--threads: not with {other}")
        others = names_given({"tables": self.tables, "batch": self.batch})
        if self.store is not None and others:
            raise InputError(f"--store: not with --{others[0]}, which reads no whole table")
        batches = ("output", "workers", "scheduler", "scheduler_file")
        if self.batch is None and (unfit := names_given({name: getattr(self, name) for name in batches})):
            raise InputError(f"{option_of(unfit[0])}: expected --batch, found none")
        if self.output is not None and self.as_json:
            raise InputError("--output: not with --json: its name says the form, .csv, .json or .jsonl")
        if self.batch is not None and (unfit := names_given({"--all": self.every, **self.pictures.files})):
            raise InputError(f"--{unfit[0].lstrip('-')}: not with --batch")
        if self.batch is not None and self.method in (TABLE, ROUTES):
            raise InputError(f"--batch: not with --method {self.method}; antipodes query reads tables")
        limits = {"max-depth": self.max_depth, "max-seconds": self.max_seconds, "memory-limit": self.memory_limit}
        unfit = names_given({"to": self.goal, **limits, **self.pictures.files})
        if self.method == ROUTES and unfit:
            raise InputError(f"--{unfit[0]}: not with --method {ROUTES}, which searches along its routes only")

    def check_build(self) -> None:
        """Raise InputError for options with which the tables of the puzzle's own patterns are not used."""
        method = None if self.method == IDA_STAR else self.method
        others = {"to": self.goal, "store": self.store, "heuristic": self.heuristic, "tables": self.tables}
        if unfit := names_given({"method": method, **others}):
            value = f" {method}" if method else ""
            raise InputError(
                f"--build: not with --{unfit[0]}{value}, which uses no tables of the puzzle's own patterns"
            )


@command(
    app,
    "solve",
    'antipodes solve eight-puzzle "1 2 3 / 4 0 5 / 7 8 6"',
    'antipodes solve 2x2x2 --moves "R U R\' F2" --all',
    "antipodes solve eight-puzzle 867254301 --to 123456708",
    kind=PositionsCommand,
)
def solve(
    puzzle: PuzzleArgument,
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
    tables: Tables = None,
    threads: Threads = None,
    batch: BatchFile = None,
    output: Output = None,
    workers: Workers = None,
    scheduler: SchedulerName = None,
    scheduler_file: SchedulerFile = None,
    svg: Svg = None,
    png: Png = None,
    gif: Gif = None,
    size: Size = None,
    build: Build = False,
    quiet: Quiet = False,
    as_json: AsJson = False,
) -> int:
    """Find a shortest path from a position to the start or a goal."""
    room = None if memory_limit is None else memory_size(memory_limit)
    pictures = PictureFiles.of(svg, png, gif, size)
    options = SolveOptions(
        method,
        to,
        every,
        max_depth,
        max_seconds,
        listed,
        limit,
        room,
        store,
        heuristic,
        tables or [],
        threads,
        batch,
        output,
        workers,
        scheduler,
        scheduler_file,
        pictures,
        as_json,
    )
    given = names_given({"a position": position, "--moves": moves, "--batch": batch})
    if batch is not None and len(given) > 1:
        raise InputError(f"expected one of a position, --moves and --batch, found {' and '.join(given)}")
    options.check()
    if build:
        options.check_build()
    if output is not None:
        AnswerFile(Path(output)).check_writable()
    if store is not None:
        options = replace(options, store=find_store(store))
    config = load_config(puzzle)
    found = config.puzzle
    labels = _labels(found, position, moves)
    if labels is None and batch is None and method != ROUTES and not build:
        raise InputError("expected a position to solve, found none")
    guided = bool(config.patterns) and options.takes_patterns and not _has_table(found, labels, options)
    if build or guided:
        with importing_libraries():  # those of runs, which other searches do not need
            from antipodes.cli.patterns import build_patterns, finished_patterns

        if build and (status := build_patterns(config, room, quiet)):
            return status
        if build and labels is None and batch is None:
            return 0
        if guided:
            own = [str(store) for store in finished_patterns(config, quiet)]
            options = replace(options, tables=own, own_tables=True)
    with _stoppable(quiet, output) as progress:
        if options.batch is not None:
            _solve_batch(found, options, quiet)
        elif method == ROUTES:
            _routes(found, labels, options, progress)
        else:
            _solve(found, labels, options, progress)
    return 0


def _labels(puzzle: Puzzle, position: list[str] | None, moves: str | None) -> Labels | None:
    """The position that is given as it is, or by the moves that lead to it; None if it is not given."""
    if moves is None:
        return puzzle.parse(" ".join(position)) if position else None
    if position:
        raise InputError("expected a position or --moves, found both")
    labels: Labels = puzzle.follow(moves)[-1]
    return labels


def _has_table(puzzle: Puzzle, position: Labels | None, options: SolveOptions) -> bool:
    """Whether the whole table of a puzzle, which says more than its patterns, is at its default place."""
    if position is None or options.method is not None:
        return False
    return answers(default_store(puzzle.name), Problem.of(puzzle.rules, position))


@contextmanager
def _stoppable(quiet: bool, output: str | None) -> Iterator["SearchProgress"]:
    """In the block, Ctrl-C and SIGTERM end the command with one line: the time, and what is known or saved by then."""
    begin = time.perf_counter()
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    progress = SearchProgress(sys.stderr, quiet)
    try:
        yield progress
    except KeyboardInterrupt:
        progress.clear()
        known = f"{progress.ruled_out}; " if progress.ruled_out else ""
        seconds = time.perf_counter() - begin
        saved = "nothing was saved; rerunning starts over"
        if output is not None:
            saved = f"{output} has the positions solved by then; rerunning goes on after them"
        raise Stopped(f"stopped after {seconds:.1f} s: {known}{saved}") from None
    finally:
        signal.signal(signal.SIGTERM, before)
        progress.clear()


def _solve(puzzle: Puzzle, position: Labels | None, options: SolveOptions, progress: "SearchProgress") -> None:
    assert position is not None
    goal = None if options.goal is None else goals_in(puzzle, options.goal)
    problem = Problem.of(puzzle.rules, position, goal)
    give(puzzle)  # a table of it may be opened
    drawn = puzzle if options.goal is None else aimed_at(puzzle, [options.goal])
    method: str | None = options.method if options.store is None else TABLE
    heuristic: str | Patterns | None = options.heuristic
    deadline = Deadline(options.max_seconds, progress)
    try:
        if tables := _loaded(puzzle, goal, options, deadline.check):
            method, heuristic = IDA_STAR, tables
    except TimeLimitReached:
        say("the time was up before the tables were loaded")
        _show_solved(drawn, Solved(unsolved(IDA_STAR, Outcome.TIME_LIMIT), 0.0, None), options.every, options.as_json)
        return
    if options.threads is not None and not isinstance(heuristic, Patterns):
        raise InputError("--threads: expected tables, with which alone several threads search together, found none")
    solved = solve_timed(
        problem,
        method,
        default_store(puzzle.name) if options.store is None else options.store,
        listener=progress,
        heuristic=heuristic,
        memory_limit=options.memory_limit,
        every=options.every,
        max_depth=options.max_depth,
        max_seconds=deadline.seconds,
        threads=options.threads,
        listed=options.listed,
    )
    progress.clear()
    _show_solved(drawn, solved, options.every, options.as_json)
    for path in solved.answer.solutions[:1]:
        options.pictures.draw_steps(drawn, path)


def _loaded(puzzle: Puzzle, goal: Labels | None, options: SolveOptions, pulse: Pulse) -> Patterns | None:
    """The tables, if any; the puzzle's own only if they fit into memory, others raise the error. The pulse may, too."""
    if not options.tables:
        return None
    try:
        return load_patterns(puzzle.rules, goal, options.addresses, pulse)
    except ResourceLimitError as error:
        if not options.own_tables:
            raise
        say(f"{error}; searching without them")
        return None


def _solve_batch(puzzle: Puzzle, options: SolveOptions, quiet: bool) -> None:
    """Solve the positions of a file."""
    with importing_libraries():  # those of clusters, which one position does not need
        from antipodes.cli.batch import Batch, Machines, solve_batch
        from antipodes.tables.batch import Search

    goal = None if options.goal is None else goals_in(puzzle, options.goal)
    limits = {name: getattr(options, name) for name in ("max_depth", "max_seconds", "memory_limit")}
    search = Search(puzzle.rules, goal, options.method, options.heuristic, options.addresses, limits)
    machines = Machines(options.workers, options.scheduler, options.scheduler_file)
    batch = Batch.of(options.batch or "", options.output, options.as_json)
    solve_batch(puzzle, batch, search, options.goal, machines, quiet)


def _routes(puzzle: Puzzle, start: Labels | None, options: SolveOptions, progress: "SearchProgress") -> None:
    limit = options.limit or ROUTE_LIMIT
    exchanges(puzzle.rules, min(limit, 3), start, progress)  # loads the kernels
    begin = time.perf_counter()
    found = exchanges(puzzle.rules, limit, start, progress)
    seconds = time.perf_counter() - begin
    progress.clear()
    _show_routes(puzzle, found, seconds, options.listed, options.as_json)


def _show_solved(puzzle: Puzzle, solved: Solved, every: bool, as_json: bool) -> None:
    """Print the answer of a search or a table."""
    if as_json:
        print_json(solved_view(puzzle, solved, every))
        return
    answer = solved.answer
    print(_outcome(answer, every))
    chosen = f", chosen because {solved.reason}" if solved.reason else ""
    expanded = f"{counted(answer.expanded, 'position')} expanded"
    guided = f" with {solved.heuristic}" if solved.heuristic else ""
    guided += "" if solved.estimate is None else f", {solved.estimate} at the position"
    generated = "" if answer.generated is None else f", {answer.generated:,} generated"
    print(f"{answer.method}{guided}{chosen}: {expanded}{generated} in {solved.seconds:.3f} s")
    for number, path in enumerate(answer.solutions, start=1):
        if answer.solution_count > 1:
            print(f"\nsolution {number} of {answer.solution_count:,}")
        print_path(puzzle, path)
        print(draw_moves(puzzle.move_names(path)), end="")
    _print_rest(answer.solution_count, len(answer.solutions))


def _show_routes(puzzle: Puzzle, found: Exchanges, seconds: float, listed: int, as_json: bool) -> None:
    """Print the solutions of the route method; the summary comes last, where it stays in sight."""
    if as_json:
        print_json(routes_view(puzzle, found, seconds, listed))
        return
    count = len(found.solutions)
    for number, exchange in enumerate(found.solutions[:listed], start=1):
        print(f"solution {number} of {count:,}, {counted(exchange.moves, 'move')}")
        print_path(puzzle, exchange.positions)
        print()
    _print_rest(count, listed)
    print(f"{counted(count, 'solution')} with routes of at most {counted(found.limit, 'move')}")
    for moves, solutions in found.histogram.items():
        print(f"{moves:>6} moves  {solutions:>6,}")
    combined = f"{counted(found.combinations, 'combination')} of routes, {counted(found.expanded, 'board')}"
    print(f"{combined}, in {seconds:.3f} s")


def _outcome(answer: Answer, every: bool) -> str:
    if answer.outcome == "depth-limit":
        return f"no path of fewer than {_moves(answer.least)}: the goal is farther, or unreachable"
    if answer.outcome == "time-limit":
        known = f"no path of fewer than {_moves(answer.least)}; " if answer.least and answer.least > 1 else ""
        return f"the time was up: {known}the goal is farther, or unreachable"
    if answer.distance is None:
        return "unreachable: no moves lead to the goal"
    if not every:
        return _moves(answer.distance)
    return f"{_moves(answer.distance)}, {counted(answer.solution_count, 'shortest path')}"


def _moves(count: int | None) -> str:
    return counted(count or 0, "move")


def _print_rest(count: int, shown: int) -> None:
    if shown < count:
        asked = str(count) if count <= LISTABLE else "N lists N of them"
        print(f"and {count - shown:,} more: --list {asked}")


class SearchProgress:
    """A listener that keeps the last event, and shows it."""

    def __init__(self, stream: TextIO | None, quiet: bool) -> None:
        self._stream = None if quiet else stream
        self._live = self._stream is not None and self._stream.isatty()
        self._begin: float | None = None
        self._shown_at = 0.0
        self._last: Progress | None = None
        self._drawn = False

    def __call__(self, progress: Progress) -> None:
        self._last = progress
        now = time.monotonic()
        if self._begin is None:  # loading machine code does not count
            self._begin, self._shown_at = now, now + FIRST - self._pause
        if now - self._shown_at >= self._pause:
            self._shown_at = now
            self._show(describe_search(progress, now - self._begin))

    @property
    def ruled_out(self) -> str | None:
        """The paths that are known not to exist by now; None if nothing is known."""
        return ruled_out(self._last) if self._last else None

    def clear(self) -> None:
        """Take the line off the terminal, to make room for the result."""
        if self._drawn:
            self._write("\r\x1b[K")
            self._drawn = False

    @property
    def _pause(self) -> float:
        return REDRAWN if self._live else REPEATED

    def _show(self, line: str) -> None:
        self._write(f"\r\x1b[K{line}" if self._live else f"{line}\n")
        self._drawn = self._live

    def _write(self, text: str) -> None:
        if self._stream is not None:
            with suppress(OSError):  # a search continues even if its progress cannot be shown
                self._stream.write(text)
                self._stream.flush()
