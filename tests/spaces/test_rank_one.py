"""One position is ranked by other code than many: the same numbers, and none for the same positions."""

import numpy as np
import pytest

from antipodes.config import load_config
from antipodes.puzzles.puzzle import Puzzle
from antipodes_tasks.permutations.parity import parities, parity_of
from antipodes_tasks.spaces.group_points import points_of
from antipodes_tasks.spaces.selection import best_space

PUZZLES = (
    "eight-puzzle",
    "three-colours",
    "knights-labelled",
    "2x2x2",
    "2x2x2-corner-quarter",
    "3x3x3-two-faces",
    "burnt-pancake-8",
    "hanoi-3-pegs",
    "ivy",
    "klotski",
    "lights-out-5x5",
    "m12",
    "pancake-10",
    "pyraminx-faces",
    "skewb",
    "topspin-11",
)


def contents(puzzle: Puzzle, count: int) -> np.ndarray:
    """Positions with the pieces of the puzzle in any order, which moves may not reach."""
    rng = np.random.default_rng(0)
    labels = np.repeat(puzzle.start_labels[:1], count, axis=0)
    for part, at in zip(puzzle.parts, puzzle.rules.ranges, strict=True):
        shape = labels[:, at].shape
        labels[:, at] = (
            rng.permuted(labels[:, at], axis=1) if part.counts else rng.integers(len(part.symbols), size=shape)
        )
    return labels


@pytest.mark.parametrize("name", PUZZLES)
def test_the_same_as_for_many(name: str) -> None:
    puzzle = load_config(name).puzzle
    space = best_space(puzzle.rules)
    numbered = space.unrank(np.random.default_rng(1).integers(0, space.size, 50))
    for labels in (numbered, contents(puzzle, 50), puzzle.start_labels):
        assert [space.numbering.rank_one(one) for one in labels.tolist()] == space.rank(labels).tolist()


def test_fields_are_ranked_alike() -> None:
    from own_puzzles import towers

    space = best_space(towers(3, 5).rules)
    indices = np.arange(space.size)
    assert [space.numbering.rank_one(one) for one in space.unrank(indices).tolist()] == indices.tolist()


def test_parity_of_one() -> None:
    permutations = np.random.default_rng(2).permuted(np.tile(np.arange(9, dtype=np.uint8), (200, 1)), axis=1)
    assert [parity_of(one) for one in permutations.tolist()] == parities(permutations).tolist()
    assert parity_of([]) == 0


@pytest.mark.parametrize("name", ["three-colours", "2x2x2", "hanoi-3-pegs"])
@pytest.mark.parametrize("count", [3, 20_000], ids=["few", "many"])
def test_wrong_pieces_are_found_in_one_as_in_many(name: str, count: int) -> None:
    puzzle = load_config(name).puzzle
    assert all(puzzle.rules.holds(one) for one in contents(puzzle, 20).tolist())
    labels = contents(puzzle, count)
    puzzle.checked(labels)
    for place in range(puzzle.places):
        wrong = labels.copy()
        wrong[-1, place] += 1
        ranges = puzzle.rules.ranges
        here = next(part for part, at in zip(puzzle.parts, ranges, strict=True) if at.start <= place < at.stop)
        is_one = here.counts is None and wrong[-1, place] < len(here.symbols)
        assert puzzle.rules.holds(wrong[-1].tolist()) == is_one
        if not is_one:
            with pytest.raises(ValueError, match="expected"):
                puzzle.checked(wrong)


@pytest.mark.parametrize("name", ["skewb", "lights-out-5x5", "pyraminx-faces", "m12"])
def test_compiled_code_writes_the_same_permutations(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    puzzle = load_config(name).puzzle
    points = points_of(puzzle.rules)
    assert points is not None
    labels = contents(puzzle, 300)
    labels[::3, 2] = 200  # no label of the puzzle
    found = []
    for few in (0, 1 << 60):
        monkeypatch.setattr("antipodes_tasks.spaces.group_points.FEW", few)
        found.append(points.permutations(labels))
    assert np.array_equal(*found)
    assert not found[0][::3].any()
