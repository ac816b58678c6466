"""Puzzles of all kinds, including files of other programs: the whole command, and the search phase."""

import json
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from antipodes.puzzles.config import bundled_configs
from benchmarks.measure import ANTIPODES, Row, Run, median, run

TITLE = "Puzzles of all kinds"
REPEATS = 3
MILLION = 1_000_000
SAMPLES = Path(__file__).parents[1] / "tests" / "support" / "samples"
DEFINITIONS = Path(__file__).parents[1] / "configs" / "twisty"
PANCAKE_12 = '[puzzle]\nname = "pancake-12"\nfamily = "pancake"\nn = 12\n'


def measure() -> list[Row]:
    """Return all rows; each figure is a median."""
    with tempfile.TemporaryDirectory() as folder:
        _run(folder, str(SAMPLES / "2x2x2.tws"))  # compiles the kernels
        return [*_rows(folder), _opening()]


def _rows(folder: str) -> Iterator[Row]:
    for what, puzzle, target in (
        ("2x2x2 without a fixed corner, from `.tws`", str(SAMPLES / "2x2x2.tws"), "3 s; search 1.2 s"),
        ("skewb, from `.tws`", str(DEFINITIONS / "skewb.tws"), "3 s"),
        ("`pancake-11`", "pancake-11", "40 million/s in the search"),
        ("`topspin-11`", "topspin-11", "40 million/s in the search"),
        ("pancake 12", _config(folder, PANCAKE_12), "25 s, 2 GB"),
        ("dino, from `.tws`", str(DEFINITIONS / "dino.tws"), "20 s"),
        ("pyraminx with tips, from `.gap`", str(SAMPLES / "pyraminx.gap"), "20 s"),
    ):
        yield _row(what, target, [_run(folder, puzzle) for _ in range(REPEATS)])


def _config(folder: str, text: str) -> str:
    path = Path(folder) / "puzzle.toml"
    path.write_text(text, encoding="utf-8")
    return str(path)


def _run(folder: str, puzzle: str) -> tuple[Run, dict[str, Any]]:
    store = str(Path(folder) / "table.zarr")
    finished = run([*ANTIPODES, "run", puzzle, "--store", store, "--overwrite", "--quiet", "--json"])
    return finished, json.loads(finished.output)


def _row(what: str, target: str, runs: list[tuple[Run, dict[str, Any]]]) -> Row:
    whole = median([finished.seconds for finished, _ in runs])
    search = median([report["seconds"]["search"] for _, report in runs])
    states = runs[0][1]["states"]
    peak = max(finished.peak_bytes for finished, _ in runs)
    return Row(
        f"{what}, {states:,} positions",
        target,
        f"{whole:.2f} s; search {search:.2f} s, {states / search / MILLION:.0f} million/s; {peak / 1e6:.0f} MB",
    )


def _opening() -> Row:
    """Measure `plan`, which reads the file, builds the space and chooses the cut, for the slowest bundled puzzle."""
    seconds = {name: run([*ANTIPODES, "plan", name]).seconds for name in bundled_configs()}
    slowest = max(seconds, key=seconds.__getitem__)
    return Row(
        "the slowest `antipodes plan` of all bundled puzzles",
        "2 s",
        f"{seconds[slowest]:.2f} s, `{slowest}`",
    )
