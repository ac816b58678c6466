"""The interrupted run of the five tasks: stopped, and continued on processes."""

import re
import shlex
import signal
from collections.abc import Callable

import pytest
from program_runs import Run
from project import DOCS

SECTION = (DOCS / "tutorial.md").read_text(encoding="utf-8").partition("## A run that is interrupted")[2]


def without_numbers(line: str) -> str:
    return re.sub(r"[\d.,]*\d", "N", line.strip())


def shown() -> dict[str, set[str]]:
    """The lines of output of each command, without their numbers."""
    found: dict[str, set[str]] = {}
    for block in re.findall(r"(?:^    .*\n)+", SECTION, re.MULTILINE):
        command, *lines = (line.strip() for line in block.splitlines())
        found[command.removeprefix("$ antipodes ")] = {without_numbers(line) for line in lines if line != "..."}
    return found


@pytest.mark.slow
def test_the_interrupted_run_is_continued_on_processes(begin: Callable[..., Run]) -> None:
    expected = shown()
    first, second = expected
    run = begin(*shlex.split(first))
    run.wait_for_depth(6)
    run.signal(signal.SIGINT)
    status, _, said = run.end()
    assert status == 75
    assert expected[first] <= set(map(without_numbers, said.splitlines()))
    status, out, said = begin(*shlex.split(second)).end()
    assert status == 0
    assert expected[second] <= set(map(without_numbers, (out + said).splitlines()))
