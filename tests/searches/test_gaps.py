"""The gap heuristic of pancakes: admissible, consistent, and shortest paths that breadth-first search confirms."""

import numpy as np
import pytest

from antipodes.puzzles.families import puzzle_from
from antipodes_tasks.base.errors import InputError
from antipodes_tasks.properties.gaps import Gaps
from antipodes_tasks.properties.heuristics import heuristic_of
from antipodes_tasks.searches.breadth_first import Reached, bidirectional
from antipodes_tasks.searches.deepening import ida_star
from antipodes_tasks.searches.problem import Problem

PUZZLES = [
    {"family": "pancake", "n": 2},
    {"family": "pancake", "n": 8},
    {"family": "burnt-pancake", "n": 5},
    {"family": "pancake", "start": ["1 2 3 4 5 6", "3 1 2 6 5 4"]},
]


def rules_of(settings):
    return puzzle_from({"name": "stack", **settings}).rules


@pytest.mark.parametrize("settings", PUZZLES, ids=str)
def test_bounds_and_searches_agree_with_all_distances(settings):
    rules = rules_of(settings)
    problem = Problem.of(rules, rules.start_labels[0])
    reached = Reached(problem.goals, problem.steps, problem.packing)
    while reached.expand():
        pass
    gaps = heuristic_of(rules, problem.goals, "gap")
    assert isinstance(gaps, Gaps)
    for depth in range(reached.depth + 1):
        labels = problem.packing.unpack(reached.layer(depth))
        bounds = gaps.bounds(labels)
        assert (bounds <= depth).all()
        assert len(rules.starts) > 1 or (bounds > 0).all() == (depth > 0)
        after, before = problem.steps.successors(labels)
        assert (np.abs(gaps.bounds(after) - bounds[before]) <= 1).all()
        for position in labels[:: max(1, len(labels) // 2)]:
            own = Problem.of(rules, position)
            found, other = (search(own, every=True) for search in (ida_star, bidirectional))
            assert (found.distance, found.solution_count) == (depth, other.solution_count)
            paths = [{path.tobytes() for path in answer.solutions} for answer in (found, other)]
            assert paths[0] == paths[1]


@pytest.mark.parametrize(
    ("family", "n", "moves"), [("pancake", 100, 12), ("burnt-pancake", 100, 12), ("pancake", 256, 4)]
)
def test_a_stack_too_high_for_a_table_is_solved_with_a_valid_path(family, n, moves):
    rules, random = rules_of({"family": family, "n": n}), np.random.default_rng(3)
    position = rules.first.copy()
    for move in random.integers(len(rules.moves), size=moves):
        position = rules.moves.move(int(move), position[np.newaxis])[0][0]
    answer = ida_star(Problem.of(rules, position), heuristic="gap")
    (path,) = answer.solutions
    assert heuristic_of(rules, rules.start_labels).estimate(position) <= answer.distance <= moves
    assert np.array_equal(path[0], position)
    assert np.array_equal(path[-1], rules.first)
    assert None not in rules.moves.moves_on_path(path)


def test_gap_is_refused_for_other_moves_and_for_identical_pancakes():
    for settings in ({"family": "topspin", "n": 7}, {"family": "pancake", "start": "1 1 2 2"}):
        with pytest.raises(InputError, match="gap needs moves that turn over the top of a stack of different pieces"):
            heuristic_of(rules_of(settings), rules_of(settings).start_labels, "gap")
    with pytest.raises(InputError, match=r"manhattan needs moves that take one piece to an empty place; choose gap"):
        heuristic_of(rules_of(PUZZLES[1]), rules_of(PUZZLES[1]).start_labels, "manhattan")
