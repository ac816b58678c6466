"""The interrupted run of the tutorial, with its messages; numbers may differ."""

import re
import shlex
import signal
from collections.abc import Callable

import pytest
from documents import without_numbers
from program_runs import Run
from programs import Command
from project import DOCS

SECTION = (DOCS / "tutorial" / "first-table.md").read_text(encoding="utf-8").partition("## Interrupt and resume")[2]


def shown() -> dict[str, list[str]]:
    """The lines of output of each command in the section; a command that occurs twice has the lines of both."""
    found: dict[str, list[str]] = {}
    lines: list[str] = []
    for line in re.findall(r"^    (.*)$", SECTION, re.MULTILINE):
        if line.startswith("$ "):
            lines = found.setdefault(line.removeprefix("$ antipodes "), [])
        elif line != "...":
            lines.append(without_numbers(line))
    return found


@pytest.mark.slow
def test_the_interrupted_run_prints_the_messages_shown(begin: Callable[..., Run], cli: Command) -> None:
    expected = shown()
    run = begin("run", "seven-tiles")
    run.wait_for_depth(20)
    run.signal(signal.SIGINT)
    status, _, said = run.end()
    assert status == 75
    printed = {}
    for command in list(expected)[1:]:
        outcome = cli(*shlex.split(command))
        printed[command] = outcome.out + outcome.err
    again = begin("run", "seven-tiles")
    again.wait_for_depth(30)
    printed["run seven-tiles"] = said + again.err
    for command, lines in expected.items():
        found = {without_numbers(line) for line in printed[command].splitlines()}
        assert set(lines) <= found, command
