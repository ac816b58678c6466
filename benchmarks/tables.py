"""Distance tables compared with a textbook program."""

import json
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.measure import ANTIPODES, Row, Run, build, median, run

TITLE = "Distance tables"
REPEATS = 5
PUZZLE = "three-colours"
ANTIPODE = "3 0 3 3 2 3 3 1 2 2 1 1 2 2 1 1"
MILLION = 1_000_000


def measure() -> list[Row]:
    """Return all rows; the textbook program and ours alternate, so that both see the same load of the machine."""
    textbook = build("textbook.c")
    with tempfile.TemporaryDirectory() as folder:
        store = str(Path(folder) / "table.zarr")
        _run_table(PUZZLE, store)  # compiles the kernels
        turns = [(json.loads(run([textbook]).output), _run_table(PUZZLE, store)) for _ in range(REPEATS)]
        return [*_against_textbook(turns), *_first_time(folder), *_questions(store)]


def _run_table(puzzle: str, store: str, environment: dict[str, str] | None = None) -> Run:
    return run([*ANTIPODES, "run", puzzle, "--store", store, "--overwrite", "--json"], environment)


def _against_textbook(turns: list[tuple[dict[str, Any], Run]]) -> list[Row]:
    reports = [json.loads(ours.output) for _, ours in turns]
    for (theirs, _), report in zip(turns, reports, strict=True):
        if theirs["layers"] != report["layers"]:
            raise RuntimeError("the textbook program and antipodes disagree")
    textbook = [theirs["seconds"] for theirs, _ in turns]
    search = [report["seconds"]["search"] for report in reports]
    whole = [ours.seconds for _, ours in turns]
    phases = {name: median([report["seconds"][name] for report in reports]) for name in ("tables", "write")}
    return [
        Row("textbook C program, whole run", "", f"{median(textbook):.2f} s"),
        Row(
            f"`{PUZZLE}`, search phase",
            "20 times as fast as the C program",
            f"{median(search):.3f} s, {_ratio(textbook, search)} times as fast",
        ),
        Row(f"`{PUZZLE}`, building move tables and loading kernels", "", f"{phases['tables']:.3f} s"),
        Row(f"`{PUZZLE}`, writing and committing", "", f"{phases['write']:.3f} s"),
        Row(
            f"`antipodes run {PUZZLE}`, whole command",
            "3 times as fast as the C program",
            f"{median(whole):.2f} s, {_ratio(textbook, whole)} times as fast",
        ),
        Row(
            f"`antipodes run {PUZZLE}`, peak memory",
            "300 MB",
            f"{max(ours.peak_bytes for _, ours in turns) / 1e6:.0f} MB",
        ),
    ]


def _ratio(theirs: list[float], ours: list[float]) -> str:
    return f"{median([a / b for a, b in zip(theirs, ours, strict=True)]):.1f}"


def _first_time(folder: str) -> list[Row]:
    """Measure a run with an empty cache of compiled kernels, as after an installation."""
    seconds = []
    for turn in range(3):
        cache = {"NUMBA_CACHE_DIR": str(Path(folder) / f"cache-{turn}")}
        seconds.append(_run_table(PUZZLE, str(Path(folder) / "first.zarr"), cache).seconds)
    return [Row(f"`antipodes run {PUZZLE}`, whole command with nothing compiled", "4 s", f"{median(seconds):.2f} s")]


def _questions(store: str) -> list[Row]:
    help_seconds = [run([*ANTIPODES, "--help"]).seconds for _ in range(REPEATS)]
    query_seconds = [run([*ANTIPODES, "query", store, ANTIPODE]).seconds for _ in range(REPEATS)]
    verify_seconds = [run([*ANTIPODES, "verify", store]).seconds for _ in range(REPEATS)]
    return [
        Row("`antipodes --help`", "0.25 s", f"{median(help_seconds):.2f} s"),
        Row("`antipodes query`, one position, whole command", "0.6 s", f"{median(query_seconds):.2f} s"),
        Row("`antipodes verify`, whole command", "5 s", f"{median(verify_seconds):.2f} s"),
        Row("looking up a million distances in an open table", "2 s", f"{_million_distances(store):.2f} s"),
    ]


def _million_distances(store: str) -> float:
    from antipodes.tables.table import open_table

    with open_table(store) as table:
        indices = np.random.default_rng(1).integers(table.index_size, size=MILLION)
        positions = table.space.unrank(indices)
        begin = time.perf_counter()
        table.distances(positions)
        return time.perf_counter() - begin
