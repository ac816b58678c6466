"""The help of every command: short, with examples that are commands, and nothing cut off."""

import re
import shlex

import pytest
from programs import Command

from antipodes.cli.main import COMMANDS as SECTIONS
from antipodes.cli.main import load_command

HELP = {name: text for commands in SECTIONS.values() for name, (_, text) in commands.items()}
COMMANDS = sorted(HELP)


@pytest.fixture(autouse=True)
def _columns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")


@pytest.mark.parametrize("command", COMMANDS)
def test_help_of_a_command(command: str, cli: Command) -> None:
    outcome = cli(command, "-h")
    assert (outcome.status, outcome.err) == (0, "")
    assert outcome.out == cli(command, "--help").out
    assert max(map(len, outcome.out.splitlines())) <= 80
    assert not re.search(r"<\w+>|x>=|\[required\]|[{}]STORE", outcome.out), "notation of the library"


@pytest.mark.parametrize("command", COMMANDS)
def test_examples_come_before_the_options_and_can_be_parsed(command: str, cli: Command) -> None:
    before, _, _ = cli(command, "--help").out.partition("\nOptions:\n")
    before = before.partition("\nArguments:\n")[0]
    examples = re.findall(r"^  (antipodes .*)$", before, re.MULTILINE)
    assert 2 <= len(examples) <= 4
    for example in examples:
        program, name, *words = shlex.split(re.split(" [<>] ", example)[0])
        assert (program, name) == ("antipodes", command)
        load_command(name).make_context(name, words)


def test_the_overview(cli: Command) -> None:
    out = cli("--help").out
    assert out == cli("-h").out == cli().out
    assert "..." not in out.replace("[ARGS]...", "")
    assert max(map(len, out.splitlines())) <= 80
    for command in COMMANDS:
        assert re.search(rf"^  {command} +[A-Z]", out, re.MULTILINE)
        assert load_command(command).help == HELP[command]


def test_the_version(cli: Command) -> None:
    outcome = cli("--version")
    assert outcome.status == 0
    assert re.fullmatch(r"antipodes \d+\.\d+\.\d+\S*\n", outcome.out)


@pytest.mark.parametrize("command", COMMANDS)
def test_a_mistyped_option_is_refused_with_the_right_one(command: str, cli: Command) -> None:
    outcome = cli(command, "--hepl")
    assert (outcome.status, outcome.out) == (2, "")
    assert outcome.err == f"antipodes: {command} has no option --hepl; did you mean --help?\n"
