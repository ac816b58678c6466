"""Distances from an open table: one position at a time, and a million in one call."""

import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from antipodes import Table, open_table, run
from benchmarks.measure import Row

TITLE = "Distances from Python"
PUZZLES = ("three-colours", "eight-puzzle", "pancake-10", "2x2x2-corner", "skewb-corner")
"""One puzzle for each kind of state space: arrangements, arrangements of one parity, orbits, and groups."""
SINGLE, MILLION, REPEATS = 2_000, 1_000_000, 5


def measure() -> list[Row]:
    """Return all rows. All chunks are in memory. Each figure is the best of several repeats."""
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for name in PUZZLES:
            with open_table(run(name, Path(folder) / f"{name}.zarr").store) as table:
                rows += _of_table(name, table)
    return rows


def _of_table(name: str, table: Table) -> list[Row]:
    indices = np.random.default_rng(1).integers(table.index_size, size=MILLION)
    positions = table.space.unrank(indices)
    some = list(positions[:SINGLE])
    texts = [table.puzzle.format(position) for position in some]
    labels = _best(lambda: [table.distance(position) for position in some]) / SINGLE
    text = _best(lambda: [table.distance(position) for position in texts]) / SINGLE
    million = _best(lambda: table.distances(positions))
    return [
        Row(f"`{name}`: `table.distance` of labels", "20 µs", f"{labels * 1e6:.1f} µs"),
        Row(f"`{name}`: `table.distance` of a string", "", f"{text * 1e6:.1f} µs"),
        Row(f"`{name}`: `table.distances` of a million positions", "1 s", f"{million:.2f} s"),
    ]


def _best(work: Callable[[], object]) -> float:
    """Return the seconds of the fastest of some calls."""
    seconds = []
    for _ in range(REPEATS):
        begin = time.perf_counter()
        work()
        seconds.append(time.perf_counter() - begin)
    return min(seconds)
