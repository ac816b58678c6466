"""The searches in edge cases: no solution, many solutions, dead ends, full words, large boards."""

import math
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles import ORACLES
from search_problems import (
    EIGHT,
    FOR_TILES,
    Search,
    check_paths,
    knights,
    linear_conflict,
    pancakes,
    random_walk,
    tiles,
)
from strategies import jump_settings

from antipodes.puzzles.config import load_config
from antipodes.puzzles.families.jump import jump
from antipodes.puzzles.puzzle import Puzzle
from antipodes.solving.solve import SEARCHES
from antipodes_tasks.base.errors import InputError, PositionError, ResourceLimitError
from antipodes_tasks.searches.answer import Outcome
from antipodes_tasks.searches.breadth_first import bfs, bidirectional
from antipodes_tasks.searches.deepening import ida_star, iddfs
from antipodes_tasks.searches.problem import Problem


@pytest.mark.parametrize("search", FOR_TILES)
def test_a_position_that_is_its_goal(search: Search) -> None:
    answer = search(Problem.of(EIGHT.rules, EIGHT.start_labels[0]), every=True)
    assert (answer.distance, answer.solution_count, len(answer.solutions[0])) == (0, 1, 1)


@pytest.mark.parametrize("search", FOR_TILES)
def test_the_wrong_parity_needs_no_search(search: Search) -> None:
    answer = search(Problem.of(EIGHT.rules, EIGHT.parse("2 1 3 4 5 6 7 8 0")))
    assert (answer.outcome, answer.distance, answer.expanded) == (Outcome.UNREACHABLE, None, 0)


@pytest.mark.parametrize("search", FOR_TILES)
def test_beyond_the_bound_is_not_unreachable(search: Search) -> None:
    problem = Problem.of(EIGHT.rules, random_walk(EIGHT, 5, 60))
    distance = bfs(problem).distance
    assert distance
    assert search(problem, max_depth=distance).distance == distance
    given_up = search(problem, max_depth=distance - 1)
    assert (given_up.outcome, given_up.distance, given_up.solutions) == (Outcome.DEPTH_LIMIT, None, ())


def test_more_paths_are_counted_than_listed() -> None:
    problem = Problem.of(EIGHT.rules, np.array(ORACLES["eight-puzzle-solve"]["start"], dtype=np.uint8))
    for search in (bfs, bidirectional, ida_star):
        answer = search(problem, every=True, listed=3)
        assert (len(answer.solutions), answer.solution_count) == (3, 40)


def test_a_blank_in_a_dead_end() -> None:
    """Searches of one blank end at unreachable goals, in words and in labels."""
    fork = knights("AB-/C#D", edges=[[0, 1], [1, 2], [1, 3], [1, 4]])
    for goal in ("BA-/C#D", "-BA/C#D"):
        problem = Problem.of(fork.rules, fork.start_labels[0], fork.parse(goal))
        assert iddfs(problem, max_depth=40).distance == bfs(problem).distance


@pytest.mark.parametrize("places", [5, 16, 17, 20])
def test_iddfs_in_words_and_in_labels(places: int) -> None:
    """Positions of up to 64 bits, exactly 64 bits, and more."""
    puzzle = tiles(1 + (places % 4 == 0), places // (1 + (places % 4 == 0)), " ".join(map(str, [*range(1, places), 0])))
    problem = Problem.of(puzzle.rules, random_walk(puzzle, places, 12))
    assert (problem.packing.words == 1) == (places <= 16)
    found, expected = iddfs(problem, every=True), bfs(problem, every=True)
    assert (found.distance, found.solution_count) == (expected.distance, expected.solution_count)
    check_paths(problem, found)


@pytest.mark.parametrize("search", [bfs, bidirectional])
@pytest.mark.parametrize("puzzle", [EIGHT, pancakes((1, 0, 2))])
def test_memory_is_bounded_and_the_advised_method_accepts_the_puzzle(search: Search, puzzle: Puzzle) -> None:
    problem = Problem.of(puzzle.rules, puzzle.successors(puzzle.rules.first)[0])
    with pytest.raises(ResourceLimitError, match=r"positions reached: .* or choose (\S+), which") as refused:
        search(problem, memory_limit=1 << 10)
    advised = re.search(r"choose (\S+),", str(refused.value))
    assert advised
    assert SEARCHES[advised[1]](problem).distance == 1


def test_billions_of_shortest_paths_are_counted() -> None:
    """Thirteen pieces step once each, in any order."""
    board = knights("A" * 13 + "/" + "-" * 13, offsets=[[1, 0], [-1, 0]])
    problem = Problem.of(board.rules, board.rules.first, board.rules.first[::-1])
    answer = ida_star(problem, every=True, listed=3)
    assert (answer.distance, answer.solution_count) == (13, math.factorial(13))


@pytest.mark.parametrize("search", [iddfs, ida_star])
def test_counting_by_layers_agrees_with_walking_each_path(search: Search, monkeypatch: pytest.MonkeyPatch) -> None:
    board = knights("AB--/----/C---", offsets=[[0, 1], [1, 0], [1, 1]])
    problem = Problem.of(board.rules, board.rules.first, board.parse("----/---B/--AC"))
    expected = search(problem, every=True)
    check_paths(problem, expected)
    monkeypatch.setattr("antipodes_tasks.searches.deepening.MIN_PATHS_TO_LAYER", 3)
    found = search(problem, every=True)
    check_paths(problem, found)
    assert expected.solution_count > 100
    assert (found.method, found.distance, found.solution_count) == (
        expected.method,
        expected.distance,
        expected.solution_count,
    )
    with pytest.raises(ResourceLimitError, match="allow more memory"):
        search(problem, every=True, listed=1, memory_limit=1 << 18)


@pytest.mark.parametrize("search", [bfs, bidirectional, iddfs, ida_star])
def test_a_goal_given_twice_counts_once(search: Search) -> None:
    board = knights("-AB/AB-", offsets=[[0, 1], [1, 0], [0, -1], [-1, 0]])
    goal = board.parse("A-B/-BA")
    expected = search(Problem.of(board.rules, board.rules.first, goal), every=True)
    found = search(Problem.of(board.rules, board.rules.first, [goal, goal]), every=True)
    assert found.solution_count == expected.solution_count == len(found.solutions) > 0


def test_positions_and_bounds_that_do_not_fit_are_refused() -> None:
    with pytest.raises(PositionError):
        Problem.of(EIGHT.rules, np.zeros(9, dtype=np.uint8))
    cube = load_config("2x2x2").puzzle
    with pytest.raises(InputError, match="no heuristic is known for the moves of this puzzle"):
        ida_star(Problem.of(cube.rules, cube.start_labels[0]))
    with pytest.raises(InputError, match="slide on a full rectangle"):
        linear_conflict(Problem.of(knights("A--").rules, knights("A--").start_labels[0]))


def test_large_boards_are_searched_too() -> None:
    large = tiles(8, 9, " ".join(map(str, [*range(1, 72), 0])))
    position = random_walk(large, 3, 10)
    distances = {search(Problem.of(large.rules, position)).distance for search in FOR_TILES}
    assert len(distances) == 1


@given(jump_settings(), st.integers(0, 2**32 - 1))
def test_searches_agree_on_random_jump_puzzles(config: dict[str, object], seed: int) -> None:
    """Directed moves, several empty squares, boards that fall apart."""
    puzzle = jump(config)
    rng = np.random.default_rng(seed)
    problem = Problem.of(puzzle.rules, rng.permutation(puzzle.start_labels[0]))
    expected = bfs(problem, every=True)
    assert bidirectional(problem, every=True).solution_count == expected.solution_count
    for search in (iddfs, ida_star):
        found = search(problem, every=True, max_depth=6)
        if expected.distance is None or expected.distance > 6:
            assert found.distance is None
        else:
            assert (found.distance, found.solution_count) == (expected.distance, expected.solution_count)
            check_paths(problem, found)


def test_jump_boards_beyond_a_word() -> None:
    wide = knights("ABCDEFGH/--------/--------/--------/--------")
    goal = random_walk(wide, 7, 3)
    problem = Problem.of(wide.rules, wide.start_labels[0], goal)
    assert problem.packing.words > 1
    expected = bfs(problem, every=True)
    for search in (iddfs, ida_star):
        found = search(problem, every=True)
        assert (found.distance, found.solution_count) == (expected.distance, expected.solution_count)


@pytest.mark.parametrize("search", FOR_TILES)
def test_a_list_of_no_solutions(search: Search) -> None:
    problem = Problem.of(EIGHT.rules, EIGHT.parse("1 2 3 4 0 5 7 8 6"))
    answer = search(problem, listed=0)
    assert (answer.distance, answer.solutions, answer.solution_count) == (2, (), 1)


def test_depths_that_end_at_the_goals_blank_without_a_goal() -> None:
    """On a ring the blank reaches its goal place in every round, the pieces only after one and a half rounds."""
    ring = knights("ABCDE-", edges=[[i, (i + 1) % 6] for i in range(6)])
    position = ring.start_labels[0]
    for blank in (4, 3, 2, 1, 0, 5, 4, 3, 2):
        before = int(np.flatnonzero(position == 0)[0])
        position = position.copy()
        position[[before, blank]] = position[[blank, before]]
    problem = Problem.of(ring.rules, position)
    assert iddfs(problem).distance == bfs(problem).distance == 9


def test_no_move_is_undone() -> None:
    lone = knights("A--/---/---")
    problem = Problem.of(lone.rules, lone.start_labels[0], lone.parse("---/---/--A"))
    answer = iddfs(problem, every=True)
    assert (answer.distance, answer.expanded) == (4, (1 + 2) + (1 + 2 + 2 + 2))


def test_walks_of_the_blank_that_arrive_too_late_are_pruned() -> None:
    position = random_walk(EIGHT, 11, 14)
    answer = iddfs(Problem.of(EIGHT.rules, position), every=True)
    assert answer.distance
    blank = int(np.flatnonzero(position == 0)[0])
    depths = range(answer.distance % 2 or 2, answer.distance + 1, 2)
    assert answer.expanded == sum(walks_in_time(blank, -1, depth) for depth in depths)


def walks_in_time(blank: int, before: int, left: int) -> int:
    """The number of walks from here, shorter than the moves left, that can still reach the last place in time."""
    row, column = divmod(blank, 3)
    if left == 0 or (2 - row) + (2 - column) > left:
        return 0
    around = [
        blank + 3 * (b - row) + c - column for b in range(3) for c in range(3) if abs(b - row) + abs(c - column) == 1
    ]
    return 1 + sum(walks_in_time(place, blank, left - 1) for place in around if place != before)
