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


LOGGED_BITS = '''
"""Bits that log the layers which they find."""

from dataclasses import dataclass
from functools import partial

from antipodes.tables.strategies.contents import BitContents
from antipodes_tasks.bfs.partition import State


class LoggedState(State):
    def advance(self, depth, sources, tables, log):
        found = super().advance(depth, sources, tables, log)
        with open("found.txt", "a") as file:
            print(depth, found, file=file)
        return found


def logged(width, chunk_rows, part, room):
    return LoggedState(part, width, chunk_rows)


@dataclass(frozen=True)
class LoggedBits(BitContents):
    def needs(self, division, commitment, workers):
        needs = super().needs(division, commitment, workers)
        return needs._replace(together=needs.together + 1)

    def make_state(self, division):
        return partial(logged, division.space.width, division.chunk_rows)
'''


def test_hold_the_positions_of_a_search_in_another_way(package: Path, run: Callable[..., str]) -> None:
    """The first row of the list whose memory fits is used, for a table and for counts."""
    change(
        package,
        "hold the positions of a search in another way",
        {"tables/strategies/logged_bits.py": LOGGED_BITS},
        {
            "tables/planning/plan.py": (
                "CONTENTS: tuple[Contents, ...] = (",
                "from antipodes.tables.strategies.logged_bits import LoggedBits\n"
                "CONTENTS: tuple[Contents, ...] = (LoggedBits(), ",
            )
        },
    )
    program = """
from collections import Counter
from pathlib import Path
import antipodes as ap
from antipodes.tables.planning.plan import plan_run

config = ap.Config({"name": "five", "family": "pancake", "n": 5})
needed = plan_run(config.puzzle).least_bytes
log = Path("found.txt")
for name, limit in (("table", needed), ("counts", needed), ("other", needed - 1)):
    log.unlink(missing_ok=True)
    report = ap.run(config, name + ".zarr", workers=1, memory_limit=limit, counts_only=name == "counts")
    found = Counter()
    for line in log.read_text().splitlines() if log.exists() else ():
        depth, count = map(int, line.split())
        found[depth] += count
    print(*report.layers, "found", *[count for depth, count in sorted(found.items()) if count])
"""
    layers = "1 4 12 35 48 20"
    logged = f"{layers} found 4 12 35 48 20"
    assert run(program).splitlines() == [logged, logged, f"{layers} found"]
