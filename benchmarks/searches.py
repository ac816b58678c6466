"""Solving one position, routes, and ranking permutations."""

import tempfile
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

import antipodes as ap
from antipodes.puzzles.config import load_config
from antipodes.solving.solve import SEARCHES, solve, solve_many
from antipodes_tasks.base.array_types import Labels, Numbers
from antipodes_tasks.permutations.ranks import ALGORITHMS, rank, unrank
from antipodes_tasks.properties.heuristics import heuristic_of
from antipodes_tasks.searches.problem import Problem
from antipodes_tasks.searches.routes import exchanges
from benchmarks.measure import ANTIPODES, Row, median, run
from benchmarks.permutations import measure as measure_permutations

Result = TypeVar("Result")

TITLE = "One position at a time, and permutations"
REPEATS = 5
POSITION = "8 6 7 / 2 5 4 / 3 0 1"
TARGETS = {"bfs": "0.1 s", "bidirectional": "0.01 s", "iddfs": "0.5 s", "ida-star": "0.02 s"}
FIFTEEN = "5 1 6 2 13 15 12 3 0 11 4 10 9 8 7 14"
"""A position of the 15-puzzle."""
TABLE_POSITIONS = 1000
ELEMENTS = 11
PERL_SECONDS = 84
"""Seconds that a plain Perl program takes for routes of at most 5 moves."""


def measure() -> list[Row]:
    """Return all rows, with compiled kernels."""
    return [*_searches(), _own_function(), _table_as_function(), _routes(), *_permutations()]


def _searches() -> list[Row]:
    puzzle = load_config("eight-puzzle").puzzle
    problem = Problem.of(puzzle.rules, puzzle.parse(POSITION))
    rows = []
    for method in SEARCHES:
        load_kernels(problem, method)
        one, _ = _timed(partial(solve, problem, method))
        every, answer = _timed(partial(solve, problem, method, every=True))
        if (answer.distance, answer.solution_count) != (31, 40):
            raise RuntimeError(f"{method} found {answer.solution_count} paths of {answer.distance} moves")
        rows.append(
            Row(
                f"the 31-move position of the 8-puzzle by `{method}`: one path, all 40 paths",
                TARGETS[method],
                f"{one:.4f} s, {every:.4f} s, {answer.expanded:,} positions expanded",
            )
        )
    return rows


def _own_function() -> Row:
    """Measure A* without the time that is spent in the function that guides it."""
    puzzle = load_config("fifteen-puzzle").puzzle
    problem = Problem.of(puzzle.rules, puzzle.parse(FIFTEEN))
    bounds = heuristic_of(problem.rules, problem.goals, "manhattan").bounds
    spent, estimated = 0.0, 0

    def function(labels: Labels) -> Numbers:
        nonlocal spent, estimated
        begin = time.process_time()
        found = bounds(labels)
        spent, estimated = spent + time.process_time() - begin, estimated + len(labels)
        return found

    each = []
    load_kernels(problem, "astar", heuristic=function)
    for _ in range(REPEATS):
        spent, estimated, begin = 0.0, 0, time.process_time()
        solve(problem, "astar", heuristic=function)
        each.append((time.process_time() - begin - spent) / estimated)
    found = f"{1e6 * median(each):.2f} µs, {estimated:,} positions"
    return Row("A* guided by a function: processor time per position, in addition to the function", "2 µs", found)


def _table_as_function() -> Row:
    with tempfile.TemporaryDirectory() as folder:
        store = str(Path(folder, "topspin-11.zarr"))
        run([*ANTIPODES, "run", "topspin-11", "--store", store, "--quiet"])
        with ap.open_table(store) as table:
            rules = load_config("topspin-11").puzzle.rules
            random = np.random.default_rng(11)
            labels = random.permuted(np.tile(rules.first, (3 * TABLE_POSITIONS, 1)), axis=1)
            distances = table.distances(labels)
            labels, distances = (array[distances >= 0][:TABLE_POSITIONS] for array in (labels, distances))
            problems = [Problem.of(rules, one) for one in labels]
            load_kernels(problems[0], "astar", heuristic=table.distances)
            begin = time.process_time()
            solved = list(solve_many(problems, "astar", threads=1, heuristic=table.distances))
            seconds = time.process_time() - begin
    if [one.answer.distance for one in solved] != distances.tolist():
        raise RuntimeError("topspin-11: A* found paths of the wrong length")
    what = f"{len(problems):,} positions of `topspin-11` by A*, guided by the distances in its table: processor time"
    return Row(what, "10 s", f"{seconds:.2f} s")


def _routes() -> Row:
    puzzle = load_config("knights-labelled").puzzle
    exchanges(puzzle.rules, 3)  # compiles the kernels
    seconds, found = _timed(lambda: exchanges(puzzle.rules, 5))
    return Row(
        "swapping the knights along routes of at most 5 moves",
        f"{PERL_SECONDS / 100} s",
        f"{seconds:.3f} s, {len(found.solutions)} solutions",
    )


def load_kernels(problem: Problem, method: str, **options: Any) -> None:
    """Load the machine code of a search by solving a problem with the same goals that is one move long."""
    near = problem.rules.successors(problem.goals[0])[0]
    solve(Problem.of(problem.rules, near, problem.goals), method, **options)


def _timed(search: Callable[[], Result]) -> tuple[float, Result]:
    seconds = []
    for _ in range(REPEATS):
        begin = time.perf_counter()
        answer = search()
        seconds.append(time.perf_counter() - begin)
    return median(seconds), answer


def _permutations() -> list[Row]:
    seconds = {}
    for algorithm in ALGORITHMS:
        rank(unrank([0], ELEMENTS, algorithm), algorithm)  # compiles the kernels
        seconds[algorithm] = measure_permutations(algorithm, ELEMENTS)
    what = f"all 39,916,800 permutations of {ELEMENTS}"
    fastest = [min(times) for times in zip(*seconds.values(), strict=True)]
    return [
        *(Row(f"{what}, `{algorithm}`: unrank, rank", "", _both(times)) for algorithm, times in seconds.items()),
        Row(f"{what}, the fastest algorithm: unrank, rank", "2 s, 2 s", _both(fastest)),
    ]


def _both(seconds: Sequence[float]) -> str:
    return f"{seconds[0]:.2f} s, {seconds[1]:.2f} s"
