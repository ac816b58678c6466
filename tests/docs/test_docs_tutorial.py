"""The interrupted run of the five tasks: stopped, and continued on processes."""

import re
import shlex
import signal
from collections.abc import Callable
from pathlib import Path

import pytest
from documents import without_numbers, write_files
from program_runs import Run
from project import DOCS

SECTION = (DOCS / "tutorial.md").read_text(encoding="utf-8").partition("## A run that is interrupted")[2]


def shown() -> dict[str, set[str]]:
    """The lines of output of each command, without their numbers."""
    found: dict[str, set[str]] = {}
    for line in re.findall(r"^    (.*)$", SECTION, re.MULTILINE):
        if line.startswith("$ antipodes "):
            lines = found.setdefault(line.removeprefix("$ antipodes "), set())
        elif line != "...":
            lines.add(without_numbers(line))
    return found


@pytest.mark.slow
def test_the_interrupted_run_is_continued_on_processes(
    begin: Callable[..., Run], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    write_files(SECTION)
    expected = shown()
    first, *later = expected
    run = begin(*shlex.split(first))
    run.wait_for_depth(1000)
    run.signal(signal.SIGINT)
    status, _, said = run.end()
    assert status == 75
    assert expected[first] <= set(map(without_numbers, said.splitlines()))
    for command in later:
        status, out, said = begin(*shlex.split(command)).end()
        assert status == 0
        assert expected[command] <= set(map(without_numbers, (out + said).splitlines()))
