"""Small puzzles of every kind of space, including puzzles whose tables are reduced by symmetries."""

from typing import Any

from twisty import TWO_PARTS

from antipodes.puzzles.config import Config
from antipodes.system.options import RunOptions

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
    "quarter turns": {"family": "twisty", "format": "tws", "definition": TWISTY, "turns": "quarter"},
    "equal pancakes": {"family": "pancake", "start": "1 1 2 3 3"},
    "burnt pancakes": {"family": "burnt-pancake", "n": 3},
    "topspin": {"family": "topspin", "n": 6, "k": 3},
    "hanoi": {"family": "hanoi", "pegs": 4, "discs": 4},
    "lights": {"family": "lights-out", "rows": 2, "columns": 3},
    "one-way": {"family": "generators", "n": 5, "moves": {"A": "(0 1 2 3 4)", "B": "(0 1)"}, "turns": "single"},
    "several blanks": {"family": "sliding", "rows": 2, "columns": 3, "start": "1 2 . 3 # .", "walls": [[0, 1]]},
    "free tiles": {"family": "sliding", "rows": 2, "columns": 4, "start": "1 2 x 2 . 3 x x", "free": ["x"]},
    "blocks": {"family": "blocks", "start": "AABC/AAD./E.FF"},
    "cars": {"family": "blocks", "axis": True, "moves": "slides", "start": "AA.B/C..B/C.DD", "goal": "..AA/????/????"},
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


def config_of(name: str) -> Config:
    return Config({"name": name.replace(" ", "-"), **PUZZLES[name]})


def options_of(name: str, **more: Any) -> RunOptions:
    return RunOptions(symmetry="on" if name in REDUCED else None, **more)


NUMBERED = [name for name in PUZZLES if name not in ("blocks", "cars")]
"""Names of the puzzles whose positions can be numbered."""
