"""Signals that arrive before the command line is loaded, and after its command has ended."""

import signal
import subprocess
import sys

import pytest
from programs import Command

from antipodes.cli.main import Commands

AT_AN_IMPORT = """
import os, sys
class Interrupting:
    def find_spec(self, name, path=None, target=None):
        if name == "{module}":
            os.kill(os.getpid(), {number})
sys.meta_path.insert(0, Interrupting())
"""
AT_THE_END = "import atexit, os; atexit.register(os.kill, os.getpid(), {number})\n"
IN_A_COMMAND = AT_AN_IMPORT.replace("{module}", "antipodes.tilings.config")
AT_AN_IMPORT = AT_AN_IMPORT.replace("{module}", "typer")
MAIN = "from antipodes.program import main; main()"


def ended(code: str, number: signal.Signals) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, "-c", code.format(number=int(number)) + MAIN, "boards"]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interruption_while_the_command_line_loads(number: signal.Signals) -> None:
    process = ended(AT_AN_IMPORT, number)
    assert (process.returncode, process.stdout, process.stderr) == (75, "", "antipodes: stopped\n")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interruption_while_a_command_loads_its_libraries(number: signal.Signals) -> None:
    process = ended(IN_A_COMMAND, number)
    assert (process.returncode, process.stdout, process.stderr) == (75, "", "antipodes: stopped\n")


def test_an_ignored_signal_stays_ignored() -> None:
    code = f"import signal; signal.signal(signal.SIGINT, signal.SIG_IGN)\n{AT_AN_IMPORT}"
    process = ended(code, signal.SIGINT)
    assert (process.returncode, process.stderr) == (0, "")


def test_an_interruption_after_the_command() -> None:
    process = ended(AT_THE_END, signal.SIGINT)
    assert process.stdout
    assert (process.returncode, process.stderr) == (-signal.SIGINT, "")


def test_an_interruption_while_the_arguments_are_read(cli: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Commands, "make_context", interrupted)
    outcome = cli("boards")
    assert (outcome.status, outcome.out, outcome.err) == (75, "", "antipodes: stopped\n")


def test_the_program_of_a_python() -> None:
    process = subprocess.run(
        [sys.executable, "-m", "antipodes", "rank", "--permutation", "3 1 2 0"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert process.stdout.splitlines()[-1] == "number       21"
