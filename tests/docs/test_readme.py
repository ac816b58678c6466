"""The commands of the README print the output shown."""

import doctest
import json
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from documents import blocks, matches, sessions
from programs import Command
from project import README

PROGRAM = str(Path(sys.executable).with_name("antipodes"))
TEXT = README.read_text(encoding="utf-8")


def run(command: str, folder: Path) -> str:
    program, *arguments = shlex.split(command)
    assert program == "antipodes"
    return subprocess.run([PROGRAM, *arguments], cwd=folder, capture_output=True, text=True, check=True).stdout


@pytest.mark.slow
def test_the_session_prints_the_output_shown(cli: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first command is run as installed."""
    monkeypatch.setenv("COLUMNS", "80")
    (first, _), *_ = sessions(TEXT)
    for command, expected in sessions(TEXT):
        found = run(command, tmp_path) if command == first else cli(*shlex.split(command)[1:]).out
        assert matches(expected, found), f"{command}\n--- expected\n{expected}\n--- found\n{found}"
    for block in blocks(TEXT, "python"):
        test = doctest.DocTestParser().get_doctest(block, {}, "README", str(README), 0)
        assert doctest.DocTestRunner().run(test).failed == 0


def test_the_puzzles_can_be_planned(cli: Command) -> None:
    configs = blocks(TEXT, "toml")
    assert configs
    for block in configs:
        Path("puzzle.toml").write_text(block, encoding="utf-8")
        assert cli("plan", "puzzle.toml").status == 0


@pytest.mark.slow
def test_the_table_of_sizes_matches_plan(cli: Command) -> None:
    """Memory is not compared, because it depends on the number of cores."""
    rows = re.findall(r"^\| `([\w-]+)`.* \| ([\d,]+) \| [\d.]+ GiB \| ([\d.]+) (MiB|GiB) \|$", TEXT, re.MULTILINE)
    assert len(rows) == 4
    for puzzle, positions, disk, unit in rows:
        plan = json.loads(cli("plan", puzzle, "--json").out)
        assert plan["reachable"] == int(positions.replace(",", "")), puzzle
        size = plan["disk_bytes"] / {"MiB": 1 << 20, "GiB": 1 << 30}[unit]
        assert size == pytest.approx(float(disk), rel=0.1), puzzle


def test_it_is_three_screens_long() -> None:
    assert len(TEXT.splitlines()) <= 150


def test_a_changed_output_is_noticed() -> None:
    assert matches("a\n...\nz\n", "a\nb\nc\nz\n")
    assert not matches("a\n...\nz\n", "a\nb\nc\n")
    assert not matches("31\n", "30\n")
