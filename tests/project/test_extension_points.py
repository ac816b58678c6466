"""Rows of "To change X, touch Y" in docs/architecture.md: a copy of the package is changed as a row says, and used."""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
from documents import DOCS
from project import ROOT

ARCHITECTURE = (DOCS / "architecture.md").read_text(encoding="utf-8")
Edit = tuple[str, str]
"""A line of a file, and the lines that replace it."""


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """A copy of the sources, which tests may change."""
    for top in ("pipeline", "tasks", "configs"):
        shutil.copytree(ROOT / top, tmp_path / top, ignore=shutil.ignore_patterns("__pycache__"))
    return tmp_path


@pytest.fixture
def run(package: Path) -> Callable[..., str]:
    """Run a Python program with the copy, and return what it prints."""

    def run(program: str) -> str:
        path = os.pathsep.join(str(package / top) for top in ("pipeline", "tasks"))
        done = subprocess.run(
            [sys.executable, "-c", program],
            cwd=package,
            env={**os.environ, "PYTHONPATH": path, "NUMBA_DISABLE_JIT": "1"},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    return run


def change(package: Path, goal: str, new: Mapping[str, str], edits: Mapping[str, Edit]) -> None:
    """Add files and edit others; the row of a goal has to name every file, by its path below `antipodes`."""
    (row,) = [line for line in ARCHITECTURE.splitlines() if line.startswith(f"| {goal} |")]
    named = row.split("|")[2]
    for path, text in new.items():
        assert f"`{Path(path).parent}`" in named, f"{goal}: {path}"
        (_source(package, path)).write_text(text, encoding="utf-8")
    for path, (old, replacement) in edits.items():
        assert f"`{path}`" in named or Path(path).name == "__init__.py", f"{goal}: {path}"
        file = _source(package, path)
        text = file.read_text(encoding="utf-8")
        assert text.count(old) == 1, f"{path}: {old}"
        file.write_text(text.replace(old, replacement), encoding="utf-8")


def _source(package: Path, path: str) -> Path:
    """The file with a path below one of the two packages."""
    tops = [package / "pipeline" / "antipodes", package / "tasks" / "antipodes_tasks"]
    (top,) = [one for one in tops if (one / path).parent.is_dir()]
    return top / path


GAPS = '''
"""Gaps of pancakes: neighbours in the stack that are not neighbours in the goal (M. Helmert, 2010)."""

import numpy as np

from antipodes_tasks.properties.lower_bounds import LowerBound


class Gaps(LowerBound):
    """The number of gaps between pancakes, and between the last pancake and the plate."""

    def __init__(self, rules, goals):
        (self.goal,) = goals

    def bounds(self, labels):
        order = np.argsort(self.goal)[labels]
        plate = np.full((len(labels), 1), labels.shape[1])
        return (np.abs(np.diff(np.hstack((order, plate)), axis=1)) > 1).sum(axis=1)
'''


def test_add_a_heuristic(package: Path, run: Callable[..., str]) -> None:
    row = '    "gaps": Named(Gaps, lambda rules: True, "pancakes", lambda rules: False),\n'
    change(
        package,
        "add a heuristic",
        {"properties/gaps.py": GAPS},
        {
            "properties/heuristics.py": (
                "NAMED = {\n",
                f"from antipodes_tasks.properties.gaps import Gaps\n\nNAMED = {{\n{row}",
            )
        },
    )
    program = """
import antipodes as ap
puzzle = ap.Config({"name": "six", "family": "pancake", "n": 6})
ap.run(puzzle, "six.zarr")
with ap.open_table("six.zarr") as table:
    print(table.evaluate("gaps").admissible)
    for position in ("2 1 4 3 6 5", "4 6 2 5 1 3", "1 3 5 2 4 6"):
        found = [ap.solve(puzzle, position, every=True, **by) for by in ({"heuristic": "gaps"}, {"method": "iddfs"})]
        print(found[0].distance == table[position], found[0].solution_count == found[1].solution_count)
        print(found[0].expanded < found[1].expanded)
"""
    assert run(program).split() == ["True"] * 10


ROTOR = '''
"""Rotors: pieces in a row, of which a move exchanges two neighbours."""

from antipodes.puzzles.families.permutations import row_puzzle, row_starts, symbols_of
from antipodes.puzzles.notation import Lists
from antipodes.puzzles.settings import refuse_unknown
from antipodes_tasks.rules.transforms import Transforms


def rotors(settings):
    """Return the puzzle of ``n`` pieces in a row."""
    refuse_unknown(settings, {"n", "start"})
    starts = row_starts(settings, 1)
    size = len(starts[0])
    moves = {}
    for place in range(size - 1):
        origins = list(range(size))
        origins[place], origins[place + 1] = origins[place + 1], origins[place]
        moves[f"x{place + 1}"] = origins
    return row_puzzle(settings, starts, Transforms.permuting(moves, len(symbols_of(starts))), Lists((size,)))
'''


def test_add_a_family_of_puzzles(package: Path, run: Callable[..., str]) -> None:
    change(
        package,
        "add a family of puzzles",
        {"puzzles/families/rotors.py": ROTOR},
        {
            "puzzles/families/__init__.py": (
                '    "sliding": ("sliding", "sliding"),\n',
                '    "rotors": ("rotors", "rotors"),\n    "sliding": ("sliding", "sliding"),\n',
            )
        },
    )
    program = """
import antipodes as ap
report = ap.run(ap.Config({"name": "five", "family": "rotors", "n": 5}), "five.zarr")
print(*report.layers)
with ap.open_table("five.zarr") as table:
    print(table["5 4 3 2 1"], len(table.path("5 4 3 2 1")) - 1)
"""
    assert run(program).split("\n")[:2] == ["1 4 9 15 20 22 20 15 9 4 1", "10 10"]  # inversions of permutations
