"""The searches against each other, brute force and published results."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles import ORACLES
from search_problems import (
    EIGHT,
    EVERYWHERE,
    FOR_TILES,
    PUZZLES,
    Search,
    check_paths,
    knights,
    paths_from,
    random_walk,
    tiles,
)

from antipodes.puzzles.puzzle import Puzzle
from antipodes_tasks.base.array_types import Labels, Numbers
from antipodes_tasks.properties.heuristics import heuristic_of
from antipodes_tasks.properties.lower_bounds import LowerBound
from antipodes_tasks.searches.answer import Outcome
from antipodes_tasks.searches.breadth_first import bfs, bidirectional
from antipodes_tasks.searches.deepening import ida_star, iddfs
from antipodes_tasks.searches.heuristic import GuidedByBound
from antipodes_tasks.searches.problem import Problem


@pytest.mark.parametrize("search", FOR_TILES)
def test_the_farthest_position_of_the_eight_puzzle(search: Search) -> None:
    oracle = ORACLES["eight-puzzle-solve"]
    problem = Problem.of(EIGHT.rules, np.array(oracle["start"], dtype=np.uint8))
    answer = search(problem, every=True)
    assert (answer.outcome, answer.distance) == (Outcome.SOLVED, oracle["length"])
    assert answer.solution_count == oracle["optimal_solutions"]
    check_paths(problem, answer)
    assert search(problem).distance == oracle["length"]


def test_the_manhattan_distance_of_the_farthest_position() -> None:
    oracle = ORACLES["eight-puzzle-solve"]
    problem = Problem.of(EIGHT.rules, np.array(oracle["start"], dtype=np.uint8))
    tables = heuristic_of(problem.rules, problem.goals, "manhattan").tables
    assert tables is not None
    costs = tables.costs
    assert int(costs[oracle["start"], range(9)].sum()) == oracle["manhattan"]


@pytest.mark.parametrize("puzzle", PUZZLES, ids=lambda p: f"{p.family}-{p.starts[0]}")
def test_every_search_agrees_with_brute_force(puzzle: Puzzle) -> None:
    rng = np.random.default_rng(4)
    known = paths_from(puzzle)
    for key in rng.choice(sorted(known), size=min(4, len(known)), replace=False):
        goal = np.frombuffer(bytes(key).ljust(puzzle.places, b"\0"), dtype=np.uint8)
        problem = Problem.of(puzzle.rules, puzzle.start_labels[0], goal)
        distance, ways = known[goal.tobytes()]
        for search in EVERYWHERE + ([ida_star] if puzzle.family in ("sliding", "jump") else []):
            if search not in (bfs, bidirectional) and distance > (16 if puzzle.rules.counts[0] == 1 else 7):
                continue
            answer = search(problem, every=True)
            assert (answer.distance, answer.solution_count) == (distance, ways), search
            check_paths(problem, answer)


@pytest.mark.slow
@given(st.integers(0, 2**32 - 1))
def test_searches_agree_on_random_positions_of_the_eight_puzzle(seed: int) -> None:
    position = random_walk(EIGHT, seed, 60)
    problem = Problem.of(EIGHT.rules, position)
    answers = [search(problem, every=True) for search in FOR_TILES]
    for answer in answers:
        check_paths(problem, answer)
    assert len({(answer.distance, answer.solution_count) for answer in answers}) == 1


def test_heuristics_are_admissible() -> None:
    puzzle = tiles(2, 4, "1 3 3 2 3 4 4 0")
    lower = heuristic_of(puzzle.rules, puzzle.start_labels, "linear-conflict")
    plain = heuristic_of(puzzle.rules, puzzle.start_labels, "manhattan")
    stronger = 0
    for key, (distance, _) in list(paths_from(puzzle).items())[::4]:
        position = np.frombuffer(key, dtype=np.uint8)
        assert plain.estimate(position) <= lower.estimate(position) <= distance
        stronger += plain.estimate(position) < lower.estimate(position)
    assert stronger


class InBatches(LowerBound):
    """A lower bound that is computed for batches of positions, and is not a sum of tables."""

    def __init__(self, lower: LowerBound) -> None:
        self.lower = lower

    def bounds(self, labels: Labels) -> Numbers:
        """Return the bounds of another heuristic."""
        return self.lower.bounds(labels)


@pytest.mark.parametrize("name", ["manhattan", "linear-conflict"])
def test_a_bound_in_batches_guides_like_its_tables(name: str) -> None:
    for seed in range(4):
        problem = Problem.of(EIGHT.rules, random_walk(EIGHT, seed, 40))
        lower = heuristic_of(problem.rules, problem.goals, name)
        known = ida_star(problem, every=True, heuristic=name)
        answer = ida_star(problem, every=True, heuristic=GuidedByBound(InBatches(lower), "in batches"))
        assert (answer.distance, answer.solution_count) == (known.distance, known.solution_count)
        check_paths(problem, answer)
        assert answer.expanded < iddfs(problem).expanded


def test_of_several_goals_the_nearest_counts() -> None:
    goals = np.array([random_walk(EIGHT, seed, 40) for seed in range(3)])
    position = random_walk(EIGHT, 99, 41)
    single = [bfs(Problem.of(EIGHT.rules, position, goal)).distance for goal in goals]
    for search in FOR_TILES:
        assert search(Problem.of(EIGHT.rules, position, goals)).distance == min(d for d in single if d is not None)


def test_the_distance_is_along_the_moves() -> None:
    ring = knights("A--", offsets=[[0, 1], [0, -2]])
    ahead, behind = ring.parse("-A-"), ring.parse("A--")
    for search in (*EVERYWHERE, ida_star):
        assert search(Problem.of(ring.rules, behind, ahead)).distance == 1
        assert search(Problem.of(ring.rules, ahead, behind)).distance == 2
