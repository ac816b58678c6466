"""Puzzles in which the empty square decides the parity number half of their arrangements, by brute force."""

import tomllib
from dataclasses import replace
from itertools import permutations
from math import factorial
from typing import Any

import numpy as np
import pytest
from brute_force import layers_of, positions_of
from hypothesis import given
from hypothesis import strategies as st
from oracles import ORACLES
from puzzle_settings import complete, drawn
from strategies import puzzle_settings

from antipodes.puzzles.board import Board
from antipodes.puzzles.config import load_config
from antipodes.puzzles.families import puzzle_from
from antipodes.puzzles.puzzle import Puzzle
from antipodes_tasks.base.errors import FieldError
from antipodes_tasks.move_tables import ILLEGAL
from antipodes_tasks.rules.parts import pieces
from antipodes_tasks.rules.swaps import Swaps
from antipodes_tasks.spaces.arrangements import PARITY, Arrangements
from antipodes_tasks.spaces.selection import best_space, every_cut, index_size, numbering_of, stored_space
from antipodes_tasks.spaces.space import NOT_NUMBERED, SpaceRecord

BOARDS = [(1, 5), (2, 2), (2, 3)]


def board(rows: int, columns: int, **changes: Any) -> Puzzle:
    start = " ".join(map(str, [*range(1, rows * columns), 0]))
    return puzzle_from({"name": "p", "family": "sliding", "rows": rows, "columns": columns, "start": start, **changes})


def jump(rows: int, columns: int, moves: str, pieces: str = "ABCDE") -> Puzzle:
    start = drawn(rows, columns, pieces)
    return puzzle_from({"name": "p", "family": "jump", "start": start, **tomllib.loads(moves)})


def directed(pairs: list[tuple[int, int]], *starts: tuple[int, ...]) -> Puzzle:
    """A puzzle of one empty place 0 with moves from place to place, perhaps one-way."""
    size = len(starts[0])
    symbols = tuple(map(str, range(size)))
    return Puzzle.of("p", "test", "", Board(1, size), [pieces(starts[0], symbols)], starts, Swaps(pairs))


def check(puzzle: Puzzle, half: bool) -> None:
    """Every cut numbers each reachable position, exactly half or all."""
    every = np.array(list(permutations(range(puzzle.places))), dtype=np.uint8)
    found = np.concatenate(positions_of(puzzle))
    for space in every_cut(puzzle.rules, Arrangements.of(puzzle.rules)):
        assert space.size == index_size(puzzle.rules) == len(every) // (2 if half else 1)
        indices = space.rank(every)
        assert sorted(indices[indices != NOT_NUMBERED]) == list(range(space.size))
        assert np.array_equal(space.unrank(indices[indices >= 0]), every[indices >= 0])
        assert (space.rank(found) >= 0).all()


@pytest.mark.parametrize(("rows", "columns"), BOARDS)
def test_sliding_boards_have_half_the_index(rows: int, columns: int) -> None:
    check(board(rows, columns), half=True)
    start = np.random.default_rng(rows * columns).permutation(rows * columns)
    check(board(rows, columns, start=" ".join(map(str, start))), half=True)


def test_two_places_have_no_pieces_to_exchange() -> None:
    check(board(1, 2), half=False)


def test_equal_tiles_keep_the_full_index() -> None:
    assert index_size(board(2, 3, start="1 1 2 3 4 0").rules) == factorial(6) // 2
    assert index_size(jump(2, 3, 'moves = "knight"', "ABCD").rules) == factorial(6) // 2


@pytest.mark.parametrize(
    ("moves", "half"),
    [('moves = "knight"', True), (complete(2, 3), False), ("offsets = [[0, 1], [0, -1], [1, 1], [-1, -1]]", True)],
)
def test_jump_puzzles_of_one_empty_square(moves: str, half: bool) -> None:
    check(jump(2, 3, moves), half)


def test_moves_around_a_circle_of_odd_length_keep_the_full_index() -> None:
    circle = [(a, (a + 1) % 5) for a in range(5)]
    check(directed(circle, (0, 1, 2, 3, 4)), half=False)
    check(directed([*circle, *[(b, a) for a, b in circle]], (0, 1, 2, 3, 4)), half=False)


def test_one_way_moves() -> None:
    check(directed([(0, 1), (1, 2), (2, 3), (3, 0)], (1, 2, 0, 3)), half=True)
    check(directed([(1, 0), (2, 1), (2, 3)], (1, 2, 0, 3), (1, 0, 2, 3)), half=True)


def test_starts_that_agree_and_starts_that_do_not() -> None:
    one, other = "1 2 3 4 5 0", "1 2 3 5 4 0"
    check(board(2, 3, start=[one, "1 2 3 4 0 5"]), half=True)
    check(board(2, 3, start=[one, "2 1 3 5 4 0"]), half=True)
    check(board(2, 3, start=[one, other]), half=False)
    check(board(2, 3, start=["1 2 3 4 0 5", other]), half=False)


def test_places_that_no_move_connects() -> None:
    apart = [(0, 1), (1, 0), (2, 3), (3, 2), (3, 3)]
    check(directed(apart, (0, 1, 2, 3, 4), (2, 1, 0, 3, 4)), half=True)
    check(directed(apart, (0, 1, 2, 3, 4), (1, 2, 0, 3, 4)), half=True)
    check(directed(apart, (0, 1, 2, 3, 4), (0, 2, 1, 3, 4)), half=False)
    check(directed([], (1, 0, 2)), half=True)


@pytest.mark.parametrize("name", ["eight-puzzle", "eight-puzzle-blank-first"])
def test_the_eight_puzzle_numbers_what_can_be_reached(name: str) -> None:
    space = best_space(load_config(name).puzzle.rules)
    assert space.size == ORACLES[f"sliding/{name}"]["states"] == 181440
    assert space.record.details == {PARITY: [0, 1, 0, 1, 0, 1, 0, 1, 0]}


def test_the_fifteen_puzzle() -> None:
    puzzle = board(4, 4)
    space = numbering_of(puzzle.rules)
    assert space.size == factorial(16) // 2
    indices = np.random.default_rng(0).integers(space.size, size=1000)
    labels = space.unrank(indices)
    assert np.array_equal(space.rank(labels), indices)
    labels[:, [0, 1]] = labels[:, [1, 0]]
    apart = (labels[:, :2] != 0).all(axis=1)
    assert (space.rank(labels)[apart] == NOT_NUMBERED).all()


def test_a_record_of_all_arrangements_is_taken_as_it_is() -> None:
    puzzle = board(2, 3)
    full = stored_space(puzzle.rules, SpaceRecord("arrangements", 30, 24))
    assert full.size == 720
    with pytest.raises(FieldError, match="match no row/column split"):
        stored_space(puzzle.rules, replace(best_space(puzzle.rules).record, rows=30, width=24))


TIED = [0, 1, 0, 1, 0, 1]
"""The parities by the place of the blank: the start 1 2 3 4 5 0 is odd."""


@pytest.mark.parametrize("details", [{"parity": [1, 0, 1, 0, 1, 0]}, {"parity": TIED, "more": 2}, {"other": TIED}])
def test_details_of_no_space(details: dict[str, Any]) -> None:
    with pytest.raises(FieldError, match="details: expected"):
        stored_space(board(2, 3).rules, SpaceRecord("arrangements", 30, 12, details))


def test_half_of_a_puzzle_that_has_no_halves() -> None:
    with pytest.raises(FieldError, match=r"details: expected \{\}, found"):
        stored_space(board(2, 3, start="1 1 2 3 4 0").rules, SpaceRecord("arrangements", 30, 12, {"parity": TIED}))


@pytest.mark.parametrize(("rows", "columns"), [(2, 3), (3, 2), (4, 4)])
def test_all_positions_of_a_sliding_board_are_known_to_be_reachable(rows: int, columns: int) -> None:
    rules = board(rows, columns).rules
    numbering = numbering_of(rules)
    assert numbering.reachable(rules) == numbering.size
    places = rows * columns
    equal = board(rows, columns, start=" ".join(["0", "1", *map(str, range(1, places - 1))]))
    assert numbering_of(equal.rules).reachable(equal.rules) == factorial(places) // 2
    assert Arrangements(rules.counts).reachable(rules) == factorial(places) // 2


def test_graphs_of_which_the_theorem_says_nothing() -> None:
    puzzle = puzzle_from({"name": "p", "family": "jump", "start": "AB/C-", "offsets": [[0, 1], [0, -1], [1, 0]]})
    for rules in (puzzle.rules, board(2, 2).rules, board(1, 5).rules):
        assert numbering_of(rules).reachable(rules) is None


@given(puzzle_settings())
def test_as_many_can_be_reached_as_is_known(table: dict[str, Any]) -> None:
    puzzle = puzzle_from(table)
    known = numbering_of(puzzle.rules).reachable(puzzle.rules)
    assert known in (None, sum(layers_of(puzzle)))


@given(st.integers(4, 6), st.data())
def test_as_many_can_be_reached_on_any_graph(places: int, data: st.DataObject) -> None:
    pairs = [(a, b) for a in range(places) for b in range(a)]
    edges = data.draw(st.lists(st.sampled_from(pairs), min_size=places, unique=True))
    empty = data.draw(st.integers(1, 2))
    labels = [0] * empty + list(range(1, places - empty + 1))
    puzzle = directed([*edges, *((b, a) for a, b in edges)], tuple(labels))
    known = numbering_of(puzzle.rules).reachable(puzzle.rules)
    assert known in (None, sum(layers_of(puzzle)))


def test_horizontal_moves_change_no_column() -> None:
    rules = puzzle_from({"name": "line", "family": "sliding", "rows": 1, "columns": 5, "start": "1 2 3 4 0"}).rules
    assert (every_cut(rules, Arrangements.of(rules))[0].filler.filled().column_map == 0).all()


@pytest.mark.parametrize("start", ["--", "-", "--/--"])
def test_a_board_without_pieces_has_no_moves(start: str) -> None:
    rules = puzzle_from({"name": "empty", "family": "jump", "start": start, "moves": "king"}).rules
    assert (every_cut(rules, Arrangements.of(rules))[0].filler.filled().target == ILLEGAL).all()
