"""What comes from outside never reaches the terminal or a log as control characters, and forges no line."""

import json
import os
import re
import shutil
import unicodedata
from collections.abc import Sequence
from io import StringIO
from pathlib import Path

import pytest
from programs import Command, Outcome, forget_puzzles
from rich.console import Console
from stores import change_manifest, read_manifest

from antipodes.cli import streams
from antipodes.cli.main import run_command
from antipodes.progress.live import live_line
from antipodes.progress.show import PlainLines
from antipodes.puzzles.custom import define_puzzle
from antipodes.storage.backend import MANIFEST
from antipodes.system.events import WaitingForWorkers, WorkerRefused
from antipodes_tasks.base.errors import StoreError

HOSTILE = "\x1b]0;owned\x07\x1b[31m\x9b1mred\u202e\r\x7f\ud800 [red] [link=x]"
"""Codes that set the title, colours, and the direction of the text, and rich markup, which is harmless as it is."""
FORGED = f"{HOSTILE}\nok: every distance is correct"
IN_FILES = FORGED.replace("\ud800", "")
"""The same for files in UTF-8."""
DEFINITION = f"""
import antipodes
HOSTILE = {HOSTILE!r}
FORGED = {FORGED!r}

class Base(antipodes.Definition):
    radices, start = [5], [0]
    moves = {{"up": lambda dials: (dials + 1) % 5}}
    symmetries = {{}}
    description = FORGED

class dial(Base):
    def format(self, numbers):
        return f"{{numbers[0]}}{{HOSTILE}}".replace("\\r", "")
    def parse(self, text):
        return [int(text[0])]
    def draw(self, numbers):
        return f"a{{HOSTILE}}\\n{{numbers[0]}}"

class fails(Base):
    def format(self, numbers):
        raise ValueError(FORGED)

class unnamed(Base):
    name = FORGED

class oddly(Base):
    moves = {{HOSTILE: lambda dials: (dials + 1) % 5}}
"""


def check(outcome: Outcome) -> Outcome:
    """The outcome, once its output and messages are found to be free of control characters."""
    for text in (outcome.out, outcome.err):
        raw = {one for one in text if one != "\n" and unicodedata.category(one) in ("Cc", "Cf", "Cs", "Zl", "Zp")}
        assert not raw, text
        assert not any(line.startswith("ok: every distance") for line in text.split("\n")), text
    return outcome


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a puzzle in Python that prints hostile texts, and its table."""
    folder = tmp_path_factory.mktemp("hostile")
    (folder / "hostile.py").write_text(DEFINITION, encoding="utf-8")
    store = folder / "outputs/dial.zarr"
    assert run_command(["run", f"{folder}/hostile.py:dial", "--store", str(store), "--quiet"]) == 0
    return folder


@pytest.fixture
def hostile(made: Path, tmp_path: Path) -> Path:
    """A folder with stores and folders of hostile names, and a puzzle in Python that prints such texts."""
    shutil.copytree(made, tmp_path, dirs_exist_ok=True)
    store = tmp_path / "outputs/dial.zarr"
    change_manifest(store, puzzle={**read_manifest(store / MANIFEST)["puzzle"], "name": IN_FILES})
    shutil.copytree(store, os.fsdecode(os.fsencode(tmp_path) + b"/outputs/\x1b[31m\xff\x9b.zarr"))
    (tmp_path / "outputs" / "no\nstore.zarr").mkdir()
    return store


@pytest.mark.parametrize(
    "command",
    [
        ("status", "{}"),
        ("list",),
        ("layers", "{}"),
        ("layers", "{}", "--csv"),
        ("farthest", "{}"),
        ("query", "{}", "3", "--path"),
        ("query", "{}", "--depth", "2"),
        ("query", "{}", "--pattern", HOSTILE),
        ("query", "{}", HOSTILE),
        ("query", "{}", "--moves", FORGED),
        ("play", "{}", "3", "--once"),
        ("play", "{}", "3"),
        ("verify", "{}"),
        ("resume", "{}"),
        ("report", "{}", "--output", f"{HOSTILE}.html"),
        ("export", "{}", "results"),
        ("remove", "{}"),
        ("status", FORGED),
        ("run", "hostile.py:dial", "--store", "other.zarr"),
        ("run", "hostile.py:fails"),
        ("run", "hostile.py:unnamed"),
        ("run", "hostile.py:oddly"),
        ("run", FORGED),
        ("check", "hostile.py:dial"),
        ("check", "hostile.py:fails"),
        ("plan", "hostile.py:dial"),
        ("solve", "hostile.py:dial", "3"),
        ("solve", "hostile.py:dial", "--batch", "positions.txt"),
        ("components", "hostile.py:dial"),
        ("rank", "hostile.py:dial", "3"),
        ("unrank", "hostile.py:dial", "3"),
        ("abstract", "board.toml", "--equal", "a b"),
        ("tile", FORGED),
        (HOSTILE,),
        ("run", f"--{HOSTILE}"),
        ("run", "eight-puzzle", "--workers", HOSTILE),
        ("run", "eight-puzzle", "--memory-limit", HOSTILE),
        ("serve", FORGED),
    ],
    ids=lambda words: " ".join(map(ascii, words))[:60],
)
def test_no_command_prints_control_characters(command: Sequence[str], hostile: Path, cli: Command) -> None:
    Path("positions.txt").write_text("3\n4\n")
    described = json.dumps(IN_FILES)
    Path("board.toml").write_text(
        f'[puzzle]\nname = "board"\nfamily = "pancake"\nstart = "a b c"\ndescription = {described}\n'
    )
    check(cli(*(word.format(hostile) if word == "{}" else word for word in command)))
    if "--json" not in command and command[0] in ("status", "list", "farthest", "query", "verify", "solve"):
        check(cli(*(word.format(hostile) if word == "{}" else word for word in command), "--json"))


def test_json_decodes_to_the_true_text(hostile: Path, cli: Command) -> None:
    shown = check(cli("status", hostile, "--json"))
    assert json.loads(shown.out)["puzzle"] == IN_FILES
    assert "\\x1b[31m" in check(cli("status", hostile)).out
    assert "[link=x]" in check(cli("status", hostile)).out


def test_the_config_that_abstract_prints_is_read_back(cli: Command) -> None:
    described = json.dumps(IN_FILES)
    Path("board.toml").write_text(
        f'[puzzle]\nname = "board"\nfamily = "pancake"\nstart = "a b c"\ndescription = {described}\n'
    )
    printed = check(cli("abstract", "board.toml", "--equal", "a b", "--name", "two")).out
    Path("two.toml").write_text(printed)
    assert check(cli("check", "two.toml")).status == 0


def test_lines_of_progress() -> None:
    plain, live = StringIO(), StringIO()
    PlainLines(plain)(WorkerRefused(FORGED))
    line = live_line(Console(file=live, force_terminal=True, width=200), lambda: 0.0, lambda: None)
    line.say(f"{WaitingForWorkers(FORGED).reason}")
    line.show(1, 2, {"name": FORGED, "doing": FORGED})
    with line:
        line.refresh()
    own = re.compile(r"\x1b\[[\d;?]*[a-zA-Z]|\r")
    for text in (plain.getvalue(), own.sub("", live.getvalue())):
        check(Outcome(0, text, ""))
        assert "[red]" in text
    assert "\x1b[31m" not in live.getvalue()


def test_messages_of_errors_are_printable() -> None:
    assert str(StoreError(FORGED)).isprintable()
    assert StoreError(FORGED).args == (FORGED,)


def test_tracebacks_are_printable(capsys: pytest.CaptureFixture[str]) -> None:
    error = ValueError(FORGED)
    streams.print_traceback(ValueError, error, None)
    check(Outcome(1, "", capsys.readouterr().err.replace("\nok: every", "")))


def test_all_output_passes_through_one_module() -> None:
    """Each other way to print would have to escape control characters itself."""
    folder = Path(streams.__file__).parent
    printing = re.compile(r"(?<![\w.])print\(|sys\.std(out|err)\.write|typer\.echo")
    others = {
        f"{path.name}: {line.strip()}"
        for path in folder.rglob("*.py")
        if path.name != "streams.py"
        for line in path.read_text(encoding="utf-8").splitlines()
        if printing.search(line) and "MARK_" not in line and "printable(" not in line
    }
    assert not others


def test_a_name_of_a_puzzle_is_printable() -> None:
    with pytest.raises(ValueError, match="name: expected"):
        define_puzzle(name=HOSTILE, start=[0], radices=[2], moves={"up": [0]})
    forget_puzzles()
