"""Why a position is unreachable, in words."""

import numpy as np
import pytest
from every_kind import config_of

from antipodes.puzzles.config import load_config
from antipodes.puzzles.families import puzzle_from
from antipodes.puzzles.puzzle import Puzzle
from antipodes_tasks.base.array_types import Labels
from antipodes_tasks.properties import obstacles as module
from antipodes_tasks.properties.obstacles import obstacle, obstacles, unreachable
from antipodes_tasks.searches.problem import Problem


def why(puzzle: Puzzle, position: Labels) -> str | None:
    return obstacle(puzzle.rules, position, puzzle.rules.start_labels)


def test_an_orientation_sum_and_parities() -> None:
    puzzle = load_config("3x3x3").puzzle
    twisted = puzzle.rules.first.copy()
    twists = next(here for part, here in zip(puzzle.parts, puzzle.rules.ranges, strict=True) if part.twists)
    twisted[twists.start] = (twisted[twists.start] + 1) % 3
    assert "orientations of CORNERS have the sum" in str(why(puzzle, twisted))
    swapped = puzzle.rules.first.copy()
    swapped[[0, 1]] = swapped[[1, 0]]
    assert "parities of CORNERS and EDGES" in str(why(puzzle, swapped))
    assert why(puzzle, puzzle.rules.first) is None


def test_an_obstacle_to_another_goal() -> None:
    """The reason is about the goals of the problem: two swapped tiles can be reached from two other swapped tiles."""
    rules = load_config("eight-puzzle").puzzle.rules
    one, other = (rules.checked_one(labels) for labels in ([2, 1, 3, 4, 5, 6, 7, 8, 0], [1, 2, 4, 3, 5, 6, 7, 8, 0]))
    assert Problem.of(rules, one).obstacle == (
        "odd permutation: with the empty square back in its place, two pieces are swapped"
    )
    assert Problem.of(rules, one, other).obstacle is None
    assert Problem.of(rules, one, np.stack((rules.first, rules.first[[1, 2, 0, *range(3, 9)]]))).obstacle == (
        "it differs from every goal in a parity or sum that no move changes"
    )


@pytest.mark.parametrize("name", ["tiles", "a row", "a ring", "hanoi", "corners and equal edges", "one-way"])
def test_many_positions_have_the_same_reasons_as_each_alone(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """They are found together: each reason is looked for once or a few times, whatever the order of the pieces."""
    settings = {
        "tiles": {"family": "sliding", "rows": 2, "columns": 3, "start": "1 2 3 4 5 0"},
        "a row": {"family": "sliding", "rows": 1, "columns": 5, "start": "1 2 3 4 0"},
        "a ring": {"family": "sliding", "rows": 2, "columns": 2, "start": "1 2 3 0"},
    }
    puzzle = puzzle_from({"name": "p", **settings[name]}) if name in settings else config_of(name).puzzle
    rules, starts = puzzle.rules, puzzle.rules.start_labels
    rng = np.random.default_rng(5)
    shuffled = [
        np.concatenate([rng.permutation(puzzle.start_labels[0][here]) for here in rules.ranges]) for _ in range(60)
    ]
    positions = np.array(shuffled, dtype=np.uint8)
    expected = [obstacle(rules, position, starts) for position in positions]
    assert name in ("hanoi", "one-way") or len({*expected}) > 1
    if name in ("a row", "a ring"):  # where all unreachable positions are known
        positions, expected = positions[[one is not None for one in expected]], [one for one in expected if one]
    tried = []
    monkeypatch.setattr(module, "obstacle", lambda *given: tried.append(given) or obstacle(*given))
    assert obstacles(rules, positions, starts) == expected
    assert len(tried) <= 6
    assert obstacles(rules, positions[:0], starts) == []


def test_the_word() -> None:
    assert unreachable(None) == "unreachable"
    assert unreachable("two pieces are swapped") == "unreachable (two pieces are swapped)"
