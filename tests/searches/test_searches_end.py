"""Every search ends at unreachable goals, reports its progress, and stays within its memory."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from brute_force import jump_distances, sliding_distances
from hypothesis import given
from hypothesis import strategies as st
from search_problems import Search, bfs, bidirectional, ida_star, iddfs, knights, pancakes, tiles, turns
from strategies import jump_settings, sliding_settings

from antipodes.puzzles.families import puzzle_from
from antipodes.puzzles.puzzle import Puzzle
from antipodes_tasks.base import jit
from antipodes_tasks.base.errors import ResourceLimitError
from antipodes_tasks.rules.transforms import Transforms
from antipodes_tasks.searches.answer import Outcome
from antipodes_tasks.searches.problem import Problem
from antipodes_tasks.searches.progress import Deadline, Pace, Progress, TimeLimitReached, silence

ALL: list[Search] = [bfs, bidirectional, iddfs, ida_star]
DEEPENING: list[Search] = [iddfs, ida_star]
NEAR = 6
"""A depth that iterative deepening reaches in a moment in every puzzle."""


def test_a_time_limit_does_not_count_loading_kernels(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0.0]
    monkeypatch.setattr(jit.time, "monotonic", lambda: now[0])
    monkeypatch.setattr(jit, "loading", jit.Stopwatch())
    deadline = Deadline(5.0, silence)
    now[0] += 1
    with jit.loading.running():
        now[0] += 60
        deadline.check()
    assert deadline.seconds == 4
    now[0] += 5
    with pytest.raises(TimeLimitReached):
        deadline.check()


@given(st.one_of(jump_settings(), sliding_settings()), st.integers(0, 2**32 - 1))
def test_random_puzzles_with_reachable_and_unreachable_goals(config: dict[str, Any], seed: int) -> None:
    puzzle = puzzle_from(config)
    goal = np.random.default_rng(seed).permutation(puzzle.start_labels[0])
    starts = config["start"] if isinstance(config["start"], list) else [config["start"]]
    known = (sliding_distances if config["family"] == "sliding" else jump_distances)({**config, "start": starts[0]})
    expected = known.get(tuple(puzzle.rules.symbols[label] for label in goal))
    problem = Problem.of(puzzle.rules, puzzle.start_labels[0], goal)
    for search in ALL:
        too_far = expected is not None and expected > NEAR and search in DEEPENING
        answer = search(problem, max_depth=NEAR if too_far else None)
        assert answer.distance == (None if too_far else expected)
        assert answer.outcome == (
            Outcome.DEPTH_LIMIT if too_far else Outcome.UNREACHABLE if expected is None else Outcome.SOLVED
        )


UNREACHABLE_GOALS = {
    "knights of two sides": (knights("BB#/---/#WW"), "WW#/---/#BB"),
    "a path with two empty places": (knights("A-B-C", edges=[[0, 1], [1, 2], [2, 3], [3, 4]]), "B-A-C"),
    "one blank, a place that divides the board": (
        knights("ABCD-", edges=[[0, 1], [1, 2], [2, 0], [2, 3], [3, 4], [4, 2]]),
        "CBAD-",
    ),
    "moves that are not undone": (knights("ABC--", offsets=[[0, 1], [0, -4]]), "BAC--"),
    "more than a word": (knights("AB" + "-" * 5 + "/" + "C" * 7, offsets=[[0, 1], [0, -1]]), "BA-----/CCCCCCC"),
}


@pytest.mark.parametrize("name", UNREACHABLE_GOALS)
@pytest.mark.parametrize("search", ALL)
def test_unreachable_goals_where_moves_lead_in_circles(search: Search, name: str) -> None:
    puzzle, goal = UNREACHABLE_GOALS[name]
    problem = Problem.of(puzzle.rules, puzzle.start_labels[0], puzzle.parse(goal))
    assert not problem.known_unreachable, "known without a search"
    assert search(problem).outcome == Outcome.UNREACHABLE


@pytest.mark.parametrize("puzzle", [pancakes((0, 1, 1, 2)), turns((1, 2, 3, 4, 0))], ids=lambda puzzle: puzzle.name)
def test_moves_of_several_pieces(puzzle: Puzzle) -> None:
    """With the first move only, a part of the arrangements is reachable."""
    assert isinstance(puzzle.moves, Transforms)
    moves = puzzle.moves
    fewer = replace(puzzle.rules, moves=Transforms(moves.names[:1], moves.origin[:1], moves.moduli))
    goal = puzzle.successors(fewer.start_labels[0])[-1]
    for search in (bfs, bidirectional, iddfs):
        assert search(Problem.of(fewer, fewer.start_labels[0], goal)).outcome == Outcome.UNREACHABLE


def test_several_unreachable_goals() -> None:
    puzzle, _ = UNREACHABLE_GOALS["knights of two sides"]
    goals = np.array([puzzle.parse(text) for text in ("WW#/---/#BB", "WB#/---/#BW", "WW#/B--/#B-")])
    reachable = np.vstack([goals, puzzle.successors(puzzle.start_labels[0])[:1]])
    for search in ALL:
        assert search(Problem.of(puzzle.rules, puzzle.start_labels[0], goals)).outcome == Outcome.UNREACHABLE
        assert search(Problem.of(puzzle.rules, puzzle.start_labels[0], reachable)).distance == 1


def test_a_proof_ends_when_its_memory_is_full() -> None:
    board = knights("ABCD-----/#########/E--------", offsets=[[0, 1], [0, -1], [0, 2], [0, -2]])
    problem = Problem.of(board.rules, board.start_labels[0], board.parse("EBCD-----/#########/A--------"))
    assert iddfs(problem, memory_limit=1 << 10, max_depth=7).outcome == Outcome.DEPTH_LIMIT
    assert iddfs(problem).outcome == Outcome.UNREACHABLE
    assert (
        len(
            iddfs(
                Problem.of(board.rules, board.start_labels[0], board.parse("ABC-D----/#########/E--------")),
                memory_limit=0,
            ).solutions
        )
        == 1
    )
    full = (
        "^0 positions reached: more positions would take 393,216 bytes, but the limit is 512 bytes; allow more memory"
    )
    with pytest.raises(ResourceLimitError, match=full):
        bidirectional(problem, memory_limit=1 << 10)


def test_paths_that_do_not_fit_into_memory_are_refused() -> None:
    lone = knights("A" + "-" * 9 + ("/" + "-" * 10) * 5, offsets=[[0, 1], [1, 0]])
    goal = lone.parse("-" * 10 + ("/" + "-" * 10) * 4 + "/---------A")
    problem = Problem.of(lone.rules, lone.start_labels[0], goal)
    for search in ALL:
        assert len(search(problem, every=True, listed=2, memory_limit=1 << 22).solutions) == 2
        with pytest.raises(ResourceLimitError, match="list fewer"):
            search(problem, every=True, listed=10**12, memory_limit=1 << 19 if search in DEEPENING else 1 << 20)


@pytest.mark.parametrize("search", ALL)
def test_reported_progress_is_true(search: Search) -> None:
    eight = tiles(3, 3, "1 2 3 4 5 6 7 8 0")
    problem = Problem.of(eight.rules, eight.parse("8 6 7 2 5 4 3 0 1"))
    told: list[Progress] = []
    answer = search(problem, listener=told.append)
    assert answer.distance == 31
    assert told
    least = [progress.least or 0 for progress in told]
    assert least == sorted(least)
    assert least[-1] <= 31
    assert [progress.expanded for progress in told] == sorted(progress.expanded for progress in told)
    assert told[-1].expanded <= answer.expanded


def test_a_kernel_is_called_for_a_tenth_of_a_second(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = [0.0]
    monkeypatch.setattr("antipodes_tasks.searches.progress.time.monotonic", lambda: clock[0])
    pace, budgets = Pace(), []

    for _ in range(20):
        budgets.append(pace.budget)
        pace.start()
        clock[0] += 1e-3 * pace.budget + (30 if len(budgets) == 1 else 0)  # the first call compiles
        pace.learn(pace.budget)
    assert budgets[-1] == 100
    assert max(budgets[1:]) <= 100
    for used in (0, 1, 0, 2):  # little work, as at the end of a search down to some depth
        pace.start()
        clock[0] += 1e-3 * used
        pace.learn(used)
        assert pace.budget <= 100


def test_the_first_descent_reports_the_position_itself() -> None:
    eight = tiles(3, 3, "1 2 3 4 5 6 7 8 0")
    told: list[Progress] = []
    ida_star(Problem.of(eight.rules, eight.parse("8 6 7 2 5 4 3 0 1")), listener=told.append)
    assert told[0].expanded == 1
