"""Messages name options as the user writes them: Python's words in Python, the command line's in a command."""

import ast
import re
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from programs import Command
from project import ROOT

import antipodes as ap
from antipodes_tasks.base.option_names import command_line, in_words, option

ONLY_COMMANDS = {
    "cli": "the command line itself",
    "program": "the command line itself",
    "service": "started by `serve`, whose options it names",
    "report_page/provenance.py": "composes a command",
    "system/options.py": "declares the options of commands, and composes commands",
    "stores.py": "checks --puzzle of commands, and composes commands",
    "storage/manifest_file.py": "composes a command",
    "tables/store/search_stores.py": "composes a command",
    "tables/questions.py": "declares commands, with examples",
    "bridges/dataset_card.py": "composes a command",
    "puzzles/abstraction.py": "the command `abstract`, which Python does not have",
}
"""Modules whose texts may have options of commands, and why: Python programs do not get them, or they are commands."""


def texts_with_options(path: Path) -> Iterator[str]:
    """Yield the texts of a module, except docstrings, that name an option of a command."""
    if "--" not in (content := path.read_text(encoding="utf-8")):
        return
    module = ast.parse(content)
    docstrings = {id(node.value) for node in ast.walk(module) if isinstance(node, ast.Expr)}
    for node in ast.walk(module):
        is_text = isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docstrings
        if is_text and re.search(r"--[a-z]", node.value):
            yield node.value


@pytest.mark.slow
def test_options_are_named_by_the_function_for_that() -> None:
    found = {
        f"{path.relative_to(package)}: {text}"
        for package in (ROOT / "pipeline" / "antipodes", ROOT / "tasks" / "antipodes_tasks")
        for path in package.rglob("*.py")
        if not {str(path.relative_to(package)), path.relative_to(package).parts[0].removesuffix(".py")}
        & ONLY_COMMANDS.keys()
        for text in texts_with_options(path)
    }
    assert found == set()


def test_words_of_python_and_of_the_command_line() -> None:
    python = [option("tables"), option("goal"), option("overwrite", True), option("symmetry", "off")]
    with command_line(), ThreadPoolExecutor(1) as pool:
        shell = [option("memory_limit"), option("goal"), option("overwrite", True), option("symmetry", "off")]
        assert pool.submit(option, "store").result() == "--store"
    assert python == [
        "tables",
        "goal",
        "overwrite=True",
        'symmetry="off"',
    ]
    assert shell == ["--memory-limit", "--to", "--overwrite", "--symmetry off"]
    assert in_words("python", "shell") == "python"


def test_the_same_mistakes_in_both(cli: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    low = {"name": "low", "family": "sliding", "rows": 2, "columns": 2, "start": "1 2 x 0", "free": ["x"]}
    other = ap.run(ap.Config({**low, "start": "1 x x 0"}), "low.zarr").store
    mistakes = (
        (lambda: ap.load_patterns("eight-puzzle", []), None, "no pattern tables given; name at least one with tables"),
        (
            lambda: ap.load_patterns("eight-puzzle", [other]),
            ("solve", "eight-puzzle", "8 6 7 2 5 4 3 0 1", "--tables", other),
            "the pattern table low is not for the board of eight-puzzle",
        ),
        (
            lambda: ap.run(ap.Config(low), "low.zarr"),
            ("run", "eight-puzzle", "--store", "low.zarr"),
            "choose another store, or overwrite it by the same call with overwrite=True",
        ),
        (
            lambda: ap.run("eight-puzzle", scheduler="nonsense"),
            ("run", "eight-puzzle", "--scheduler", "nonsense"),
            "scheduler: expected",
        ),
    )
    for in_python, words, message in mistakes:
        with pytest.raises(ap.AntipodesError) as error:
            in_python()
        assert message in str(error.value)
        assert "--" not in str(error.value)
        if words is not None:
            outcome = cli(*words)
            assert (outcome.status, "=True" in outcome.err) == (2, False)
            assert "--" in outcome.err
