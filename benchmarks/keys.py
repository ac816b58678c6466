"""Searches on keys: a puzzle that can also be numbered, a board of blocks, and moves in Python."""

import json
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from benchmarks.measure import ANTIPODES, Row, Run, median, run

TITLE = "Positions as keys"
REPEATS = 3
MILLION = 1_000_000
NUMBERED = """[puzzle]
name = "three-colours-keys"
family = "sliding"
enumerated = true
rows = 4
columns = 4
start = "1 1 2 2 / 1 1 2 2 / 1 3 3 2 / 3 3 3 0"
"""
BLOCKS = """[puzzle]
name = "blocks"
family = "blocks"
start = "AABCD/AABCD/EFGHI/EFJKL/MNOPQ/RS..."
"""
DIALS = """
from functools import partial
from antipodes import define_puzzle

VALUES, DIALS = 11, 7

def turn(dials, dial, by):
    dials[:, dial] = (dials[:, dial] + by) % VALUES
    return dials

signs = ("+", 1), ("-", -1)
moves = {f"{dial}{sign}": partial(turn, dial=dial, by=by) for dial in range(DIALS) for sign, by in signs}
inverses = {f"{dial}+": f"{dial}-" for dial in range(DIALS)}
puzzle = define_puzzle(
    name="dials", radices=[VALUES] * DIALS, start=[0] * DIALS, moves=moves, inverses=inverses, enumerated=True
)
"""
"""A puzzle with 14 reversible moves and 19,487,171 positions."""
PUZZLES = (
    ("`three-colours` as keys", "tiles.toml", NUMBERED, "2.5 s, 400 MB"),
    ("a board of blocks", "blocks.toml", BLOCKS, "5 million/s, whole command"),
    ("dials with moves in Python", "dials.py", DIALS, "1 million/s, whole command"),
)
PROCESSES = ("--scheduler", "local", "--workers", "2")


def measure() -> list[Row]:
    """Return all rows; each figure is a median."""
    with tempfile.TemporaryDirectory() as folder:
        return list(_rows(Path(folder)))


def _rows(folder: Path) -> Iterator[Row]:
    for what, name, text, target in PUZZLES:
        (folder / name).write_text(text, encoding="utf-8")
        puzzle = f"{folder / name}:puzzle" if name.endswith(".py") else str(folder / name)
        _run(folder, puzzle)  # compiles the kernels
        threads = [_run(folder, puzzle) for _ in range(REPEATS)]
        yield _row(what, target, threads)
        processes = [_run(folder, puzzle, PROCESSES) for _ in range(REPEATS)]
        seconds, before = (median([one.seconds for one, _ in runs]) for runs in (processes, threads))
        yield Row(
            f"{what}, two processes",
            "1.5 times the time of two threads",
            f"{seconds:.2f} s, {seconds / before:.2f} times",
        )


def _run(folder: Path, puzzle: str, options: Sequence[str] = ()) -> tuple[Run, dict[str, Any]]:
    store = str(folder / "table.zarr")
    finished = run([*ANTIPODES, "run", puzzle, "--store", store, "--overwrite", "--quiet", "--json", *options])
    return finished, json.loads(finished.output)


def _row(what: str, target: str, runs: Sequence[tuple[Run, dict[str, Any]]]) -> Row:
    whole = median([finished.seconds for finished, _ in runs])
    search = median([report["seconds"]["search"] for _, report in runs])
    states, peak = runs[0][1]["states"], max(finished.peak_bytes for finished, _ in runs)
    speeds = (
        f"{states / whole / MILLION:.2f} million/s; search {search:.2f} s, {states / search / MILLION:.2f} million/s"
    )
    return Row(f"{what}, {states:,} positions", target, f"{whole:.2f} s, {speeds}; {peak / 1e6:.0f} MB")
