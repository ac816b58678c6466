"""Cubes as stickers in space: a sticker is a point and the direction that it faces; a turn rotates a layer of stickers.

This module shares no code with the program. It uses the names of turns, slices, wide turns and rotations that the World
Cube Association and cubing.js use.
"""

from collections.abc import Callable, Iterable
from itertools import product

Vector = tuple[int, int, int]
Sticker = tuple[Vector, Vector]
NORMALS: dict[str, Vector] = {
    "R": (1, 0, 0), "L": (-1, 0, 0), "U": (0, 1, 0), "D": (0, -1, 0), "F": (0, 0, 1), "B": (0, 0, -1),
}  # fmt: skip
COLOURS = {"U": "W", "L": "O", "F": "G", "R": "R", "B": "B", "D": "Y"}
LAYERS: dict[str, tuple[str, tuple[int, ...]]] = {
    **{face: (face, (1,)) for face in "URFDLB"},
    **{name: (face, (0, 1)) for face in "URFDLB" for name in (face.lower(), face + "w")},
    **{name: (face, (0,)) for name, face in (("M", "L"), ("E", "D"), ("S", "F"))},
    **{name: (face, (-1, 0, 1)) for name, face in (("x", "R"), ("y", "U"), ("z", "F"))},
}
"""For each name, the face with which it turns in the same direction, and the layers on this face's axis that turn."""
NET: list[tuple[str, Vector, Vector]] = [
    ("U", (1, 0, 0), (0, 0, 1)), ("L", (0, 0, 1), (0, -1, 0)), ("F", (1, 0, 0), (0, -1, 0)),
    ("R", (0, 0, -1), (0, -1, 0)), ("B", (-1, 0, 0), (0, -1, 0)), ("D", (1, 0, 0), (0, 0, -1)),
]  # fmt: skip
"""The faces of the net, with the directions right and down on each face."""


def dot(a: Vector, b: Vector) -> int:
    return sum(x * y for x, y in zip(a, b, strict=True))


def clockwise(vector: Vector, axis: Vector) -> Vector:
    """Return a vector after a quarter turn, clockwise when viewed from the tip of the axis."""
    x, y, z = vector
    a, b, c = axis
    along = dot(vector, axis)
    return (
        y * c - z * b + along * a,
        z * a - x * c + along * b,
        x * b - y * a + along * c,
    )


class Cube:
    """Stickers by their places, with the colour of each."""

    def __init__(self, has_piece: Callable[[Vector], bool] = lambda _: True) -> None:
        self.colours: dict[Sticker, str] = {
            (place, normal): COLOURS[face]
            for place in product((-1, 0, 1), repeat=3)
            for face, normal in NORMALS.items()
            if dot(place, normal) == 1 and has_piece(place)
        }

    def turn(self, name: str, quarters: int) -> None:
        face, layers = LAYERS[name]
        axis = NORMALS[face]
        for _ in range(quarters % 4):
            self.colours = {
                (clockwise(place, axis), clockwise(normal, axis)) if dot(place, axis) in layers else (place, normal): c
                for (place, normal), c in self.colours.items()
            }

    def hold_so_that(self, fits: Callable[["Cube"], bool]) -> None:
        """Rotate the whole cube until ``fits`` returns True, which must happen for one of the 24 rotations."""
        for turns in product(range(4), repeat=3):
            held = Cube()
            held.colours = self.colours
            for name, quarters in zip("xyz", turns, strict=True):
                held.turn(name, quarters)
            if fits(held):
                self.colours = held.colours
                return
        raise AssertionError("no rotation fits")

    def letters(self, faces: Iterable[str] = ("U", "LFRB", "D")) -> str:
        """Return the colours in the order of a net: the top face, the rows of the four sides, the bottom face."""
        return "".join("".join(self._row(face, row) for face in group) for group in faces for row in (-1, 0, 1))

    def _row(self, face: str, row: int) -> str:
        """Return the colours of a row of a face, from left to right."""
        normal, right, down = next((NORMALS[name], a, b) for name, a, b in NET if name == face)
        places = [
            (normal[0] + k * right[0] + row * down[0], normal[1] + k * right[1] + row * down[1],
             normal[2] + k * right[2] + row * down[2])
            for k in (-1, 0, 1)
        ]  # fmt: skip
        return "".join(self.colours.get((place, normal), "") for place in places)


def centres_are_home(cube: Cube) -> bool:
    return all(cube.colours[normal, normal] == COLOURS[face] for face, normal in NORMALS.items())


def piece_is_home(place: Vector) -> Callable[[Cube], bool]:
    """Return a test whether a place holds its own piece, with its original orientation."""
    return lambda cube: all(
        cube.colours.get((place, normal)) == COLOURS[face]
        for face, normal in NORMALS.items()
        if dot(place, normal) == 1
    )
