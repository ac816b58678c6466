"""What `antipodes.solve` and its relatives do: they answer about positions that are given, mostly without a store."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from numpy.typing import ArrayLike

from antipodes.config import Config, PuzzleLike, as_config
from antipodes.interface.runs import Progress, run
from antipodes.progress.show import in_notebook
from antipodes.puzzles.pattern import goals_in, goals_or_test
from antipodes.puzzles.puzzle import PositionLike, PositionsLike, Puzzle
from antipodes.runs.options import memory_size, tasks_at_once
from antipodes.storage.address import Address
from antipodes.stores import as_address
from antipodes.tables import pattern_heuristic
from antipodes.tables import solve as solving
from antipodes.tables.pattern_stores import pattern_stores
from antipodes.tables.solve import TABLE
from antipodes.tables.table import Table
from antipodes_tasks import arguments
from antipodes_tasks.errors import InputError
from antipodes_tasks.quoting import shorten
from antipodes_tasks.rules.moves import GoalTest, Labels
from antipodes_tasks.searches.answer import DEFAULT_LIMIT, Answer
from antipodes_tasks.searches.pattern_databases import Patterns
from antipodes_tasks.searches.problem import Problem, goals_of
from antipodes_tasks.searches.progress import Listener as SearchListener
from antipodes_tasks.searches.progress import silence as search_silence
from antipodes_tasks.symmetries.finding import Symmetries, symmetries_of

if TYPE_CHECKING:
    pass


def solve(
    puzzle: PuzzleLike,
    position: PositionLike,
    goal: PositionLike | None = None,
    *,
    method: str | None = None,
    table: Table | None = None,
    every: bool = False,
    max_depth: int | None = None,
    max_seconds: float | None = None,
    listed: int = DEFAULT_LIMIT,
    memory_limit: int | str | None = None,
    heuristic: str | Patterns | None = None,
    listener: SearchListener | None = None,
) -> Answer:
    """One shortest path from a position to a goal, or ``every`` one.

    Parameters
    ----------
    puzzle
        As for `run`.
    position, goal
        A text or labels ``(places,)``; a goal may also be a pattern, or labels ``(goals, places)``. None: the puzzle's
        starts.
    method
        "bfs", "bidirectional", "iddfs" or "ida-star"; None: "ida-star" with a heuristic, else the one that suits the
        problem.
    table
        An open table of the puzzle, which is read instead of searching.
    max_depth
        The greatest number of moves to search; None: any.
    max_seconds
        Seconds after which a search ends without a path; None: never. Compiling machine code, as at a first use, does
        not count.
    listed
        Paths in the answer, at most; all are counted.
    memory_limit
        Bytes, or a text such as "2GiB"; None: three quarters of the free memory, 1 GiB for "iddfs" and "ida-star".
    heuristic
        "manhattan" or "linear-conflict", for "ida-star", or tables by `load_patterns`; None: the stronger one that
        fits.
    listener
        Told the progress; None: in a notebook a line below the cell shows it.

    Raises
    ------
    InputError
        An argument is none of these, or the method cannot treat the puzzle.
    ResourceLimitError
        The search would exceed the memory limit.
    """
    found = as_config(puzzle).puzzle
    problem = Problem.of(found.rules, _labels(found, position), _goals_or_test(found, goal))
    limit = None if memory_limit is None else memory_size(memory_limit)
    if table is not None:
        if method not in (None, TABLE):
            raise InputError(f"expected a method or a table, found {arguments.found(method)} and a table")
        unfit = {"max_seconds": max_seconds, "heuristic": heuristic}
        if given := [name for name, value in unfit.items() if value is not None]:
            raise InputError(f"expected no {given[0]} beside a table, which is read at once")
        room = {} if limit is None else {"memory_limit": limit}
        return solving.solve_by_table(problem, table, every=every, max_depth=max_depth, listed=listed, **room)
    options: dict[str, Any] = {} if heuristic is None else {"heuristic": heuristic}
    chosen = _guided(method, heuristic) or solving.choose_method(problem).method
    with _search_shown(listener) as told:
        return solving.solve(
            problem,
            chosen,
            every=every,
            max_depth=max_depth,
            max_seconds=max_seconds,
            listed=listed,
            memory_limit=limit,
            listener=told,
            **options,
        )


def solve_many(
    puzzle: PuzzleLike,
    positions: PositionsLike,
    goal: PositionLike | None = None,
    *,
    method: str | None = None,
    threads: int | None = None,
    heuristic: str | Patterns | None = None,
    max_depth: int | None = None,
    max_seconds: float | None = None,
) -> Iterator[Answer]:
    """One shortest path from each of many positions, in their order, on several threads; see `solve`.

    ``threads`` are by default as many as processors; ``max_seconds`` is for each position.
    """
    found = as_config(puzzle).puzzle
    goals = _goals_or_test(found, goal)
    problems = (Problem.of(found.rules, labels, goals) for labels in found.positions(positions))
    options: dict[str, Any] = {} if heuristic is None else {"heuristic": heuristic}
    method = _guided(method, heuristic)
    options |= {"max_depth": max_depth, "max_seconds": max_seconds}
    arguments.optional(threads, tasks_at_once, "threads")
    return (one.answer for one in solving.solve_many(problems, method, threads=threads, **options))


def load_patterns(
    puzzle: PuzzleLike,
    tables: Sequence[Address] | None = None,
    goal: PositionLike | None = None,
    *,
    build: bool = False,
    progress: Progress | None = None,
) -> Patterns:
    """The heuristic of some tables of patterns, for `solve`, `solve_many` and searches of your own.

    ``heuristic.estimates(labels)`` returns the lower bound of each position ``(n, places)``, as integers ``(n,)``. The
    values of all tables are in memory.

    Parameters
    ----------
    puzzle
        As for `run`.
    tables
        The stores of patterns: of puzzles with `free` tiles and the board of the puzzle, or with equal pieces, without
        orientations or parts. None: the finished ones of the patterns that the puzzle's config names.
    goal
        The goal of all tables; None: the puzzle's start.
    build
        Whether to compute those tables first that the puzzle's config names and that are not finished, as `run` does.
    progress
        The progress of building tables, as for `run`.

    Raises
    ------
    InputError
        A table is that of another board or goal, or an argument is none of these.
    NotAStoreError, UnfinishedError, StoreDamagedError
        There is no table, or it is unfinished or damaged.
    """
    config = as_config(puzzle)
    found = config.puzzle
    if arguments.flag(build, "build"):
        if tables is not None:
            raise InputError("build: expected no tables, since it makes those that the puzzle's config names")
        _build_patterns(config, progress)
    if tables is None:
        tables = _finished_patterns(config)
    if isinstance(tables, str) or not isinstance(tables, Sequence):
        raise InputError(f"expected a list of tables, found {arguments.found(tables)}")
    stores = [as_address(store, "the address of a table") for store in tables]
    return pattern_heuristic.load_patterns(found.rules, None if goal is None else _goals(found, goal), stores)


def _build_patterns(config: Config, progress: Progress | None) -> None:
    """Compute the tables of a puzzle's patterns that are not finished; InputError if the config names no pattern."""
    stores = pattern_stores(config)
    if not stores:
        raise InputError(f"build: expected patterns, found none for {config.puzzle.name}: its config has no [solve]")
    for pattern in stores:
        if not pattern.finished:
            run(pattern.config, pattern.store, counts_only=False, progress=progress)


def _finished_patterns(config: Config) -> list[Address]:
    """Return the stores of a puzzle's finished patterns; InputError if there are none."""
    stores, name = pattern_stores(config), config.puzzle.name
    if not stores:
        raise InputError(f"tables: expected at least one, found none, and the config of {name} names no patterns")
    finished = [one.store for one in stores if one.finished]
    if not finished:
        names = shorten(", ".join(one.name for one in stores))
        raise InputError(
            f"expected a finished table of a pattern of {name} ({names}), found none: build=True makes them"
        )
    return finished


def symmetries(puzzle: PuzzleLike, goal: PositionLike | None = None) -> Symmetries:
    """The symmetries of a puzzle: maps of positions that take starts to starts, and moves to moves.

    Parameters
    ----------
    puzzle
        As for `run`.
    goal
        A position, labels ``(goals, places)``, or a pattern that the symmetries preserve instead of the starts.

    Raises
    ------
    InputError
        An argument is none of these, or the moves are functions, whose symmetries are not known.
    ResourceLimitError
        The puzzle has too many moves.
    """
    found = as_config(puzzle).puzzle
    if goal is None:
        return symmetries_of(found.rules)
    return symmetries_of(found.rules, goals_of(found.rules, _goals(found, goal)))


@contextmanager
def _search_shown(listener: SearchListener | None) -> Iterator[SearchListener]:
    """The listener, or what shows the progress of a search in a notebook until the block ends, or nothing."""
    if listener is None and in_notebook():
        from antipodes.progress.notebook import notebook_search

        with notebook_search() as shown:
            yield shown
    else:
        yield search_silence if listener is None else listener


def _labels(puzzle: Puzzle, position: PositionLike) -> Labels | ArrayLike:
    """A text as labels; what is none is checked by the problem."""
    return puzzle.parse(position) if isinstance(position, str) else position


def _goals(puzzle: Puzzle, goal: PositionLike) -> Labels | ArrayLike:
    """As `_labels`, of a pattern all positions that match."""
    return goals_in(puzzle, goal) if isinstance(goal, str) else goal


def _goals_or_test(puzzle: Puzzle, goal: str | ArrayLike | None) -> Labels | GoalTest | None:
    """As `_goals`; of a pattern that matches too many positions to list, the test whether positions match."""
    if isinstance(goal, str):
        return goals_or_test(puzzle, goal)
    return None if goal is None else goals_of(puzzle.rules, goal)  # a function given as a goal is no such test


def _guided(method: str | None, heuristic: str | Patterns | None) -> str | None:
    """The method that is asked for: a heuristic without one asks for the method that has one."""
    arguments.optional(method, arguments.text, "a method")
    return solving.IDA_STAR if method is None and heuristic is not None else method
