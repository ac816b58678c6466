"""Positions written as the letters of all facelets, and what is wrong with letters that are no position."""

from collections.abc import Callable

import numpy as np
import pytest

from antipodes.puzzles.config import bundled_configs, load_config
from antipodes.puzzles.families.twisty import twisty
from antipodes.puzzles.puzzle import Puzzle
from antipodes_tasks.base.errors import ConfigError, PositionError

SOLVED = "".join(face * 9 for face in "URFDLB")
PUBLISHED = {
    "DRLUUBFBRBLURRLRUBLRDDFDLFUFUFFDBRDUBRUFLLFDDBFLUBLRBD": "D2 R' D' F2 B D R2 D2 R' F2 D' F2 U' B2 L2 U2 D R2 U",
    "UBULURUFURURFRBRDRFUFLFRFDFDFDLDRDBDLULBLFLDLBUBRBLBDB": "U R2 F B R B2 R U2 L B2 R U' D' R2 F R' L B2 U2 F2",
}
"""Cubes face by face, and solutions: the example of H. Kociemba's two-phase solver, and M. Reid's of the superflip."""
NETS = [name for name, path in bundled_configs().items() if "net = " in path.read_text(encoding="utf-8")]


@pytest.fixture(scope="module")
def cube() -> Puzzle:
    return load_config("3x3x3").puzzle


@pytest.mark.parametrize(("text", "solution"), PUBLISHED.items())
def test_a_cube_face_by_face_is_the_one_that_its_published_solution_solves(
    cube: Puzzle, text: str, solution: str
) -> None:
    position = cube.parse(text)
    assert np.array_equal(cube.follow(solution, position)[-1], cube.start_labels[0])
    lines = "\n".join(text[first : first + 3] for first in range(0, len(text), 3))
    assert np.array_equal(cube.parse(lines), position)


@pytest.mark.parametrize("name", NETS)
def test_every_net_is_read_as_it_is_drawn(name: str) -> None:
    puzzle = load_config(name).puzzle
    moves = [puzzle.moves.names[number % len(puzzle.moves)] for number in range(3, 99, 7)]
    for position in puzzle.follow(" ".join(moves)):
        assert np.array_equal(puzzle.parse(puzzle.draw(position)), position)


def swapped(*pairs: tuple[int, int]) -> str:
    """The solved cube with stickers that have changed places, by their numbers from 0."""
    letters = list(SOLVED)
    for one, other in pairs:
        letters[one], letters[other] = letters[other], letters[one]
    return "".join(letters)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (SOLVED[:-1], "expected 54 facelets, found 53"),
        (f"X{SOLVED[1:]}", "U1: expected one of the letters U R F D L B, found 'X'"),
        (f"{SOLVED[1:]}?", "expected a letter for each facelet, found '?'"),
        (f"R{SOLVED[1:]}", "expected 9 x R, found 10; missing: U"),
        (swapped((4, 13)), "U5 never moves: expected U, found R"),
        (
            swapped((8, 9), (8, 20)),
            "unreachable: a piece is turned on its place (the orientations of CORNERS have the sum 1 modulo",
        ),
        (
            swapped((7, 19)),
            "unreachable: a piece is turned on its place (the orientations of EDGES have the sum 1 modulo",
        ),
        (
            swapped((10, 19)),
            "unreachable: two pieces are swapped (the parities of the permutations contradict each other)",
        ),
        (swapped((0, 9)), "U9 F3 R1: no piece has the letters 'UFU'"),
        (swapped((25, 46)), "expected 1 x UF, found 2; missing: UB and others"),
        (
            "".join(face * 9 for face in "WRGYOB"),
            "letter 23 never moves: expected O, found G; to list the letters face by face, use the order U",
        ),
    ],
)
def test_letters_that_are_no_cube(cube: Puzzle, text: str, message: str) -> None:
    with pytest.raises(PositionError) as caught:
        cube.parse(text)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


TWO_PIECES = """Set PIECES 2 {orientations}
StartState
PIECES
0 1
End
MoveTransformation X
PIECES
1 0
End"""


@pytest.fixture(scope="module")
def described() -> Callable[..., Puzzle]:
    def described(net: str, facelets: str, faces: str = "", orientations: int = 1) -> Puzzle:
        definition = {"format": "tws", "definition": TWO_PIECES.format(orientations=orientations)}
        faces_too = {"faces": faces} if faces else {}
        return twisty({"name": "two", "family": "twisty", **definition, "net": net, "facelets": facelets, **faces_too})

    return described


def test_pieces_that_look_alike_are_not_told_apart(described: Callable[..., Puzzle]) -> None:
    puzzle = described("AA", "a0.0 a1.0")
    with pytest.raises(PositionError, match="position 'AA': letter 1: its letters are ambiguous"):
        puzzle.parse("AA")
    assert puzzle.parse("2 1").tolist() == [1, 0]


def test_letters_of_faces_that_are_those_of_the_picture_are_read_face_by_face(
    described: Callable[..., Puzzle],
) -> None:
    puzzle = described("AB", "a0.0 a1.0", "B:A A:B")
    assert puzzle.parse("BA").tolist() == [0, 1]
    assert puzzle.parse("AB").tolist() == [1, 0]


@pytest.mark.parametrize("faces", ["U:A", "U:A U:B", "U:A R:A", "U:A R:B F:C", "UA RB", "1:A 2:B"])
def test_faces_that_are_not_those_of_the_picture(described: Callable[..., Puzzle], faces: str) -> None:
    with pytest.raises(ConfigError, match=r"faces: expected a pair such as U:W for each letter of net \(A B\)"):
        described("AB", "a0.0 a1.0", faces)


def test_small_letters_are_read_as_capitals(cube: Puzzle) -> None:
    for text in (*PUBLISHED, "".join(letter for letter in cube.draw(cube.start_labels[0]) if letter.isalpha())):
        assert np.array_equal(cube.parse(text.lower()), cube.parse(text))
    with pytest.raises(
        PositionError,
        match="position 'uUUUUUUUURRRRRRRRRFFFFFFFFFDDDDDDDDDLLLLLLLLLBBBBBBBBB': U1: expected one of the",
    ):
        cube.parse("u" + SOLVED[1:])
