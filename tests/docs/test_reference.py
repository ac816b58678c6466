"""The reference pages name every option, key, variable and error that exists, and none that does not."""

import json
import re
from pathlib import Path
from typing import Any, get_args

import pytest
import python_reference
from programs import Command
from project import DOCS, ROOT

from antipodes.cli.main import COMMANDS as SECTIONS
from antipodes.cli.main import load_command
from antipodes.puzzles.config import RUN_KEYS, load_puzzle
from antipodes.puzzles.families import FAMILIES, puzzle_from
from antipodes.system.events import Event
from antipodes.tables.table import Table
from antipodes.tilings.table import Tiling, Tilings
from antipodes_tasks.base import errors
from antipodes_tasks.base.errors import AntipodesError, ConfigError
from antipodes_tasks.exact_cover.tiling_problem import parse_problem

COMMANDS: dict[str, Any] = {name: load_command(name) for commands in SECTIONS.values() for name in commands}

WITHIN_THE_PROGRAM = {"captioned_start", "check_starts", "reached_entries"}


def page(name: str) -> str:
    return (DOCS / "reference" / name).read_text(encoding="utf-8")


def section(text: str, heading: str) -> str:
    """The text under a heading, up to the next of its level or of a higher one."""
    level = len(heading.partition(" ")[0])
    return re.split(rf"^#{{1,{level}}} ", text.partition(f"\n{heading}\n")[2], flags=re.MULTILINE)[0]


def options_of(command: str) -> set[str]:
    names = {name for one in COMMANDS[command].params if one.param_type_name == "option" for name in one.opts}
    return names - {"--help"}


def test_the_options_of_a_command_are_those_of_the_page_and_its_help_names_no_others() -> None:
    for command, loaded in COMMANDS.items():
        rows = [line.split("|")[1] for line in section(page("cli.md"), f"## `{command}`").splitlines() if "|" in line]
        assert set(re.findall(r"`(-[\w-]+)", " ".join(rows))) == options_of(command), command
        helps = " ".join(getattr(one, "help", None) or "" for one in loaded.params)
        assert set(re.findall(r"(?<![\w-])--[a-z][a-z-]*", helps)) <= options_of(command), command


def test_the_page_has_no_command_that_does_not_exist() -> None:
    assert set(re.findall(r"^## `(\w+)`$", page("cli.md"), re.MULTILINE)) == COMMANDS.keys()


def keys_in(text: str) -> set[str]:
    """The keys in the first column of the tables of a text."""
    return set(re.findall(r"`(\w+)`", " ".join(re.findall(r"^\| (`.*?) \|", text, re.MULTILINE))))


def expected_keys(error: pytest.ExceptionInfo[ConfigError]) -> set[str]:
    """The keys that the message about an unknown one lists."""
    return set(str(error.value).partition("expected ")[2].split(", "))


def test_the_keys_of_a_family_are_on_the_page() -> None:
    shared = section(page("config.md"), "## Puzzles").partition("###")[0]
    for family in FAMILIES:
        with pytest.raises(ConfigError) as error:
            puzzle_from({"family": family, "no_such_key": 1})
        own = section(page("config.md"), f"### `{family}`")
        assert keys_in(shared) | keys_in(own) == expected_keys(error), family


def test_the_keys_of_boards_and_runs_are_on_the_page() -> None:
    with pytest.raises(ConfigError) as error:
        parse_problem({"no_such_key": 1})
    assert keys_in(section(page("config.md"), "## Boards")) == expected_keys(error)
    assert keys_in(section(page("config.md"), "## Run")) == set(RUN_KEYS)


def test_the_variables_of_the_program_are_on_the_page() -> None:
    sources = [path for room in ("pipeline", "tasks") for path in (ROOT / room).rglob("*.py")]
    used = {name for path in sources for name in re.findall(r"ANTIPODES_[A-Z_]+", path.read_text(encoding="utf-8"))}
    assert used == set(re.findall(r"ANTIPODES_[A-Z_]+", page("environment.md")))


def test_every_error_is_on_the_page() -> None:
    ours = {name for name, one in vars(errors).items() if isinstance(one, type) and issubclass(one, AntipodesError)}
    assert ours == set(re.findall(r"`(\w+Error)`", section(page("failures.md"), "## Errors in Python"))) & ours


@pytest.mark.parametrize(("kind", "variable"), [(Table, "table"), (Tilings, "tilings"), (Tiling, "tiling")])
def test_the_public_methods_are_on_the_page(kind: type, variable: str) -> None:
    methods = {name for name in vars(kind) if not name.startswith("_")}
    assert methods - WITHIN_THE_PROGRAM <= set(re.findall(rf"`{variable}\.(\w+)", page("python.md")))


def test_every_event_is_on_the_page() -> None:
    assert {event.__name__ for event in get_args(Event)} <= set(re.findall(r"`(\w+)`", page("python.md")))


def test_members_of_the_python_page_exist() -> None:
    puzzle = load_puzzle("eight-puzzle")
    named = set(re.findall(r"`Puzzle\.(\w+)", page("python.md")))
    assert {"symbols", "counts", "parse"} <= named
    assert named <= set(dir(puzzle)), named - set(dir(puzzle))


def test_the_targets_of_make_exist() -> None:
    targets = set(re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    named = set(re.findall(r"`make ([\w-]+)", (DOCS / "how-to" / "develop.md").read_text(encoding="utf-8")))
    assert named <= targets


PAGE = (DOCS / "reference" / "json.md").read_text(encoding="utf-8")
SOLVED = "1 2 3 4 0 5 7 8 6"
COUNTS = ("by_distance", "histogram")
"""Objects whose keys are numbers."""


def keys(value: Any) -> set[str]:
    if isinstance(value, list):
        return {key for item in value for key in keys(item)}
    if not isinstance(value, dict):
        return set()
    inner = {key for name, item in value.items() if name not in ("pieces", *COUNTS) for key in keys(item)}
    return inner | value.keys()


@pytest.mark.slow
def test_every_key_is_named(cli: Command) -> None:
    Path("towers.toml").write_text('[puzzle]\nname = "towers"\nfamily = "hanoi"\ndiscs = 4\n')
    commands: list[list[object]] = [
        ["puzzles"],
        ["boards"],
        ["plan", "eight-puzzle"],
        ["run", "eight-puzzle", "--quiet"],
        ["resume", "eight-puzzle", "--quiet"],
        ["status", "eight-puzzle"],
        ["list"],
        ["layers", "eight-puzzle"],
        ["export", "eight-puzzle", "results"],
        ["query", "eight-puzzle", "--depth", 31],
        ["farthest", "eight-puzzle"],
        ["query", "eight-puzzle", SOLVED, "--path"],
        ["verify", "eight-puzzle"],
        ["query", "eight-puzzle", "--pattern", "1 2 3 / ? ? ? / ? ? 0", "--path"],
        ["check", "eight-puzzle"],
        ["solve", "eight-puzzle", SOLVED],
        ["run", "towers.toml", "--quiet"],
        ["query", "towers", "--moves", "0-1 0-2", "--path"],
        ["solve", "towers.toml", "--moves", "0-1 0-2"],
        ["solve", "knights-labelled", "--method", "routes", "--limit", 3],
        ["random", "eight-puzzle"],
        ["rank", "eight-puzzle", SOLVED],
        ["unrank", "eight-puzzle", 5],
        ["rank", "--permutation", "3 1 2 0"],
        ["tile", "3x20", "--quiet"],
        ["status", "3x20"],
        ["verify", "3x20"],
        ["show", "3x20"],
    ]
    named = set(re.findall(r"`([a-z_]+)`", PAGE))
    for command in commands:
        found = keys(json.loads(cli(*command, "--json").out))
        assert found <= named, (command, found - named)


ALIAS = re.compile(r", `-\w`$| \(also .*\)$| \.\.\. `End`$")
"""The short name of an option, the other name of an attribute, and the last line of a statement."""


def test_each_row_describes_one_key() -> None:
    text = "\n".join(page(path.name) for path in (DOCS / "reference").glob("*.md"))
    names = [ALIAS.sub("", cell) for cell in re.findall(r"^\| (.*?) \|", text, re.MULTILINE)]
    assert [cell for cell in names if len(re.findall(r"`[^`]+`", cell)) > 1 or "; " in cell] == []


def test_the_interface_is_that_of_the_docstrings() -> None:
    assert python_reference.written_section() == python_reference.section(), (
        "run python tests/support/python_reference.py"
    )
