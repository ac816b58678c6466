"""Symmetries that a puzzle in Python names."""

import pickle
from collections.abc import Mapping
from typing import Any

import cloudpickle
import numpy as np
import pytest
from brute_force import distances

from antipodes.checking import check_puzzle
from antipodes.puzzles.custom import define_puzzle
from antipodes.puzzles.puzzle import Puzzle
from antipodes_tasks.base.errors import InputError
from antipodes_tasks.properties.finding import symmetries_of

GOOD = {"turn": lambda dials: dials[:, [1, 2, 0]], "swap": [1, 0, 2], "negative": lambda dials: -dials % 4}


def turned(place: int, by: int) -> Any:
    def move(dials: np.ndarray) -> np.ndarray:
        dials[:, place] = (dials[:, place] + by) % 4
        return dials

    return move


def dials(symmetries: Mapping[str, Any], start: tuple[int, ...] = (0, 0, 0)) -> Puzzle:
    """Three dials that turn one way by one, and back by one."""
    moves = {f"{name}{by:+}": turned(place, by) for place, name in enumerate("abc") for by in (1, -1)}
    return define_puzzle(name="dials", radices=[4] * 3, start=start, moves=moves, symmetries=symmetries)


def test_the_group_that_named_symmetries_generate() -> None:
    puzzle = dials(GOOD)
    found = symmetries_of(puzzle.rules)
    assert (found.order, len(found.elements())) == (12, 12)
    depths = distances(puzzle.starts, lambda one: map(tuple, puzzle.successors(one).tolist()))
    positions = np.array(list(depths), dtype=np.uint8)
    for one in found.elements():
        assert [depths[tuple(image)] for image in one.image(positions).tolist()] == list(depths.values())
        for number, image in enumerate(one.moves.tolist()):
            after, _ = puzzle.moves.move(number, positions)
            assert (one.image(after) == puzzle.moves.move(image, one.image(positions))[0]).all()


def dials_that_wait(turning: tuple[int, ...]) -> Puzzle:
    """Dials 2 and 3 may turn only while dial 0 is at 15 or more. There are 400 starts."""

    def turned_late(place: int) -> Any:
        def move(dials: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
            legal = dials[:, 0] >= 15
            dials[legal, place] = (dials[legal, place] + 1) % 3
            return dials, legal

        return move

    return define_puzzle(
        name="dials that wait",
        radices=[20, 20, 3, 3],
        start=[[one, other, 0, 0] for one in range(20) for other in range(20)],
        moves={f"m{place}": turned_late(place) for place in turning},
        symmetries={"exchange": [0, 1, 3, 2]},
    )


def test_symmetries_are_checked_on_all_starts() -> None:
    (one,) = symmetries_of(dials_that_wait((2, 3)).rules).generators
    assert one.moves.tolist() == [1, 0]
    with pytest.raises(InputError, match="the image of 'm2' is not a move"):
        symmetries_of(dials_that_wait((2,)).rules)


def test_pieces_can_be_renamed() -> None:
    def rotated(pieces: np.ndarray) -> np.ndarray:
        return np.roll(pieces, 1, axis=1)

    def mirrored(pieces: np.ndarray) -> np.ndarray:
        return 2 - pieces[:, ::-1]

    moves = {"L": rotated, "R": lambda pieces: np.roll(pieces, -1, axis=1)}
    puzzle = define_puzzle(name="ring", start=[0, 1, 2], moves=moves, symmetries={"mirror": mirrored})
    (one,) = symmetries_of(puzzle.rules).generators
    assert (one.places.tolist(), one.moves.tolist()) == ([2, 1, 0], [1, 0])
    assert one.image(np.array([[2, 0, 1]], dtype=np.uint8)).tolist() == [[1, 2, 0]]


def test_other_processes_know_them() -> None:
    copy = pickle.loads(cloudpickle.dumps(dials(GOOD)))
    assert symmetries_of(copy.rules).order == 12


def test_puzzles_that_differ_in_them_alone() -> None:
    assert [symmetries_of(dials(some).rules).order for some in (GOOD, {"swap": [1, 0, 2]})] == [12, 2]


def test_goals_that_few_preserve() -> None:
    goals = np.array([[1, 1, 2]], dtype=np.uint8)
    assert symmetries_of(dials(GOOD).rules, goals).order == 2


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (lambda dials: (dials + 1) % 4, "it must map starts to starts"),
        (lambda dials: np.sort(dials, axis=1), "it must map places to places"),
        (lambda dials: dials[:, :2], r"the result must be an integer array of shape \(13, 3\)"),
        (lambda dials: dials * 0, "it must map each place to one place"),
        (lambda dials: dials[:, ::-1].cumsum(axis=1) % 4, "it must map each place to one place"),
        (
            lambda dials: np.where(dials > 1, 5 - dials, dials),
            r"it must map moves to moves, but the image of 'a\+1' is not a move",
        ),
        (lambda dials: dials + 1, "expected labels 0 to 3, found 4"),
        (
            lambda dials: np.where(dials.sum(axis=1)[:, None] > 5, dials, dials[:, ::-1]),
            "regardless of the labels on other places",
        ),
        (lambda dials: dials[7], "symmetry 'wrong'"),
    ],
)
def test_what_is_none(wrong: Any, message: str) -> None:
    puzzle = dials({"wrong": wrong})
    with pytest.raises(InputError, match=message):
        symmetries_of(puzzle.rules)
    report = check_puzzle(puzzle)
    assert not report.ok
    assert report.problems[0].startswith("symmetry 'wrong': ")


def test_the_check_accepts_symmetries() -> None:
    assert check_puzzle(dials(GOOD)).ok


@pytest.mark.parametrize(
    ("symmetries", "message"),
    [
        ({"c": [0, 1]}, "symmetries.c: expected each of 0 to 2 once"),
        ({"c": "(0 9)"}, "symmetries.c: "),
        ({"c": 1}, "symmetries: c as a function, or a permutation"),
        ([1], "symmetries"),
    ],
)
def test_what_is_no_map(symmetries: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        dials(symmetries)


def test_those_of_permutations_are_found() -> None:
    with pytest.raises(InputError, match="symmetries: only needed if a move is a function, because otherwise they"):
        define_puzzle(name="p", start=[0, 1], moves={"a": [1, 0]}, symmetries={"b": [1, 0]})
