"""The space of the positions that a search lists: those of brute force, in an order of their own."""

import pickle
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from brute_force import blocks_distances
from hypothesis import given
from strategies import blocks_settings

from antipodes.config import load_config
from antipodes.puzzles.custom import define_puzzle
from antipodes.puzzles.families import puzzle_from
from antipodes.puzzles.puzzle import Puzzle
from antipodes_tasks.errors import FieldError, InputError, ResourceLimitError, SizeLimitError
from antipodes_tasks.reachability.enumeration import enumeration
from antipodes_tasks.rules.transforms import Transforms
from antipodes_tasks.spaces.enumerated import Enumerated
from antipodes_tasks.spaces.selection import best_space, index_size, listed_space, stored_space
from antipodes_tasks.spaces.space import NOT_NUMBERED, SpaceRecord


def counter(**changes: Any) -> Puzzle:
    """Twenty dials of ten digits, of which one move turns the first and one sets the second to the first."""

    def turn(dials: np.ndarray) -> np.ndarray:
        dials[:, 0] = (dials[:, 0] + 1) % 10
        return dials

    def copy(dials: np.ndarray) -> np.ndarray:
        dials[:, 1] = dials[:, 0]
        return dials

    moves = {"turn": turn, "copy": copy}
    arguments: dict[str, Any] = {"name": "dials", "radices": [10] * 20, "start": [0] * 20, "moves": moves}
    return define_puzzle(**{**arguments, "enumerated": True, **changes})


@given(blocks_settings())
def test_it_numbers_what_can_be_reached(table: dict[str, Any]) -> None:
    puzzle = puzzle_from(table)
    space = listed_space(puzzle.rules)
    assert (type(space.numbering), space.width, space.numbering.reachable(space.rules)) == (Enumerated, 1, space.size)
    assert space.size == index_size(puzzle.rules) == len(blocks_distances(table))


def test_the_order_does_not_depend_on_the_search() -> None:
    puzzle = load_config("klotski").puzzle
    assert isinstance(puzzle.moves, Transforms)
    moves = puzzle.moves
    assert moves.allowed is not None
    others = Transforms(moves.names[::-1], moves.origin[::-1], moves.moduli, moves.added[::-1], moves.allowed[::-1])
    backwards = listed_space(replace(puzzle.rules, moves=others))
    assert backwards.size == 25955
    assert backwards.record == listed_space(puzzle.rules).record


def test_positions_that_cannot_be_reached_have_no_number() -> None:
    puzzle = load_config("klotski").puzzle
    beside = puzzle.parse("GHIJ/..BC/EEBC/DAAF/DAAF")
    assert listed_space(puzzle.rules).rank(beside[np.newaxis]).tolist() == [NOT_NUMBERED]


def test_records_of_other_lists_are_refused() -> None:
    puzzle = load_config("klotski").puzzle
    record = listed_space(puzzle.rules).record
    with pytest.raises(FieldError, match="rows: expected 25955 rows of one column, found 7 of 1"):
        stored_space(puzzle.rules, replace(record, rows=7))
    with pytest.raises(FieldError, match=r"details: expected .* found {'digest': 'x'}"):
        stored_space(puzzle.rules, replace(record, details={"digest": "x"}))
    with pytest.raises(FieldError, match="space: expected one for the puzzle eight-puzzle, found 'enumerated'"):
        stored_space(load_config("eight-puzzle").puzzle.rules, SpaceRecord("enumerated", 181440, 1))


def test_another_process_finds_the_positions_again() -> None:
    space = listed_space(load_config("klotski").puzzle.rules)
    sent = pickle.dumps(space)
    assert len(sent) < 100_000, "the puzzle alone"
    assert pickle.loads(sent).record == space.record


def test_a_puzzle_with_too_many_positions_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("antipodes_tasks.reachability.enumeration.MOST", 1000)
    puzzle = puzzle_from({"name": "p", "family": "blocks", "start": "AB../CD../EF../GH.."})
    with pytest.raises(ResourceLimitError, match="expected at most 1,000 positions that can be reached, found more"):
        listed_space(puzzle.rules).size  # noqa: B018  (raises)


def test_a_puzzle_of_ones_own() -> None:
    space = listed_space(counter().rules)
    assert (type(space.numbering), space.size, space.filler.most_moves) == (Enumerated, 100, 2)
    tables = space.filler.filled()
    assert not tables.undirected
    every = np.arange(100)
    assert not len(space.successors(every).differing(tables.successors(every), 100))


def one_of_many(shift: int, **changes: Any) -> Puzzle:
    """A one among zeros goes round by some places; no other contents of the places have a move."""

    def roll(places: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return np.roll(places, shift, axis=1), places.sum(axis=1) == 1

    start = [1] + [0] * 19
    arguments: dict[str, Any] = {"name": "roll", "radices": [2] * 20, "start": start, "moves": {"s": roll}}
    return define_puzzle(**arguments, enumerated=True, **changes)


def test_moves_that_differ_only_where_they_are_legal_are_told_apart() -> None:
    one, four = one_of_many(1), one_of_many(4)
    assert one.fingerprint != four.fingerprint
    assert one.fingerprint == one_of_many(1).fingerprint
    assert [listed_space(puzzle.rules).size for puzzle in (one, four)] == [20, 5]


def test_moves_that_differ_far_from_the_start_have_their_own_lists(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("antipodes_tasks.rules.functions.WALKED", 0)
    one, four = one_of_many(1), one_of_many(4)
    assert one.fingerprint == four.fingerprint
    assert [listed_space(puzzle.rules).size for puzzle in (one, four)] == [20, 5]
    copy = pickle.loads(pickle.dumps(one))
    assert enumeration(copy.rules) is enumeration(one.rules), "a task of a worker lists nothing again"


def test_a_large_puzzle_of_ones_own_is_told_of_the_list() -> None:
    with pytest.raises(SizeLimitError, match="if few of them can be reached, give the puzzle enumerated=True"):
        best_space(counter(enumerated=False).rules)


def test_an_inverse_that_does_not_undo_is_found() -> None:
    puzzle = counter(inverses={"turn": "turn", "copy": "copy"})
    with pytest.raises(InputError, match="move 'turn': expected an inverse that undoes it"):
        listed_space(puzzle.rules).filler.filled()
