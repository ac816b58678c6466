"""Pieces that show their orientation in part, against a search of what they show."""

import json

import numpy as np
import pytest
from brute_force import Rows, layers_by
from project import ROOT
from twisty_search import layers

from antipodes.puzzles.families import puzzle_from
from antipodes.puzzles.formats.definition import Orbit, TwistyDefinition, expand
from antipodes.puzzles.formats.kpuzzle import read_kpuzzle
from antipodes.puzzles.formats.tws import read_tws
from antipodes_tasks.base.errors import ConfigError
from antipodes_tasks.spaces.selection import best_space

SAMPLES = ROOT / "tests" / "support" / "samples"
CUBE = (SAMPLES / "2x2x2.tws").read_text()
SOLVED = "1 2 3 4 5 6 7 8\n0 0 0 0 0 0 0 0"
KPUZZLE = json.loads((SAMPLES / "2x2x2.kpuzzle.json").read_text())
FULL = read_tws(CUBE)


def shown_layers(pieces: list[int], twists: list[int], shown: list[int]) -> list[int]:
    """The layers of the cube with these pieces on it, each of which shows its orientation modulo a number."""
    modulus = np.zeros(max(pieces) + 1, dtype=np.uint8)
    modulus[pieces] = shown

    def seen(on: Rows, twists: Rows) -> Rows:
        return np.concatenate((on, twists % modulus[on]), axis=1)

    def after(rows: Rows) -> Rows:
        moved = []
        for turn in expand(FULL.turns).values():
            on, before = (part[:, list(turn.permutations[0])] for part in np.split(rows, 2, axis=1))
            moved.append(seen(on, before + np.array(turn.twists[0], dtype=np.uint8)))
        return np.concatenate(moved)

    start = np.array([pieces, twists], dtype=np.uint8)
    return layers_by(seen(start[:1], start[1:]), after)


@pytest.mark.parametrize(
    ("pieces", "orientations"),
    [
        ("1 2 3 3 3 3 3 3", "0 0 ? ? ? ? ? ?"),
        ("4 1 1 1 1 1 1 1", "? 0 0 1 0 2 0 0"),
        ("1 1 1 1 2 2 2 2", "0 0 0 0 ? ? ? ?"),
    ],
)
def test_layers_of_what_shows(pieces: str, orientations: str) -> None:
    definition = read_tws(CUBE.replace(SOLVED, f"{pieces}\n{orientations}"))
    shown = [1 if one == "?" else 3 for one in orientations.split()]
    twists = [int(one.replace("?", "0")) for one in orientations.split()]
    found = layers(definition, expand(definition.turns).values())
    assert found == shown_layers([int(piece) for piece in pieces.split()], twists, shown)


@pytest.mark.parametrize(
    ("pieces", "orientations", "size", "kind"),
    [
        ("1 1 1 1 2 2 3 3", "? ? ? ? 0 0 ? ?", 420 * 9, "keys"),
        ("1 2 3 3 3 3 3 3", "0 0 ? ? ? ? ? ?", 24 * 23, "orbits"),  # 504 of them are positions
    ],
)
def test_numbered_is_little_more_than_can_be(pieces: str, orientations: str, size: int, kind: str) -> None:
    """All arrangements of the points are 20,593,188 in the first case."""
    text = CUBE.replace(SOLVED, f"{pieces}\n{orientations}")
    space = best_space(puzzle_from({"name": "p", "family": "twisty", "format": "tws", "definition": text}).rules)
    assert (space.size, space.numbering.KIND) == (size, kind)


def test_where_no_orientation_matters_there_is_none() -> None:
    definition = read_tws(CUBE.replace(SOLVED, "1 2 3 4 5 6 7 8\n? ? ? ? ? ? ? ?"))
    assert definition.orbits == (Orbit("CORNER", tuple(range(8)), 1, (0,) * 8),)
    assert all(turn.twists == ((0,) * 8,) and turn.orientations == (1,) for turn in definition.turns.values())
    assert sum(layers(definition, definition.turns.values())) == 40320


def test_some_orientations_make_an_orbit_of_points() -> None:
    (orbit,) = read_tws(CUBE.replace(SOLVED, "1 2 9 9 9 9 9 9\n0 1 ? ? ? ? ? ?")).orbits
    assert (orbit.orientations, len(orbit.pieces)) == (1, 24)
    assert orbit.pieces == (1, 0, 0, 0, 2, 0, *(0,) * 18)


@pytest.mark.parametrize(
    ("numbers", "moduli", "orientations"),
    [(3, [0] * 8, 3), (3, [3] * 8, 3), (3, [1] * 8, 1), (6, [2] * 8, 2), (6, [3] * 8, 3), (6, [6, 0] * 4, 6)],
)
def test_moduli_that_are_all_the_same(numbers: int, moduli: list[int], orientations: int) -> None:
    assert _with_moduli(numbers, moduli).orbits == (Orbit("CORNERS", tuple(range(8)), orientations, (0,) * 8),)


def test_moduli_that_differ_mark_points() -> None:
    (orbit,) = _with_moduli(6, [1, 1, 2, 3, 0, 2, 1, 1], [0, 0, 1, 2, 5, 0, 0, 0], [8, 8, 0, 1, 2, 3, 4, 8]).orbits
    blank, two, three, six, even, all_six = (0,) * 6, (0, 1) * 3, (0, 0, 2) * 2, (0,) * 5 + (3,), (4, 0) * 3, (5,) * 6
    assert orbit == Orbit("CORNERS", (*blank, *blank, *two, *three, *six, *even, *all_six, *blank), 1, (0,) * 48)


@pytest.mark.parametrize(
    ("pieces", "moduli", "message"),
    [
        ([0, 0, 1, 2, 3, 4, 5, 6], [1, 0, 0, 0, 0, 0, 0, 0], "identical pieces must have the same visible"),
        (list(range(8)), [4] * 8, "orientationMod: expected 0 or divisors of 6, found 4"),
        (list(range(8)), [7] * 8, r"orientationMod\[0\]: expected an integer from 0 to 6, found 7"),
        (list(range(8)), [1] * 7, "orientationMod: expected a list of 8 numbers, found a list of 7"),
    ],
)
def test_refused_moduli(pieces: list[int], moduli: list[int], message: str) -> None:
    with pytest.raises(ConfigError, match=rf"^defaultPattern\.CORNERS.*{message}"):
        _with_moduli(6, moduli, pieces=pieces)


def test_identical_pieces_that_differ_are_refused_by_line() -> None:
    """The same mistake is a test case of twsearch."""
    with pytest.raises(ConfigError, match="line 8: identical pieces must have the same visible orientations"):
        read_tws(CUBE.replace(SOLVED, "1 2 3 4 5 6 7 7\n0 0 0 0 0 0 0 ?"))


def test_too_many_points() -> None:
    with pytest.raises(ConfigError, match="line 2: Solved: expected at most 1024 places in all, found 2,000"):
        read_tws("Set A 200 10\nSolved\nA\n" + "1 2 " * 100 + "\n" + "0 ? " * 100 + "\nEnd\nMove R\nEnd\n")


def _with_moduli(
    numbers: int, moduli: list[int], orientation: list[int] | None = None, pieces: list[int] | None = None
) -> TwistyDefinition:
    """The cube with another number of orientations of its corners, of which these show."""
    orbits = [{"orbitName": "CORNERS", "numPieces": 8, "numOrientations": numbers}]
    pattern = {
        "pieces": pieces or list(range(8)),
        "orientation": orientation or [0] * 8,
        "orientationMod": moduli,
    }
    return read_kpuzzle(json.dumps({**KPUZZLE, "orbits": orbits, "defaultPattern": {"CORNERS": pattern}}))
