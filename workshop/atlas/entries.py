"""The puzzles of the atlas, in order: single puzzles with a section each, and families by size."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

Settings = dict[str, Any]

ONE_CORNER = "With one corner fixed the radius is the same."
M24 = (
    "With Conway's pairs (0 23)(1 22)(2 3)(4 21)(5 10)(6 7)(8 9)(11 20)(12 13)(14 19)(15 16)(17 18) the radius is 45, "
    "which [P. Timmons](http://forum.cubeman.org/?q=node/view/586) published in 2023."
)
CHAPTERS: Mapping[str, Sequence[str]] = {
    "Cubes": (
        "2x2x2",
        "2x2x2-quarter",
        "2x2x2-corner",
        "2x2x2-corner-quarter",
        "2x2x3",
        "3x3x3-squares",
        "3x3x3-two-faces",
        "bandaged-2x2x2",
        "bandaged-2x2x3",
    ),
    "Cubes that turn at their corners": ("skewb-corner", "skewb", "skewb-diamond", "ivy", "dino-edge", "dino"),
    "Tetrahedra": ("pyraminx", "pyraminx-tips", "pyraminx-faces", "halpern-kolmelij"),
    "Square-1": ("square-1-shape", "square-1-small"),
    "Sliding tiles": (
        "eight-puzzle",
        "eight-puzzle-blank-first",
        "two-by-five",
        "two-by-six",
        "eleven-puzzle",
        "twelve-puzzle-colours",
        "three-colours",
        "five-tiles",
        "seven-tiles",
    ),
    "Sliding tiles on other boards": ("hole-in-the-middle", "two-blanks"),
    "Blocks": ("klotski", "klotski-moves", "rush-hour", "rush-hour-solved"),
    "Knights": ("knights-coloured", "knights-labelled"),
    "Stacks, rings, towers, lights": (
        "pancake-10",
        "pancake-11",
        "burnt-pancake-8",
        "topspin-11",
        "hanoi-3-pegs",
        "hanoi-4-pegs",
        "lights-out-5x5",
    ),
    "Groups": ("m12", "m24"),
}
"""The bundled puzzles by chapter."""
REMARKS = {"2x2x2": ONE_CORNER, "2x2x2-quarter": ONE_CORNER, "skewb": ONE_CORNER, "m24": M24}
"""Remarks after the numbers of a puzzle."""
BY_PATTERNS = "too large for a table; `antipodes solve` uses pattern tables"
TOO_LARGE = {
    "two-by-seven": "the table of its 43,589,145,600 positions takes up to 41 GiB on disk",
    "3x3x3": BY_PATTERNS,
    "3x3x3-quarter": BY_PATTERNS,
    "fifteen-puzzle": BY_PATTERNS,
    "fifteen-puzzle-blank-last": BY_PATTERNS,
    "twenty-four-puzzle": BY_PATTERNS,
    "square-1": "the table of its 62,768,369,664,000 positions would take about 57 TiB on disk",
}
"""Bundled puzzles that the atlas leaves out, with the reason."""


@dataclass(frozen=True)
class Family:
    """Puzzles of one kind in several sizes."""

    title: str
    about: str
    settings: Callable[[str], Settings]
    """Returns the ``[puzzle]`` table of a size, without the name."""
    sizes: Sequence[str]
    size: str
    """The quantity that the size counts, for the header of the table."""


def _numbers(first: int, end: int) -> list[str]:
    return [str(number) for number in range(first, end)]


def _board(size: str) -> Settings:
    rows, columns = map(int, size.split("x"))
    tiles = [str(tile) for tile in range(1, rows * columns)]
    return {"family": "sliding", "rows": rows, "columns": columns, "start": " ".join([*tiles, "0"])}


def _left_right_exchange(size: str) -> Settings:
    ring = " ".join(map(str, range(int(size))))
    return {"family": "generators", "n": int(size), "turns": "quarter", "moves": {"L": f"({ring})", "X": "(0 1)"}}


FAMILIES = (
    Family(
        "Sliding boards, all tiles different",
        "The blank begins in a corner.",
        _board,
        ("2x2", "2x3", "2x4", "3x3"),
        "board",
    ),
    Family(
        "Pancakes",
        "Sort the stack by flipping the topmost pancakes.",
        lambda n: {"family": "pancake", "n": int(n)},
        _numbers(2, 11),
        "pancakes",
    ),
    Family(
        "Burnt pancakes",
        "Each pancake is burnt on one side, which must end up facing down.",
        lambda n: {"family": "burnt-pancake", "n": int(n)},
        _numbers(1, 8),
        "pancakes",
    ),
    Family(
        "TopSpin with four pieces on the turntable",
        "On rings with an odd number of pieces only even permutations are reachable.",
        lambda n: {"family": "topspin", "n": int(n)},
        _numbers(5, 11),
        "pieces",
    ),
    Family(
        "Rotate and exchange",
        "Rotate a row of n pieces by one place in either direction, or exchange the first two pieces. From 4 pieces on "
        "the radius is n (n - 1) / 2.",
        _left_right_exchange,
        _numbers(3, 11),
        "pieces",
    ),
    Family(
        "Towers of Hanoi with three pegs",
        "There are 2^n antipodes.",
        lambda n: {"family": "hanoi", "pegs": 3, "discs": int(n)},
        _numbers(1, 11),
        "discs",
    ),
    Family(
        "Towers of Hanoi with four pegs",
        "Moving the whole tower takes 1, 3, 5, 9, 13, 17, 25, 33, 41, 49 moves (Frame and Stewart 1941; Bousch 2014).",
        lambda n: {"family": "hanoi", "pegs": 4, "discs": int(n)},
        _numbers(1, 11),
        "discs",
    ),
    Family(
        "Lights Out on square boards",
        "Unreachable positions are not counted (Anderson and Feil 1998).",
        lambda n: {"family": "lights-out", "rows": int(n), "columns": int(n)},
        _numbers(2, 6),
        "side",
    ),
)
