"""Pattern tables: computing and loading them, and solving published positions with them."""

import csv
import json
import os
import shutil
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np

import antipodes as ap
from antipodes.puzzles.config import load_config
from antipodes.solving.solve import Solved, solve_many, solve_timed
from antipodes_tasks.searches.pattern_databases import Patterns
from antipodes_tasks.searches.problem import Problem
from benchmarks.measure import ANTIPODES, Row, Run, median, run
from benchmarks.searches import load_kernels

TITLE = "Pattern tables"
KORF = Path(__file__).parents[1] / "tests" / "support" / "samples" / "korf100.csv"
"""The hundred positions of R. E. Korf (1985), with the lengths of their shortest solutions."""
EASIEST_24 = (
    "10 3 24 12 0 7 8 11 14 21 22 23 2 1 9 17 18 6 20 4 13 15 5 19 16",
    96,
)
"""Number 38 of the fifty positions of R. E. Korf and A. Felner (2002), and the length of its shortest solution."""
CUBE = (
    "7 5 6 4 3 1 2 8 / 2 2 1 0 0 1 2 1 / 3 7 5 11 12 1 4 10 9 6 2 8 / 1 0 0 0 1 1 0 0 1 0 0 0",
    17,
)
"""A random cube, and the length of its shortest solution."""
PANCAKES = {20: "1 s in total", 40: "", 60: "10 s in total"}
"""Target time for random stacks with each number of pancakes."""
STACKS = 100
"""Number of random stacks with the same number of pancakes."""
REPEATS = 3
TABLES = {"fifteen-puzzle-7": "4 s", "fifteen-puzzle-8": "20 s, 3 GiB", "twenty-four-puzzle-a": "6 s"}
"""Target time and memory for each table."""
LARGE_TABLES = {"3x3x3-corners": "", "3x3x3-phase-one": "2 minutes, 4 GiB"}
"""Target time and memory for each table that is computed only once."""


def measure() -> list[Row]:
    """Return all rows. The tables take 6 GiB in a temporary folder.

    Tables are computed before any is loaded: a command that a large process starts counts its memory as its own peak.
    """
    with tempfile.TemporaryDirectory() as folder, patch.dict(os.environ, XDG_CACHE_HOME=f"{folder}/cache"):
        stores = Path(folder)
        rows = [_made(name, target, stores, REPEATS) for name, target in TABLES.items()]
        large = [_made(name, target, stores, 1) for name, target in LARGE_TABLES.items()]  # before tables are loaded
        for name in load_config("twenty-four-puzzle").patterns[1:]:
            _make(name, stores)
        with _loaded("fifteen-puzzle", stores, rows) as heuristic:
            rows += _korf(heuristic)
        with _loaded("twenty-four-puzzle", stores, []) as heuristic:
            rows.append(_korf_and_felner(heuristic))
        rows += large
        with _loaded("3x3x3", stores, []) as heuristic:
            rows.append(_cube(heuristic))
        return [*rows, *_without_tables()]


def _make(name: str, stores: Path) -> Run:
    return run([*ANTIPODES, "run", name, "--store", str(stores / f"{name}.zarr"), "--overwrite", "--quiet"])


def _made(name: str, target: str, stores: Path, repeats: int) -> Row:
    if repeats > 1:
        _make(name, stores)  # compiles the kernels
    runs = [_make(name, stores) for _ in range(repeats)]
    seconds, peak = median([one.seconds for one in runs]), max(one.peak_bytes for one in runs)
    return Row(f"`antipodes run {name}`", target, f"{seconds:.2f} s, {peak / 2**30:.2f} GiB")


@contextmanager
def _loaded(name: str, stores: Path, rows: list[Row]) -> Iterator[Patterns]:
    """Load the pattern tables of a puzzle from their stores and again from the cache; delete them at the end."""
    tables = [stores / f"{pattern}.zarr" for pattern in load_config(name).patterns]
    seconds = []
    for _ in range(2):
        begin = time.perf_counter()
        heuristic = ap.load_patterns(name, tables)
        seconds.append(time.perf_counter() - begin)
    rows.append(
        Row(
            "loading both tables of the 15-puzzle: for the first time, from the cache",
            "6 s, 1 s",
            f"{seconds[0]:.2f} s, {seconds[1]:.2f} s",
        )
    )
    yield heuristic
    for table in tables:
        shutil.rmtree(table)


def _solved(name: str, positions: Mapping[str, int], **settings: Any) -> tuple[list[Solved], float]:
    """Solve on one thread; return the answers and the processor seconds. Raise RuntimeError if a length is wrong."""
    puzzle = load_config(name).puzzle
    problems = [Problem.of(puzzle.rules, puzzle.parse(position)) for position in positions]
    load_kernels(problems[0], "ida-star", **settings)
    begin = time.process_time()
    solved = list(solve_many(problems, "ida-star", threads=1, **settings))
    seconds = time.process_time() - begin
    lengths = [one.answer.distance for one in solved]
    if lengths != list(positions.values()):
        raise RuntimeError(f"{name}: solutions have the wrong lengths: {lengths}")
    return solved, seconds


def _korf(heuristic: Patterns) -> list[Row]:
    with KORF.open(encoding="utf-8") as file:
        positions = {row["tiles"]: int(row["optimal_length"]) for row in csv.DictReader(file)}
    solved, seconds = _solved("fifteen-puzzle", positions, heuristic=heuristic)
    generated = sum(one.answer.generated or 0 for one in solved)
    found = f"{generated / len(solved):,.0f}; {seconds:.2f} s; {generated / seconds / 1e6:.1f} million/s"
    return [
        Row(
            "Korf's hundred positions, one thread: mean nodes; total time; nodes per second",
            "40,000; 1 s; 20 million/s",
            found,
        )
    ]


def _korf_and_felner(heuristic: Patterns) -> Row:
    solved, seconds = _solved("twenty-four-puzzle", dict([EASIEST_24]), heuristic=heuristic)
    generated = solved[0].answer.generated or 0
    found = f"{generated:,}; {seconds:.2f} s; {generated / seconds / 1e6:.1f} million/s"
    return Row(
        "24-puzzle, number 38, four tables of six tiles: nodes; time; nodes per second", "10 s; 20 million/s", found
    )


def _cube(heuristic: Patterns) -> Row:
    puzzle = load_config("3x3x3").puzzle
    text, length = CUBE
    problem = Problem.of(puzzle.rules, puzzle.parse(text))
    begin = time.process_time()
    solved = solve_timed(problem, "ida-star", Path("none"), heuristic=heuristic, threads=2)
    seconds, generated = time.process_time() - begin, solved.answer.generated or 0
    if solved.answer.distance != length:
        raise RuntimeError(f"3x3x3: the solution has the wrong length: {solved.answer.distance}")
    found = f"{generated:,}; {seconds:.0f} s; {generated / seconds / 1e6:.0f} million/s"
    return Row("a random cube of 17 moves, two threads: nodes; processor time; nodes per processor second", "", found)


def _pancakes(n: int, target: str) -> Row:
    puzzle = ap.Config({"name": "stack", "family": "pancake", "n": n}).puzzle
    random = np.random.default_rng(n)
    problems = [Problem.of(puzzle.rules, random.permutation(n).astype(np.uint8)) for _ in range(STACKS)]
    load_kernels(problems[0], "ida-star", heuristic="gap")
    begin = time.process_time()
    solved = list(solve_many(problems, "ida-star", threads=1, heuristic="gap"))
    seconds = time.process_time() - begin
    expanded = sum(one.answer.expanded for one in solved)
    each = [one.answer.seconds for one in solved]
    found = f"{expanded:,}; {seconds:.2f} s; {1000 * median(each):.1f} ms, {1000 * max(each):.0f} ms"
    what = f"{STACKS} random stacks of {n} pancakes by gaps, one thread: positions expanded; processor time of all"
    return Row(f"{what}; elapsed time of one, median and maximum", target, found)


def _without_tables() -> list[Row]:
    with KORF.open(encoding="utf-8") as file:
        first = next(csv.DictReader(file))
    solved, seconds = _solved("fifteen-puzzle", {first["tiles"]: int(first["optimal_length"])})
    expanded = solved[0].answer.expanded
    command = [*ANTIPODES, "solve", "eight-puzzle", "8 6 7 2 5 4 3 0 1", "--method", "bidirectional", "--json"]
    times = [json.loads(run(command).output)["seconds"] for _ in range(2 * REPEATS)]
    return [
        *(_pancakes(n, target) for n, target in PANCAKES.items()),
        Row(
            "Korf's first position by linear conflict: time; positions expanded per second",
            "1 s",
            f"{seconds:.2f} s; {expanded / seconds / 1e6:.1f} million/s",
        ),
        Row(
            "the 31-move position of the 8-puzzle by `bidirectional`, time reported by `solve --json`",
            "0.01 s",
            f"{median(times):.4f} s",
        ),
    ]
