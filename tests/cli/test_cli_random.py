"""The command ``random``: lines that other commands read, seeds, and refusals."""

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from programs import Command

import antipodes as ap
from antipodes_tasks.base.errors import InputError


def test_lines_are_positions_and_a_seed_repeats_them(cli: Command) -> None:
    first, again = cli("random", "3x3x3", "--count", 5, "--seed", 1), cli("random", "3x3x3", "--count", 5, "--seed", 1)
    assert first.out == again.out
    lines = first.out.splitlines()
    assert len(set(lines)) == 5
    puzzle = ap.load_puzzle("3x3x3")
    drawn = ap.random_positions("3x3x3", 5, seed=1)
    assert [puzzle.format(one) for one in drawn] == lines
    assert np.array_equal(puzzle.positions(lines), drawn)


def test_the_seed_of_the_json_output_repeats_the_positions(cli: Command) -> None:
    found = json.loads(cli("random", "fifteen-puzzle", "--count", 3, "--json").out)
    assert found["puzzle"] == "fifteen-puzzle"
    again = json.loads(cli("random", "fifteen-puzzle", "--count", 3, "--seed", found["seed"], "--json").out)
    assert again == found
    assert len(found["positions"]) == 3


def test_lines_of_square_1(cli: Command, tmp_path: Path) -> None:
    config = tmp_path / "square.toml"
    config.write_text('[puzzle]\nname = "square"\nfamily = "square-1"\nmetric = "twist"\n', encoding="utf-8")
    first, again = cli("random", config, "--count", 5, "--seed", 1), cli("random", config, "--count", 5, "--seed", 1)
    assert first.out == again.out
    puzzle = ap.load_puzzle(config)
    drawn = ap.random_positions(config, 5, seed=1)
    assert np.array_equal(puzzle.positions(first.out.splitlines()), drawn)
    assert len({len(set(one[:24].tolist())) for one in drawn}) == 1


def test_refusals(refused: Callable[..., str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("antipodes_tasks.spaces.uniform_sample.MAX_LISTED", 80)
    monkeypatch.setattr("antipodes_tasks.spaces.shapes.MAX_SHAPE_MOVES", 80)
    monkeypatch.setattr("antipodes_tasks.spaces.shapes._latest", [])
    towers = tmp_path / "towers.toml"
    towers.write_text('[puzzle]\nname = "towers"\nfamily = "hanoi"\ndiscs = 4\n', encoding="utf-8")
    assert "the reachable positions of towers are only known from its table" in refused("random", towers)
    assert "--count" in refused("random", "3x3x3", "--count", 0)
    with pytest.raises(InputError, match="count"):
        ap.random_positions("3x3x3", -1)
