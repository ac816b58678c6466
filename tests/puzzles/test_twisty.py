"""Twisty puzzles and groups given by generators, against known layers, by a plain search over successors."""

import re
from pathlib import Path
from typing import Any

import pytest
from brute_force import layers_of
from oracles import ORACLES
from project import ROOT
from table_search import layers_of_space

from antipodes.puzzles.config import load_config, restrict_moves
from antipodes.puzzles.families import puzzle_from
from antipodes_tasks.base.errors import ConfigError
from antipodes_tasks.spaces.selection import best_space

SAMPLES = ROOT / "tests" / "support" / "samples"
FIVE = {"name": "p", "family": "generators", "start": "0 1 2 3 4", "moves": {"L": [1, 2, 3, 4, 0], "X": "(0 1)"}}


def test_a_definition_in_place_of_a_config() -> None:
    puzzle = load_config(str(SAMPLES / "pyramorphix.tws")).puzzle
    assert (puzzle.name, puzzle.family) == ("pyramorphix", "twisty")
    assert layers_of(puzzle) == ORACLES["twisty"]["pyramorphix"]
    assert puzzle.format(puzzle.start_labels[0]) == "1 2 3 4 / 1 2 3 4"


def test_a_file_named_by_a_config(tmp_path: Path) -> None:
    (tmp_path / "p.tws").write_text((SAMPLES / "puzzlernovice.tws").read_text())
    config = tmp_path / "p.toml"
    config.write_text('[puzzle]\nname = "novice"\nfamily = "twisty"\nfile = "p.tws"\nturns = "quarter"\n')
    loaded = load_config(str(config))
    assert loaded.puzzle.name == "novice"
    assert loaded.puzzle.moves.names == ("R", "R'", "L", "L'")
    assert puzzle_from(loaded.settings).fingerprint == loaded.puzzle.fingerprint, "settings alone make the puzzle"


def test_with_some_moves_alone_the_corner_that_they_leave_is_fixed() -> None:
    found = restrict_moves(load_config("2x2x2"), "U R F", ())
    assert found.settings["name"] == "2x2x2-U-R-F"
    assert best_space(found.puzzle.rules).size == 3_674_160
    assert layers_of(found.puzzle, 5) == ORACLES["twisty"]["2x2x2 one corner fixed, half turns"][:6]


def test_powers_of_moves_alone() -> None:
    puzzle = restrict_moves(load_config(str(SAMPLES / "2x2x2.tws")), "U R2 F", ()).puzzle
    assert puzzle.moves.names == ("U", "U2", "U'", "R2", "F", "F2", "F'")
    assert puzzle.follow("D").shape == (2, 16), "the other names remain for sequences"


def test_without_some_sets_of_pieces() -> None:
    pyraminx = load_config("pyraminx")
    centres, edges = (restrict_moves(pyraminx, None, omit).puzzle for omit in (["EDGES"], ["AXIALS"]))
    whole = layers_of_space(best_space(edges.rules))
    assert sum(layers_of_space(best_space(centres.rules))) == 81
    assert sum(whole) * 81 == 933_120


def test_what_cannot_be_left_out() -> None:
    with pytest.raises(
        ConfigError, match=r"need a twisty puzzle, such as a .* file; the family of this puzzle is 'sliding'"
    ):
        restrict_moves(load_config("eight-puzzle"), "L", ())
    with pytest.raises(ConfigError, match="omit: expected some of the sets CORNERS, found 'EDGES'"):
        restrict_moves(load_config("2x2x2"), None, ["EDGES"])
    with pytest.raises(ConfigError, match="omit: at least one set must remain; the sets are CORNERS"):
        restrict_moves(load_config("2x2x2"), None, ["CORNERS"])
    for wrong in ("Q", "UR", "(R", "R2)"):
        expected = rf"only_moves: expected moves among U, .*; found {re.escape(repr(wrong))}"
        with pytest.raises(ConfigError, match=expected):
            restrict_moves(load_config("2x2x2"), f"U {wrong}", ())
    with pytest.raises(ConfigError, match="only_moves: the list of moves is empty"):
        restrict_moves(load_config("2x2x2"), " ", ())


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('file = "none.tws"', r"file: 'none.tws': cannot be read as a .tws file: No such file"),
        ('file = "p.toml"', "file: expected a .tws, .json, .gap file, found 'p.toml'"),
        ('file = "p.tws"', "file: 'p.tws': line 1: expected 'Set NAME PIECES ORIENTATIONS'"),
        ("", r"\[puzzle\]: the key 'file' is missing"),
        ('format = "zip"\ndefinition = "x"', "format: expected one of tws, kpuzzle, gap, found 'zip'"),
    ],
)
def test_refused_files(text: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "p.tws").write_text("Set CORNER 1\n")
    config = tmp_path / "p.toml"
    config.write_text(f'[puzzle]\nname = "novice"\nfamily = "twisty"\n{text}\n')
    with pytest.raises(ConfigError, match=message):
        load_config(str(config))


def test_generators() -> None:
    published = ORACLES["permutation-families"]["lrx-5"]
    assert layers_of(puzzle_from({**FIVE, "turns": "quarter"})) == published
    assert puzzle_from(FIVE).moves.names == ("L", "L2", "L2'", "L'", "X")
    assert puzzle_from({**FIVE, "turns": "single"}).moves.names == ("L", "X")
    assert not puzzle_from({**FIVE, "turns": "single"}).moves.reversible


def test_cycles_and_lists_agree() -> None:
    """The piece on place 0 goes to place 1, so place 1 gets its piece from place 0."""
    lists, cycles = ({**FIVE, "moves": {"A": move}} for move in ([2, 0, 1, 4, 3], "(0, 1 2)(3 4)"))
    assert puzzle_from(lists).fingerprint == puzzle_from(cycles).fingerprint


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"moves": {}}, "moves: expected a table of named permutations, found {}"),
        ({"moves": {"A B": "(0 1)"}}, "expected names without spaces, found 'A B'"),
        ({"moves": {"A": "(0 5)"}}, "moves.A: expected places from 0 to 4, found 5"),
        ({"moves": {"A": "(0 1)(1 2)"}}, "moves.A: expected each place at most once, found 1 twice"),
        ({"moves": {"A": "0 1"}}, r"moves.A: expected cycles such as '\(0 1 2\)\(3 4\)', found '0 1'"),
        ({"moves": {"A": [0, 1, 2, 3]}}, "moves.A: expected each of 0 to 4 once, or cycles"),
        ({"turns": "whole"}, "turns: expected one of half, quarter, single, found 'whole'"),
    ],
)
def test_refused_generators(change: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        puzzle_from({**FIVE, **change})


def test_many_blanks_are_read_in_time() -> None:
    with pytest.raises(ConfigError, match="expected cycles"):
        puzzle_from({**FIVE, "moves": {"A": "(" + " " * 50_000 + "x"}})
