"""``[puzzle]`` tables of puzzles that several tests use, such as puzzles with all moves, many tiles or a long line."""

from typing import Any

from antipodes.puzzles.config import Config

TOWERS = Config({"name": "towers", "family": "hanoi", "pegs": 3, "discs": 6})
"""The towers of Hanoi, a small puzzle whose table is reduced by a symmetry, which exchanges two pegs."""
DIALS = """
from antipodes import define_puzzle

def parse(text):
    numbers = [ord(letter) - ord("a") for letter in text]
    if sum(numbers) > 6:
        raise ValueError("the dials add up to more than 6")
    return numbers

def up(dials):
    dials[:, 0] = (dials[:, 0] + 2) % 4
    return dials, dials.sum(axis=1) <= 6

dials = define_puzzle(
    name="dials", radices=[4, 4, 4], start=[0, 0, 0], moves={"up": up}, parse=parse,
    format=lambda dials: "".join(chr(ord("a") + dial) for dial in dials),
)
"""
"""A puzzle in Python: three dials, which turn by two while their sum is at most 6; letters stand for numbers."""
LINE: dict[str, Any] = {"name": "line", "family": "sliding", "rows": 1, "columns": 300}
LINE["start"] = " ".join(["0"] + ["1"] * 299)


def complete(rows: int, columns: int) -> str:
    """Return moves from every square to every other square."""
    offsets = [[down, right] for down in range(1 - rows, rows) for right in range(1 - columns, columns)]
    return f"offsets = {offsets}"


def drawn(rows: int, columns: int, pieces: str) -> str:
    squares = pieces + "-" * (rows * columns - len(pieces))
    return "\n".join(squares[row : row + columns] for row in range(0, len(squares), columns))


def jump(rows: int, columns: int, pieces: str, moves: str) -> str:
    return f'family = "jump"\n{moves}\nstart = """\n{drawn(rows, columns, pieces)}\n"""'


def sliding(rows: int, columns: int, tiles: list[int]) -> str:
    start = " ".join(map(str, [*tiles, 0]))
    return f'family = "sliding"\nrows = {rows}\ncolumns = {columns}\nstart = "{start}"'


def listed(places: int) -> str:
    edges = ",".join(f"[{a}, {b}]" for a in range(places) for b in range(a))
    return jump(1, places, "A", f"edges = [{edges}]")
