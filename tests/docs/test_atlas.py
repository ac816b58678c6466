"""The atlas is made of its results, has every bundled puzzle, and what it says is what a run finds."""

import json

import jsonschema
import numpy as np
import pytest
from oracles import ORACLES
from project import DOCS

from antipodes.config import bundled_configs, load_config
from antipodes_tasks.spaces.selection import best_space, index_size
from atlas.data import data
from atlas.entries import CHAPTERS, FAMILIES, TOO_LARGE, Family
from atlas.page import page
from atlas.results import layers_of, read_results, result_of

RESULTS = read_results()
SMALL = [name for name, result in RESULTS.puzzles.items() if result.states < 1_000_000 and result.radius < 100]
PUBLISHED_RADII = {
    "2x2x2": 11,
    "2x2x2-quarter": 14,
    "2x2x2-corner": 11,
    "2x2x2-corner-quarter": 14,
    "3x3x3-squares": 15,
    "skewb-corner": 11,
    "pyraminx": 11,
    "eight-puzzle": 31,
    "two-by-five": 55,
    "two-by-six": 80,
    "eleven-puzzle": 53,
    "pancake-10": 11,
    "pancake-11": 13,
    "burnt-pancake-8": 15,
    "hanoi-3-pegs": 4095,
}


def test_the_page_is_made_of_the_results() -> None:
    assert (DOCS / "atlas.md").read_text(encoding="utf-8") == page(RESULTS), "run make atlas"


def test_the_data_are_made_of_the_results() -> None:
    written = (DOCS / "atlas.json").read_text(encoding="utf-8")
    assert written == data(RESULTS), "run make atlas"
    schema = json.loads((DOCS / "schemas" / "atlas.json").read_text(encoding="utf-8"))
    jsonschema.validate(json.loads(written), schema)


def test_every_bundled_puzzle_is_there() -> None:
    names = [name for chapter in CHAPTERS.values() for name in chapter]
    assert sorted([*names, *TOO_LARGE]) == sorted(bundled_configs())


@pytest.mark.parametrize("name", RESULTS.puzzles)
def test_no_more_positions_than_numbers(name: str) -> None:
    result, puzzle = RESULTS.puzzles[name], load_config(name).puzzle
    assert result.states <= index_size(puzzle.rules) <= result.index_size
    starts = len(puzzle.starts if puzzle.rules.origin is None else best_space(puzzle.rules).starts)
    assert result.layers[0] == starts
    assert 0 < result.layers[1] <= starts * len(puzzle.moves)


def test_radii_are_the_published_ones() -> None:
    assert {name: RESULTS.puzzles[name].radius for name in PUBLISHED_RADII} == PUBLISHED_RADII
    pancakes = [len(layers) - 1 for layers in RESULTS.families["Pancakes"].values()]
    assert pancakes == [1, 3, 4, 5, 7, 8, 9, 10, 11]
    burnt = [len(layers) - 1 for layers in RESULTS.families["Burnt pancakes"].values()]
    assert burnt == [1, 4, 6, 8, 10, 12, 14]


def test_families_agree_with_oracles() -> None:
    oracles, found = ORACLES["permutation-families"], RESULTS.families
    assert found["Pancakes"]["9"] == oracles["pancake-9"]
    assert found["Burnt pancakes"]["7"] == oracles["burnt_pancake-7"]
    assert found["TopSpin with four pieces on the turntable"]["10"] == oracles["top_spin-10"]
    assert found["Rotate and exchange"]["10"] == oracles["lrx-10"]
    twisty = ORACLES["twisty"]
    assert RESULTS.puzzles["2x2x2"].layers == twisty["2x2x2 no fixed corner, half turns"]
    assert RESULTS.puzzles["2x2x2-quarter"].layers == twisty["2x2x2 no fixed corner, quarter turns"]


@pytest.mark.slow
@pytest.mark.parametrize("name", SMALL)
def test_a_run_finds_the_same(name: str) -> None:
    assert result_of(name).layers == RESULTS.puzzles[name].layers


@pytest.mark.slow
@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.title)
def test_sizes_of_a_family(family: Family) -> None:
    for size in family.sizes:
        layers = RESULTS.families[family.title][size]
        assert sum(layers) > 100_000 or layers_of(family.settings(size)) == layers
        assert np.all(np.array(layers) > 0)
