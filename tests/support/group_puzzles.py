"""Random and known puzzles whose positions are the elements of a group."""

from math import factorial
from pathlib import Path
from typing import Any

import twisty_geometry
from hypothesis import strategies as st

from antipodes.puzzles.families import puzzle_from
from antipodes.puzzles.notation import Lists
from antipodes.puzzles.puzzle import Puzzle
from antipodes_tasks.rules.parts import Part, pieces, values
from antipodes_tasks.rules.transforms import Transforms
from antipodes_tasks.spaces.group import Group
from antipodes_tasks.spaces.selection import every_cut
from antipodes_tasks.spaces.space import Space

SAMPLES = Path(__file__).parent / "samples"


def twisty(name: str, **more: Any) -> Puzzle:
    """Return the puzzle of a sample file."""
    path = SAMPLES / name
    kind = "kpuzzle" if path.suffix == ".json" else path.suffix[1:]
    return puzzle_from({"name": "p", "family": "twisty", "format": kind, "definition": path.read_text(), **more})


def made(puzzle: twisty_geometry.Made) -> Puzzle:
    """Return a puzzle that was made from geometry."""
    return puzzle_from({"name": "p", "family": "twisty", "format": "tws", "definition": puzzle.tws()})


def group_space(puzzle: Puzzle) -> Space:
    """Return the group space with the best cut, even if another kind of space is preferred for the puzzle."""
    return min(
        every_cut(puzzle.rules, Group.of(puzzle.rules)),
        key=lambda space: space.filler.cost(space.filler.most_column_maps),
    )


def of_parts(parts: list[Part], start: list[int], moves: Transforms, *more: list[int]) -> Puzzle:
    starts = (tuple(start), *map(tuple, more))
    return Puzzle.of("p", "random", "", Lists(tuple(part.places for part in parts)), tuple(parts), starts, moves)


@st.composite
def puzzles(draw: st.DrawFn) -> Puzzle:
    """Draw a puzzle with two orbits of pieces, with or without orientations, and lights that do not move."""
    parts: list[Part] = []
    start: list[int] = []
    moduli: list[int] = []
    moves = draw(st.integers(1, 3))
    origins: list[list[int]] = [[] for _ in range(moves)]
    added: list[list[int]] = [[] for _ in range(moves)]
    for _ in range(2):
        size, radix = draw(st.integers(1, 3)), draw(st.integers(1, 3))
        order = draw(st.permutations(range(size)))
        parts.append(pieces(tuple(order), tuple("ABC"[:size])))
        start, moduli = [*start, *order], [*moduli, *[size] * size]
        twists = [draw(st.integers(0, radix - 1)) for _ in range(size)]
        permutations = [draw(st.permutations(range(size))) for _ in range(moves)]
        for origin, add, permutation in zip(origins, added, permutations, strict=True):
            first = len(origin)
            origin.extend(first + place for place in permutation)
            add.extend([0] * size)
            if radix > 1:
                origin.extend(first + size + place for place in permutation)
                add.extend(draw(st.integers(0, radix - 1)) for _ in range(size))
        if radix > 1:
            parts.append(values(size, radix, twists=True))
            start, moduli = [*start, *twists], [*moduli, *[radix] * size]
    parts.append(values(2, 2))
    for origin, add in zip(origins, added, strict=True):
        origin.extend([len(origin), len(origin) + 1])
        add.extend([draw(st.integers(0, 1)), draw(st.integers(0, 1))])
    return of_parts(parts, [*start, 1, 0], Transforms(map(str, range(moves)), origins, [*moduli, 2, 2], added))


def pancakes_of(n: int) -> Puzzle:
    return puzzle_from({"name": "p", "family": "pancake", "n": n})


KNOWN = {
    "dino": (made(twisty_geometry.dino()), factorial(12) // 2),
    "pyraminx": (twisty("pyraminx.gap"), 302_330_880),
    "2x2x2": (twisty("2x2x2.tws"), factorial(8) * 3**7),
    "5x5 lights": (puzzle_from({"name": "p", "family": "lights-out", "rows": 5, "columns": 5}), 2**23),
    "burnt pancakes": (puzzle_from({"name": "p", "family": "burnt-pancake", "n": 8}), factorial(8) * 2**8),
    "TopSpin": (puzzle_from({"name": "p", "family": "topspin", "n": 11}), factorial(11) // 2),
}
