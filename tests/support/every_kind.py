"""Small puzzles of every kind of space, with symmetries and without, and their positions by brute force."""

from collections.abc import Collection
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import key_puzzles
import numpy as np
import pytest
from brute_force import Rows, positions_of
from numpy.typing import NDArray
from own_puzzles import symmetric_towers
from stores import contents
from twisty import TWO_PARTS

from antipodes.puzzles.config import Config, as_config
from antipodes.puzzles.puzzle import Puzzle
from antipodes.system.options import RunOptions
from antipodes.tables.run import run_puzzle

TWISTY = (
    TWO_PARTS
    + """
Move x
CORNERS
2 1 4 3
End
"""
)
PUZZLES: dict[str, dict[str, Any]] = {
    "corners and equal edges": {"family": "twisty", "format": "tws", "definition": TWISTY},
    "burnt pancakes": {"family": "burnt-pancake", "n": 3},
    "topspin": {"family": "topspin", "n": 6, "k": 3},
    "hanoi": {"family": "hanoi", "pegs": 4, "discs": 4},
    "lights": {"family": "lights-out", "rows": 2, "columns": 3},
    "one-way": {"family": "generators", "n": 5, "moves": {"A": "(0 1 2 3 4)", "B": "(0 1)"}, "turns": "single"},
    "several blanks": {"family": "sliding", "rows": 2, "columns": 3, "start": "1 2 . 3 # .", "walls": [[0, 1]]},
    "free tiles": {"family": "sliding", "rows": 2, "columns": 4, "start": "1 2 x 2 . 3 x x", "free": ["x"]},
    "blocks": {"family": "blocks", "start": "AABC/AAD./E.FF"},
    "cars": {"family": "blocks", "axis": True, "moves": "slides", "start": "AA.B/C..B/C.DD", "goal": "..AA/????/????"},
    "bandaged": {
        "family": "generators",
        "start": "a b c d e e a",
        "moves": {"L": "(0 1 2 3)", "R": "(3 4 5 6)", "X": "(1 2 3 4)"},
        "pieces": [[1, 2]],
    },
    "group": {"family": "generators", "n": 7, "moves": {"A": "(0 1 2 3 4 5 6)", "B": "(1 2)(3 6)"}},
}


THREE = """
Set TRIANGLE 3 3
Solved
TRIANGLE
1 2 3
End
"""
THREE += "".join(f"Move {name}\nTRIANGLE\n{place}\n{twist}\nEnd\n" for name, place, twist in [
    ("A", "2 1 3", "0 0 0"), ("B", "1 3 2", "0 0 0"), ("C", "3 2 1", "0 0 0"),
    ("D", "1 2 3", "1 0 0"), ("E", "1 2 3", "0 1 0"), ("F", "1 2 3", "0 0 1"),
])  # fmt: skip
CYCLES = {"A": "(0 1 2)", "B": "(3 4 5)", "C": "(0 3)", "D": "(0 1)", "E": "(3 4)"}
REDUCED: dict[str, dict[str, Any]] = {
    "reduced hanoi": PUZZLES["hanoi"],
    "reduced lights": {"family": "lights-out", "rows": 3, "columns": 3},
    "reduced topspin": {"family": "topspin", "n": 7, "k": 3},
    "reduced twists": {"family": "twisty", "format": "tws", "definition": THREE},
    "reduced one-way": {"family": "generators", "n": 6, "moves": CYCLES, "turns": "single"},
    "reduced board": {"family": "sliding", "rows": 2, "columns": 3, "start": "1 0 1 / 2 3 2"},
    "reduced tiles": {"family": "sliding", "rows": 2, "columns": 3, "start": "1 0 2 / 3 4 5"},
    "reduced goals": {"family": "hanoi", "pegs": 3, "discs": 5, "start": ["0 0 0 0 0", "1 1 2 2 1", "2 2 1 1 2"]},
}
"""Puzzles whose tables are reduced by symmetries."""
PUZZLES |= REDUCED


KEYS: dict[str, dict[str, Any]] = {
    "keys of tiles": {"family": "sliding", "rows": 2, "columns": 3, "start": "1 2 2 3 4 0"},
    "keys of slides": {"family": "sliding", "rows": 2, "columns": 3, "start": "1 1 2 2 3 0", "metric": "slides"},
    "keys of a goal": {"family": "pancake", "n": 5, "start": "1 2 3 4 5", "goal": "5 4 ? ? ?"},
    "keys of one-way jumps": {"family": "jump", "start": "AB/A-/--", "offsets": [[0, 1], [1, 0], [-1, -1]]},
    "keys of corners": {"family": "square-1", "start": "A1A11B1B-"},
    "keys of towers": {"family": "hanoi", "pegs": 3, "discs": 4},
}
"""Puzzles whose positions a formula numbers, but whose tables list them as keys."""
SETTINGS = PUZZLES | {name: {**settings, "enumerated": True} for name, settings in KEYS.items()}


def reduced_functions() -> Puzzle:
    """Return the towers of Hanoi as functions that declare their symmetries."""
    return symmetric_towers(3, 3)


PYTHON: dict[str, Any] = {
    "wide keys": key_puzzles.wide,
    "keys of one-way functions": key_puzzles.one_way,
    "keys of functions": key_puzzles.tiles,
    "reduced functions": reduced_functions,
}
"""Functions that return puzzles whose moves are Python functions."""
FUNCTIONS = [name for name in PYTHON if not name.startswith("reduced")]
"""Names of the puzzles whose symmetries are unknown, and whose moves accept reachable positions only."""
KINDS = [*SETTINGS, *PYTHON]
FAST = (
    *("corners and equal edges", "one-way", "cars", "bandaged", "group"),
    *("reduced one-way", "reduced goals", "keys of one-way functions"),
)
"""Names of the puzzles that fast tests try in every way: one of each kind of space, of moves and of symmetries."""
FEW = ("one-way", "bandaged", "reduced goals")
"""Names of the puzzles that fast tests search in more ways: one-way and reversible, reduced and not, by shapes."""


def slow_unless_in(fast: Collection[Any], names: Collection[Any]) -> list[Any]:
    """Return names or other values as parameters of tests, which are slow unless the value is in ``fast``."""
    return [pytest.param(name, marks=() if name in fast else pytest.mark.slow) for name in names]


@cache
def config_of(name: str) -> Config:
    if name in PYTHON:
        return as_config(PYTHON[name]())
    return Config({"name": name.replace(" ", "-"), **SETTINGS[name]})


def options_of(name: str, **more: Any) -> RunOptions:
    return RunOptions(symmetry="on" if name.startswith("reduced") else None, **more)


@cache
def known_positions(name: str) -> list[Rows]:
    """Return the positions at each depth, by brute force."""
    return positions_of(config_of(name).puzzle)


@cache
def known_moves(name: str) -> list[NDArray[np.int64]]:
    """Return how many moves of the positions at each depth lead farther, to the same depth, and nearer, ``(n, 3)``."""
    known, moves = known_positions(name), config_of(name).puzzle.moves
    depths = {bytes(position): depth for depth, positions in enumerate(known) for position in positions}

    def counted(depth: int, position: Rows) -> list[int]:
        after = [depths[bytes(one)] - depth for one in moves.canonical(moves.successors(position))]
        return [sum(one > 0 for one in after), after.count(0), sum(one < 0 for one in after)]

    return [np.array([counted(depth, one) for one in positions]) for depth, positions in enumerate(known)]


@cache
def files_by_bits(name: str) -> dict[str, bytes]:
    """Return the files of the table of a puzzle in chunks of a few positions, from a search with bits in memory."""
    with TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setattr("antipodes.tables.layers.division.CHUNK_STATES", (8, 64))
        run_puzzle(config_of(name), Path(folder) / "t.zarr", options_of(name, workers=2))
        return contents(Path(folder) / "t.zarr")


def many_parts(patch: pytest.MonkeyPatch) -> None:
    """Make chunks, partitions and ranges of keys so small that these puzzles have several."""
    patch.setattr("antipodes.tables.layers.division.CHUNK_STATES", (32, 256))
    patch.setattr("antipodes.tables.layers.division.PARTITION_STATES", 100)
    patch.setattr("antipodes.tables.layers.division.SCATTERED_PARTITIONS", 1000)
    ranges = {"SMALL": 40, "RANGES": 12, "STEPS": 8, "MAX_STEPS": 32, "MAX_CALLS": 128, "WALKERS": 200}
    for constant, value in ranges.items():
        patch.setattr(f"antipodes_tasks.keys.ranges.{constant}", value)
    patch.setattr("antipodes.tables.store.table_manifest.KEY_CHUNK", 100)
    patch.setattr("antipodes.tables.layers.key_assembly.TASK_KEYS", 250)


SEARCHED = (*FAST, "hanoi", "free tiles", "reduced topspin", "reduced twists")
"""Names of the puzzles whose move tables are searched in more ways: some of each kind of move tables."""
NUMBERED = [name for name in PUZZLES if name not in ("blocks", "cars")]
"""Names of the puzzles whose positions are numbered."""
