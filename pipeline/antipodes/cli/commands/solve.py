"""``antipodes solve``: shortest paths from one position, or from each position in a file; exchanges along routes."""

import signal
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import numpy as np

from antipodes.cli.command import PositionsCommand, command, commands, takes_options
from antipodes.cli.drawing import print_path
from antipodes.cli.failures import Stopped
from antipodes.cli.loading import importing_libraries
from antipodes.cli.solve_options import ROUTE_LIMIT, ROUTES, TABLE, SolveOptions
from antipodes.cli.streams import print_json, print_line, print_lines, print_message
from antipodes.cli.usage import naming
from antipodes.progress.search_progress import SearchProgress
from antipodes.puzzles.config import Config, load_config, register_puzzle
from antipodes.puzzles.goals import goals_or_test, with_targets
from antipodes.puzzles.puzzle import Puzzle
from antipodes.solving.other_starts import puzzle_that_reaches
from antipodes.solving.pattern_heuristic import load_patterns
from antipodes.solving.solve import IDA_STAR, Solved, answers, solve_timed
from antipodes.system.addresses import in_shell
from antipodes.system.options import LARGE, SMALL, default_store
from antipodes.tables.drawing import draw_moves
from antipodes.tables.json_results import routes_answer, solve_answer
from antipodes_tasks.base.array_types import Labels
from antipodes_tasks.base.errors import InputError, ResourceLimitError
from antipodes_tasks.base.jit import working_clock
from antipodes_tasks.base.quoting import counted, quote
from antipodes_tasks.properties.obstacles import unreachable
from antipodes_tasks.rules.moves import GoalTest
from antipodes_tasks.searches.answer import Answer, Outcome, Proof, unsolved
from antipodes_tasks.searches.pattern_databases import Patterns
from antipodes_tasks.searches.problem import Problem
from antipodes_tasks.searches.progress import Deadline, Heartbeat, TimeLimitReached
from antipodes_tasks.searches.routes import Exchanges, exchanges

LISTABLE = 10_000
"""Maximum number of solutions that a hint suggests to list; billions would not fit into memory."""


def show_solved(puzzle: Puzzle, solved: Solved, every: bool, as_json: bool) -> None:
    """Print the answer of a search or a table."""
    if as_json:
        print_json(solve_answer(puzzle, solved, every))
        return
    answer = solved.answer
    print_line(_outcome(answer, every))
    chosen = f", chosen because {solved.reason}" if solved.reason else ""
    expanded = f"{counted(answer.expanded, 'position')} expanded"
    guided = f" with {solved.heuristic}" if solved.heuristic else ""
    guided += "" if solved.estimate is None else f", {solved.estimate} at the position"
    generated = "" if answer.generated is None else f", {answer.generated:,} generated"
    print_line(f"{answer.method}{guided}{chosen}: {expanded}{generated} in {answer.seconds:.3f} s")
    if answer.proved is not None and answer.method != IDA_STAR:
        print_line(_proof(solved))
    for number, path in enumerate(answer.solutions, start=1):
        if answer.solution_count > 1:
            print_line()
            print_line(f"solution {number} of {answer.solution_count:,}")
        print_path(puzzle, path)
        print_lines(draw_moves(puzzle.move_names(path)))
    _print_rest(answer.solution_count, len(answer.solutions))


def show_routes(puzzle: Puzzle, found: Exchanges, seconds: float, listed: int, as_json: bool) -> None:
    """Print the solutions of the route method; the summary comes last, where it stays visible."""
    if as_json:
        print_json(routes_answer(puzzle, found, seconds, listed))
        return
    count = len(found.solutions)
    for number, exchange in enumerate(found.solutions[:listed], start=1):
        print_line(f"solution {number} of {count:,}, {counted(exchange.moves, 'move')}")
        print_path(puzzle, exchange.positions)
        print_line()
    _print_rest(count, listed)
    print_line(f"{counted(count, 'solution')} with routes of at most {counted(found.limit, 'move')}")
    for moves, solutions in found.histogram.items():
        print_line(f"{moves:>6} moves  {solutions:>6,}")
    combined = f"{counted(found.combinations, 'combination')} of routes, {counted(found.expanded, 'board')}"
    print_line(f"{combined}, in {seconds:.3f} s")


def _outcome(answer: Answer, every: bool) -> str:
    """Return the first line: the length of the path, or why no path was found."""
    if answer.outcome == "depth-limit" and answer.least is None:
        return "no path found within --max-depth: the beam dropped positions, so one may exist; try a greater --width"
    if answer.outcome == "depth-limit":
        return f"no path has fewer than {_moves(answer.least)}; the goal is farther or unreachable"
    if answer.outcome == "time-limit":
        if answer.least is None or answer.least < 2:
            return "the time limit was reached before a path was found"
        return f"the time limit was reached: no path has fewer than {_moves(answer.least)}"
    if answer.outcome == "not-found":
        return "no path found: the beam dropped positions, so the goal may be reachable; try a greater --width"
    if answer.distance is None:
        return f"{unreachable(answer.obstacle)}: no sequence of moves leads to the goal"
    if not every:
        return _moves(answer.distance)
    return f"{_moves(answer.distance)}, {counted(answer.solution_count, 'shortest path')}"


def _proof(solved: Solved) -> str:
    """Return what is proved about the length of the path."""
    answer = solved.answer
    lengths = {
        Proof.SHORTEST: "shortest path",
        Proof.WITHIN: f"at most {answer.bound:g} times as long as a shortest path" if answer.bound else "",
        Proof.PATH: "not proved to be shortest",
    }
    condition = f", if {solved.heuristic} returns lower bounds" if answer.conditional else ""
    high = answer.violations and f"{counted(answer.violations, 'estimate')} exceeded the length of a path to the goal"
    return f"{lengths[answer.proved or Proof.PATH]}{condition}{f': {high}' if high else ''}"


def _moves(count: int | None) -> str:
    return counted(count or 0, "move")


def _print_rest(count: int, shown: int) -> None:
    if shown < count:
        asked = str(count) if count <= LISTABLE else "N"
        print_line(f"and {count - shown:,} more: --list {asked}")


app = commands()


@command(
    app,
    "solve",
    'antipodes solve eight-puzzle "1 2 3 / 4 0 5 / 7 8 6"',
    'antipodes solve 2x2x2 --moves "R U R\' F2" --all',
    "antipodes solve eight-puzzle 867254301 --to 123456708",
    kind=PositionsCommand,
)
@takes_options(SolveOptions)
def solve(options: SolveOptions) -> int:
    """Find a shortest path from a position to the start or a goal."""
    if options.reads_moves and options.batch is None:
        options = replace(options, batch="-")
    options.check()
    config = load_config(options.puzzle)
    puzzle = config.puzzle
    labels = _labels(puzzle, options)
    if labels is None and options.batch is None and options.method != ROUTES and not options.build:
        labels = _start(puzzle)
    if options.build and (status := _build(config, options)):
        return status
    if options.build and labels is None and options.batch is None:
        return 0
    own = config.patterns and options.takes_patterns and not _has_table(puzzle, labels, options)
    asked, options = options, _with_patterns(config, options) if own else options
    with _stoppable(options) as progress:
        if options.batch is not None:
            _solve_batch(puzzle, options)
        elif options.method == ROUTES:
            _routes(puzzle, labels, options, progress)
        else:
            _solve(config, labels, options, asked, progress)
    return 0


def _labels(puzzle: Puzzle, options: SolveOptions) -> Labels | None:
    """Return the position given as an argument or by --moves, or None."""
    if options.build and options.position in ([SMALL], [LARGE]):
        raise InputError(f"{quote(options.position[0])} is read as a position; write --build={options.position[0]}")
    if options.moves is None or options.reads_moves:
        return puzzle.parse(" ".join(options.position)) if options.position else None
    with naming("--moves"):
        labels: Labels = puzzle.follow(options.moves)[-1]
    return labels


def _goal(puzzle: Puzzle, options: SolveOptions) -> Labels | GoalTest | None:
    """Return the positions given by ``--to``, or a test if a pattern matches many; None if ``--to`` is not given."""
    if options.to is None:
        return None
    with naming("--to"):
        return goals_or_test(puzzle, options.to)


def _start(puzzle: Puzzle) -> Labels:
    """Return the start of a puzzle that has a goal; raise InputError if the puzzle has no separate goal."""
    if puzzle.rules.origin is None:
        raise InputError(f"no position given; give one, because {puzzle.name} has no separate goal")
    return puzzle.rules.first


def _build(config: Config, options: SolveOptions) -> int:
    """Build the puzzle's missing pattern tables; return the exit status."""
    with importing_libraries():  # the libraries of runs, which other searches do not need
        from antipodes.cli.pattern_tables import build_patterns
    return build_patterns(config, options.puzzle, options.build == LARGE, options.memory_bytes, options.quiet)


def _with_patterns(config: Config, options: SolveOptions) -> SolveOptions:
    """Return the options with the puzzle's finished pattern tables."""
    with importing_libraries():
        from antipodes.cli.pattern_tables import finished_patterns
    return replace(options, tables=[str(store) for store in finished_patterns(config, options.quiet)])


def _has_table(puzzle: Puzzle, position: Labels | None, options: SolveOptions) -> bool:
    """Return whether the default store holds the puzzle's whole table, which is better than pattern tables."""
    if position is None or options.method is not None:
        return False
    return answers(default_store(puzzle.name), Problem.of(puzzle.rules, position))


@contextmanager
def _stoppable(options: SolveOptions) -> Iterator[SearchProgress]:
    """End the command on Ctrl-C or SIGTERM with one line: the time, and the results known or saved so far."""
    begin = time.perf_counter()
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    progress = SearchProgress(sys.stderr, options.quiet)
    try:
        yield progress
    except KeyboardInterrupt:
        progress.clear()
        known = f"{progress.ruled_out}; " if progress.ruled_out else ""
        seconds = time.perf_counter() - begin
        saved = "nothing is saved; the same command starts over"
        if options.output is not None and Path(options.output).exists():
            saved = f"{options.output} contains the positions solved so far; the same command continues after them"
        raise Stopped(f"stopped after {seconds:.1f} s: {known}{saved}") from None
    finally:
        signal.signal(signal.SIGTERM, before)
        progress.clear()


def _solve(
    config: Config, position: Labels | None, options: SolveOptions, asked: SolveOptions, progress: SearchProgress
) -> None:
    """Solve one position. Tables that the user has not ``asked`` for are used only if they fit into memory."""
    assert position is not None
    puzzle = config.puzzle
    goal = _goal(puzzle, options)
    problem = Problem.of(puzzle.rules, position, goal)
    register_puzzle(puzzle)  # so that its table can be opened, which may need the puzzle's code
    drawn = puzzle if options.to is None else with_targets(puzzle, [options.to])
    deadline = Deadline(options.max_seconds, progress)
    try:
        tables = _loaded(puzzle, goal, options, asked, deadline.check)
    except TimeLimitReached:
        print_message("the time limit was reached before the tables were loaded")
        solved = Solved(unsolved(IDA_STAR, Outcome.TIME_LIMIT), None)
    else:
        if options.threads is not None and tables is None:
            raise InputError("--threads needs pattern tables; only searches with tables use several threads")
        solved = _searched(problem, options, tables, deadline, progress)
    progress.clear()
    show_solved(drawn, solved, options.every, options.as_json)
    if problem.known_unreachable and options.to is None:
        _name_other_start(config, position)
    for path in solved.answer.solutions[:1]:
        options.pictures.draw_steps(drawn, path)


def _name_other_start(config: Config, position: Labels) -> None:
    """Print the bundled puzzle that differs only in its start and reaches the position, if there is one."""
    other = puzzle_that_reaches(config, position)
    if other is not None:
        text = other.format(position := other.parse(config.puzzle.format(position)))
        is_start = np.array_equal(position, other.rules.first)
        what = "this position is the start of" if is_start else "this position is reachable in"
        print_message(f"{what} another bundled puzzle: antipodes solve {other.name} {in_shell(text)}")


def _loaded(
    puzzle: Puzzle, goal: Labels | GoalTest | None, options: SolveOptions, asked: SolveOptions, pulse: Heartbeat
) -> Patterns | None:
    """Load the tables, if any; omit tables that need too much memory, unless the user ``asked`` for them.

    ``pulse`` is called while they load, and may raise.
    """
    if not options.tables:
        return None
    try:
        return load_patterns(puzzle.rules, goal, options.addresses, pulse)
    except ResourceLimitError as error:
        if asked.tables:
            raise
        print_message(f"{error}; searching without them")
        return None


def _searched(
    problem: Problem, options: SolveOptions, tables: Patterns | None, deadline: Deadline, progress: SearchProgress
) -> Solved:
    """Search with the given method, or with a method that suits the problem."""
    method = TABLE if options.store is not None else options.search_method
    return solve_timed(
        problem,
        IDA_STAR if tables else method,
        options.own_store or default_store(problem.rules.name),
        listener=progress,
        heuristic=tables or options.loaded_guide()[0],
        options=options.further,
        memory_limit=options.memory_bytes,
        every=options.every,
        max_depth=options.max_depth,
        max_seconds=deadline.seconds,
        threads=options.threads,
        listed=options.listed,
    )


def _solve_batch(puzzle: Puzzle, options: SolveOptions) -> None:
    """Solve the positions of a file."""
    with importing_libraries():  # the libraries of clusters, which a single position does not need
        from antipodes.cli.batch import Batch, Machines, solve_batch
        from antipodes.solving.batch_search import BatchSearch

    goal = _goal(puzzle, options)
    limits = {"max_depth": options.max_depth, "max_seconds": options.max_seconds, "memory_limit": options.memory_bytes}
    limits |= options.further
    guide, guide_name = options.loaded_guide()
    search = BatchSearch(puzzle.rules, goal, options.search_method, guide, options.addresses, limits)
    machines = Machines(options.workers, options.scheduler, options.scheduler_file)
    batch = Batch.of(options.batch or "", options.output, options.as_json, options.reads_moves)
    solve_batch(puzzle, batch, search, {"to": options.to, "heuristic": guide_name}, machines, options.quiet)


def _routes(puzzle: Puzzle, start: Labels | None, options: SolveOptions, progress: SearchProgress) -> None:
    """Exchange pieces along routes, and print the solutions."""
    limit = options.limit or ROUTE_LIMIT
    begin = working_clock()
    found = exchanges(puzzle.rules, limit, start, progress)
    seconds = working_clock() - begin
    progress.clear()
    show_routes(puzzle, found, seconds, options.listed, options.as_json)
