"""Positions of cubing.js in JSON."""

import json
from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
from group_puzzles import SAMPLES
from programs import Command

from antipodes.puzzles.config import load_config
from antipodes.puzzles.families.twisty import twisty
from antipodes.puzzles.puzzle import Puzzle
from antipodes_tasks.base.errors import PositionError

TURNS: Mapping[str, Mapping[str, tuple[list[int], list[int]]]] = {
    "U": {"EDGES": ([1, 2, 3, 0, *range(4, 12)], [0] * 12), "CORNERS": ([1, 2, 3, 0, 4, 5, 6, 7], [0] * 8)},
    "R": {
        "EDGES": ([0, 8, 2, 3, 4, 10, 6, 7, 5, 9, 1, 11], [0] * 12),
        "CORNERS": ([4, 0, 2, 3, 7, 5, 6, 1], [2, 1, 0, 0, 1, 0, 0, 2]),
    },
}
"""Two turns of cubing.js's 3x3x3: the place that each piece comes from, and what is added to its orientation."""
KEYS = {"patternData": ("pieces", "orientation"), "transformationData": ("permutation", "orientationDelta")}
CENTRES = {"pieces": [0, 1, 2, 3, 4, 5], "orientation": [1, 0, 0, 0, 0, 0], "orientationMod": [1] * 6}


@pytest.fixture(scope="module")
def cube() -> Puzzle:
    return load_config("3x3x3").puzzle


@pytest.mark.parametrize("turn", TURNS)
@pytest.mark.parametrize("kind", KEYS)
def test_bundled_cubes_count_pieces_as_cubing_js_does(cube: Puzzle, turn: str, kind: str) -> None:
    data: dict[str, Any] = {name: dict(zip(KEYS[kind], both, strict=True)) for name, both in TURNS[turn].items()}
    position = cube.follow(turn)[-1]
    assert np.array_equal(cube.parse(json.dumps(data)), position)
    whole = {"kpuzzleName": "3x3x3", kind: {**data, "CENTERS": CENTRES if kind == "patternData" else {}}}
    assert np.array_equal(cube.parse(json.dumps(whole)), position)


def test_what_follows_in_one_turn_after_another(cube: Puzzle) -> None:
    """A pattern of a scramble, made by cubing.js's turns alone."""
    state = {"EDGES": [(piece, 0) for piece in range(12)], "CORNERS": [(piece, 0) for piece in range(8)]}
    orientations = {"EDGES": 2, "CORNERS": 3}
    moves = "R U R R U U U R U R R R U U R"
    for move in moves.split():
        for name, (origin, added) in TURNS[move].items():
            before = state[name]
            state[name] = [
                (before[at][0], (before[at][1] + add) % orientations[name])
                for at, add in zip(origin, added, strict=True)
            ]
    data = {
        name: {"pieces": [one for one, _ in own], "orientation": [twist for _, twist in own]}
        for name, own in state.items()
    }
    assert np.array_equal(cube.parse(json.dumps(data)), cube.follow(moves)[-1])


def test_puzzles_of_files_count_as_the_file_does() -> None:
    text = (SAMPLES / "2x2x2.kpuzzle.json").read_text(encoding="utf-8")
    puzzle = twisty({"name": "two", "family": "twisty", "format": "kpuzzle", "definition": text})
    turn = json.loads(text)["moves"]["x"]["CORNERS"]
    position = puzzle.follow("x")[-1]
    assert np.array_equal(puzzle.parse(json.dumps({"CORNERS": turn})), position)
    given = {"pieces": position[:8].tolist(), "orientation": position[8:].tolist()}
    assert np.array_equal(puzzle.parse(json.dumps({"CORNERS": given})), position)
    assert np.array_equal(puzzle.parse("{}"), puzzle.start_labels[0])


def corners(**entry: Any) -> str:
    return json.dumps({"CORNERS": entry})


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", r"position '\{': not valid JSON: there is an error at character 2"),
        (
            '{"CORNERS": 3}',
            r"""position '\{"CORNERS": 3\}': expected a JSON object that contains an object for each orbit""",
        ),
        pytest.param('{"a": ' * 100_000, "the JSON is nested too deeply", id="nested"),
        (corners(pieces=[0]), "CORNERS.pieces: expected a list of 8 numbers, found a list of 1"),
        (corners(pieces=[0, 1, 2, 3, 4, 5, 6, 8]), r"CORNERS.pieces\[7\]: expected an integer from 0 to 7, found 8"),
        (corners(pieces=[True, *range(1, 8)]), r"CORNERS.pieces\[0\]: expected an integer from 0 to 7, found True"),
        (
            corners(pieces=[0, 0, 2, 3, 4, 5, 6, 7]),
            r"CORNERS\.pieces: the number \d+ must occur 1 time, ",
        ),
        (
            corners(permutation=[0, 0, 2, 3, 4, 5, 6, 7]),
            r"""position '\{"CORNERS": \{"permutation": \[0, 0, 2, 3, 4, 5, 6, 7\]\}\}': CORNERS\.permutation:""",
        ),
        (corners(pieces=[*range(8)], permutation=[*range(8)]), "or permutation .*, found pieces and permutation"),
        (
            corners(orientation=[1] + [0] * 7),
            r"""position '\{"CORNERS": \{"orientation": \[1, 0, 0, 0, 0, 0, 0, 0\]\}\}': unreachable: a piece""",
        ),
        (corners(parts=[]), "expected pieces and orientation, or permutation .*, found 'parts'"),
        (
            corners(pieces=[*range(8)], orientation=[1] + [0] * 7),
            r"""position '\{"CORNERS": \{"pieces": \[0, 1, 2, 3, 4, 5, 6, 7\], "orientati…': unreachable: a piece""",
        ),
        (corners(pieces=[1, 0, *range(2, 8)]), "two pieces are swapped"),
        (
            '{"CENTERS": {"pieces": [1, 0]}}',
            r"""position '\{"CENTERS": \{"pieces": \[1, 0\]\}\}': CENTERS: the puzzle does not have this orbit, so""",
        ),
    ],
)
def test_what_is_no_position_is_refused_in_one_line(cube: Puzzle, text: str, message: str) -> None:
    with pytest.raises(PositionError, match=message) as error:
        cube.parse(text)
    assert "\n" not in str(error.value)
    assert len(str(error.value)) < 300


def test_boards_have_no_positions_in_json() -> None:
    with pytest.raises(PositionError, match="expected"):
        load_config("eight-puzzle").puzzle.parse("{}")


def test_solve_takes_them(cli: Command) -> None:
    given = {"EDGES": {"pieces": TURNS["U"]["EDGES"][0]}, "CORNERS": {"pieces": TURNS["U"]["CORNERS"][0]}}
    found = cli("solve", "3x3x3", json.dumps(given), "--quiet")
    assert found.status == 0
    assert found.out.startswith("1 move\n")
