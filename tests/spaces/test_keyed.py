"""The numbering of positions that a search lists: those of brute force, in the order of their keys."""

import pickle
from typing import Any

import numpy as np
import pytest
from brute_force import blocks_distances
from hypothesis import given
from strategies import blocks_settings

from antipodes.puzzles.config import load_config
from antipodes.puzzles.custom import define_puzzle
from antipodes.puzzles.families import puzzle_from
from antipodes.puzzles.puzzle import Puzzle
from antipodes_tasks.base.errors import InputError, SizeLimitError
from antipodes_tasks.spaces.keyed import Keyed
from antipodes_tasks.spaces.selection import best_space, index_size
from antipodes_tasks.spaces.space import NOT_NUMBERED, Space


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


def space_of(puzzle: Puzzle) -> Space:
    return Space(puzzle.rules, Keyed.of(puzzle.rules), 2)


@given(blocks_settings())
def test_it_numbers_what_can_be_reached(table: dict[str, Any]) -> None:
    puzzle = puzzle_from(table)
    space = space_of(puzzle)
    assert (space.width, space.numbering.reachable(space.rules)) == (1, space.size)
    assert space.size == index_size(puzzle.rules) == len(blocks_distances(table))
    every = np.arange(space.size)
    labels = puzzle.checked(space.unrank(every))
    assert space.rank(labels).tolist() == every.tolist()
    assert not len(space.successors(every).differing(space.filler.filled().successors(every)))


def test_positions_that_cannot_be_reached_have_no_number() -> None:
    puzzle = load_config("klotski").puzzle
    beside = puzzle.parse("GHIJ/..BC/EEBC/DAAF/DAAF")
    space = space_of(puzzle)
    assert (space.size, space.rank(beside[np.newaxis]).tolist()) == (25955, [NOT_NUMBERED])
    every = Keyed.listing(puzzle.rules, [space.unrank(np.arange(space.size)), beside[np.newaxis]])
    assert (every.size, every.unrank(every.rank(beside[np.newaxis])).tolist()) == (25956, [beside.tolist()])


def test_a_list_that_moves_lead_out_of_is_refused() -> None:
    puzzle = load_config("klotski").puzzle
    numbering = Keyed.listing(puzzle.rules, [puzzle.start_labels])
    with pytest.raises(InputError, match="the list of klotski is incomplete"):
        numbering.filler(puzzle.rules, 2).filled()


def test_another_process_finds_the_positions_again() -> None:
    space = space_of(load_config("klotski").puzzle)
    sent = pickle.dumps(space)
    assert len(sent) < 25955 * 8, "the puzzle alone, no list"
    again = pickle.loads(sent)
    assert again.record == space.record
    assert np.array_equal(again.unrank(np.arange(100)), space.unrank(np.arange(100)))


def test_a_puzzle_of_ones_own() -> None:
    space = space_of(counter())
    assert (space.size, space.filler.max_moves) == (100, 2)
    tables = space.filler.filled()
    assert not tables.undirected
    every = np.arange(100)
    assert not len(space.successors(every).differing(tables.successors(every)))


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
    assert [space_of(puzzle).size for puzzle in (one, four)] == [20, 5]


def test_a_large_puzzle_of_ones_own_is_told_of_the_list() -> None:
    with pytest.raises(SizeLimitError, match="if few of them are reachable, define the puzzle with enumerated=True"):
        best_space(counter(enumerated=False).rules)


def test_an_inverse_that_does_not_undo_is_found() -> None:
    puzzle = counter(inverses={"turn": "turn", "copy": "copy"})
    with pytest.raises(InputError, match="move 'turn': its inverse does not undo it"):
        space_of(puzzle).filler.filled()
