"""Commands that messages suggest work as they are printed, for any path of the store."""

import shlex
from pathlib import Path

import pytest
from programs import Command
from stores import toml
from tiling_stores import SQUARE, board_file

from antipodes.config import Config
from antipodes.tables.run import RunOptions, run_puzzle

PUZZLE = {"name": "tiny", "family": "sliding", "rows": 2, "columns": 2, "start": "1 2 3 0"}
NAMES = ["a b's $x é.zarr", "-x.zarr"]


def suggested(output: str, beginning: str) -> list[str]:
    """The arguments of the command after these words."""
    line = next(line for line in output.splitlines() if beginning in line)
    program, *arguments = shlex.split(line.partition(beginning)[2])
    assert program == "antipodes"
    return arguments


@pytest.mark.parametrize("name", NAMES)
def test_after_a_run(name: str, cli: Command, tmp_path: Path) -> None:
    (tmp_path / "tiny.toml").write_text(toml(PUZZLE))
    outcome = cli("run", "tiny.toml", f"--store={name}", "--quiet")
    assert cli(*suggested(outcome.out, "query   ")).status == 0


@pytest.mark.parametrize("name", NAMES)
def test_after_a_search_for_tilings(name: str, cli: Command, tmp_path: Path) -> None:
    outcome = cli("tile", board_file(SQUARE, tmp_path / "b.toml"), f"--store={name}", "--quiet")
    assert cli(*suggested(outcome.out, "show     ")).status == 0


@pytest.mark.parametrize("name", NAMES)
def test_of_an_unfinished_table(name: str, cli: Command, tmp_path: Path) -> None:
    path = f"./{name}"
    for command in (["status", path], ["layers", path], ["query", path, "3 1 2 0"], ["farthest", path]):
        asked = iter(range(100))
        options = RunOptions(workers=1, overwrite=(tmp_path / name).exists())
        run_puzzle(Config(PUZZLE), tmp_path / name, options, interrupted=lambda it=asked: next(it) >= 1)
        outcome = cli(*command)
        printed = (outcome.out + outcome.err).replace("ends: ", "resume with: ").replace("known: ", "resume with: ")
        arguments = suggested(printed.replace("with: ", "with "), "resume with")
        assert cli(*arguments, "--quiet").status == 0
        assert "finished" in cli("status", path).out


def test_a_link_to_itself(cli: Command, tmp_path: Path) -> None:
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    outcome = cli("run", "eight-puzzle", "--store", "loop")
    assert (outcome.status, len(outcome.err.splitlines())) == (2, 1)
    assert "a link to itself" in outcome.err
