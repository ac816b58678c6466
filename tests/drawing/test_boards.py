"""Boards on a page: what is drawn is what the picture has, wherever its shapes are written."""

import xml.etree.ElementTree as ET

import pytest

from antipodes.drawing.boards import Sprites, fitted
from antipodes.drawing.image_files import svg
from antipodes.drawing.picture import Picture, Rectangle, Text
from antipodes.puzzles.config import load_puzzle

NAMES = [
    "eight-puzzle",
    "three-colours",
    "klotski",
    "hanoi-4-pegs",
    "2x2x2",
    "pyraminx",
    "lights-out-5x5",
    "topspin-11",
]
PLACED = ("x", "y", "cx", "cy", "x1", "x2", "y1", "y2")


def drawn(shape: ET.Element, x: float, y: float) -> tuple[object, list[float]]:
    """A shape as it is seen, moved by a step: what it is, and where."""
    numbers = [float(shape.get(name, 0)) + (x if "x" in name else y) for name in PLACED if shape.get(name)]
    others = {name: value for name, value in shape.items() if name not in (*PLACED, "d", "points")}
    return (shape.tag.rpartition("}")[2], others, shape.text), [
        *numbers,
        *corners(shape.get("d", ""), x, y),
        *points(shape.get("points", ""), x, y),
    ]


def corners(path: str, x: float, y: float) -> list[float]:
    """The corners of the squares of a path."""
    pairs = (part.partition("h")[0].split() for part in path.split("M")[1:])
    return [place for left, top in pairs for place in (float(left) + x, float(top) + y)]


def points(polygon: str, x: float, y: float) -> list[float]:
    """The corners of a polygon."""
    pairs = (point.split(",") for point in polygon.split())
    return [place for left, top in pairs for place in (float(left) + x, float(top) + y)]


@pytest.mark.parametrize("name", NAMES)
def test_a_board_of_sprites_shows_the_picture(name: str) -> None:
    puzzle, sprites = load_puzzle(name), Sprites()
    boards = [sprites.board(puzzle.picture(position), 100, "x") for position in [puzzle.rules.first] * 2]
    shapes = {one.get("id"): one[0] for one in ET.fromstring(sprites.definitions()).iter("g")}
    expected = [drawn(one, 0, 0) for one in list(ET.fromstring(svg(puzzle.picture(puzzle.rules.first))))[1:]]
    for one in boards:
        uses = list(ET.fromstring(one))
        seen = [
            drawn(shapes[use.get("href", "")[1:]], float(use.get("x", "")), float(use.get("y", ""))) for use in uses
        ]
        assert [what for what, _ in seen] == [what for what, _ in expected]
        for (_, where), (_, expected_there) in zip(seen, expected, strict=True):
            assert where == pytest.approx(expected_there, abs=0.02)


def test_shapes_are_written_once() -> None:
    sprites, here = Sprites(), Rectangle(1, 2, 3, 4, "#fff")
    for x in range(5):
        sprites.board(Picture(20, 20, (here, Rectangle(x, 2, 3, 4, "#fff"))), 100, "x")
    assert sprites.definitions().count("<g ") == 1


def test_names_in_pictures_are_text() -> None:
    sprites, evil = Sprites(), '</svg><script>alert("1")</script>'
    shown = sprites.board(Picture(9, 9, (Text(1, 1, evil, 9),)), 9, evil) + sprites.definitions()
    assert "<script" not in shown


@pytest.mark.parametrize(("width", "height"), [(10, 10), (400, 400), (1000, 10), (10, 1000), (300, 200)])
def test_size(width: float, height: float) -> None:
    scale = fitted(Picture(width, height, ()), 100)
    assert scale <= 1
    assert width * height * scale**2 <= 100**2 * 1.001
    assert max(width, height) * scale <= 161
    assert scale == 1 or max(width * height * scale**2 / 100**2, max(width, height) * scale / 160) > 0.99
