"""The format of cubing.js: its keys, earlier ones too, and each refusal with its path."""

import json
from typing import Any

import pytest

from antipodes.puzzles.formats.definition import Orbit, TwistyDefinition
from antipodes.puzzles.formats.kpuzzle import read_kpuzzle
from antipodes_tasks.base.errors import ConfigError

SMALL: dict[str, Any] = {
    "name": "small",
    "orbits": [
        {"orbitName": "CORNERS", "numPieces": 3, "numOrientations": 3},
        {"orbitName": "EDGES", "numPieces": 4, "numOrientations": 1},
    ],
    "defaultPattern": {
        "CORNERS": {"pieces": [0, 1, 2], "orientation": [0, 2, 1]},
        "EDGES": {"pieces": [0, 0, 7, 7], "orientation": [0, 0, 0, 0]},
    },
    "moves": {
        "R": {"CORNERS": {"permutation": [1, 2, 0], "orientationDelta": [0, 1, 2]}},
        "U": {"EDGES": {"permutation": [1, 2, 3, 0], "orientationDelta": [0, 0, 0, 0]}},
        "x": {},
    },
    "derivedMoves": {"F": "[x: R] U2'", "Fv": "x'", "L": "F R"},
}


def read(**changes: Any) -> TwistyDefinition:
    whole = {key: value for key, value in {**SMALL, **changes}.items() if value is not None}
    return read_kpuzzle(json.dumps(whole))


def test_read() -> None:
    found = read()
    assert found.name == "small"
    assert found.orbits == (Orbit("CORNERS", (0, 1, 2), 3, (0, 2, 1)), Orbit("EDGES", (0, 0, 1, 1), 1, (0,) * 4))
    assert list(found.turns) == ["R", "U", "F", "L"]
    assert list(found.others) == ["x", "Fv"]
    turn = found.turns["R"]
    assert (turn.permutations, turn.twists) == (((1, 2, 0), (0, 1, 2, 3)), ((0, 1, 2), (0,) * 4))
    assert found.turns["F"] == turn.compose(found.turns["U"].power(2))
    assert found.turns["L"] == found.turns["F"].compose(turn)


def test_keys_of_earlier_versions() -> None:
    orbits = {orbit["orbitName"]: {k: v for k, v in orbit.items() if k != "orbitName"} for orbit in SMALL["orbits"]}
    moves = {
        name: {
            orbit: {"permutation": entry["permutation"], "orientation": entry["orientationDelta"]}
            for orbit, entry in move.items()
        }
        for name, move in SMALL["moves"].items()
    }
    old = {"orbits": orbits, "startStateData": SMALL["defaultPattern"], "moves": moves}
    derived = {"experimentalDerivedMoves": SMALL["derivedMoves"]}
    assert read(**old, **derived, defaultPattern=None, derivedMoves=None) == read()


def test_what_may_be_left_out() -> None:
    found = read(name=None, derivedMoves=None, defaultPattern={"EDGES": {"pieces": [3, 3, 3, 3]}})
    assert found.name == ""
    assert found.orbits == (Orbit("CORNERS", (0, 1, 2), 3, (0,) * 3), Orbit("EDGES", (0,) * 4, 1, (0,) * 4))
    assert list(found.turns) == ["R", "U"]


def pattern(**changes: Any) -> dict[str, Any]:
    return {"defaultPattern": {"CORNERS": {"pieces": [0, 1, 2], "orientation": [0, 0, 0], **changes}}}


def move(**changes: Any) -> dict[str, Any]:
    return {"moves": {"R": {"CORNERS": {"permutation": [1, 2, 0], **changes}}}}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"orbits": None}, "orbits: this key is missing$"),
        ({"orbits": []}, "orbits: there are no orbits; at least one is needed"),
        ({"orbits": ["A"]}, r"orbits\[0\]: expected a table, found 'A'"),
        ({"orbits": [{"orbitName": 1}]}, r"orbits\[0\].orbitName: expected a string, found 1"),
        ({"orbits": [{"orbitName": "A"}]}, r"orbits\[0\].numPieces: this key is missing$"),
        ({"orbits": [*SMALL["orbits"], SMALL["orbits"][0]]}, r"orbits\[2\].orbitName: the name 'CORNERS' is already"),
        ({"orbits": {"A": {"numPieces": 0}}}, "orbits.A.numPieces: expected an integer from 1 to 1,024, found 0"),
        ({"orbits": {"A": {"n": 1}}}, "orbits.A.n: this key is not supported; expected numPieces, numOrientations, "),
        ({"defaultPattern": None}, "defaultPattern: this key is missing$"),
        ({"startState": {}}, "startState: defaultPattern and startState cannot both be given"),
        ({"defaultPattern": {"X": {}}}, "defaultPattern.X: this key is not supported; expected CORNERS, EDGES"),
        (pattern(pieces=[0, 1]), "defaultPattern.CORNERS.pieces: expected a list of 3 numbers, found a list of 2"),
        (
            pattern(pieces=[0, 1, -1]),
            r"defaultPattern.*pieces\[2\]: expected an integer from 0 to 1,024, found -1",
        ),
        (pattern(orientation=[0, 3, 0]), r"defaultPattern.CORNERS.orientation\[1\]: expected an integer from 0 to 2"),
        (pattern(orientations=[0, 0, 0]), "defaultPattern.CORNERS.orientations: this key is not supp.* pieces, "),
        ({"moves": {}}, "moves: there are no moves; at least one is needed"),
        ({"moves": {"x": {}}, "derivedMoves": {"y": "x"}}, "moves: all moves are rotations of the whole puzzle; at"),
        ({"moves": {"R": []}}, r"moves.R: expected a table, found \[\]"),
        ({"moves": {"": {}}}, "moves.'': expected a name of 1 to 64 printable characters"),
        (move(permutation=[1, 1, 0]), "moves.R.CORNERS.permutation: expected each place once, found 1 twice"),
        (move(permutation=[1, 2, 3]), r"moves.R.CORNERS.permutation\[2\]: expected an integer from 0 to 2, found 3"),
        (move(orientationDelta=[0, 0, 3]), r"moves.R.CORNERS.orientationDelta\[2\]: expected an integer from 0 to 2"),
        (move(orientation=[0] * 3, orientationDelta=[0] * 3), "moves.R.CORNERS.orientation: .* cannot both be given"),
        ({"derivedMoves": {"R": "U"}}, "derivedMoves.R: the name 'R' is already used"),
        ({"derivedMoves": {"F": 1}}, "derivedMoves.F: expected a sequence of moves, found 1"),
        ({"derivedMoves": {"F": "R Q"}}, "derivedMoves.F: unknown move 'Q' at character 3; the moves are R, U, x, F"),
        ({"derivedMoves": {"F": "G", "G": "F"}}, r"derivedMoves.([FG]): '\1' occurs in its own definition"),
        ({"illegal": 1}, "illegal: this key is not supported; expected .*orbits, "),
        ({"name": 1}, "name: expected a string, found 1"),
    ],
)
def test_refused_with_the_path(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=f"^{message}"):
        read(**changes)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "line 1: not valid JSON: unexpected end at column 1"),
        ('{\n"name": "a",\n}', "line [23]: not valid JSON: unexpected '.*' at column 1"),
        ("[]", r"the file: expected a table, found \[\]"),
        ('{"moves": {"R": {}, "R": {}}}', "R: the key occurs twice in one table"),
        ('{"name": NaN}', "name: expected a string, found nan"),
    ],
)
def test_refused_json(text: str, message: str) -> None:
    with pytest.raises(ConfigError, match=f"^{message}"):
        read_kpuzzle(text)
