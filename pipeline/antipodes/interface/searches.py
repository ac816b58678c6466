"""The functions that answer questions about given positions, mostly without a store, such as `antipodes.solve`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from antipodes.interface.runs import Progress, run
from antipodes.progress.show import in_notebook
from antipodes.puzzles.config import Config, PuzzleLike, as_config
from antipodes.puzzles.goals import goals_in, goals_or_test
from antipodes.puzzles.puzzle import PositionLike, PositionsLike, Puzzle
from antipodes.solving import pattern_heuristic
from antipodes.solving import solve as solving
from antipodes.solving.pattern_stores import missing_stores, pattern_stores
from antipodes.solving.solve import TABLE
from antipodes.stores import as_address
from antipodes.system.addresses import Address
from antipodes.system.options import LARGE, SMALL, memory_size, tasks_at_once
from antipodes.tables.table import Table
from antipodes_tasks.base import arguments
from antipodes_tasks.base.array_types import Labels
from antipodes_tasks.base.errors import InputError
from antipodes_tasks.base.quoting import quote, shorten
from antipodes_tasks.properties.finding import Symmetries, symmetries_of
from antipodes_tasks.rules.moves import GoalTest
from antipodes_tasks.searches.answer import DEFAULT_LIMIT, Answer
from antipodes_tasks.searches.guides import Guidance
from antipodes_tasks.searches.pattern_databases import Patterns
from antipodes_tasks.searches.problem import Problem, goals_of
from antipodes_tasks.searches.progress import Listener as SearchListener
from antipodes_tasks.searches.progress import silence as search_silence
from antipodes_tasks.spaces.uniform_sample import uniform_sample

Method = Literal["bfs", "bidirectional", "iddfs", "ida-star", "astar", "beam", "table"]
"""The name of a method of `solve`."""


def solve(
    puzzle: PuzzleLike,
    position: PositionLike,
    goal: PositionLike | None = None,
    *,
    method: Method | None = None,
    table: Table | None = None,
    every: bool = False,
    max_depth: int | None = None,
    max_seconds: float | None = None,
    listed: int = DEFAULT_LIMIT,
    memory_limit: int | str | None = None,
    heuristic: Guidance = None,
    weight: float | None = None,
    width: int | None = None,
    listener: SearchListener | None = None,
) -> Answer:
    """Find one shortest path from a position to a goal, or ``every`` shortest path.

    Paths found by "beam", or by "astar" with a ``weight``, may be longer. The answer states what is ``proved`` about
    the path: "shortest", "within" ``bound`` times the length of a shortest path, or only that it is a "path". If
    ``conditional`` is True, the proof assumes that your function returns lower bounds; ``violations`` counts estimates
    that were too high, and ``drops`` counts moves on which they fell by more than 1.

    Parameters
    ----------
    puzzle
        As for `run`.
    position
        A string or labels ``(places,)``.
    goal
        A string, a pattern, or labels ``(places,)`` or ``(goals, places)``; None means the puzzle's starts.
    method
        "bfs", "bidirectional", "iddfs", "ida-star", "astar" or "beam"; None means "beam" with a ``width``, "astar" with
        a ``weight`` or a function as heuristic, "ida-star" with another heuristic, and otherwise a method that suits
        the problem.
    table
        An open table of the puzzle, which answers the question instead of a search.
    max_depth
        Maximum number of moves; None means no limit.
    max_seconds
        Time limit of the search in seconds, after which it ends without a path; None means no limit. The time for
        compiling and loading machine code on first use does not count.
    listed
        Maximum number of paths in the answer; all paths are counted.
    memory_limit
        Limit in bytes, or a string such as "2GiB"; None means three quarters of the free memory, or 1 GiB for "iddfs"
        and "ida-star".
    heuristic
        For "ida-star", "astar" and "beam": the name of a heuristic, such as "manhattan" (the help of ``antipodes
        solve`` lists the names), or pattern tables from `load_patterns`; None means the strongest name that applies.
        For "astar" and "beam" also a function from positions ``(n, places)`` to estimates ``(n,)`` of their distance to
        the goal, numbers of at least 0.
    weight
        For "astar": factor of the estimates, 1 to 1000; None means 1, which finds a shortest path.
    width
        For "beam": number of positions kept at each depth; None means 1000.
    listener
        Function that is called with the progress; None shows the progress below the cell in a notebook.

    Raises
    ------
    InputError
        An argument is invalid, or the method cannot handle the puzzle.
    ResourceLimitError
        The search would exceed the memory limit.
    """
    found = as_config(puzzle).puzzle
    problem = Problem.of(found.rules, _labels(found, position), _goals_or_test(found, goal))
    limit = None if memory_limit is None else memory_size(memory_limit)
    # Only options that were given are passed on, because a method refuses those that it does not have.
    options = _given(heuristic=heuristic, weight=weight, width=width, max_seconds=max_seconds)
    paths: dict[str, Any] = {"every": every, "max_depth": max_depth, "listed": listed}
    if table is not None:
        _check_table_suffices(method, options)
        return solving.solve_by_table(problem, table, **paths, **_given(memory_limit=limit))
    chosen = _guided(method, heuristic, weight, width) or solving.choose_method(problem).method
    with _search_shown(listener) as told:
        return solving.solve(problem, chosen, **paths, memory_limit=limit, listener=told, **options)


def _check_table_suffices(method: str | None, options: Mapping[str, Any]) -> None:
    """Raise InputError if a method or an option of searches was given beside a table."""
    if method not in (None, TABLE):
        raise InputError(f"method {arguments.found(method)} cannot be combined with a table; give only one of them")
    if options:
        raise InputError(f"{next(iter(options))} cannot be combined with a table")


def solve_many(
    puzzle: PuzzleLike,
    positions: PositionsLike,
    goal: PositionLike | None = None,
    *,
    method: Method | None = None,
    threads: int | None = None,
    heuristic: Guidance = None,
    weight: float | None = None,
    width: int | None = None,
    max_depth: int | None = None,
    max_seconds: float | None = None,
) -> Iterator[Answer]:
    """Find one shortest path from each of many positions, in order, on several threads; see `solve`.

    ``threads`` is by default the number of processors; ``max_seconds`` applies to each position.
    """
    found = as_config(puzzle).puzzle
    goals = _goals_or_test(found, goal)
    problems = (Problem.of(found.rules, labels, goals) for labels in found.positions(positions))
    options = _given(heuristic=heuristic, weight=weight, width=width)
    chosen = _guided(method, heuristic, weight, width)
    options |= {"max_depth": max_depth, "max_seconds": max_seconds}
    arguments.optional(threads, tasks_at_once, "threads")
    return (one.answer for one in solving.solve_many(problems, chosen, threads=threads, **options))


def load_patterns(
    puzzle: PuzzleLike,
    tables: Sequence[Address] | None = None,
    goal: PositionLike | None = None,
    *,
    build: bool | str = False,
    progress: Progress | None = None,
) -> Patterns:
    """Load pattern tables as a heuristic for `solve`, `solve_many` and searches of your own.

    ``heuristic.estimates(labels)`` returns the lower bound of each position ``(n, places)``, as integers ``(n,)``. The
    values of all tables are kept in memory.

    Parameters
    ----------
    puzzle
        As for `run`.
    tables
        Stores of pattern tables. A pattern is a puzzle with `free` tiles on the same board, or with identical pieces,
        without orientations, or without some parts. None means the finished tables of the patterns in the puzzle's
        config.
    goal
        The goal of all tables; None means the puzzle's start.
    build
        Whether to compute the unfinished pattern tables in the puzzle's config first, like `run`. True means "small";
        "large" includes the large tables.
    progress
        Whether to show the progress of building tables, as for `run`.

    Raises
    ------
    InputError
        A table belongs to another board or goal, or an argument is invalid.
    NotAStoreError, UnfinishedError, StoreDamagedError
        A table does not exist, is unfinished, or is corrupt.
    """
    config = as_config(puzzle)
    found = config.puzzle
    if isinstance(build, str) and build not in (SMALL, LARGE):
        raise InputError(f"expected build as True, False, {SMALL!r} or {LARGE!r}, found {quote(build)}")
    if isinstance(build, str) or arguments.flag(build, "build"):
        if tables is not None:
            raise InputError("build cannot be combined with tables; it builds the tables in the puzzle's config")
        _build_patterns(config, build == LARGE, progress)
    if tables is None:
        tables = _finished_patterns(config)
    # A string is a sequence too, but a single address would be read as a list of letters.
    if isinstance(tables, str) or not isinstance(tables, Sequence):
        raise InputError(f"expected a list of tables, found {arguments.found(tables)}")
    stores = [as_address(store, "the address of a table") for store in tables]
    return pattern_heuristic.load_patterns(found.rules, None if goal is None else _goals(found, goal), stores)


def _build_patterns(config: Config, large: bool, progress: Progress | None) -> None:
    """Compute the unfinished pattern tables of a puzzle; raise InputError if its config names no patterns."""
    stores = pattern_stores(config)
    if not stores:
        raise InputError(f"build: {config.puzzle.name} defines no pattern tables; its config has no [solve]")
    if large and not any(one.large for one in stores):
        raise InputError(f"build: {config.puzzle.name} defines no large pattern tables; give build=True")
    for pattern in missing_stores(stores, large):
        run(pattern.config, pattern.store, counts_only=False, progress=progress)


def _finished_patterns(config: Config) -> list[Address]:
    """Return the stores of a puzzle's finished pattern tables; raise InputError if there are none."""
    stores, name = pattern_stores(config), config.puzzle.name
    if not stores:
        raise InputError(f"no pattern tables given, and the config of {name} names none")
    finished = [one.store for one in stores if one.finished]
    if not finished:
        names = shorten(", ".join(one.name for one in stores))
        raise InputError(f"no pattern table of {name} is finished ({names}); compute them with build=True")
    return finished


def symmetries(puzzle: PuzzleLike, goal: PositionLike | None = None) -> Symmetries:
    """Return the symmetries of a puzzle: maps of positions that map starts to starts and moves to moves.

    Parameters
    ----------
    puzzle
        As for `run`.
    goal
        A position, labels ``(goals, places)``, or a pattern. If it is given, symmetries map goals to goals instead of
        starts to starts.

    Raises
    ------
    InputError
        An argument is invalid, or the moves are functions, whose symmetries cannot be determined.
    ResourceLimitError
        The puzzle has too many moves.
    """
    found = as_config(puzzle).puzzle
    if goal is None:
        return symmetries_of(found.rules)
    return symmetries_of(found.rules, goals_of(found.rules, _goals(found, goal)))


def random_positions(puzzle: PuzzleLike, count: int = 1, *, seed: int | np.random.Generator | None = None) -> Labels:
    """Draw positions ``(count, places)`` of a puzzle of any size; every reachable position has the same probability.

    Parameters
    ----------
    puzzle
        As for `run`.
    count
        Number of positions; a position may be drawn several times.
    seed
        A seed (an integer of at least 0) or a generator; None draws other positions in every call.

    Raises
    ------
    InputError
        An argument is invalid, or the reachable positions are only known from a table.
    """
    rules = as_config(puzzle).puzzle.rules
    return uniform_sample(rules, arguments.integer(count, "count", 0), arguments.generator(seed, "seed"))


@contextmanager
def _search_shown(listener: SearchListener | None) -> Iterator[SearchListener]:
    """Yield the given listener, or one that shows the progress in a notebook, or one that does nothing."""
    if listener is None and in_notebook():
        from antipodes.progress.notebook_bar import notebook_search

        with notebook_search() as shown:
            yield shown
    else:
        yield search_silence if listener is None else listener


def _labels(puzzle: Puzzle, position: PositionLike) -> Labels | ArrayLike:
    """Return a string as labels; `Problem` checks values of other types."""
    return puzzle.parse(position) if isinstance(position, str) else position


def _goals(puzzle: Puzzle, goal: PositionLike) -> Labels | ArrayLike:
    """Return the labels of a goal; for a pattern, the labels of all matching positions."""
    return goals_in(puzzle, goal) if isinstance(goal, str) else goal


def _goals_or_test(puzzle: Puzzle, goal: str | ArrayLike | None) -> Labels | GoalTest | None:
    """Return the labels of a goal like `_goals`, or a test if a pattern matches too many positions to list."""
    if isinstance(goal, str):
        return goals_or_test(puzzle, goal)
    return None if goal is None else goals_of(puzzle.rules, goal)  # raises if the goal is a function


def _given(**options: Any) -> dict[str, Any]:
    """Return the options that are not None."""
    return {name: value for name, value in options.items() if value is not None}


def _guided(method: str | None, heuristic: Guidance, weight: float | None, width: int | None) -> str | None:
    """Return the given method, or the method that the options of guided searches imply."""
    if arguments.optional(method, arguments.text, "a method") is not None:
        return method
    by_function = callable(heuristic)
    return solving.implied_method(heuristic is not None and not by_function, by_function, weight, width)
