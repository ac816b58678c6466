"""Random positions: exactly the reachable ones, all with the same probability."""

import numpy as np
import pytest
from brute_force import distances
from every_kind import PUZZLES, config_of, known_positions

from antipodes.puzzles.config import load_puzzle
from antipodes.puzzles.families import puzzle_from
from antipodes.puzzles.puzzle import Puzzle
from antipodes_tasks.base.array_types import Labels
from antipodes_tasks.base.errors import InputError
from antipodes_tasks.permutations.parity import parities
from antipodes_tasks.properties.solvability import solvable
from antipodes_tasks.rules.rules import Rules
from antipodes_tasks.spaces import shapes
from antipodes_tasks.spaces import uniform_sample as drawing
from antipodes_tasks.spaces.orbits import Orbits
from antipodes_tasks.spaces.uniform_sample import uniform_sample

DRAWS = 24
"""Average number of times that each reachable position is drawn."""
ORIENTED = """
Set CORNERS 3 3
Set EDGES 3 2
Solved
CORNERS
1 2 2
0 1 2
EDGES
1 1 2
1 0 0
End
Move A
CORNERS
2 3 1
1 0 2
EDGES
2 1 3
1 1 0
End
Move B
CORNERS
1 3 2
2 1 1
End
"""


def sample(rules: Rules, count: int, seed: int = 1) -> Labels:
    return uniform_sample(rules, count, np.random.default_rng(seed))


def check_uniform(rules: Rules, reachable: set[bytes]) -> None:
    """Compare the counts of drawn positions with equal probabilities by Pearson's chi-squared test."""
    drawn = sample(rules, DRAWS * len(reachable))
    found, counts = np.unique(drawn, axis=0, return_counts=True)
    assert {row.tobytes() for row in found} == reachable
    freedom = len(reachable) - 1
    assert ((counts - DRAWS) ** 2 / DRAWS).sum() < freedom + 4 * np.sqrt(2 * freedom) + 4


def reachable_by_search(puzzle: Puzzle) -> set[bytes]:
    def after(here: bytes) -> list[bytes]:
        return [row.tobytes() for row in puzzle.moves.elementary.successors(np.frombuffer(here, dtype=np.uint8))]

    goal = puzzle.rules.origin is not None
    starts = puzzle.rules.first[np.newaxis] if goal else puzzle.start_labels
    return set(distances([start.tobytes() for start in starts], after))


@pytest.mark.parametrize("name", [name for name in PUZZLES if name != "cars"])
def test_every_reachable_position_has_the_same_probability(name: str) -> None:
    reachable = {row.tobytes() for layer in known_positions(name) for row in layer}
    check_uniform(config_of(name).puzzle.rules, reachable)


@pytest.mark.parametrize(
    "settings",
    [
        {"family": "twisty", "format": "tws", "definition": ORIENTED},
        {"family": "sliding", "rows": 2, "columns": 3, "start": ["1 2 3 4 5 0", "2 1 3 4 5 0"]},
        {"family": "sliding", "rows": 2, "columns": 3, "start": "1 2 3 3 5 0"},
        {"family": "jump", "start": "AB/A-/--", "offsets": [[0, 1], [1, 0], [-1, -1]]},
        {"family": "blocks", "axis": True, "moves": "slides", "start": "AA.B/C..B/C.DD", "goal": "..AA/????/????"},
        {"family": "generators", "moves": {"A": "(0 1 2)", "B": "(2 3 4)"}, "start": ["0 1 2 3 4"]},
        {"family": "square-1", "start": "A1A11B1B-", "metric": "twist"},
    ],
    ids=["oriented identical pieces", "both parities", "identical tiles", "one-way jumps", "goal", "even", "shapes"],
)
def test_special_starts_and_pieces(settings: dict[str, object]) -> None:
    puzzle = puzzle_from({"name": "p", **settings})
    check_uniform(puzzle.rules, reachable_by_search(puzzle))


def test_random_cubes_are_solvable() -> None:
    puzzle = load_puzzle("3x3x3")
    drawn = sample(puzzle.rules, 2000)
    parts = dict(zip([(part.name, part.holds_pieces) for part in puzzle.parts], puzzle.rules.ranges, strict=True))
    corners, twists, edges, flips = (drawn[:, here] for here in parts.values())
    assert [corners.shape[1], edges.shape[1]] == [8, 12]
    assert (twists.sum(axis=1) % 3 == 0).all()
    assert (flips.sum(axis=1) % 2 == 0).all()
    assert np.array_equal(parities(corners), parities(edges))
    for part, symbols in ((corners, 8), (twists, 3), (edges, 12), (flips, 2)):
        for column in part.T:
            counts = np.bincount(column, minlength=symbols)
            assert ((counts - 2000 / symbols) ** 2).sum() * symbols / 2000 < symbols + 6 * np.sqrt(2 * symbols)
    assert 850 < parities(corners).sum() < 1150


def test_large_boards_have_the_right_parity() -> None:
    puzzle = load_puzzle("twenty-four-puzzle")
    known = solvable(puzzle.rules, puzzle.rules.first, sample(puzzle.rules, 500))
    assert known.certain.all()
    assert 0 < parities(sample(puzzle.rules, 500)).mean() < 1


@pytest.mark.parametrize(
    "settings",
    [
        {"family": "generators", "moves": {"A": "(0 1 2 3 4 5 6)", "B": "(5 6 7)"}, "start": "0 1 2 3 4 5 6 7"},
        {"family": "generators", "moves": {"A": "(0 1 2 3 4 5 6)", "B": "(5 6 7)"}, "start": "0 1 2 2 4 5 6 7"},
    ],
    ids=["even arrangements", "identical pieces"],
)
@pytest.mark.slow
def test_puzzles_with_every_arrangement(settings: dict[str, object]) -> None:
    puzzle = puzzle_from({"name": "p", **settings})
    assert Orbits.has_every_arrangement(puzzle.rules)
    check_uniform(puzzle.rules, reachable_by_search(puzzle))


@pytest.mark.slow
def test_large_puzzles_are_drawn_at_once() -> None:
    pancakes = puzzle_from({"name": "p", "family": "pancake", "n": 200})
    assert len(np.unique(sample(pancakes.rules, 100), axis=0)) == 100
    lights = puzzle_from({"name": "l", "family": "lights-out", "rows": 30, "columns": 30})
    drawn = sample(lights.rules, 100)
    assert 0.4 < drawn.mean() < 0.6


@pytest.mark.slow
def test_a_seed_draws_the_same_positions_again() -> None:
    rules = load_puzzle("2x2x2").rules
    assert np.array_equal(sample(rules, 5000, 7), sample(rules, 5000, 7))
    assert not np.array_equal(sample(rules, 5000, 7), sample(rules, 5000, 8))
    assert sample(rules, 0).shape == (0, rules.places)


def test_puzzles_whose_reachable_positions_are_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(drawing, "MAX_LISTED", 81)
    monkeypatch.setattr(shapes, "MAX_SHAPE_MOVES", 81)
    monkeypatch.setattr(shapes, "_latest", [])
    towers = puzzle_from({"name": "towers", "family": "hanoi", "discs": 4})
    assert len(sample(towers.rules, 3)) == 3
    larger = puzzle_from({"name": "larger", "family": "hanoi", "discs": 5})
    with pytest.raises(InputError, match="the reachable positions of larger are only known from its table"):
        sample(larger.rules, 3)
