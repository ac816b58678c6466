"""The searches on puzzles of all kinds of moves: several parts, values, conditions, functions, one-way moves."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from random_moves import as_functions, hanoi, puzzle_of, with_inverses
from search_problems import EVERYWHERE, Known, Search, bfs, bidirectional, check_paths, ida_star, iddfs, paths_from
from transform_puzzles import transform_puzzles

from antipodes.puzzles.puzzle import Puzzle
from antipodes_tasks.base.array_types import Labels
from antipodes_tasks.base.errors import InputError
from antipodes_tasks.properties.solvability import parities
from antipodes_tasks.rules.parts import pieces, values
from antipodes_tasks.rules.transforms import Transforms
from antipodes_tasks.searches.answer import Outcome
from antipodes_tasks.searches.problem import Problem

NEAR = 5
"""A depth that iterative deepening reaches in a moment."""


def random_content(puzzle: Puzzle, rng: np.random.Generator) -> Labels:
    """Any contents of the parts, reachable or not."""
    labels = puzzle.start_labels[0].copy()
    for part, here in zip(puzzle.parts, puzzle.rules.ranges, strict=True):
        labels[here] = rng.permutation(labels[here]) if part.holds_pieces else rng.integers(0, len(part.symbols))
    return labels


def goals_of(puzzle: Puzzle, known: Known, seed: int) -> list[Labels]:
    """Some goals that can be reached, and some that perhaps cannot."""
    rng = np.random.default_rng(seed)
    reached = rng.choice(sorted(known), size=2)
    near = [np.frombuffer(bytes(key).ljust(puzzle.places, b"\0"), dtype=np.uint8) for key in reached]
    return [*near, random_content(puzzle, rng)]


def check(search: Search, puzzle: Puzzle, goal: Labels, expected: tuple[int, int] | None) -> None:
    problem = Problem.of(puzzle.rules, puzzle.start_labels[0], goal)
    bound = NEAR if search is iddfs and expected and expected[0] > NEAR else None
    answer = search(problem, every=True, max_depth=bound)
    if expected is None:
        assert answer.outcome == Outcome.UNREACHABLE
    elif bound is not None:
        assert answer.outcome == Outcome.DEPTH_LIMIT
    else:
        assert (answer.distance, answer.solution_count) == expected
        check_paths(problem, answer)
        assert search(problem).distance == expected[0]


@given(transform_puzzles(), st.integers(0, 2**32 - 1))
def test_random_puzzles_by_every_search(puzzle: Puzzle, seed: int) -> None:
    known = paths_from(puzzle)
    for goal in goals_of(puzzle, known, seed):
        expected = known.get(goal.tobytes())
        if expected:
            assert parities(puzzle.rules, puzzle.start_labels[0], goal[np.newaxis])[0, expected[0] % 2]
        for search in EVERYWHERE:
            check(search, puzzle, goal, expected)


@given(transform_puzzles(), st.booleans(), st.integers(0, 2**32 - 1))
@settings(max_examples=settings().max_examples // 5)  # functions of Python are slow
def test_the_same_puzzles_with_functions(puzzle: Puzzle, inverses: bool, seed: int) -> None:
    known = paths_from(puzzle)
    functions = as_functions(puzzle, inverses)
    for goal in goals_of(puzzle, known, seed):
        for search in [bfs, iddfs, *([bidirectional] if inverses else [])]:
            check(search, functions, goal, known.get(goal.tobytes()))


def test_moves_without_inverses_are_searched_forwards() -> None:
    puzzle = as_functions(hanoi(3, 3), inverses=False)
    problem = Problem.of(puzzle.rules, np.full(3, 2, dtype=np.uint8))
    with pytest.raises(InputError, match="needs an inverse for every move; choose bfs"):
        bidirectional(problem)
    assert bfs(problem, every=True).distance == iddfs(problem).distance == 7


def test_blocks_are_expanded_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("antipodes_tasks.searches.batch_dfs.BLOCK", 3)
    monkeypatch.setattr("antipodes_tasks.keys.steps.BATCH_BYTES", 9)
    monkeypatch.setattr("antipodes_tasks.searches.breadth_first.BLOCK", 2)
    plain = hanoi(3, 3)
    goal = np.full(3, 2, dtype=np.uint8)
    expected = paths_from(plain)[goal.tobytes()]
    for search in (bfs, iddfs):
        check(search, as_functions(plain, inverses=False), goal, expected)


def test_no_move_follows_that_saves_nothing() -> None:
    """Quarter and half turns of one face: after one of them no other is made, so each depth has one branch a face."""
    turn = [1, 2, 3, 0]
    half, back = [2, 3, 0, 1], [3, 0, 1, 2]
    moves = Transforms.permuting({"R": turn, "R2": half, "R'": back}, 4)
    puzzle = puzzle_of((pieces((0, 1, 2, 3), tuple("abcd")),), (0, 1, 2, 3), moves)
    answer = iddfs(Problem.of(puzzle.rules, puzzle.start_labels[0], [1, 0, 2, 3]), max_depth=9)
    assert answer.outcome == Outcome.UNREACHABLE
    assert answer.expanded == 1 + (1 + 3)


def test_sums_show_that_a_goal_is_unreachable() -> None:
    """A twisted corner, two swapped pieces with an odd permutation elsewhere, a flipped light."""
    parts = (pieces((0, 1, 2), tuple("abc")), pieces((0, 1, 2), tuple("xyz")), values(3, 3))
    origin = [[1, 2, 0, 3, 4, 5, 6, 7, 8], [1, 0, 2, 4, 3, 5, 7, 6, 8]]
    moves = Transforms("AB", origin, [3] * 9, [[0] * 6 + [1, 2, 0], [0] * 9])
    puzzle = puzzle_of(parts, (0, 1, 2, 0, 1, 2, 0, 0, 0), with_inverses(moves))
    start = puzzle.start_labels[0]
    for wrong in ([0, 1, 2, 0, 1, 2, 0, 0, 1], [1, 0, 2, 0, 1, 2, 0, 0, 0], [0, 1, 2, 1, 0, 2, 0, 0, 0]):
        problem = Problem.of(puzzle.rules, start, wrong)
        assert problem.known_unreachable
        assert bidirectional(problem).expanded == 0
        assert tuple(wrong) not in {tuple(key) for key in paths_from(puzzle)}
    assert len(paths_from(puzzle)) <= math.factorial(3) ** 2 * 27 // 6


def test_a_label_of_more_than_63_values() -> None:
    dial = Transforms(["up", "down"], [[0, 1]] * 2, [200, 3], [[1, 0], [199, 0]])
    puzzle = puzzle_of((values(1, 200), values(1, 3)), (0, 0), dial)
    for search in (bfs, bidirectional):
        answer = search(Problem.of(puzzle.rules, [0, 1], [100, 1]), every=True)
        assert (answer.distance, answer.solution_count) == (100, 2)


def test_heuristics_are_for_pieces_that_move_to_empty_places() -> None:
    with pytest.raises(InputError, match=r"no heuristic is known for the moves of this puzzle; .*choose iddfs or bfs"):
        ida_star(Problem.of(hanoi(3, 2).rules, [1, 1]))
