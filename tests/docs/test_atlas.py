"""The atlas is made of its results, has every bundled puzzle, and what it says is what a run finds."""

import json
import tomllib
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from brute_force import layers_by
from oracles import ORACLES
from project import DOCS

import antipodes
import workshop.atlas.__main__ as atlas_program
from antipodes.puzzles.config import bundled_configs, load_config
from antipodes_tasks.spaces.selection import best_space, index_size
from workshop.atlas.entries import CHAPTERS, FAMILIES, TOO_LARGE, Family
from workshop.atlas.published import FILE, Published, published, published_radii
from workshop.atlas.results import layers_of, read_results, result_of

RESULTS = read_results()
SMALL = [name for name, result in RESULTS.puzzles.items() if result.states < 1_000_000 and result.radius < 100]
SEARCHED = [name for name in tomllib.loads(FILE.read_text(encoding="utf-8")) if name not in {"searched", "families"}]
"""The names of the puzzles for which published numbers were searched."""
DISTANCES = [(name, claim) for name in SEARCHED for claim in published(name) if claim.what == "distance"]


@pytest.mark.slow
def test_page_and_data_are_made_of_the_results(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    import jsonschema

    monkeypatch.setattr(atlas_program, "PAGE", tmp_path / "atlas.md")
    monkeypatch.setattr(atlas_program, "DATA", tmp_path / "atlas.json")
    atlas_program.main(["--pages"])
    for path in tmp_path.iterdir():
        assert (DOCS / path.name).read_bytes() == path.read_bytes(), "run python -m workshop.atlas --pages"
    schema = json.loads((DOCS / "schemas" / "atlas.json").read_text(encoding="utf-8"))
    jsonschema.validate(json.loads((tmp_path / "atlas.json").read_text(encoding="utf-8")), schema)


def test_every_bundled_puzzle_is_there() -> None:
    names = [name for chapter in CHAPTERS.values() for name in chapter]
    assert sorted([*names, *TOO_LARGE]) == sorted(bundled_configs())


@pytest.mark.slow
def test_no_more_positions_than_numbers() -> None:
    for name, result in RESULTS.puzzles.items():
        puzzle = load_config(name).puzzle
        assert result.states <= index_size(puzzle.rules) <= result.index_size, name
        starts = len(puzzle.starts if puzzle.rules.origin is None else best_space(puzzle.rules).starts)
        assert result.layers[0] == starts, name
        assert 0 < result.layers[1] <= starts * len(puzzle.moves), name


def test_every_puzzle_was_searched_for() -> None:
    assert sorted(SEARCHED) == sorted(RESULTS.puzzles)


def test_published_numbers_are_ours_or_say_why_not() -> None:
    for name in SEARCHED:
        for claim in published(name):
            if claim.what != "distance":
                assert (claim.value == claim.ours(RESULTS.puzzles[name].layers)) is (not claim.differs), claim


@pytest.mark.parametrize(("name", "claim"), DISTANCES, ids=lambda value: value if isinstance(value, str) else "")
def test_published_distances_are_ours(name: str, claim: Published) -> None:
    (start,) = load_config(name).puzzle.start_labels
    assert antipodes.solve(name, start, claim.to).distance == claim.value


def test_the_published_layers_of_lights_out_are_more_than_its_positions() -> None:
    """What the entry says of the misprint in OEIS A079873: its own total shows it."""
    positions, _, layers = (claim.value for claim in published("lights-out-5x5"))
    ours = RESULTS.puzzles["lights-out-5x5"].layers
    assert isinstance(layers, list)
    assert sum(ours) == positions != sum(layers)
    assert [depth for depth, (left, right) in enumerate(zip(ours, layers, strict=True)) if left != right] == [7]


def test_the_published_radius_of_m12_is_that_without_the_inverse_shuffle() -> None:
    puzzle = load_config("m12").puzzle
    gathers = [puzzle.follow(move)[-1] for move in "RM"]
    layers = layers_by(
        puzzle.start_labels, lambda positions: np.concatenate([positions[:, gather] for gather in gathers])
    )
    assert (sum(layers), len(layers) - 1) == (95040, 29)
    assert [claim.value for claim in published("m12") if claim.differs] == [29]

    # fmt: on


def test_tips_of_the_pyraminx_turn_apart_from_the_rest() -> None:
    """Each of the four takes one move more, or none."""
    tips = np.array([1])
    for _ in range(4):
        tips = np.convolve(tips, [1, 2])
    assert np.convolve(RESULTS.puzzles["pyraminx"].layers, tips).tolist() == RESULTS.puzzles["pyraminx-tips"].layers


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.title)
def test_published_radii_of_a_family_are_ours(family: Family) -> None:
    found = RESULTS.families[family.title]
    for size, claim in published_radii(family.title).items():
        assert claim.value == claim.ours(found[size]), claim


def test_radii_are_published_of_all_families_but_one() -> None:
    assert [family.title for family in FAMILIES if not published_radii(family.title)] == [
        "Towers of Hanoi with four pegs"
    ]


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
def test_a_run_finds_the_same_layers(name: str) -> None:
    assert layers_of(load_config(name).settings) == RESULTS.puzzles[name].layers


@pytest.mark.slow
def test_a_run_finds_the_same_result() -> None:
    found, expected = (replace(one, seconds=0.0) for one in (result_of("ivy"), RESULTS.puzzles["ivy"]))
    assert found == expected


@pytest.mark.slow
@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.title)
def test_sizes_of_a_family(family: Family) -> None:
    for size in family.sizes:
        layers = RESULTS.families[family.title][size]
        assert sum(layers) > 100_000 or layers_of(family.settings(size)) == layers
        assert np.all(np.array(layers) > 0)
