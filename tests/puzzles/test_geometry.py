"""The bundled twisty puzzles are those that geometry makes, and as many positions as is known can be reached."""

from functools import cache

import numpy as np
import pytest
from brute_force import layers_of
from oracles import ORACLES

from antipodes.puzzles.config import bundled_configs, load_config
from antipodes.puzzles.puzzle import Puzzle
from antipodes_tasks.base.array_types import Labels
from antipodes_tasks.spaces.selection import index_size
from workshop.geometry.__main__ import CONFIGS, VARIANTS, texts

COUNTS = {
    "2x2x2": 88_179_840,
    "2x2x2-quarter": 88_179_840,
    "2x2x2-corner": 3_674_160,
    "2x2x2-corner-quarter": 3_674_160,
    "2x2x3": 241_920,
    "3x3x3": 43_252_003_274_489_856_000,
    "3x3x3-quarter": 43_252_003_274_489_856_000,
    "3x3x3-squares": 663_552,
    "3x3x3-two-faces": 73_483_200,
    "skewb": 37_791_360,
    "skewb-corner": 3_149_280,
    "dino": 239_500_800,
    "dino-edge": 19_958_400,
    "ivy": 29_160,
    "pyraminx": 933_120,
    "pyraminx-tips": 75_582_720,
    "pyraminx-faces": 302_330_880,
    "skewb-diamond": 138_240,
    "halpern-kolmelij": 3_732_480,
}
TWISTY = ORACLES["twisty"]
FIRST_LAYERS = {
    "2x2x2": TWISTY["2x2x2 no fixed corner, half turns"][:4],
    "2x2x2-quarter": TWISTY["2x2x2 no fixed corner, quarter turns"][:5],
    "2x2x2-corner": TWISTY["2x2x2 one corner fixed, half turns"][:6],
    "2x2x2-corner-quarter": TWISTY["2x2x2 one corner fixed, quarter turns"][:7],
    "pyraminx": [1, 8, 48, 288, 1728, 9896],
    "3x3x3": [1, 18, 243, 3240],
    "3x3x3-quarter": [1, 12, 114, 1068],
    "3x3x3-two-faces": [1, 6, 18, 54, 162, 486, 1457],
}


MADE = cache(texts)


@pytest.mark.slow
def test_files_are_as_geometry_makes_them() -> None:
    for name, text in MADE().items():
        assert (CONFIGS / name).read_text(encoding="utf-8") == text, f"{name}: run python -m workshop.geometry"


@pytest.mark.slow
def test_all_files_are_made() -> None:
    assert {f"twisty/{path.name}" for path in (CONFIGS / "twisty").iterdir()} <= MADE().keys()
    assert VARIANTS.keys() == COUNTS.keys() <= bundled_configs().keys()


@pytest.mark.parametrize("name", COUNTS)
def test_count_and_each_turn_has_its_order(name: str) -> None:
    """A quarter turn is undone by three more, and a third of a turn by two more."""
    puzzle = load_config(name).puzzle
    assert index_size(puzzle.rules) == COUNTS[name]
    assert f"{COUNTS[name]:,} positions" in puzzle.description
    orders = {order_of(puzzle, number) for number in range(len(puzzle.moves))}
    assert orders <= ({2, 4} if name[0] in "23" else {3})


@pytest.mark.parametrize("name", FIRST_LAYERS)
def test_first_layers(name: str) -> None:
    assert layers_of(load_config(name).puzzle, len(FIRST_LAYERS[name]) - 1) == FIRST_LAYERS[name]


def test_a_drawing_tells_positions_apart() -> None:
    for name in COUNTS:
        puzzle = load_config(name).puzzle
        walk = random_walk(puzzle, 300)
        drawn = {puzzle.draw(position) for position in walk}
        assert len(drawn) == len(np.unique(walk, axis=0)) > 150
        colours = sorted(puzzle.draw(puzzle.start_labels[0]))
        if name in ("2x2x2", "dino", "2x2x3", "3x3x3-squares"):  # elsewhere several letters show one facelet
            assert all(sorted(drawing) == colours for drawing in drawn)


def order_of(puzzle: Puzzle, number: int) -> int:
    """How often a move must be done until the start is back."""
    order, labels = 1, puzzle.moves.move(number, puzzle.start_labels)[0]
    while not np.array_equal(labels, puzzle.start_labels):
        order, labels = order + 1, puzzle.moves.move(number, labels)[0]
    return order


def random_walk(puzzle: Puzzle, length: int) -> Labels:
    """Positions ``(length, places)``, each a random move after the one before."""
    random = np.random.default_rng(1)
    labels, walk = puzzle.start_labels, []
    for number in random.integers(len(puzzle.moves), size=length):
        labels = puzzle.moves.move(number, labels)[0]
        walk.append(labels[0])
    return np.array(walk)
