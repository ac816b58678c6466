"""Heuristics of pattern tables in Python: built on request, checked arguments, and which argument does not fit."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from brute_force import sliding_distances

import antipodes as ap
from antipodes.system.events import LayerFinished
from antipodes_tasks.base.errors import InputError, PositionError

BOARD = {"family": "sliding", "rows": 2, "columns": 3}
GOAL = "1 2 3 4 5 0"
SIX = {**BOARD, "name": "six", "start": GOAL}
CUBE = "2x2x2-corner"


@pytest.fixture
def six(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ap.Config:
    """A sliding puzzle whose config names two patterns."""
    monkeypatch.chdir(tmp_path)
    for name, start in (("left", "1 2 x x x 0"), ("right", "x x 3 4 5 0")):
        lines = ["[puzzle]", f'name = "{name}"', 'family = "sliding"', "rows = 2", "columns = 3"]
        Path(f"{name}.toml").write_text("\n".join([*lines, f'start = "{start}"', 'free = ["x"]\n']))
    lines = ["[puzzle]", 'name = "six"', 'family = "sliding"', "rows = 2", "columns = 3", f'start = "{GOAL}"']
    Path("six.toml").write_text("\n".join([*lines, "[solve]", 'patterns = ["left.toml", "right.toml"]\n']))
    return ap.load_config("six.toml")


def test_missing_tables_are_built(six: ap.Config) -> None:
    with pytest.raises(InputError, match=r"no pattern table of six is finished \(left, right\)"):
        ap.load_patterns(six)
    built: list[object] = []
    found = ap.load_patterns(six, build=True, progress=built.append)
    assert any(isinstance(event, LayerFinished) for event in built)
    assert sorted(path.name for path in Path("outputs").iterdir()) == ["left.zarr", "right.zarr"]
    distances = sliding_distances(SIX)
    labels = np.array([ap.load_puzzle("six.toml").parse(" ".join(position)) for position in distances])
    bounds = found.estimates(labels)
    assert (bounds <= list(distances.values())).all()
    assert bounds.max() > 10
    again: list[object] = []
    assert np.array_equal(ap.load_patterns(six, build=True, progress=again.append).estimates(labels), bounds)
    assert again == []


def test_half_of_the_tables_is_built(six: ap.Config) -> None:
    ap.run("left.toml")
    assert "left" in ap.load_patterns(six).name
    assert "right" not in ap.load_patterns(six).name
    assert "left + right" in ap.load_patterns(six, build=True).name


def test_a_reduced_table_of_a_pattern_counts_as_built(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    lines = [
        "[puzzle]",
        'name = "corner"',
        'family = "sliding"',
        "rows = 3",
        "columns = 3",
        'start = "0 1 1 1 1 1 1 1 2"',
    ]
    Path("corner.toml").write_text("\n".join([*lines, "[run]", 'symmetry = "on"\n']))
    lines = [
        "[puzzle]",
        'name = "nine"',
        'family = "sliding"',
        "rows = 3",
        "columns = 3",
        'start = "0 1 2 3 4 5 6 7 8"',
    ]
    Path("nine.toml").write_text("\n".join([*lines, "[solve]", 'patterns = ["corner.toml"]\n']))
    for build in (True, False):
        found = ap.load_patterns("nine.toml", build=build)
        assert found.estimate([0, 1, 2, 3, 4, 5, 6, 7, 8]) == 0
        assert found.estimate([8, 1, 2, 3, 4, 5, 6, 7, 0]) > 4


ODD: list[Any] = [
    [[-1, 2, 3, 4, 5, 0]],
    [[1, 1, 3, 4, 5, 0]],
    [[1, 2, 3, 4, 5, 6]],
    [[256, 2, 3, 4, 5, 0]],
    [1, 2, 3, 4, 5, 0],
    [[1, 2, 3, 4, 5]],
    [[[1, 2, 3, 4, 5, 0]]],
    np.full((1, 6), np.nan),
    np.array([[1.0, 2, 3, 4, 5, 0]]),
    np.array([[True] * 6]),
    [[1, 2, 3], [4, 5, 0]],
    [["1", "2", "3", "4", "5", "0"]],
    np.ma.masked_array([[1, 2, 3, 4, 5, 0]], [[True] * 6]),
    None,
    GOAL,
]


def test_estimates_of_something_else(six: ap.Config) -> None:
    found = ap.load_patterns(six, build=True)
    for odd in ODD:
        with pytest.raises(PositionError, match=r"expected[^\n]*$"):
            found.estimates(odd)
        with pytest.raises(PositionError, match="expected"):
            found.estimate(odd[0] if isinstance(odd, list) and isinstance(odd[0], list) else [odd])


def test_estimates_of_turns_check_their_argument(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    store = ap.run(CUBE, symmetry="off").store
    found, puzzle = ap.load_patterns(CUBE, [store]), ap.load_puzzle(CUBE)
    start = puzzle.start_labels[0]
    with ap.open_table(store) as table:
        labels = table.dataset(500, 1).positions
        assert np.array_equal(found.estimates(labels.astype(np.int64)), table.distances(labels))
    assert found.estimates(np.empty((0, puzzle.places), dtype=np.uint8)).shape == (0,)
    for wrong in (start + 100, np.zeros_like(start), start[:-1]):
        with pytest.raises(PositionError, match="expected"):
            found.estimates(wrong[np.newaxis])


def test_a_heuristic_for_something_else_is_the_misfit(six: ap.Config) -> None:
    found = ap.load_patterns(six, build=True)
    other = ap.Config({**BOARD, "name": "other", "start": "1 2 3 4 4 0"})
    same_name = ap.Config({**SIX, "start": "1 2 3 5 5 0"})
    cases: list[tuple[Any, str, dict[str, Any], str]] = [
        ("eight-puzzle", "8 6 7 2 5 4 3 0 1", {}, "the heuristic belongs to six, not to eight-puzzle"),
        ("2x2x2", "R U", {}, "the heuristic belongs to six, not to 2x2x2"),
        (other, "2 1 3 4 4 0", {}, "the heuristic belongs to six, not to other"),
        (same_name, "2 1 3 5 5 0", {}, "belongs to a puzzle six with other pieces or moves"),
        (
            six,
            "1 2 3 0 4 5",
            {"goal": "1 2 3 4 0 5"},
            "is for the goal 1 2 3 4 5 0, but the problem has the goal 1 2 3 4 0 5",
        ),
        (six, "1 2 3 0 4 5", {"goal": "1 2 3 ? ? ?"}, "is for the goal 1 2 3 4 5 0, but the problem has 3 goals"),
    ]
    for puzzle, position, more, message in cases:
        start = ap.load_puzzle("2x2x2").follow(position)[-1] if puzzle == "2x2x2" else position
        positions = np.array([start]) if puzzle == "2x2x2" else [start]
        for call in (
            lambda: ap.solve(puzzle, start, heuristic=found, **more),  # noqa: B023
            lambda: list(ap.solve_many(puzzle, positions, heuristic=found, **more)),  # noqa: B023
        ):
            with pytest.raises(InputError, match=message):
                call()


def test_the_start_of_the_puzzle_does_not_matter(six: ap.Config) -> None:
    found = ap.load_patterns(six, build=True)
    elsewhere = ap.Config({**SIX, "start": "1 2 3 4 0 5"})
    assert ap.solve(elsewhere, "1 2 3 0 4 5", GOAL, heuristic=found).distance == 2
