from collections import Counter
from functools import cache

import numpy as np
import pytest
from oracles import ORACLES

from antipodes.puzzles.families.jump import jump
from antipodes.puzzles.puzzle import Puzzle
from antipodes_tasks.base.errors import InputError, ResourceLimitError
from antipodes_tasks.searches.routes import Exchange, compatible, exchanges, routes_from

ORACLE = ORACLES["jump/knights-routes"]
LABELLED = ORACLES["jump/knights-labelled"]


def knights(start: str = "ABC/---/---/XYZ", **moves: object) -> Puzzle:
    return jump({"name": "knights", "family": "jump", "start": start, **(moves or {"moves": "knight"})})


@cache
def exchanged(limit: int) -> tuple[Exchange, ...]:
    """The exchanges of knights on the usual board."""
    return exchanges(knights().rules, limit).solutions


@pytest.mark.parametrize("limit", [3, 4, 5])
def test_known_numbers_of_solutions(limit: int) -> None:
    assert len(exchanged(limit)) == ORACLE["solutions_by_limit"][str(limit)]


@pytest.mark.parametrize("limit", [3, 4])
def test_known_numbers_of_moves(limit: int) -> None:
    moves = [exchange.moves for exchange in exchanged(limit)]
    assert sorted(moves) == ORACLE["moves_by_limit"][str(limit)]


def test_known_histogram_of_moves() -> None:
    histogram = Counter(str(exchange.moves) for exchange in exchanged(5))
    assert histogram == ORACLE["moves_histogram_limit_5"]


def test_every_solution_is_a_path_that_exchanges_the_sides() -> None:
    puzzle = knights()
    for exchange in exchanged(5)[::3]:
        check_way(puzzle, exchange)
        assert puzzle.format(exchange.positions[0]) == "ABC------XYZ"
        last = puzzle.format(exchange.positions[-1])
        assert (sorted(last[:3]), last[3:9], sorted(last[9:])) == (["X", "Y", "Z"], "------", ["A", "B", "C"])


def check_way(puzzle: Puzzle, exchange: Exchange) -> None:
    for before, after in zip(exchange.positions, exchange.positions[1:], strict=False):
        assert (puzzle.successors(before) == after).all(axis=1).any()
    for position in exchange.positions:
        for route, label in zip(exchange.routes, range(1, 7), strict=True):
            assert int(np.flatnonzero(position == label)[0]) in route


def test_no_solution_is_shorter_than_the_shortest_exchange() -> None:
    shortest = min(map(int, LABELLED["swap_goals_by_distance"]))
    assert min(exchange.moves for exchange in exchanged(5)) == shortest


def test_too_short_routes_give_no_solution() -> None:
    assert exchanges(knights().rules, 2).solutions == ()


def test_routes_are_breadth_first_and_visit_no_place_twice() -> None:
    square = [[1, 3], [0, 2], [1, 3], [0, 2]]
    assert routes_from(0, {2, 3}, square, 3) == [(0, 3), (0, 1, 2), (0, 3, 2), (0, 1, 2, 3)]


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ((0, 5, 9), (1, 6, 9), False),
        ((0, 5, 1, 9, 11), (1, 9), False),
        ((1, 9), (0, 9, 1, 11), False),
        ((0, 5, 9), (1, 5, 10), True),
    ],
)
def test_compatible_routes(one: tuple[int, ...], other: tuple[int, ...], expected: bool) -> None:
    assert compatible([one, other]).tolist() == [[False, expected], [expected, False]]


def test_the_names_of_pieces_do_not_matter() -> None:
    assert len(exchanges(knights("ZAC/---/---/BXY").rules, 4).solutions) == 4


def test_another_board_and_other_pieces() -> None:
    kings = knights("AB/--/YZ", moves="king")
    solutions = exchanges(kings.rules, 3).solutions
    assert solutions
    assert {kings.format(e.positions[-1])[:2] for e in solutions} <= {"YZ", "ZY"}


@pytest.mark.parametrize(
    ("puzzle", "message"),
    [
        (knights("BBB/---/---/WWW"), "same number of pieces, all different"),
        (knights("AB-/---/---/XYZ"), "same number of pieces, all different"),
        (knights("ABC/---/-X-/Y-Z"), "sides such that a half turn"),
        (knights("AB-/---/---/-YZ"), "left-right reflection"),
        (knights("ABC/--#/---/XYZ"), "board that a half turn"),
        (knights("ABC/#--/--#/XYZ"), "board that a left-right reflection"),
        (knights("AB/--/YZ", offsets=[[1, 0], [0, 1]]), "in both directions"),
    ],
)
def test_puzzles_that_the_method_does_not_fit_are_refused(puzzle: Puzzle, message: str) -> None:
    with pytest.raises(InputError, match=message):
        exchanges(puzzle.rules, 3)


def test_limits_out_of_range_are_refused() -> None:
    with pytest.raises(InputError, match="expected a limit of moves per route of at least 1, found 0"):
        exchanges(knights().rules, 0)
    with pytest.raises(ResourceLimitError, match="smaller limit"):
        exchanges(knights().rules, 100)
