"""All pages: links are valid, commands print the output shown, examples and configs work, names exist."""

import doctest
import importlib
import math
import re
import shlex
import tomllib
from pathlib import Path

import pytest
from documents import ALL_PAGES, PAGES, anchors, blocks, links, matches, page_name, sessions, write_files
from programs import Command
from project import DOCS, ROOT

from antipodes.puzzles.families import puzzle_from
from antipodes_tasks.exact_cover.tiling_problem import parse_problem

NAMES = re.compile(r"(?<![/@])\b(?!antipodes\.(?:csv|svg))(antipodes(?:_tasks)?(?:\.[a-z_]+)+)(?:\.([A-Z]\w*))?")
IMPORTS = re.compile(r"^(?:>>> |\.\.\. )?\s*from (antipodes[\w.]*) import ([\w, ]+)$", re.MULTILINE)


def text_of(page: Path) -> str:
    return page.read_text(encoding="utf-8")


@pytest.mark.slow
def test_links_lead_to_files_and_headings() -> None:
    for page in ALL_PAGES:
        for path, fragment in links(text_of(page)):
            target = page.parent / path if path else page
            assert target.exists(), f"{page}: {path}"
            assert not fragment or fragment in anchors(text_of(target)), f"{page}: {path}#{fragment}"


def test_nobody_is_told_to_install_from_an_index() -> None:
    """The package is not on a package index, so extras are installed from a checkout."""
    texts = [*ALL_PAGES, *(path for room in ("pipeline", "tasks", "configs") for path in (ROOT / room).rglob("*.*"))]
    found = [path for path in texts if path.suffix in (".md", ".py", ".toml", ".yaml", ".sh")]
    assert [path for path in found if re.search(r"pip install [-\w ]*['\"]?antipodes", text_of(path))] == []


def test_the_index_lists_every_page() -> None:
    listed = {(DOCS / path).resolve() for path, _ in links(text_of(DOCS / "index.md"))}
    assert {page for page in PAGES if page.name != "index.md"} <= listed


SLOW = {"how-to/python.md", "how-to/hardest-starts.md", "how-to/puzzle-in-python.md", "tutorial/own-heuristic.md"}
"""Pages whose commands take more than a second."""


@pytest.mark.parametrize(
    "page",
    [
        pytest.param(page, marks=[pytest.mark.slow] if page_name(page) in SLOW else [], id=page_name(page))
        for page in PAGES
        if sessions(text_of(page)) or ">>> " in text_of(page)
    ],
)
def test_sessions_and_examples_print_what_they_show(
    page: Path, cli: Command, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    text = text_of(page)
    if "measured in a short trial" in text:
        for limit in ("TRIAL_SECONDS", "LONGEST_LAYER", "TRIAL_TABLES"):  # so that a busy machine finishes the trial
            monkeypatch.setattr(f"antipodes.tables.search.duration.{limit}", math.inf)
    write_files(text)
    for command, expected in sessions(text):
        program, *arguments = shlex.split(command)
        assert program == "antipodes"
        outcome = cli(*arguments)
        found = outcome.out + (outcome.err if outcome.status else "")
        assert matches(expected, found), f"{command}\n--- expected\n{expected}\n--- found\n{found}"
    names: dict[str, object] = {}
    for block in blocks(text, "python"):
        if ">>> " not in block and ">>> " in text:
            exec(block, names)
    examples = doctest.DocTestParser().get_doctest(text.replace("```", "\n"), names, page.name, str(page), 0)
    with capsys.disabled():
        assert doctest.DocTestRunner(optionflags=doctest.ELLIPSIS).run(examples).failed == 0


def test_configs_describe_puzzles_and_boards() -> None:
    for block in (block for page in ALL_PAGES for block in blocks(text_of(page), "toml")):
        config = tomllib.loads(block)
        assert config.keys() <= {"puzzle", "board", "run", "solve"}, block
        if "puzzle" in config:
            puzzle_from(config["puzzle"])
        else:
            parse_problem(config["board"])


def test_names_of_the_program_exist() -> None:
    for text in map(text_of, ALL_PAGES):
        for path, name in NAMES.findall(text):
            found = resolved(path)
            assert not name or hasattr(found, name), f"{path}.{name}"
        for module, names in IMPORTS.findall(text):
            for name in names.split(","):
                assert hasattr(importlib.import_module(module), name.strip()), f"{module}: {name}"


def test_named_tests_exist() -> None:
    existing = {path.stem for path in (ROOT / "tests").rglob("test_*.py")}
    assert {name for page in ALL_PAGES for name in re.findall(r"`(test_\w+)`", text_of(page))} <= existing


def resolved(path: str) -> object:
    """Return the module or the function with this path."""
    try:
        return importlib.import_module(path)
    except ModuleNotFoundError:
        module, _, name = path.rpartition(".")
        return getattr(importlib.import_module(module), name)
