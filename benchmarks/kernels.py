"""The depth-first kernels, each compared with the more general search that would do its work without it."""

import os
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from unittest.mock import patch

import antipodes as ap
from antipodes.puzzles.config import load_config
from antipodes_tasks.keys.steps import CompiledSteps
from antipodes_tasks.properties.gaps import Gaps
from antipodes_tasks.properties.heuristics import heuristic_of
from antipodes_tasks.properties.lower_bounds import LowerBound, TableSum, zero_bound
from antipodes_tasks.rules.swaps import swap_edges, transforms_of
from antipodes_tasks.searches.batch_dfs import descent_by_blocks
from antipodes_tasks.searches.blank_walk import descent_of_blank
from antipodes_tasks.searches.depth_first import Descent, descent_by_swaps
from antipodes_tasks.searches.gap_dfs import descent_by_gaps
from antipodes_tasks.searches.heuristic import Heuristic
from antipodes_tasks.searches.problem import Problem, Request
from antipodes_tasks.searches.progress import silence
from antipodes_tasks.searches.word_dfs import descent_by_words
from benchmarks.measure import ANTIPODES, Row, median, run

TITLE = "Depth-first kernels"
SECONDS, REPEATS, BUDGET = 1.0, 3, 1 << 16
"""Processor time of each measurement, its repetitions, and the positions expanded by one call of a kernel."""
FIFTEEN = "15 14 8 12 10 11 9 13 2 6 5 1 3 7 4 0"
"""A position 80 moves from the start (A. Brüngger, A. Marzetta, K. Fukuda, J. Nievergelt, 1999)."""
CUBE = "R U F2 D' L B U2 R' F D2 L' B2 U R2"
STACK = "13 4 18 9 1 16 6 11 20 3 14 8 19 2 10 17 5 12 7 15"
EVERY = Request(True, None, 1, 1 << 30, silence)
"""A search for every path does not end at the first one."""
Search = Callable[[], Descent]


def measure() -> list[Row]:
    """Return one row for each kernel. The tables of the 3x3x3 take 3 GiB of memory while they are used."""
    return [*_without_tables(), *_with_tables()]


def _without_tables() -> Iterator[Row]:
    fifteen, cube, stack = _problem("fifteen-puzzle", FIFTEEN), _by_moves("3x3x3", CUBE), _pancakes()
    edges, zero = swap_edges(fifteen.rules), zero_bound()
    assert edges is not None
    as_transforms = Problem.of(replace(fifteen.rules, moves=transforms_of(fifteen.rules)), fifteen.position)
    by_words, by_swaps = _by_words(as_transforms, 60), _by_swaps(fifteen, 60, zero)
    yield _row("the path of one blank (`blank_walk`)", lambda: descent_of_blank(60, fifteen, edges, EVERY), by_swaps)
    yield _row("swaps without a heuristic (`depth_first`)", by_swaps, by_words)
    yield _row("any moves without a heuristic (`word_dfs`)", by_words, _by_batches(fifteen, 60, None))
    yield _row("turns without a heuristic (`word_dfs`)", _by_words(cube, 20), _by_batches(cube, 20, None))
    for name, depth in (("manhattan", 66), ("linear-conflict", 68)):
        bound = heuristic_of(fifteen.rules, fifteen.goals, name)
        yield _row(
            f"swaps with {name} (`depth_first`)", _by_swaps(fifteen, depth, bound), _by_batches(fifteen, depth, bound)
        )
    gaps = heuristic_of(stack.rules, stack.goals, "gap")
    assert isinstance(gaps, Gaps)
    depth = int(gaps.bounds(stack.position[None])[0]) + 2
    yield _row(
        "pancakes with gaps (`gap_dfs`)",
        lambda: descent_by_gaps(depth, stack, gaps, EVERY),
        _by_batches(stack, depth, gaps),
    )


def _with_tables() -> Iterator[Row]:
    with _pattern_tables("fifteen-puzzle", ("fifteen-puzzle-7", "fifteen-puzzle-8")) as tables:
        fifteen = _problem("fifteen-puzzle", FIFTEEN)
        yield _row("tiles with tables (`sliding_dfs`)", *_guided(fifteen, 74, tables))
    with _pattern_tables("3x3x3", ("3x3x3-corners", "3x3x3-phase-one")) as tables:
        cube = _by_moves("3x3x3", CUBE)
        kernel, batches = _guided(cube, 15, tables)
        yield _row("turns with tables (`block_dfs`, `view_lookups`)", kernel, batches)
        tables.prepare(2)
        yield _row("turns with step tables (`block_dfs`, `step_lookups`)", kernel, batches)


def _problem(name: str, position: str) -> Problem:
    puzzle = load_config(name).puzzle
    return Problem.of(puzzle.rules, puzzle.parse(position))


def _by_moves(name: str, moves: str) -> Problem:
    puzzle = load_config(name).puzzle
    return Problem.of(puzzle.rules, puzzle.follow(moves)[-1])


def _pancakes() -> Problem:
    puzzle = ap.Config({"name": "stack", "family": "pancake", "n": 20}).puzzle
    return Problem.of(puzzle.rules, puzzle.parse(STACK))


def _by_swaps(problem: Problem, depth: int, bound: LowerBound) -> Search:
    tables = bound.tables
    assert isinstance(tables, TableSum)
    return lambda: descent_by_swaps(depth, problem, tables, EVERY)


def _by_words(problem: Problem, depth: int) -> Search:
    steps = problem.steps
    assert isinstance(steps, CompiledSteps)
    return lambda: descent_by_words(depth, problem, steps, EVERY)


def _by_batches(problem: Problem, depth: int, bound: LowerBound | Heuristic | None) -> Search:
    return lambda: descent_by_blocks(depth, problem, bound, EVERY)  # type: ignore[arg-type]  # only calls bounds()


def _guided(problem: Problem, depth: int, tables: Heuristic) -> tuple[Search, Search]:
    return lambda: tables.descent(depth, problem, EVERY), _by_batches(problem, depth, tables)


@contextmanager
def _pattern_tables(name: str, patterns: tuple[str, ...]) -> Iterator[Heuristic]:
    with tempfile.TemporaryDirectory() as folder, patch.dict(os.environ, XDG_CACHE_HOME=f"{folder}/cache"):
        stores = [Path(folder, f"{pattern}.zarr") for pattern in patterns]
        for pattern, store in zip(patterns, stores, strict=True):
            run([*ANTIPODES, "run", pattern, "--store", str(store), "--quiet"])
        yield ap.load_patterns(name, stores)


def _row(what: str, kernel: Search, other: Search) -> Row:
    """Compare two searches, in turn; the figures are medians."""
    rates = [(_rate(kernel), _rate(other)) for _ in range(REPEATS)]
    here, there = (median([pair[k] for pair in rates]) for k in (0, 1))
    return Row(what, "", f"{here / 1e6:.1f} and {there / 1e6:.2f} million/s; {here / there:.1f} times as fast")


def _rate(search: Search) -> float:
    """Return the number of positions expanded per second of processor time."""
    search().advance(1)  # compiles the kernel
    seconds, expanded = 0.0, 0
    while seconds < SECONDS:
        descent, over = search(), False
        before, begin = descent.expanded, time.process_time()
        while not over and time.process_time() - begin < SECONDS:
            over = descent.advance(BUDGET)
        seconds += time.process_time() - begin
        expanded += descent.expanded - before
    return expanded / seconds
