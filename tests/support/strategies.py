"""Random small puzzles as ``[puzzle]`` tables, their state spaces, and random counts of labels."""

from math import factorial, prod
from typing import Any

import numpy as np
from hypothesis import strategies as st

from antipodes.puzzles.puzzle import Puzzle
from antipodes.puzzles.walls import neighbours
from antipodes_tasks.base.array_types import Labels
from antipodes_tasks.spaces.arrangements import Arrangements
from antipodes_tasks.spaces.selection import every_cut
from antipodes_tasks.spaces.space import Space

Settings = dict[str, Any]
MAX_POSITIONS = 3000


def small(pieces: list[str]) -> bool:
    """Return whether there are few enough arrangements for brute force."""
    repeats = prod(factorial(pieces.count(piece)) for piece in set(pieces))
    return len(pieces) <= 7 and factorial(len(pieces)) // repeats <= MAX_POSITIONS


@st.composite
def sliding_settings(draw: st.DrawFn) -> Settings:
    """Draw a board of 1 to 7 places with any tiles, and perhaps holes, walls, several blanks and several starts."""
    rows = draw(st.integers(1, 7))
    columns = draw(st.integers(1, 9 // rows))
    squares = rows * columns
    holes = draw(st.sets(st.integers(0, squares - 1), min_size=max(0, squares - 7), max_size=min(3, squares - 1)))
    places = squares - len(holes)
    tile = st.integers(draw(st.sampled_from((0, 1, 1))), draw(st.integers(1, 6))).map(str)
    tiles = draw(st.lists(tile, min_size=places - 1, max_size=places - 1))
    pieces = draw(st.just(["0", *tiles]).filter(small))
    arranged = draw(st.lists(st.permutations(pieces), min_size=1, max_size=3))
    starts = [
        " ".join("#" if square in holes else one.pop() for square in range(squares)) for one in map(list, arranged)
    ]
    walls = draw(st.lists(st.sampled_from(pairs), max_size=2)) if (pairs := neighbours(rows, columns, holes)) else []
    table = {"name": "random", "family": "sliding", "rows": rows, "columns": columns, "start": starts}
    return {
        **table,
        "start": starts[0] if len(starts) == 1 else starts,
        **({"walls": [*map(list, walls)]} if walls else {}),
    }


@st.composite
def additive_settings(draw: st.DrawFn) -> Settings:
    """Draw a board with one blank on which the tiles with one symbol move at no cost."""
    settings = draw(sliding_settings().filter(lambda one: len(tiles_of(one)) > 1))
    return {**settings, "free": [draw(st.sampled_from(tiles_of(settings)))]}


def tiles_of(settings: Settings) -> list[str]:
    """Return the different tiles of a board with one blank; an empty list if there are several blanks."""
    start = settings["start"] if isinstance(settings["start"], str) else settings["start"][0]
    symbols = start.split()
    return sorted({*symbols} - {"0", "#"}) if symbols.count("0") == 1 else []


@st.composite
def jump_settings(draw: st.DrawFn) -> Settings:
    """Draw a board of up to 3 x 4 squares with holes, some pieces, and any moves, also directed ones."""
    rows, columns = draw(st.integers(1, 3)), draw(st.integers(1, 4))
    squares = rows * columns
    holes = draw(st.sets(st.integers(0, squares - 1), min_size=max(0, squares - 7), max_size=squares - 1))
    places = squares - len(holes)
    pieces = draw(st.lists(st.sampled_from("ABW"), max_size=places - 1))
    pieces = [*pieces, *"-" * (places - len(pieces))]
    arrangements = draw(st.lists(st.permutations(pieces), min_size=1, max_size=2))
    starts = [_drawn(list(one), holes, rows, columns) for one in arrangements]
    start = starts if len(starts) > 1 else starts[0]
    return {"name": "random", "family": "jump", "start": start, **draw(_moves(places))}


def _drawn(pieces: list[str], holes: set[int], rows: int, columns: int) -> str:
    symbols = ["#" if square in holes else pieces.pop(0) for square in range(rows * columns)]
    return "/".join("".join(symbols[row * columns : (row + 1) * columns]) for row in range(rows))


def _moves(places: int) -> st.SearchStrategy[Settings]:
    offset = st.tuples(st.integers(-2, 2), st.integers(-2, 2)).map(list)
    kinds: list[st.SearchStrategy[Settings]] = [
        st.just({"moves": "knight"}),
        st.fixed_dictionaries({"offsets": st.lists(offset, min_size=1, max_size=4)}),
    ]
    if places > 1:
        square = st.integers(0, places - 1)
        edge = st.tuples(square, square).filter(lambda pair: pair[0] != pair[1]).map(list)
        kinds.append(st.fixed_dictionaries({"edges": st.lists(edge, min_size=1, max_size=8)}))
    return st.one_of(kinds)


@st.composite
def blocks_settings(draw: st.DrawFn) -> Settings:
    """Draw a board of up to 3 x 4 squares with holes, some blocks of up to 3 squares, and any kind of moves."""
    rows, columns = draw(st.integers(1, 3)), draw(st.integers(2, 4))
    shapes = [[(0, 0)], [(0, 0), (0, 1)], [(0, 0), (1, 0)], [(0, 0), (0, 1), (1, 0)], [(0, 0), (1, 0), (1, -1)]]
    axis = draw(st.booleans())
    grid = [["#" if draw(st.integers(0, 9)) == 0 else "." for _ in range(columns)] for _ in range(rows)]
    letters = iter("ABCDEFGHIJKL")
    for r in range(rows):
        for c in range(columns):
            shape = draw(st.sampled_from(shapes[1:3] if axis else shapes))
            cells = [(r + down, c + right) for down, right in shape]
            fits = all(0 <= i < rows and 0 <= j < columns and grid[i][j] == "." for i, j in cells)
            if fits and draw(st.booleans()):
                letter = next(letters)
                for i, j in cells:
                    grid[i][j] = letter
    symbols = {symbol for row in grid for symbol in row}
    if "." not in symbols or symbols <= {".", "#"}:
        grid = [list("A."), list("B.")]
        axis = False
    moves, distinct = draw(st.sampled_from(("steps", "slides"))), draw(st.booleans())
    start = "/".join(map("".join, grid))
    walls = draw(_walls_between_blocks(grid)) if draw(st.booleans()) else []
    settings = {"name": "r", "family": "blocks", "start": start, "axis": axis, "moves": moves, "distinct": distinct}
    return settings | ({"walls": walls} if walls else {})


def _walls_between_blocks(grid: list[list[str]]) -> st.SearchStrategy[list[list[int]]]:
    """Return a strategy for walls between adjacent squares that do not belong to one block."""
    symbols = [symbol for row in grid for symbol in row]
    holes = [square for square, symbol in enumerate(symbols) if symbol == "#"]
    placed = [symbol for symbol in symbols if symbol != "#"]
    pairs = [[a, b] for a, b in neighbours(len(grid), len(grid[0]), holes) if a < b]
    between = [pair for pair in pairs if "." in (one := {placed[at] for at in pair}) or len(one) == 2]
    return st.lists(st.sampled_from(between), unique_by=tuple, max_size=4) if between else st.just([])


def puzzle_settings() -> st.SearchStrategy[Settings]:
    """Return a strategy for puzzles of any family."""
    return st.one_of(sliding_settings(), jump_settings())


def spaces_of(puzzle: Puzzle) -> list[Space]:
    """Return the spaces with all possible cuts into rows and columns."""
    return every_cut(puzzle.rules, Arrangements.of(puzzle.rules))


def label_counts(most: int = 3000) -> st.SearchStrategy[tuple[int, ...]]:
    """Return a strategy for numbers of pieces with each label that have at most ``most`` arrangements."""

    def few(counts: tuple[int, ...]) -> bool:
        return factorial(sum(counts)) // prod(map(factorial, counts)) <= most

    return st.lists(st.integers(1, 6), min_size=1, max_size=6).map(tuple).filter(few)


def any_contents(puzzle: Puzzle, count: int) -> Labels:
    """Return positions with the pieces of the puzzle in any order, reachable or not."""
    rng = np.random.default_rng(0)
    labels: Labels = np.repeat(puzzle.start_labels[:1], count, axis=0)
    for part, at in zip(puzzle.parts, puzzle.rules.ranges, strict=True):
        shape = labels[:, at].shape
        labels[:, at] = (
            rng.permuted(labels[:, at], axis=1) if part.counts else rng.integers(len(part.symbols), size=shape)
        )
    return labels
