"""Patterns of puzzles as configs."""

import tomllib
from pathlib import Path

import numpy as np
import pytest
from programs import Command

from antipodes.config import Config, load_config
from antipodes.puzzles.abstraction import abstracted
from antipodes_tasks.errors import InputError
from antipodes_tasks.spaces.selection import best_space


def pattern(name: str, keep: str | None = None, equal: tuple[str, ...] = (), free: bool = False) -> Config:
    kept = None if keep is None else keep.split()
    return Config(abstracted(load_config(name).puzzle, kept, [one.split() for one in equal], free))


@pytest.mark.parametrize(
    ("name", "keep", "equal", "start"),
    [
        ("eight-puzzle", "1 2 3", (), "1 2 3 x x x x x 0"),
        ("eight-puzzle", None, ("5 6 7", "1 2"), "1 1 3 4 5 5 5 8 0"),
        ("eight-puzzle", "1 2 3", ("1 2",), "1 1 3 x x x x x 0"),
        ("hole-in-the-middle", "1 2", (), None),
        ("knights-labelled", None, ("A B C", "X Y Z"), "AAA------XXX"),
        ("pancake-10", "1 2 3", (), "1 2 3 x x x x x x x"),
        ("topspin-11", "1 2", (), "1 2 x x x x x x x x x"),
        ("m12", "0 1", (), "0 1 x x x x x x x x x x"),
    ],
)
def test_a_pattern_is_the_puzzle_with_equal_pieces(
    name: str, keep: str | None, equal: tuple[str, ...], start: str | None
) -> None:
    puzzle, found = load_config(name).puzzle, pattern(name, keep, equal).puzzle
    assert start in (None, found.format(found.start_labels[0]))
    assert (found.places, found.moves.names) == (puzzle.places, puzzle.moves.names)
    assert best_space(found.rules).size < best_space(puzzle.rules).size
    becomes = np.zeros(len(puzzle.symbols), dtype=np.uint8)
    becomes[puzzle.start_labels[0]] = found.start_labels[0]
    position = puzzle.start_labels[0]
    for _ in range(5):  # a move of the puzzle is one of the pattern
        position = puzzle.successors(position)[-1]
        after = {bytes(one) for one in found.successors(becomes[position])}
        assert {bytes(becomes[one]) for one in puzzle.successors(position)} <= after


def test_free_tiles_are_those_that_are_not_kept() -> None:
    found = pattern("eight-puzzle", "1 2 3 4", free=True)
    assert (found.settings["free"], best_space(found.puzzle.rules).size) == (["x"], 5520)
    assert found.settings["name"] == "eight-puzzle-1-2-3-4"


@pytest.mark.parametrize(
    ("name", "keep", "equal", "free", "message"),
    [
        ("eight-puzzle", "1 9", (), False, "expected pieces of eight-puzzle: 1 2 3 4 5 6 7 8; found '9'"),
        ("eight-puzzle", "0 1", (), False, "expected pieces of eight-puzzle: 1 2 3 4 5 6 7 8; found '0'"),
        ("eight-puzzle", "1 2 3 4 5 6 7", (), False, "expected pieces that become equal, found 1 2 3 4 5 6 7 8, all"),
        ("pancake-10", "1", (), True, "--free: expected a sliding puzzle and --keep"),
        ("eight-puzzle", None, ("1 2",), True, "--free: expected a sliding puzzle and --keep"),
        ("eight-puzzle", None, ("1 2", "2 3"), False, "--equal: expected each piece once, found '2' twice"),
        ("klotski", "A", (), False, "expected a puzzle of the family sliding, jump, pancake, topspin, generators"),
    ],
)
def test_what_makes_no_pattern_is_refused(
    name: str, keep: str | None, equal: tuple[str, ...], free: bool, message: str
) -> None:
    with pytest.raises(InputError, match=message):
        pattern(name, keep, equal, free)


def test_the_command_prints_a_config_that_runs(cli: Command) -> None:
    printed = cli("abstract", "eight-puzzle", "--keep", "1,2,3,4", "--free").out
    assert tomllib.loads(printed)["puzzle"]["start"].split() == ["1", "2", "3", "4", "x", "x", "x", "x", "0"]
    Path("four.toml").write_text(printed)
    assert "5,520 positions" in cli("run", "four.toml", "--quiet").out
    for arguments in ((), ("--keep", ","), ("--keep", "1", "--equal", "x")):
        assert cli("abstract", "eight-puzzle", *arguments).status == 2
