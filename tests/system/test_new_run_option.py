"""A run option is added to a copy of the package, as docs/architecture.md says, and works in all three places."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from project import DOCS, ROOT

FIELD = '''
    greeting: str | None = option(
        None, arguments.text, TEXT, "TEXT", "Print TEXT when the run begins.", RESOURCES, ("run", "resume")
    )
    """Text that is printed when the run begins."""
    overwrite: bool = option('''
EDITS = {
    "system/options.py": {
        "\n    overwrite: bool = option(": FIELD,
        '    symmetry: Literal["auto", "on", "off"] | None\n    overwrite: bool | None\n': (
            '    symmetry: Literal["auto", "on", "off"] | None\n    overwrite: bool | None\n    greeting: str | None\n'
        ),
    },
    "tables/run.py": {
        "    register_puzzle(config)\n": "    register_puzzle(config)\n    print('began:', options.greeting)\n",
    },
}
"""The declaration of an option ``greeting``, and its use."""
SETTINGS = '[puzzle]\nname = "five"\nfamily = "pancake"\nn = 4\n[run]\n'
Run = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the sources with the new option."""
    top = tmp_path_factory.mktemp("copy")
    for part in ("pipeline", "tasks", "configs"):
        shutil.copytree(ROOT / part, top / part, ignore=shutil.ignore_patterns("__pycache__"))
    for path, edits in EDITS.items():
        file = top / "pipeline" / "antipodes" / path
        text = file.read_text(encoding="utf-8")
        for old, new in edits.items():
            assert text.count(old) == 1, old
            text = text.replace(old, new)
        file.write_text(text, encoding="utf-8")
    (top / "five.toml").write_text(SETTINGS, encoding="utf-8")
    (top / "greeting.toml").write_text(f'{SETTINGS}greeting = "from the file"\n', encoding="utf-8")
    (top / "odd.toml").write_text(f"{SETTINGS}greeting = 5\n", encoding="utf-8")
    return top


@pytest.fixture
def python(package: Path) -> Run:
    """Run Python with the copy; the machine code is not compiled."""

    def run(*words: str) -> "subprocess.CompletedProcess[str]":
        path = os.pathsep.join(str(package / part) for part in ("pipeline", "tasks"))
        variables = {**os.environ, "PYTHONPATH": path, "NUMBA_DISABLE_JIT": "1", "COLUMNS": "100"}
        return subprocess.run(
            [sys.executable, *words], cwd=package, env=variables, capture_output=True, text=True, check=False
        )

    return run


def test_the_page_names_the_declaration() -> None:
    (row,) = [
        line
        for line in (DOCS / "architecture.md").read_text(encoding="utf-8").splitlines()
        if line.startswith("| add a run option |")
    ]
    named, unchanged = row.split("|")[2:4]
    assert "`system/options.py`" in named
    assert "and its use" in named
    assert {"`cli`", "`interface`", "`puzzles/config.py`"} <= set(unchanged.replace(",", "").split())


COMMANDS = """
import contextlib, io, json, sys
from antipodes.cli.main import run_command
found = []
for words in json.loads(sys.argv[1]):
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        status = run_command(words)
    found.append((status, out.getvalue(), err.getvalue()))
print(json.dumps(found))
"""
"""A program that runs commands in one process, because each process would load the libraries without machine code."""


@pytest.mark.slow
def test_commands_and_files_take_it(python: Run) -> None:
    run, in_file = ("run", "five.toml", "--quiet", "--store"), ("run", "greeting.toml", "--quiet", "--store", "b.zarr")
    commands = [
        ("run", "--help"),
        ("tile", "--help"),
        (*run, "a.zarr", "--greeting", "from the shell"),
        ("resume", "a.zarr", "--greeting", "again"),
        in_file,
        (*in_file, "--greeting", "first"),
        ("run", "odd.toml", "--quiet"),
    ]
    done = python("-c", COMMANDS, json.dumps(commands))
    assert done.returncode == 0, done.stderr
    statuses, (shown, tiling, shell, resumed, file, both, _), (*_, refused) = zip(*json.loads(done.stdout), strict=True)
    assert statuses == (0, 0, 0, 0, 0, 0, 2)
    assert shown.index("--omit") < shown.index("--greeting TEXT") < shown.index("--overwrite")
    assert "--greeting" not in tiling
    assert shell.startswith("began: from the shell\n")
    assert resumed.startswith("began: again\n")
    assert file.startswith("began: from the file\n")
    assert both.startswith("began: first\n")
    assert "[run] greeting: expected a string, found 5" in refused


@pytest.mark.slow
def test_functions_take_it(python: Run) -> None:
    program = """
import inspect, json
import antipodes as ap
from antipodes.system.options import RunOptions
ap.run("five.toml", "c.zarr", greeting="from Python")
ap.run("greeting.toml", "d.zarr")
found = {
    "run": "greeting" in inspect.signature(ap.run).parameters,
    "tile": "greeting" in inspect.signature(ap.tile).parameters,
    "resume": RunOptions(greeting="hello you", started_by=("run", "five.toml")).resume_command("s3://b/t.zarr"),
}
try:
    ap.tile("3x20", "e.zarr", greeting="hello")
except TypeError as error:
    found["error"] = str(error)
print(json.dumps(found))
"""
    done = python("-c", program)
    assert done.returncode == 0, done.stderr
    *began, found = done.stdout.splitlines()
    assert began == ["began: from Python", "began: from the file"]
    assert json.loads(found) == {
        "run": True,
        "tile": False,
        "resume": "antipodes resume s3://b/t.zarr --greeting 'hello you'",
        "error": "tile() got an unexpected keyword argument 'greeting'",
    }
