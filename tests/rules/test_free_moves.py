"""Free moves: their words, moves from classes to classes, and refusals."""

from typing import Any

import numpy as np
import pytest

from antipodes.graphs.components import components
from antipodes.graphs.export import graph
from antipodes.puzzles.abstraction import Abstraction, pattern_settings
from antipodes.puzzles.families import puzzle_from
from antipodes_tasks.base.errors import ConfigError, InputError, PositionError
from antipodes_tasks.properties.finding import symmetries_of
from antipodes_tasks.properties.heuristics import NAMED, from_start, has_heuristic, heuristic_of
from antipodes_tasks.searches.problem import Problem, goals_of
from antipodes_tasks.spaces.selection import best_space

WHEELS = {"name": "wheels", "family": "generators", "n": 7, "moves": {"L": "(0 1 2 3)", "R": "(3 4 5 6)"}}
LIKE_SQUARE_1 = {"name": "small", "family": "square-1", "start": "A1B23C4D-", "metric": "twist"}


def test_a_move_is_a_counted_move_after_free_ones() -> None:
    puzzle = puzzle_from({**WHEELS, "free": ["L"], "turns": "quarter"})
    assert puzzle.moves.names == ("R", "R'", "L R", "L R'", "L' R", "L' R'", "L L R", "L L R'")
    turned = puzzle.follow("L2 R'")
    assert puzzle.move_names(puzzle.moves.transforms and turned[[0, -1]]) == ["L L R'"]


def test_all_positions_of_the_class_of_a_start_are_starts() -> None:
    puzzle = puzzle_from(LIKE_SQUARE_1)
    assert len(puzzle.starts) == 1
    assert len(puzzle.start_labels) == 36
    assert puzzle.format(puzzle.rules.first) == "A1B23C4D-"
    assert len(goals_of(puzzle.rules, puzzle.follow("/ (1,0)")[-1])) == 36


def test_starts_and_goals_of_one_class_count_once() -> None:
    turned = "1B2AC4D3-"  # both layers are turned
    assert puzzle_from({**LIKE_SQUARE_1, "start": ["A1B23C4D-", turned, "AC31BD42/"]}).rules.start_count == 2
    puzzle = puzzle_from({**LIKE_SQUARE_1, "goal": [turned, "A1B23C4D-"]})
    assert (puzzle.rules.start_count, len(puzzle.start_labels)) == (1, 36)


def test_puzzles_that_differ_in_free_moves_have_different_tables() -> None:
    found = {puzzle_from({**WHEELS, **free}).fingerprint for free in ({}, {"free": ["L"]}, {"free": ["R"]})}
    assert len(found) == 3


def test_free_moves_of_a_sequence_are_applied_and_named() -> None:
    puzzle = puzzle_from({**WHEELS, "free": ["L"]})
    path = puzzle.follow("L R L'")
    assert puzzle.move_names(path) == ["L", "R", "L'"]
    assert puzzle.move_names(path[[0, 2, 3]]) == ["L R", "L'"]
    turned = puzzle.apply(path[0], "L")
    assert turned.tolist() == path[1].tolist()
    space = best_space(puzzle.rules)
    assert space.rank(turned[np.newaxis]) == space.rank(path[:1])
    with pytest.raises(PositionError, match="there is no move 'L R L'"):
        puzzle.apply(path[0], "L R L")
    with pytest.raises(PositionError, match="no move leads"):
        puzzle.move_names(path[[0, 3]])


CYCLES = {"name": "cycles", "family": "generators", "n": 12, "moves": {"A": "(0 1 2 3 4 5 6)", "B": "(6 7 8 9 10 11)"}}
REFUSED: list[tuple[dict[str, Any], str]] = [
    ({**WHEELS, "free": ["X"]}, "[puzzle] free: expected some of the moves L, R, found 'X'"),
    ({**WHEELS, "free": "L"}, "[puzzle] free: expected a list of moves, found 'L'"),
    ({**WHEELS, "free": []}, "[puzzle] free: expected a list of moves, found []"),
    ({**WHEELS, "free": [["L"]]}, "[puzzle] free: expected a list of moves, found [['L']]"),
    ({**WHEELS, "free": ["L", "R"]}, "[puzzle] free: all moves are free; at least one move must count"),
    (
        {**WHEELS, "free": ["L"], "turns": "single"},
        "[puzzle] free: the inverse of the free move 'L' is not a free move",
    ),
    (
        {**WHEELS, "free": ["L"], "enumerated": True},
        "[puzzle] enumerated: cannot be combined with free tiles or moves; remove one of them",
    ),
    (
        {**CYCLES, "moves": {**CYCLES["moves"], "C": "(0 1)"}, "free": ["A", "B"]},
        "[puzzle] free: expected free moves with at most 1,024 different effects together",
    ),
    ({**LIKE_SQUARE_1, "metric": "slash"}, "[puzzle] metric: expected one of wca, twist, found 'slash'"),
]


@pytest.mark.parametrize(("settings", "message"), REFUSED)
def test_bad_free_moves_are_refused_in_one_line(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError) as error:
        puzzle_from(settings)
    assert str(error.value) == message


def test_what_does_not_know_classes_refuses_free_moves() -> None:
    puzzle = puzzle_from({**WHEELS, "free": ["L"]})
    rules = puzzle.rules
    assert not has_heuristic(rules)
    for name in NAMED:
        for call in (lambda name: heuristic_of(rules, rules.start_labels, name), lambda name: from_start(rules, name)):
            with pytest.raises(InputError, match="cannot be used with free moves"):
                call(name)
    with pytest.raises(InputError, match="cannot be listed: because of its free moves"):
        symmetries_of(rules)
    with pytest.raises(InputError, match="cannot have patterns, because it has free moves"):
        pattern_settings(puzzle, Abstraction(equal=("0,1",)))
    with pytest.raises(InputError, match="only a search can list them"):
        components(puzzle)
    with pytest.raises(InputError, match="its graph would need edges that cost nothing"):
        graph(puzzle)
    with pytest.raises(InputError, match="with free moves, goals must be listed"):
        Problem.of(rules, rules.first, lambda labels: np.ones(len(labels), dtype=np.bool_))


@pytest.mark.parametrize("settings", [{**WHEELS, "free": ["L"]}, LIKE_SQUARE_1])
def test_a_reversed_path_leads_from_the_start_to_the_class_of_the_position(settings: dict[str, Any]) -> None:
    puzzle = puzzle_from(settings)
    rng, path = np.random.default_rng(1), [puzzle.rules.first]
    for _ in range(4):
        path.append(rng.choice(puzzle.successors(path[-1])))
    to_position = puzzle.rules.reversed_path(np.array(path[::-1]))  # the path back uses the inverse moves
    assert to_position[0].tolist() == puzzle.rules.first.tolist()
    assert len(puzzle.move_names(to_position) or []) == 4
    assert bytes(to_position[-1]) in set(map(bytes, puzzle.moves.closed(np.array(path[-1:]))))
