"""The puzzles of the atlas, in order: those with a section of their own, and families by size."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

Settings = dict[str, Any]

M24 = "With the pairs (0 23)(1 22)(2 3)(4 21)(5 10)(6 7)(8 9)(11 20)(12 13)(14 19)(15 16)(17 18) the radius is 45"
JAAP = "Radius and counts: J. Scherphuis, *Jaap's Puzzle Page*"
KLOTSKI = "The large block leaves after 81 moves: M. Gardner, *Scientific American* (February 1964)"
CHAPTERS: Mapping[str, Mapping[str, str]] = {
    "Cubes": {
        "2x2x2": "With one corner fixed the radius is the same",
        "2x2x2-quarter": "With one corner fixed the radius is the same",
        "2x2x2-corner": JAAP,
        "2x2x2-corner-quarter": JAAP,
        "2x2x3": "",
        "3x3x3-squares": "Radius: the last stage of Thistlethwaite's algorithm, which needs at most 15 moves",
        "3x3x3-two-faces": "",
    },
    "Cubes that turn at their corners": {
        "skewb-corner": JAAP,
        "skewb": "With one corner fixed the radius is the same",
        "skewb-diamond": "",
        "ivy": "",
        "dino-edge": "",
        "dino": "",
    },
    "Tetrahedra": {
        "pyraminx": JAAP,
        "pyraminx-tips": "",
        "pyraminx-faces": "",
        "halpern-kolmelij": "",
    },
    "Sliding tiles": {
        "eight-puzzle": "A. Reinefeld, *Complete solution of the eight-puzzle* (1993)",
        "eight-puzzle-blank-first": "",
        "two-by-five": "Radius: OEIS A151944",
        "two-by-six": "Radius: OEIS A151944",
        "eleven-puzzle": "Radius: OEIS A151944",
        "twelve-puzzle-colours": "",
        "three-colours": "",
        "five-tiles": "",
        "seven-tiles": "",
    },
    "Sliding tiles on other boards": {"hole-in-the-middle": "", "two-blanks": ""},
    "Blocks": {"klotski": "The large block leaves after 116 steps", "klotski-moves": KLOTSKI, "rush-hour": ""},
    "Knights": {"knights-coloured": "", "knights-labelled": ""},
    "Stacks, rings, towers, lights": {
        "pancake-10": "Radius: OEIS A058986",
        "pancake-11": "Radius: OEIS A058986",
        "burnt-pancake-8": "Radius: D. S. Cohen and M. Blum, *On the problem of sorting burnt pancakes* (1995)",
        "topspin-11": "",
        "hanoi-3-pegs": "Radius: 2^12 - 1 (Lucas 1883)",
        "hanoi-4-pegs": "",
        "lights-out-5x5": "M. Anderson and T. Feil, *Turning lights out with linear algebra* (1998), for the quarter",
    },
    "Groups": {"m12": "", "m24": M24},
}
"""The bundled puzzles by chapter, each with the place where its result was published, if one is known."""
BY_PATTERNS = "too large, `antipodes solve` uses the tables of its patterns"
TOO_LARGE = {
    "two-by-seven": "its 43,589,145,600 positions take hours, and up to 41 GiB on disk",
    "3x3x3": BY_PATTERNS,
    "3x3x3-quarter": BY_PATTERNS,
    "fifteen-puzzle": BY_PATTERNS,
    "fifteen-puzzle-blank-last": BY_PATTERNS,
    "twenty-four-puzzle": BY_PATTERNS,
}
"""Bundled puzzles that the atlas leaves out, and why."""


@dataclass(frozen=True)
class Family:
    """Puzzles of one kind by size."""

    title: str
    about: str
    settings: Callable[[str], Settings]
    """The ``[puzzle]`` table of a size, without its name."""
    sizes: Sequence[str]
    size: str
    """The name of the size, for the head of the table."""


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
        "The blank begins in a corner. Radii: OEIS A151944.",
        _board,
        ("2x2", "2x3", "2x4", "3x3"),
        "board",
    ),
    Family(
        "Pancakes", "Radii: OEIS A058986.", lambda n: {"family": "pancake", "n": int(n)}, _numbers(2, 11), "pancakes"
    ),
    Family(
        "Burnt pancakes",
        "Radii: D. S. Cohen and M. Blum, *On the problem of sorting burnt pancakes* (1995).",
        lambda n: {"family": "burnt-pancake", "n": int(n)},
        _numbers(1, 8),
        "pancakes",
    ),
    Family(
        "TopSpin with four pieces on the turntable",
        "On rings of odd size only even permutations can be reached.",
        lambda n: {"family": "topspin", "n": int(n)},
        _numbers(5, 11),
        "pieces",
    ),
    Family(
        "Rotate and exchange",
        "Rotate a row by one place either way, or exchange the first two pieces. From 4 pieces on the radius is "
        "n (n - 1) / 2.",
        _left_right_exchange,
        _numbers(3, 11),
        "pieces",
    ),
    Family(
        "Towers of Hanoi with three pegs",
        "The radius is 2^n - 1 (Lucas 1883), and there are 2^n antipodes.",
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
        "Positions that cannot be reached are left out (Anderson and Feil 1998).",
        lambda n: {"family": "lights-out", "rows": int(n), "columns": int(n)},
        _numbers(2, 6),
        "side",
    ),
)
