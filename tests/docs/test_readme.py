"""The README's session, run as it stands there."""

import doctest
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from project import README

PROGRAM = str(Path(sys.executable).with_name("antipodes"))


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", README.read_text(encoding="utf-8"), flags=re.DOTALL)


def sessions() -> list[tuple[str, str]]:
    """Each command of the console blocks, and what it prints."""
    found = [re.split(r"^\$ ", block, flags=re.MULTILINE)[1:] for block in blocks("console")]
    return [(step.partition("\n")[0], step.partition("\n")[2]) for session in found for step in session]


def run(command: str, folder: Path) -> str:
    words = shlex.split(command)
    assert words[0] == "antipodes"
    environment = {**os.environ, "COLUMNS": "80"}
    done = subprocess.run(
        [PROGRAM, *words[1:]], cwd=folder, env=environment, capture_output=True, text=True, check=True
    )
    return done.stdout


def matches(expected: str, found: str) -> bool:
    """Whether the output is as shown, where three dots stand for anything, alone on a line for any lines."""
    lines = [_pattern(line) for line in expected.splitlines()]
    return re.fullmatch("".join(lines), found) is not None


def _pattern(line: str) -> str:
    return "(?:.*\n)*?" if line == "..." else ".*".join(re.escape(part) for part in line.split("...")) + "\n"


def test_the_session_prints_what_it_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert sessions()
    for command, expected in sessions():
        found = run(command, tmp_path)
        assert matches(expected, found), f"{command}\n--- expected\n{expected}\n--- found\n{found}"
    monkeypatch.chdir(tmp_path)
    for block in blocks("python"):
        test = doctest.DocTestParser().get_doctest(block, {}, "README", str(README), 0)
        assert doctest.DocTestRunner().run(test).failed == 0


def test_the_puzzles_are_puzzles(tmp_path: Path) -> None:
    configs = blocks("toml")
    assert configs
    for number, block in enumerate(configs):
        (tmp_path / f"{number}.toml").write_text(block, encoding="utf-8")
        run(f"antipodes plan {number}.toml", tmp_path)


def test_a_changed_output_is_noticed() -> None:
    assert matches("a\n...\nz\n", "a\nb\nc\nz\n")
    assert not matches("a\n...\nz\n", "a\nb\nc\n")
    assert not matches("31\n", "30\n")
