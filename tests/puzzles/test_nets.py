"""Nets: what a person who holds the puzzle sees after a turn, and what is refused."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from antipodes.drawing.picture import Line, Polygon, Rectangle
from antipodes.puzzles.config import bundled_configs, load_config
from antipodes.puzzles.families.twisty import net_of
from antipodes.puzzles.net import Net
from antipodes.puzzles.net_picture import EDGE, SMALL
from antipodes.puzzles.puzzle import Puzzle
from antipodes_tasks.base.errors import ConfigError
from antipodes_tasks.rules.parts import Part, pieces, values

AFTER = {
    ("2x2x2", "U"): """
      ┌─────┐
      │ W W │
      │ W W │
┌─────┼─────┼─────┬─────┐
│ G G │ R R │ B B │ O O │
│ O O │ G G │ R R │ B B │
└─────┼─────┼─────┴─────┘
      │ Y Y │
      │ Y Y │
      └─────┘""",
    ("2x2x2", "R F"): """
      ┌─────┐
      │ W G │
      │ O O │
┌─────┼─────┼─────┬─────┐
│ O Y │ G G │ W R │ W B │
│ O B │ Y Y │ G R │ W B │
└─────┼─────┼─────┴─────┘
      │ R R │
      │ Y B │
      └─────┘""",
    ("3x3x3-two-faces", "R"): """
        ┌───────┐
        │ W W G │
        │ W W G │
        │ W W G │
┌───────┼───────┼───────┬───────┐
│ O O O │ G G Y │ R R R │ W B B │
│ O O O │ G G Y │ R R R │ W B B │
│ O O O │ G G Y │ R R R │ W B B │
└───────┼───────┼───────┴───────┘
        │ Y Y B │
        │ Y Y B │
        │ Y Y B │
        └───────┘""",
    ("skewb", "UFR"): """
        ┌───────┐
        │ W G G │
        │ G G G │
        │ G G G │
┌───────┼───────┼───────┬───────┐
│ O O Y │ R R R │ W W W │ O B B │
│ O O O │ R R R │ W W W │ B B B │
│ O O O │ G R R │ W W R │ B B B │
└───────┼───────┼───────┴───────┘
        │ Y Y B │
        │ Y Y Y │
        │ Y Y Y │
        └───────┘""",
    ("dino", "UFR"): """
        ┌───────┐
        │ ╲ W ╱ │
        │ W ╳ G │
        │ ╱ G ╲ │
┌───────┼───────┼───────┬───────┐
│ ╲ O ╱ │ ╲ R ╱ │ ╲ W ╱ │ ╲ B ╱ │
│ O ╳ O │ G ╳ R │ W ╳ R │ B ╳ B │
│ ╱ O ╲ │ ╱ G ╲ │ ╱ R ╲ │ ╱ B ╲ │
└───────┼───────┼───────┴───────┘
        │ ╲ Y ╱ │
        │ Y ╳ Y │
        │ ╱ Y ╲ │
        └───────┘""",
    ("pyraminx", "U"): """
  ╲ R R G G G ╱ B ╲ R R R B B ╱
    ╲ R R G ╱ B B B ╲ R B B ╱
      ╲ R ╱ G G G G G ╲ B ╱
          ─────────────
          ╲ Y Y Y Y Y ╱
            ╲ Y Y Y ╱
              ╲ Y ╱""",
    ("pyraminx-tips", "u l'"): """
  ╲ R R R R G ╱ B ╲ R B B B B ╱
    ╲ R R R ╱ G G G ╲ B B B ╱
      ╲ G ╱ Y G G G G ╲ B ╱
          ─────────────
          ╲ R Y Y Y Y ╱
            ╲ Y Y Y ╱
              ╲ Y ╱""",
}


def turned(puzzle: Puzzle, moves: str) -> str:
    labels = puzzle.start_labels
    for move in moves.split():
        labels, _ = puzzle.moves.move(puzzle.moves.names.index(move), labels)
    return puzzle.draw(labels[0])


@pytest.mark.parametrize(("name", "moves"), AFTER)
def test_a_turn_looks_as_on_the_puzzle(name: str, moves: str) -> None:
    lines = turned(load_config(name).puzzle, moves).split("\n")
    assert [line.rstrip() for line in lines] == AFTER[name, moves].split("\n")[1:]
    assert len({len(line) for line in lines}) == 1


PARTS = (pieces((0, 1), ("1", "2")), values(2, 2, twists=True), pieces((0, 0), ("1",)))
START = (0, 1, 0, 0, 0, 0)


def draw(parts: tuple[Part, ...], start: tuple[int, ...], picture: str, facelets: str, position: str) -> str:
    return net_of(picture, facelets, parts, start).draw(position.split())


@pytest.mark.parametrize(
    ("position", "drawing"),
    [
        ("1 2 0 0 1 1", "AB|CD E!"),
        ("2 1 0 0 1 1", "CD|AB E!"),
        ("1 2 1 0 1 1", "BA|CD E!"),
        ("2 1 0 1 1 1", "CD|BA E!"),
    ],
)
def test_pieces_carry_their_colours(position: str, drawing: str) -> None:
    facelets = "a0.0 a0.1 a1.0 a1.1 -"
    assert draw(PARTS, START, "AB|CD E!", facelets, position) == drawing
    turned_over = (0, 1, 1, 1, 0, 0)  # a start whose pieces are turned over: its picture shows them so
    assert draw(PARTS, turned_over, "BA|DC E!", facelets, position) == drawing


def test_pieces_with_more_facelets_than_orientations() -> None:
    parts = (pieces((0, 1), ("1", "2")), values(2, 2, twists=True))
    facelets = "a0.0 a0.1 a0.2 a0.3 a1.0 a1.1 a1.2 a1.3"
    assert draw(parts, (0, 1, 0, 0), "ABCD EFGH", facelets, "2 1 1 0") == "GHEF ABCD"


@pytest.mark.parametrize(
    ("picture", "facelets", "message"),
    [
        ("AB", "a0.0", "[puzzle] facelets: expected 2 (one per letter of net), found 1"),
        ("AB", "a0.0 a0", "facelets: expected facelets such as a0.1, found 'a0'"),
        ("AB", "a0.0 c0.0", "[puzzle] facelets: the puzzle has 2 orbits, named a, b, ...; found 'c0.0'"),
        ("AB", "a0.0 a2.0", "facelets: expected a place from a0 to a1, found 'a2.0'"),
        ("AB", "a0.0 a0.1", "[puzzle] facelets: expected all 4 facelets of orbit a, found 2"),
        (
            "ABC",
            "a0.0 a0.1 a0.2",
            "[puzzle] facelets: the number of facelets of a piece of orbit a must be a multiple of 2, found",
        ),
        (
            "ABCDEF",
            "a0.0 a0.1 a1.0 a1.1 b0.0 b1.0",
            "[puzzle] net: a facelet of a piece has two letters, E and F; give it one",
        ),
        ("A" * 20_000, "a0.0", "net: expected at most 16,384 characters, found 20,000"),
        ("", "", "[puzzle] net: the picture contains no letters; it needs one for each facelet"),
        (
            "A\x1b[2J",
            "a0.0",
            "[puzzle] net: the text contains an unprintable character; use only letters, spaces and",
        ),
    ],
)
def test_refused(picture: str, facelets: str, message: str) -> None:
    with pytest.raises(ConfigError) as caught:
        net_of(picture, facelets, PARTS, START)
    assert message in str(caught.value)
    assert len(str(caught.value)) < 200


def test_every_position_can_be_drawn() -> None:
    net = net_of("AB CD", "a0.0 a0.1 a1.0 a1.1", PARTS, START)
    drawn = {net.draw([*one, *twists, "1", "1"]) for one in ("12", "21") for twists in ("00", "01", "10", "11")}
    assert len(drawn) == 8
    assert {len(text) for text in drawn} == {5}


TOKENS = st.sampled_from(
    ["a0.0", "a0.1", "a1.0", "a1.1", "b0.0", "b1.0", "-", "c0.0", "a2.0", "a0.99", "a٣.0", "b0", ""]
)


@given(st.text("AB \n│é٣²_", max_size=8), st.lists(TOKENS, max_size=8))
def test_any_net_is_refused_or_draws_every_position(picture: str, facelets: list[str]) -> None:
    try:
        net = net_of(picture, " ".join(facelets), PARTS, START)
    except ConfigError:
        return
    for twists in ("00", "01", "10", "11"):
        assert len(net.draw([*"21", *twists, "1", "1"])) == len(net.draw([*"12", "0", "0", "1", "1"]))
        shapes = net.picture([*"21", *twists, "1", "1"]).shapes
        assert sum(isinstance(one, Rectangle | Polygon) for one in shapes) == len(net.letters)


def area(shape: Rectangle | Polygon) -> float:
    if isinstance(shape, Rectangle):
        return shape.width * shape.height
    corners = [*shape.points, shape.points[0]]
    return abs(sum(ax * by - bx * ay for (ax, ay), (bx, by) in pairwise(corners))) / 2


@pytest.fixture(scope="module")
def with_nets() -> list[tuple[Puzzle, Net]]:
    """The bundled puzzles that are drawn as nets."""
    puzzles = [load_config(name).puzzle for name in bundled_configs()]
    return [(puzzle, puzzle.notation) for puzzle in puzzles if isinstance(puzzle.notation, Net)]


def test_stickers_fill_their_faces(with_nets: list[tuple[Puzzle, Net]]) -> None:
    assert len(with_nets) > 10
    for puzzle, net in with_nets:
        check_stickers(puzzle, net)


def check_stickers(puzzle: Puzzle, net: Net) -> None:
    picture = puzzle.picture(puzzle.rules.first)
    stickers = [one for one in picture.shapes if isinstance(one, Rectangle | Polygon)]
    edges = [one for one in picture.shapes if isinstance(one, Line)]
    assert len(stickers) == len(net.letters)
    covered = sum(map(area, stickers))
    if edges:  # a cube: six faces as large as the grids of their edges
        lengths = sorted({one.end_x - one.x or one.end_y - one.y for one in edges})
        faces = 2 * lengths[0] ** 2 + 4 * lengths[0] * lengths[-1]
        assert 0.8 * faces < covered < faces
        assert {one.width for one in edges} == {EDGE}
    else:  # triangles as large as each other, side by side
        assert len({round(area(one)) for one in stickers}) == 1
        assert min(map(area, stickers)) > 0.75 * 48 * 36 / 2
    for one in stickers:
        right, down = (one.width, one.height) if isinstance(one, Rectangle) else map(max, zip(*one.points, strict=True))
        assert 0 <= one.x < one.x + right <= picture.width
        assert 0 <= one.y < one.y + down <= picture.height


def test_stickers_show_the_letters_of_the_drawing(with_nets: list[tuple[Puzzle, Net]]) -> None:
    for puzzle, net in with_nets:
        for position in puzzle.successors(puzzle.rules.first)[::3]:
            letters = [one for one in puzzle.draw(position) if one.isalnum()]
            shapes = puzzle.picture(position).shapes
            fills = [one.fill for one in shapes if isinstance(one, Rectangle | Polygon)]
            assert fills == [net.sticker_colours[letter] for letter in letters]


def test_letters_outside_faces_are_small_squares() -> None:
    net = net_of("AB CD", "a0.0 a0.1 a1.0 a1.1", PARTS, START)
    shapes = net.picture([*"12", "0", "0", "1", "1"]).shapes
    assert [one.width for one in shapes if isinstance(one, Rectangle)] == [SMALL] * 4
