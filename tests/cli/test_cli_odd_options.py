"""Odd values of options: one line with the option's name, what it takes, and the value that was found."""

import re
from collections.abc import Callable, Iterator

import pytest

from antipodes.cli.main import COMMANDS, load_command

NUMBERS = ("", "abc", "1.5.2", "nan", "0x10", "٣", "a\x1b[31m\nb", "\udcff", "--json")
RAW = re.compile(r"unexpected|defect|internal|Invalid value|should be|unable to parse|is not a valid|not in the range")
"""Words of the libraries that read the options, and of a defect."""


def options() -> Iterator[tuple[str, str, bool]]:
    """Each option of each command that takes a value: the command, the option, and whether it takes a number."""
    for commands in COMMANDS.values():
        for command in commands:
            for one in load_command(command).params:
                if one.param_type_name == "option" and not one.is_flag:
                    yield command, max(one.opts, key=len), one.type_descriptor.annotation in (int, float)


NUMERIC = sorted((command, name) for command, name, is_number in options() if is_number)


def test_all_numeric_options_are_known() -> None:
    assert ("query", "--depth") in NUMERIC
    assert ("farthest", "--size") in NUMERIC
    assert ("run", "--workers") in NUMERIC


@pytest.mark.parametrize(("command", "option"), NUMERIC)
def test_no_number(command: str, option: str, refused: Callable[..., str]) -> None:
    required = ["--to", "x.csv"] if command == "graph" else ["--output", "x.html"] if command == "report" else []
    for value in NUMBERS:
        message = refused(command, "x", *required, option, value)
        assert message.startswith(f"antipodes: {option}: expected a"), message
        assert not RAW.search(message)
        assert "found " in message


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (("run", "eight-puzzle", "--workers", "0"), "--workers: expected an integer of at least 1, found '0'"),
        (("run", "eight-puzzle", "--workers", "5000"), "expected --workers from 1 to 4096, found 5000"),
        (("run", "eight-puzzle", "--symmetry", "maybe"), "--symmetry: expected one of auto, on, off, found 'maybe'"),
        (("run", "eight-puzzle", "--memory-limit", "2 XB"), "--memory-limit: expected a size such as 800MB"),
        (("run", "eight-puzzle", "--memory-limit", ""), "--memory-limit: expected"),
        (("run", "eight-puzzle", "--scheduler", "x"), "--scheduler"),
        (("run", "eight-puzzle", "--scheduler-file", ""), "expected --scheduler-file as a path"),
        (("run", "eight-puzzle", "--store", ""), "expected --store as a path or string, found ''"),
        (("run", "eight-puzzle", "--store", "s3://"), "--store: expected a URL such as s3://bucket/name.zarr"),
        (("run", "\udcff"), "found '\\udcff'"),
        (("plan", "eight-puzzle", "--symmetry", "maybe"), "--symmetry: expected one of auto, on, off"),
        (("farthest", "x", "--size", "-1"), "--size: expected an integer from 16 to 4096, found '-1'"),
        (("serve", "x", "--port", "70000"), "--port: expected an integer from 0 to 65535, found '70000'"),
        (("solve", "eight-puzzle", "123456780", "--to", "1 2"), "--to: "),
        (("solve", "2x2x2", "--moves", "Q"), "--moves: "),
        (("graph", "eight-puzzle", "--to", "x.txt"), "--to: the file name must end in .graphml"),
        (("unrank", "eight-puzzle", "first"), "INDEX: expected an integer, found 'first'"),
    ],
    ids=" ".join,
)
def test_the_message(words: tuple[str, ...], expected: str, refused: Callable[..., str]) -> None:
    message = refused(*words)
    assert expected in message
    assert not RAW.search(message)


@pytest.mark.parametrize(
    ("words", "missing"),
    [(("verify",), "argument STORE"), (("graph", "x"), "option --to"), (("report", "x"), "option --output")],
)
def test_a_missing_argument_or_option_is_named(
    words: tuple[str, ...], missing: str, refused: Callable[..., str]
) -> None:
    assert refused(*words).startswith(f"antipodes: the {missing} is missing")
