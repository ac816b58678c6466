"""The check finds errors that were planted in definitions, and none in puzzles without."""

import itertools
import sys
from typing import Any

import numpy as np
import pytest
from own_puzzles import jugs, lights, random_puzzle, towers

import antipodes as ap
from antipodes import checking
from antipodes.checking import check_puzzle
from antipodes.puzzles.config import bundled_configs, load_config
from antipodes.puzzles.custom import define_puzzle
from antipodes.puzzles.families import puzzle_from
from antipodes.puzzles.puzzle import Puzzle
from antipodes_tasks.base.errors import InputError

SIZE = 6


def right(dials: Any) -> Any:
    return (dials + np.array([1, 0])) % SIZE


def left(dials: Any) -> Any:
    return (dials - np.array([1, 0])) % SIZE


def up(dials: Any) -> Any:
    legal = dials[:, 1] < SIZE - 1
    dials[:, 1] += 1
    return dials, legal


def down(dials: Any) -> Any:
    legal = dials[:, 1] > 0
    dials[:, 1] -= 1
    return dials, legal


def dials(moves: dict[str, Any] | None = None, **more: Any) -> Puzzle:
    """A dial that turns and one with ends, two positions of which are starts."""
    right_moves = {"right": right, "left": left, "up": up, "down": down}
    given: dict[str, Any] = {
        "radices": [SIZE, SIZE],
        "start": [[0, 0], [3, 3]],
        "inverses": {"right": "left", "up": "down"},
        "format": lambda position: f"{position[0]}-{position[1]}",
        "parse": lambda text: [int(part) for part in text.split("-")],
    }
    return define_puzzle(**{"name": "dials", "moves": {**right_moves, **(moves or {})}, **given, **more})


def problem_of(puzzle: Puzzle) -> str:
    """The only problem of a puzzle."""
    report = check_puzzle(puzzle)
    assert not report.ok
    return "\n".join(report.problems)


@pytest.mark.parametrize(("offsets", "one_way"), [([[0, 1]], True), ([[0, 1], [0, -1]], False)])
def test_offsets_that_lead_one_way_are_noted(offsets: list[list[int]], one_way: bool) -> None:
    puzzle = puzzle_from({"name": "p", "family": "jump", "start": "AB--", "offsets": offsets})
    assert any("some moves are irreversible" in note for note in check_puzzle(puzzle).notes) == one_way


@pytest.mark.parametrize("puzzle", [dials(), towers(3, 4), lights(3, 3), jugs()], ids=lambda one: one.name)
def test_puzzles_without_errors_are_ok(puzzle: Puzzle) -> None:
    report = check_puzzle(puzzle)
    assert report.problems == []
    assert report.ok
    assert any("searched by brute force" in one for one in report.checked)


@pytest.mark.parametrize("seed", range(4))
def test_random_puzzles_are_ok(seed: int) -> None:
    assert check_puzzle(random_puzzle(seed), seed).problems == []


@pytest.mark.slow
@pytest.mark.parametrize("name", ["knights-coloured"])
def test_bundled_puzzles_are_ok(name: str) -> None:
    assert name in bundled_configs()
    assert check_puzzle(load_config(name).puzzle).problems == []


def test_permutations_are_ok() -> None:
    puzzle = define_puzzle(name="ring", start="ABCDEF", moves={"L": [1, 2, 3, 4, 5, 0], "X": "(0 1)"})
    report = check_puzzle(puzzle)
    assert report.problems == []
    assert "all 720 positions searched by brute force" in report.checked


def test_one_way_moves_are_a_note() -> None:
    notes = check_puzzle(jugs()).notes
    assert any("moves without a known inverse: 01, 02, 10, 12, 20, 21" in note for note in notes)


def test_a_move_that_is_legal_nowhere_is_a_note() -> None:
    nowhere = {"stuck": lambda one: (one, np.zeros(len(one), dtype=bool))}
    assert any("never legal in 36 positions: 'stuck'" in note for note in check_puzzle(dials(nowhere)).notes)


@pytest.mark.slow
def test_a_puzzle_that_is_too_large_is_checked_by_its_moves_alone() -> None:
    report = check_puzzle(lights(5, 5))
    assert report.ok
    assert any("33,554,432 positions: too many" in note for note in report.notes)


def first_alone(one: Any) -> Any:
    one[0, 0] = (one[0, 0] + 1) % SIZE  # not vectorised
    return one


def by_the_array(one: Any) -> Any:
    return (one + np.array([len(one) % SIZE, 0])) % SIZE


def at_random(one: Any) -> Any:
    return np.random.default_rng().integers(SIZE, size=one.shape)


def with_memory() -> Any:
    calls = itertools.count()
    return lambda one: (one + np.array([next(calls) % SIZE, 0])) % SIZE


@pytest.mark.parametrize(
    ("move", "message"),
    [
        (first_alone, "move 'right': its result must not depend on the other positions of the array"),
        (by_the_array, "move 'right': its result must not depend on the other positions of the array"),
        (at_random, "move 'right': called twice, it gives different results"),
        (with_memory(), "move 'right': called twice, it gives different results"),
        (lambda one: one + np.array([1, 0]), "move 'right': expected labels 0 to 5, found 6, in 6 0 from 5 0"),
        (lambda one: one.astype(float), "move 'right': expected an array of integers, found float64"),
        (lambda one: one[:, :1], "move 'right': expected an array of positions (1, 2), found ndarray (1, 1) of int64"),
        (lambda one: (one, 1), "move 'right': its mask of legal positions must be a boolean array (1,), found int 1"),
        (lambda one: one.no_such_thing, "move 'right': AttributeError (test_checking.py, line "),
    ],
)
def test_wrong_moves_are_found(move: Any, message: str) -> None:
    assert message in problem_of(dials({"right": move}, inverses={"up": "down"}))


def test_a_puzzle_too_large_for_a_table_is_ok() -> None:
    turn = [*range(1, 40), 0]
    report = check_puzzle(define_puzzle(name="large", start=range(40), moves={"turn": turn, "swap": "(0 1)"}))
    assert report.ok
    assert "expected at most 2^63 - 1 positions" in report.notes[0]
    assert "moved, written and read" in report.checked[-1]


def test_a_wrong_inverse_is_found() -> None:
    """It leads elsewhere."""
    found = problem_of(dials(inverses={"right": "right", "up": "down"}))
    assert "move 'right' leads from 0 0 to 1 0, but its inverse leads from there to 2 0" in found


@pytest.mark.parametrize(
    ("swap", "message"),
    [
        (
            lambda tiles: tiles[:, [1, 2, 0]],
            "move 'swap' leads from A B . to B . A, but its inverse leads from there to",
        ),
        (
            lambda tiles: tiles[:, [0, 0, 2]],
            "move 'swap': expected 1 x 'A', found 2; missing: 'B', in A A . from A B .",
        ),
    ],
)
def test_positions_in_messages_are_written_in_the_symbols_of_the_puzzle(swap: Any, message: str) -> None:
    puzzle = define_puzzle(name="letters", start="A B .", moves={"swap": swap}, inverses={"swap": "swap"})
    assert message in problem_of(puzzle)
    with pytest.raises(InputError, match=r"^move 'swap'.* (A|\.) .* from [AB.] [AB.] [AB.]|to [AB.] [AB.] [AB.],"):
        ap.run(puzzle)


def test_an_inverse_function_that_is_wrong_is_found() -> None:
    found = problem_of(dials(inverses={"right": lambda one: (one + np.array([2, 0])) % SIZE, "up": "down"}))
    assert "move 'right' leads from 0 0 to 1 0, but its inverse leads from there to 3 0" in found


def test_wrong_legality_is_found() -> None:
    """A move that is legal where its inverse is not, and one that is not legal where its inverse leads from."""

    def too_often(one: Any) -> Any:
        legal = one[:, 1] >= 0
        one[:, 1] = np.maximum(one[:, 1] - 1, 0)
        return one, legal

    assert "move 'down' leads from" in problem_of(dials({"down": too_often}))

    def too_seldom(one: Any) -> Any:
        legal = one[:, 1] > 1
        one[:, 1] -= 1
        return one, legal

    expected = "move 'up' leads from 0 0 to 0 1, but its inverse is illegal there"
    assert expected in problem_of(dials({"down": too_seldom}))


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"format": lambda one: f"{one[0]}-0"}, "parse: expected 3 3 from '3-0', the result of format; found 3 0"),
        ({"format": lambda one: f"{min(one)}-{max(one)}"}, "format: two positions have the same string '0-1': "),
        ({"parse": lambda text: [int(part) for part in reversed(text.split("-"))]}, "parse: expected "),
        ({"format": lambda one: f"{one[0]} {one[1]}"}, "found an error: position '0 0': parse: ValueError"),
        (
            {"parse": lambda text: [int(one) if one.isdecimal() else 0 for one in (text + "--").split("-")[:2]]},
            "accepts '', which is not a position",
        ),
        ({"format": lambda one: None}, "format: expected a string, found None"),
        ({"draw": lambda one: one[2]}, "draw: IndexError (test_checking.py, line "),
    ],
)
def test_wrong_texts_are_found(wrong: dict[str, Any], message: str) -> None:
    start = {} if "parse" not in wrong else {"start": [0, 0]}
    assert message in problem_of(dials(**wrong, **start))


def test_a_start_that_no_move_leaves_is_found() -> None:
    stuck = {"up": up}
    puzzle = define_puzzle(name="stuck", radices=[2, SIZE], start=[0, SIZE - 1], moves=stuck)
    assert problem_of(puzzle) == "start: no move is legal in the position 0 5"
    puzzle = define_puzzle(name="one-moves", radices=[2, SIZE], start=[[0, SIZE - 1], [0, 0]], moves=stuck)
    assert check_puzzle(puzzle).problems == []


def test_code_that_ends_the_program_is_found() -> None:
    assert "move 'up': SystemExit (test_checking.py, line " in problem_of(dials({"up": lambda one: sys.exit()}))


def test_errors_in_positions_that_cannot_be_reached_are_found() -> None:
    """The tables of a run are made of all positions."""

    def fails(one: Any) -> Any:
        if (one[:, 1] == SIZE - 1).any():
            raise LookupError("no way")
        return one

    puzzle = define_puzzle(name="some", radices=[SIZE, SIZE], start=[0, 0], moves={"fails": fails, "right": right})
    assert "move 'fails': LookupError (test_checking.py, line " in problem_of(puzzle)


def test_a_rare_position_that_columns_decide_is_found() -> None:
    """A sample of rows does not show it, the tables do."""

    def flip(bit: int) -> Any:
        def flipped(bits: Any) -> Any:
            ones = bits.all(axis=1)
            bits[:, bit] ^= 1
            bits[ones, :3] = 0
            return bits

        return flipped

    puzzle = define_puzzle(name="bits", radices=[2] * 18, start=[0] * 18, moves={"a": flip(0), "b": flip(17)})
    assert "plain=True" in problem_of(puzzle)


def test_two_moves_of_one_name_are_found() -> None:
    from antipodes_tasks.rules.transforms import Transforms

    both = Transforms(["turn", "turn"], [[1, 2, 0], [2, 0, 1]], [3, 3, 3])
    puzzle = define_puzzle(name="ring", start=[0, 1, 2], moves=both)
    assert "move 'turn': two moves of this name have different results from 0 1 2" in problem_of(puzzle)


def test_brute_force_stops_between_layers(monkeypatch: pytest.MonkeyPatch) -> None:
    everything = checking.brute_force(towers(3, 4))
    assert everything.ended
    assert sum(map(len, everything.layers)) == 81
    monkeypatch.setattr(checking, "MAX_POSITIONS", 20)
    some = checking.brute_force(towers(3, 4))
    assert not some.ended
    assert [len(layer) for layer in some.layers] == [len(layer) for layer in everything.layers[: len(some.layers)]]
    assert 1 < len(some.layers) < len(everything.layers)
