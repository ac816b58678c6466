"""The interrupted runs of two pages print the messages shown; numbers may differ."""

import re
import shlex
import signal
from collections.abc import Callable
from pathlib import Path

import pytest
from documents import without_numbers, write_files
from program_runs import Run
from programs import Command
from project import DOCS

Begin = Callable[..., Run]


def section(page: str, heading: str) -> tuple[str, dict[str, set[str]]]:
    """Return the text under a heading, and the output lines of each command without numbers.

    If a command occurs twice, its set contains the lines of both outputs.
    """
    text = (DOCS / page).read_text(encoding="utf-8").partition(f"## {heading}")[2]
    found: dict[str, set[str]] = {}
    for line in re.findall(r"^    (.*)$", text, re.MULTILINE):
        if line.startswith("$ antipodes "):
            lines = found.setdefault(line.removeprefix("$ antipodes "), set())
        elif line != "...":
            lines.add(without_numbers(line))
    return text, found


@pytest.mark.slow
def test_the_interrupted_run_prints_the_messages_shown(begin: Begin, cli: Command) -> None:
    _, expected = section("tutorial/first-table.md", "Interrupt and resume")
    run = begin("run", "seven-tiles")
    run.wait_for_depth(20)
    run.signal(signal.SIGINT)
    status, _, said = run.end()
    assert status == 75
    printed = {}
    for command in list(expected)[1:]:
        outcome = cli(*shlex.split(command))
        printed[command] = outcome.out + outcome.err
    (committed,) = re.findall(r"depths 0 to (\d+) are kept", said)
    again = begin("run", "seven-tiles")
    again.wait_for_depth(int(committed) + 1)
    printed["run seven-tiles"] = said + again.err
    for command, lines in expected.items():
        assert lines <= set(map(without_numbers, printed[command].splitlines())), command


@pytest.mark.slow
def test_the_interrupted_run_is_continued_on_processes(
    begin: Begin, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    text, expected = section("how-to/five-tasks.md", "A run that is interrupted and continued")
    write_files(text.replace("discs = 14", "discs = 10"))  # a 16th of the layers
    assert "discs = 10" in (tmp_path / "fourteen.toml").read_text()
    first, *later = expected
    run = begin(*shlex.split(first))
    run.wait_for_depth(200)
    run.signal(signal.SIGINT)
    status, _, said = run.end()
    assert status == 75
    assert expected[first] <= set(map(without_numbers, said.splitlines()))
    for command in later:
        status, out, said = begin(*shlex.split(command)).end()
        assert status == 0
        assert expected[command] <= set(map(without_numbers, (out + said).splitlines()))
