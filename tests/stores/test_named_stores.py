"""A store is named by its path, its puzzle or board, or the file that describes it; names never mix up two puzzles."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from programs import Command
from stores import toml
from tiling_stores import SQUARE, board_file

LINE = {"name": "line", "family": "sliding", "rows": 1, "columns": 3, "start": "1 2 0"}
FAR = "8 6 7 2 5 4 3 0 1"
Refused = Callable[..., str]


@pytest.fixture
def line(tmp_path: Path) -> Path:
    """The file of a puzzle."""
    path = tmp_path / "my-file.toml"
    path.write_text(toml(LINE))
    return path


@pytest.fixture
def eight_there(cli: Command, finished: Path, tmp_path: Path) -> Path:
    """The table of the eight-puzzle in outputs/."""
    return Path(shutil.copytree(finished, tmp_path / "outputs" / "eight-puzzle.zarr"))


def test_by_the_file_of_the_puzzle(cli: Command, refused: Refused, line: Path) -> None:
    assert refused("query", line, "102").endswith(f"create it with: antipodes run {line}\n")
    cli("run", line, "--quiet")
    for name in ("my-file.toml", line, "line", "outputs/line.zarr"):
        assert cli("query", name, "1 0 2").out == "1 0 2: 1\n"
    for command in ("status", "layers", "farthest", "verify", "resume"):
        assert cli(command, "my-file.toml", "--json").status == 0


def test_a_file_that_says_where_its_store_is(cli: Command, line: Path, tmp_path: Path) -> None:
    line.write_text(toml(LINE) + f'\nstore = "{tmp_path}/elsewhere.zarr"\n')
    cli("run", line, "--quiet")
    assert cli("query", line, "1 0 2").out == "1 0 2: 1\n"
    assert (tmp_path / "elsewhere.zarr").exists()


def test_by_the_file_of_a_board(cli: Command, tmp_path: Path) -> None:
    board = board_file(SQUARE, tmp_path / "my-board.toml")
    cli("tile", board, "--quiet")
    assert cli("show", "my-board.toml").out == cli("show", "square").out != ""


def test_a_puzzle_in_python(cli: Command, refused: Refused, tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(
        f"from antipodes.puzzles.families import puzzle_from\nline = puzzle_from({LINE!r})\n"
    )
    assert "create it with: antipodes run mine.py:line" in refused("query", "mine.py:line", "1 0 2")
    cli("run", "mine.py:line", "--quiet")
    assert cli("query", "mine.py:line", "1 0 2").out == "1 0 2: 1\n"


def test_a_mistyped_name(refused: Refused, eight_there: Path) -> None:
    assert refused("status", "eight-puzle").endswith("in outputs/; did you mean eight-puzzle?\n")
    assert refused("show", "6x9").endswith("in outputs/; did you mean 6x10?\n")


def test_a_file_that_describes_nothing(refused: Refused, tmp_path: Path) -> None:
    (tmp_path / "odd.toml").write_text("[puzzle]\nname = 'odd'\n")
    assert "odd.toml" in refused("query", "odd.toml", "102")


def test_two_puzzles_of_one_name(cli: Command, refused: Refused, eight_there: Path, tmp_path: Path) -> None:
    """An own puzzle of the name of a bundled one, whose store is in outputs/, and the other way round."""
    own = tmp_path / "own.toml"
    own.write_text(toml({**LINE, "name": "eight-puzzle"}))
    assert "outputs/eight-puzzle.zarr belongs to another puzzle" in refused("query", "own.toml", "1 0 2")
    assert "another puzzle" in refused("run", "own.toml", "--quiet")
    assert cli("query", "eight-puzzle", FAR).out == f"{FAR}: 31\n"
    shutil.rmtree(eight_there)
    cli("run", "own.toml", "--quiet")
    for command in (("query", "eight-puzzle", FAR), ("status", "eight-puzzle"), ("verify", "eight-puzzle")):
        assert "outputs/eight-puzzle.zarr belongs to another puzzle" in refused(*command)
    assert cli("query", "own.toml", "1 0 2").out == cli("query", eight_there, "1 0 2").out == "1 0 2: 1\n"


def test_advice_about_two_puzzles_of_one_name_works(
    cli: Command, refused: Refused, eight_there: Path, line: Path, tmp_path: Path
) -> None:
    line.write_text(toml({**LINE, "name": "eight-puzzle"}))
    assert refused("query", line, "1 0 2").endswith(f"rename yours, then: antipodes run {line}\n")
    line.write_text(toml({**LINE, "name": "mine"}))
    assert cli("run", line, "--quiet").status == 0
    assert cli("query", line, "1 0 2").out == "1 0 2: 1\n"
    shutil.rmtree(eight_there)
    line.write_text(toml({**LINE, "name": "eight-puzzle"}))
    cli("run", line, "--quiet")
    advice = refused("query", "eight-puzzle", FAR)
    assert advice.endswith("antipodes run eight-puzzle --store STORE; then give STORE instead of its name\n")
    assert refused("query", eight_there, FAR, "--puzzle", "eight-puzzle").endswith("although both have this name\n")
    question = ("solve", "eight-puzzle", FAR, "--method", "table")
    assert refused(*question, "--store", eight_there).endswith("two puzzles have this name\n")
    assert cli("run", "eight-puzzle", "--store", "its.zarr", "--quiet").status == 0
    assert cli("query", "its.zarr", FAR).out == f"{FAR}: 31\n"


@pytest.mark.parametrize("name", ["3x3x3", "fifteen-puzzle"])
def test_a_table_that_would_be_too_large_is_not_advised(refused: Refused, name: str) -> None:
    advice = f"are too many; solve single positions with: antipodes solve {name} POSITION\n"
    assert refused("query", name, "--moves", "U").endswith(advice)
    assert refused("run", name).endswith(f"solve single positions with its pattern tables: {advice.partition(': ')[2]}")


def test_damage_is_reported_by_the_command(refused: Refused, eight_there: Path) -> None:
    (eight_there / "commit.json").write_text("{}")
    assert "is corrupt" in refused("query", "eight-puzzle", FAR, status=1)
