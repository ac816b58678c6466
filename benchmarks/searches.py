"""Solving one position, routes, and ranking permutations."""

import time
from collections.abc import Callable
from functools import partial
from typing import TypeVar

from antipodes.puzzles.config import load_config
from antipodes.solving.solve import SEARCHES, load_kernels, solve
from antipodes_tasks.permutations.ranks import ALGORITHMS, rank, unrank
from antipodes_tasks.searches.problem import Problem
from antipodes_tasks.searches.routes import exchanges
from benchmarks.measure import Row, median
from benchmarks.permutations import measure as measure_permutations

Result = TypeVar("Result")

TITLE = "One position at a time, and permutations"
REPEATS = 5
POSITION = "8 6 7 / 2 5 4 / 3 0 1"
TARGETS = {"bfs": "0.1 s", "bidirectional": "0.01 s", "iddfs": "0.5 s", "ida-star": "0.02 s"}
ELEMENTS = 11
PERL_SECONDS = 84
"""Seconds that a plain Perl program takes for routes of at most 5 moves."""


def measure() -> list[Row]:
    """Return all rows, with compiled kernels."""
    return [*_searches(), _routes(), *_permutations()]


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


def _routes() -> Row:
    puzzle = load_config("knights-labelled").puzzle
    exchanges(puzzle.rules, 3)  # compiles the kernels
    seconds, found = _timed(lambda: exchanges(puzzle.rules, 5))
    return Row(
        "swapping the knights along routes of at most 5 moves",
        f"{PERL_SECONDS / 100} s",
        f"{seconds:.3f} s, {len(found.solutions)} solutions",
    )


def _timed(search: Callable[[], Result]) -> tuple[float, Result]:
    seconds = []
    for _ in range(REPEATS):
        begin = time.perf_counter()
        answer = search()
        seconds.append(time.perf_counter() - begin)
    return median(seconds), answer


def _permutations() -> list[Row]:
    rows = []
    for algorithm in ALGORITHMS:
        rank(unrank([0], ELEMENTS, algorithm), algorithm)  # compiles the kernels
        to_permutations, to_ranks = measure_permutations(algorithm, ELEMENTS)
        rows.append(
            Row(
                f"all 39,916,800 permutations of {ELEMENTS}, `{algorithm}`: unrank, rank",
                "2 s each for the fastest algorithm",
                f"{to_permutations:.2f} s, {to_ranks:.2f} s",
            )
        )
    return rows
