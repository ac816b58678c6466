"""Rotations, slices and wide turns in sequences of moves, compared with a cube of stickers in space."""

import random
from collections.abc import Callable

import pytest
from stickers import Cube, Vector, centres_are_home, piece_is_home

from antipodes.puzzles.config import load_config
from antipodes.puzzles.families import puzzle_from
from antipodes.puzzles.puzzle import Puzzle
from antipodes_tasks.base.errors import PositionError

FACES = list("URFDLB")
ROTATIONS = list("xyz")
INNER = [*"MESurfdlb", *(face + "w" for face in FACES)]
ENDS = {"": 1, "2": 2, "'": -1, "2'": -2}


def every_piece(place: Vector) -> bool:
    return True


def corners(place: Vector) -> bool:
    return 0 not in place


def centres_and_corners(place: Vector) -> bool:
    return place.count(0) in (0, 2)


def tower(place: Vector) -> bool:
    return place[0] != 0 and place[2] != 0


CUBES: dict[str, tuple[Callable[[Vector], bool], Callable[[Cube], bool], list[str], list[str]]] = {
    "3x3x3": (every_piece, centres_are_home, [*FACES, *ROTATIONS, *INNER], list(ENDS)),
    "3x3x3-quarter": (every_piece, centres_are_home, [*FACES, *ROTATIONS, *INNER], list(ENDS)),
    "3x3x3-squares": (every_piece, centres_are_home, [*FACES, *INNER], ["2", "2'"]),
    "2x2x2": (centres_and_corners, centres_are_home, [*FACES, *ROTATIONS], list(ENDS)),
    "2x2x2-quarter": (centres_and_corners, centres_are_home, [*FACES, *ROTATIONS], list(ENDS)),
    "2x2x2-corner": (corners, piece_is_home((-1, -1, -1)), [*FACES, *ROTATIONS], list(ENDS)),
    "2x2x2-corner-quarter": (corners, piece_is_home((-1, -1, -1)), [*FACES, *ROTATIONS], list(ENDS)),
}
"""For each config its pieces, how the program holds it, and the names and powers in its sequences."""
FROM_FACES = {"2x2x2", "2x2x2-quarter"}
"""Configs whose centres exist only in the model, where they show how the cube is held."""


def drawn(name: str, cube: Cube) -> str:
    """The letters of the net of a held cube."""
    if name in FROM_FACES:
        cube.colours = {sticker: colour for sticker, colour in cube.colours.items() if 0 not in sticker[0]}
    return cube.letters()


def letters(puzzle: Puzzle, sequence: str) -> str:
    """The letters of the net after a sequence of moves."""
    return "".join(filter(str.isalpha, puzzle.draw(puzzle.follow(sequence)[-1])))


def scramble(rng: random.Random, names: list[str], ends: list[str]) -> list[tuple[str, str]]:
    return [(rng.choice(names), rng.choice(ends)) for _ in range(rng.randrange(1, 25))]


@pytest.mark.parametrize("name", CUBES)
def test_scrambles(name: str) -> None:
    has_piece, is_held, names, ends = CUBES[name]
    puzzle, rng = load_config(name).puzzle, random.Random(7)
    for _ in range(6):
        turns, cube = scramble(rng, names, ends), Cube(has_piece)
        for turn, end in turns:
            cube.turn(turn, ENDS[end])
        cube.hold_so_that(is_held)
        sequence = " ".join(turn + end for turn, end in turns)
        assert letters(puzzle, sequence) == drawn(name, cube), sequence


def test_scrambles_of_the_tower() -> None:
    """A tower of 2x2x3: layers that are three pieces long make half turns only."""
    puzzle, rng = load_config("2x2x3").puzzle, random.Random(7)
    upright = ["U", "D'", "R2", "F2", "L2", "B2", "y", "y'", "x2", "z2", "E", "u", "d'", "Uw2", "E2"]
    lying = ["U2", "D2", "R2", "L2", "y2", "z2"]
    for _ in range(6):
        words = rng.choices([*upright, "lying"], k=12)
        sequence = " ".join(" ".join(["x", *rng.choices(lying, k=3), "x'"]) if w == "lying" else w for w in words)
        cube = Cube(tower)
        for word in sequence.split():
            cube.turn(word.rstrip("2'"), ENDS[word[len(word.rstrip("2'")) :]])
        cube.hold_so_that(piece_is_home((-1, 0, -1)))
        assert letters(puzzle, sequence) == cube.letters(), sequence


@pytest.mark.parametrize(
    ("sequence", "same"),
    [
        ("x y' z2", ""),
        ("r U", "L F"),
        ("[x U: R]", "F R F'"),
        ("[x, U]", "F U'"),
        ("(x U)4", "F D B U"),
        ("(x U)2'", "U' B'"),
        ("x999999999999999999 U", "x' U"),
        ("M2 U M2", "R2 L2 D R2 L2"),
    ],
)
def test_words(sequence: str, same: str) -> None:
    puzzle = load_config("3x3x3").puzzle
    assert puzzle.follow(sequence)[-1].tolist() == puzzle.follow(same)[-1].tolist()


@pytest.mark.parametrize("metric", ["half", "quarter", "single"])
def test_the_metric_changes_no_position(metric: str) -> None:
    cube = load_config("3x3x3").puzzle
    assert cube.settings is not None
    other = puzzle_from({**cube.settings, "turns": metric})
    sequence = "x U2 M' [r: F2] (S y)2 Rw2' E' l"
    assert other.follow(sequence)[-1].tolist() == cube.follow(sequence)[-1].tolist()


@pytest.mark.parametrize(
    ("name", "sequence", "message"),
    [
        ("2x2x2", "M", "unknown move 'M' at character 1; the moves are U, F, R, D, B, L, x, y, z"),
        ("2x2x2", "U Rw", "unknown move 'Rw' at character 3; the moves are U, F, R, D, B, L, x, y, z"),
        ("2x2x2-corner", "x r", "unknown move 'r' at character 3; the moves are U, F, R, x, y, z, D, B, L"),
        (
            "3x3x3",
            "x Q",
            "unknown move 'Q' at character 3; the moves are U, F, R, D, B, L, x, y, z, M, E, S, u, r, f, d,",
        ),
        (
            "3x3x3-squares",
            "M",
            "unknown move 'M' at character 1; the moves are U2, F2, R2, D2, B2, L2, x, y, z, M2, E2, S2,",
        ),
        ("2x2x3", "M2", "unknown move 'M2' at character 1; the moves are U, D, R2, F2, x, y, z, L2, B2, E, u, d"),
        ("2x2x3", "x U", "after the rotations, expected one of the moves U, U2, U', D, D2, D', R2, F2, found 'F'"),
        ("3x3x3-two-faces", "x", "unknown move 'x' at character 1; the moves are U, U2, U', R, R2, R'"),
        ("eight-puzzle", "x", "unknown move 'x' at character 1; the moves are R, D, L, U"),
        ("skewb", "y", "unknown move 'y' at character 1; the moves are UFR, UFR', UFL, UFL', UBL, UBL', UBR, UBR',"),
        ("pyraminx", "r", "unknown move 'r' at character 1; the moves are U, U', L, L', R, R', B, B'"),
        ("3x3x3", "M6000", "expected a sequence of at most 10,000 moves, found 12,000"),
    ],
)
def test_refused(name: str, sequence: str, message: str) -> None:
    with pytest.raises(PositionError) as raised:
        load_config(name).puzzle.follow(sequence)
    assert message in str(raised.value)


def generators(**moves: str) -> Puzzle:
    return puzzle_from({"name": "g", "family": "generators", "n": 24, "moves": moves})


SQUARES = {face: "({} {} {} {})".format(*range(4 * k, 4 * k + 4)) for k, face in enumerate(FACES)}


def test_a_puzzle_keeps_its_own_names() -> None:
    puzzle = generators(**SQUARES, x="(0 4)", M="(1 5)", r="(2 6)")
    for name in ("x", "M", "r"):
        after = puzzle.moves.move(puzzle.moves.names.index(name), puzzle.start_labels[:1])[0]
        assert puzzle.follow(name)[-1].tolist() == after[0].tolist()
    with pytest.raises(
        PositionError,
        match="moves 'y': unknown move 'y' at character 1; the moves are U, U2, U', R, R2, R', F, F2, F', D,",
    ):
        puzzle.follow("y")


@pytest.mark.parametrize(
    ("changed", "names"),
    [
        ({"U": "(0 1 2)"}, "U, U', R, R2, R', F, F2, F', D, D2,"),
        ({"U": "(0 1 2 3)(4 8)"}, "U, U2, U', R, R2, R', F, F2, F', D, D2,"),
        ({"U": "(0 4 8 12)"}, "U, U2, U', R, R2, R', F, F2, F', D, D2,"),
        ({"F": "(0 1)(2 3)"}, "U, U2, U', R, R2, R', F, D, D2,"),
    ],
    ids=["a third turn", "another piece", "places of other faces", "a half turn"],
)
def test_names_of_faces_without_a_cube(changed: dict[str, str], names: str) -> None:
    with pytest.raises(
        PositionError,
        match=f"moves 'x': unknown move 'x' at character 1; the moves are {names}",
    ):
        generators(**{**SQUARES, **changed}).follow("x")


def test_a_cube_without_a_net() -> None:
    definition = load_config("3x3x3").puzzle.settings
    assert definition is not None
    settings = {key: value for key, value in definition.items() if key not in ("net", "facelets", "faces")}
    assert (
        puzzle_from(settings).follow("x U M")[-1].tolist() == load_config("3x3x3").puzzle.follow("x U M")[-1].tolist()
    )


def test_other_starts_and_lengths() -> None:
    puzzle = load_config("3x3x3").puzzle
    begin = puzzle.follow("R U")[-1]
    path = puzzle.follow("x M2 U", begin)
    assert len(path) == 4
    assert path[-1].tolist() == puzzle.follow("R U R2 L2 B")[-1].tolist()
    assert len(puzzle.follow("x y2 z'")) == 1
