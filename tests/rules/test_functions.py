"""Moves that are functions: results, inverses, wrong results, other processes."""

import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from antipodes_tasks.base.errors import InputError
from antipodes_tasks.rules.functions import Functions
from antipodes_tasks.rules.parts import Part, pieces, values

PARTS = (values(2, 5),)
EVERY = np.stack(np.divmod(np.arange(25), 5), axis=1).astype(np.uint8)


def up(labels: Any) -> Any:
    legal = labels[:, 0] < 4
    labels[:, 0] += 1
    return labels, legal


def down(labels: Any) -> Any:
    legal = labels[:, 0] > 0
    labels[:, 0] -= 1
    return labels, legal


def turn_second(labels: Any) -> Any:
    return (labels + np.array((0, 1))) % 5


def empty(labels: Any) -> Any:
    return np.column_stack((labels[:, 0], 0 * labels[:, 1])), labels[:, 1] > 0


MOVES = Functions(
    {"up": up, "down": down, "turn": turn_second}, PARTS, {"up": "down", "turn": lambda one: (one - [0, 1]) % 5}
)


def test_legal_positions_move_and_others_stay() -> None:
    given = EVERY.copy()
    after, legal = MOVES.move(0, given)
    assert np.array_equal(given, EVERY), "the input stays as it is"
    assert after.dtype == np.uint8
    assert legal.tolist() == [one < 4 for one, _ in EVERY]
    assert after.tolist() == [[one + 1 if one < 4 else one, other] for one, other in EVERY]
    assert MOVES.successors(np.array([0, 4], dtype=np.uint8)).tolist() == [[1, 4], [0, 0]], "in the order of moves"


def test_inverses_are_known_from_either_side() -> None:
    for number in range(3):
        after, legal = MOVES.move(number, EVERY)
        before, found = MOVES.undo(number, after[legal])
        assert found.all()
        assert np.array_equal(before, EVERY[legal])
    _, found = MOVES.undo(0, EVERY)
    assert found.tolist() == [one > 0 for one, _ in EVERY], "only positions after the move have one before"
    wrong = Functions({"turn": turn_second}, PARTS, {"turn": turn_second})
    assert not wrong.undo(0, EVERY)[1].any()


def test_reversible_where_moves_undo_moves() -> None:
    assert not MOVES.reversible
    assert MOVES.invertible
    assert Functions({"up": up, "down": down}, PARTS, {"up": "down"}).reversible
    assert not Functions({"up": up, "down": down}, PARTS, {"up": "down", "down": None}).invertible


def test_an_unknown_inverse_is_named() -> None:
    with pytest.raises(InputError, match=r"move 'empty' has no inverse"):
        Functions({"empty": empty}, PARTS).undo(0, EVERY)


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda labels: labels + 1, r"expected labels 0 to 4, found 5, in 1 5 from 0 4"),
        (lambda labels: labels / 1, r"expected an array of integers, found float64"),
        (lambda labels: labels[0], r"expected an array of positions \(25, 2\), found ndarray \(2,\) of int64"),
        (lambda labels: labels.tolist(), r"expected an array of positions \(25, 2\), found list"),
        (lambda labels: None, r"expected an array of positions \(25, 2\), found None"),
        *(
            (
                lambda labels, mask=mask: (labels, mask(labels)),
                rf"its mask of legal positions must be a boolean array \(25,\), found {found}",
            )
            for mask, found in ((lambda x: x > 0, "ndarray"), (lambda x: x[:, 0], "ndarray"), (lambda x: True, "True"))
        ),
        (lambda labels: labels[:, 9], r"IndexError \(test_functions.py, line \d+\): index 9 is out of bounds"),
    ],
)
def test_wrong_results_are_refused(function: Callable[[Any], Any], message: str) -> None:
    with pytest.raises(InputError, match=f"^move 'wrong': {message}"):
        Functions({"wrong": function}, PARTS).move(0, EVERY)


def test_the_pieces_stay_the_same() -> None:
    moves = Functions({"copy": lambda labels: labels[:, [0, 0, 2]]}, [pieces((0, 1, 1), ("a", "b"))])
    with pytest.raises(InputError, match=r"move 'copy': expected 1 x 'a', found 2; missing: 'b', in a a b from a b b"):
        moves.move(0, np.array([[1, 1, 0], [0, 1, 1]], dtype=np.uint8)[[1, 0]])


@pytest.mark.parametrize(
    ("functions", "inverses", "message"),
    [
        ({}, {}, "moves: the list of moves is empty"),
        ({"up": 3}, {}, "a function for the move 'up'"),
        ({"up": up}, {"up": "down"}, "inverse of 'up': 'down' is not the name of a move"),
        ({"up": up}, {"down": "up"}, "inverses: 'down' is not the name of a move"),
    ],
)
def test_what_is_no_move_is_refused(functions: Any, inverses: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        Functions(functions, PARTS, inverses)


def test_the_fingerprint_tells_behaviour_and_sources_apart() -> None:
    def of(function: Any, parts: tuple[Part, ...] = PARTS, **more: Any) -> bytes:
        return Functions({"move": function}, parts, **more).table_key

    assert of(turn_second) == of(lambda labels: (labels + np.array((5, 6))) % 5)
    different = [
        of(turn_second),
        of(up),
        of(turn_second, source="a"),
        of(turn_second, source="b"),
        of(turn_second, inverses={"move": turn_second}),
    ]
    assert len(set(different)) == len(different)
    moves = Functions({"move": turn_second}, PARTS)
    assert (moves.table_key, moves.signed("a").table_key) == (of(turn_second), of(turn_second, source="a"))


def test_functions_travel_by_value() -> None:
    step = 3
    moves = Functions({"move": lambda labels: (labels + step) % 5}, PARTS)
    copy = pickle.loads(pickle.dumps(moves))
    assert copy == moves
    assert np.array_equal(pickle.loads(pickle.dumps(MOVES)).undo(2, EVERY)[0], MOVES.undo(2, EVERY)[0])
    assert np.array_equal(copy.move(0, EVERY)[0], (EVERY + 3) % 5)


def test_what_functions_share_travels_once() -> None:
    table = np.arange(10**6)
    moves = Functions({f"{by}": lambda labels, by=by: (labels + table[by]) % 5 for by in range(10)}, PARTS)
    assert len(pickle.dumps(moves)) < 2 * table.nbytes


def test_the_message_says_what_is_wrong_with_the_position_that_it_names() -> None:
    parts = (values(1, 3), values(1, 2))
    wrong = np.array([[0, 9], [7, 0]])
    moves = Functions({"bad": lambda positions: wrong}, parts)
    with pytest.raises(InputError, match="expected labels 0 to 1, found 9, in 0 9 from 1 1"):
        moves.move(0, np.array([[1, 1], [0, 0]], dtype=np.uint8))
