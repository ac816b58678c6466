"""Moves in Python that contradict themselves: the definition is named, whatever is asked about the puzzle."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import antipodes as ap
from antipodes.puzzles.custom import define_puzzle
from antipodes.puzzles.puzzle import Puzzle
from antipodes.solving import solve as solving
from antipodes_tasks.base.errors import InputError

Positions = NDArray[np.int64]
RANDOM = np.random.default_rng(1)


def turned(places: list[int]) -> Callable[[Positions], Positions]:
    return lambda dials: (dials + places) % 6


def anywhere(dials: Positions) -> Positions:
    return RANDOM.integers(6, size=dials.shape)


def perhaps(places: list[int]) -> Callable[[Positions], Any]:
    return lambda dials: ((dials + places) % 6, RANDOM.random(len(dials)) < 0.5)


def by_number(dials: Positions) -> Positions:
    return (dials + len(dials)) % 6


RIGHT = {"b": turned([0, 1]), "c": turned([0, -1])}
WRONG: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "random": ({"a": anywhere, **RIGHT}, {}),
    "random, with an inverse": ({"a": anywhere, **RIGHT}, {"a": anywhere, "b": "c"}),
    "random legality": ({"a": perhaps([1, 0]), "d": perhaps([-1, 0]), **RIGHT}, {"a": "d", "b": "c"}),
    "the inverse is another move": ({"a": turned([1, 0]), **RIGHT}, {"a": "b"}),
    "the inverse goes too far": ({"a": turned([1, 0]), **RIGHT}, {"a": turned([-2, 0]), "b": "c"}),
    "the other positions count": ({"a": by_number, **RIGHT}, {}),
    "another shape": ({"a": lambda dials: dials[:, :1], **RIGHT}, {}),
    "labels out of range": ({"a": lambda dials: dials + 1, **RIGHT}, {}),
}


def puzzle_of(name: str) -> Puzzle:
    moves, inverses = WRONG[name]
    return define_puzzle(name="dials", radices=[6, 6], start=[0, 0], moves=moves, inverses=inverses)


@pytest.mark.parametrize("name", WRONG)
@pytest.mark.parametrize("method", ["bfs", "bidirectional", "iddfs", None])
def test_solving(name: str, method: str | None) -> None:
    with pytest.raises(InputError, match=r"^(move 'a'|inverse of 'a'|bidirectional needs an inverse)"):
        ap.solve(puzzle_of(name), [3, 1], method=method, every=True)


@pytest.mark.parametrize("name", WRONG)
def test_other_commands(name: str, tmp_path: Path) -> None:
    asked: list[Callable[[], object]] = [
        lambda: list(ap.solve_many(puzzle_of(name), [[3, 1], [5, 2]])),
        lambda: ap.run(puzzle_of(name), store=tmp_path / "dials.zarr"),
        lambda: ap.components(puzzle_of(name)),
        lambda: ap.graph(puzzle_of(name)),
    ]
    for ask in asked:
        with pytest.raises(InputError, match=r"^(move|inverse of) 'a'"):
            ask()


@pytest.mark.parametrize("method", ["bfs", "bidirectional"])
def test_contradictions_that_a_search_meets_later(method: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Trials near the ends may miss a contradiction far from them."""
    monkeypatch.setattr(solving, "check_functions", lambda moves, labels: None)
    puzzle = puzzle_of("random, with an inverse")
    ends = [[a, b] for a in range(6) for b in range(6)]  # a random search may agree with itself
    with pytest.raises(InputError, match="the moves of the definition contradict each other at"):
        _ = [ap.solve(puzzle, end, method=method, every=True, max_depth=6) for end in ends]
