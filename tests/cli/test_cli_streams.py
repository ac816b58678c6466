"""Every command on standard streams that are closed, full, broken, or of an odd encoding."""

import gc
import io
import json
import os
import pty
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TextIO

import pytest
from forks import PROGRAM, popen
from programs import Command

from antipodes.cli.main import kept_command, run_command
from antipodes.cli.streams import Results, writer

BOARD = '[board]\nname = "small"\ncells = """\n..........\n"""\n[board.pieces]\nA = "#####"\nB = "#####"\n'
POSITION = "8 6 7 2 5 4 3 0 1"
COMMANDS = [
    "puzzles",
    "plan eight-puzzle",
    "run eight-puzzle --quiet --store TABLE",
    "resume TABLE --quiet",
    "status TABLE",
    "layers TABLE",
    "farthest TABLE",
    "query --path TABLE 867254301",
    "query TABLE --pattern 86725430?",
    "verify TABLE --quiet",
    "verify TILINGS",
    "solve eight-puzzle 123456078 --quiet",
    "solve knights-labelled --method routes --limit 4 --quiet",
    "rank eight-puzzle 867254301",
    "unrank eight-puzzle 5",
    "rank --permutation 3120",
    "unrank --permutation 5 --elements 4",
    "tile BOARD --quiet --store TILINGS",
    "boards",
    "status TILINGS",
    "show TILINGS",
]
FINISHED = ("run", "resume", "tile")
"""What they print beside JSON tells of work that is done."""
Words = Callable[[str], list[str]]


@pytest.fixture(scope="module")
def tilings(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("tilings")
    (folder / "small.toml").write_text(BOARD)
    assert run_command(["tile", str(folder / "small.toml"), "--quiet", "--store", str(folder / "small.zarr")]) == 0
    return folder


@pytest.fixture
def words(finished: Path, tilings: Path) -> Words:
    """The arguments of a command, the names of stores and of the board replaced."""
    places = {"TABLE": finished, "TILINGS": tilings / "small.zarr", "BOARD": tilings / "small.toml"}
    return lambda command: [str(places.get(word, word)) for word in command.split()]


@pytest.mark.usefixtures("cli")
@pytest.mark.parametrize("command", COMMANDS)
def test_an_encoding_that_lacks_what_is_drawn(
    command: str, words: Words, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for encoding, *options in (*((one,) for one in ENCODINGS), ("ascii", "--json")):
        with encoded(tmp_path / encoding, encoding) as stream, monkeypatch.context() as patch:
            patch.setattr(sys, "stdout", stream)
            assert run_command([*words(command), *options]) == 0
        text = (tmp_path / encoding).read_text(encoding)
        assert text
        assert "\\u" not in text, "what is drawn has a likeness in ASCII"
        if options:
            json.loads(text)
    assert capsys.readouterr().err == ""


@pytest.mark.usefixtures("cli")
@pytest.mark.parametrize("command", COMMANDS)
def test_what_cannot_be_printed_is_no_success(
    command: str, words: Words, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for kind in UNWRITABLE:
        for options in ([], ["--json"]) if kind == "full" else ([],):
            with unwritable(kind) as stream, monkeypatch.context() as patch:
                patch.setattr(sys, "stdout", stream)
                status = run_command([*words(command), *options])
            done = command.startswith(FINISHED) and not options
            assert status == (0 if done else 1)
            err = capsys.readouterr().err
            assert len(err.splitlines()) == (kind != "left"), "a reader that has left is not told"
            assert ("complete, but" in err) == (done and kind != "left")


@pytest.mark.parametrize("command", COMMANDS)
def test_the_garbage_collector_is_on_while_a_command_works(
    command: str, words: Words, cli: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    on: list[bool] = []
    kept_command.cache_clear()  # loading, which switches it off, is part of a command in a new process
    monkeypatch.setattr("json.dumps", lambda value, **options: on.append(gc.isenabled()) or "{}")
    gc.disable()
    try:
        cli(*words(command), "--json")
        assert on
        assert all(on)
    finally:
        gc.enable()


def test_a_line_of_input_without_end(finished: Path, refused: Callable[..., str]) -> None:
    assert "65,536" in refused("query", finished, "-", stdin="1" * 10**7)


def test_input_without_end(finished: Path) -> None:
    with subprocess.Popen(["yes", POSITION], stdout=subprocess.PIPE) as endless:
        command = [*PROGRAM, "query", str(finished), "-"]
        process = popen(command, stdin=endless.stdout, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        assert process.stdout is not None
        assert process.stdout.readline().decode() == f"{POSITION}: 31\n"
        process.stdout.close()  # as `head` does
        assert process.wait() == 1
        endless.kill()


@pytest.mark.parametrize(
    ("redirections", "command", "status", "lines"),
    [
        (">&-", "rank --permutation 3120", 1, 1),
        pytest.param("<&-", "query TABLE -", 2, 1, marks=pytest.mark.slow),
        pytest.param("<&- >&- 2>&-", "query TABLE -", 2, 0, marks=pytest.mark.slow),
    ],
)
def test_a_process_whose_streams_are_not_there(
    redirections: str, command: str, status: int, lines: int, words: Words
) -> None:
    shell = ["sh", "-c", f'exec "$@" {redirections}', "sh", *PROGRAM, *words(command)]
    ended = subprocess.run(shell, capture_output=True, text=True, check=False)
    assert (ended.returncode, len(ended.stderr.splitlines())) == (status, lines), ended
    assert "Traceback" not in ended.stderr


@pytest.mark.slow
def test_a_process_whose_streams_are_devices(finished: Path) -> None:
    command = [*PROGRAM, "query", str(finished), "-"]
    with open("/dev/zero") as zeros:
        process = popen(command, stdin=zeros, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        out, err = process.communicate()
    assert (process.returncode, out, len(err.splitlines())) == (2, "", 1)
    with open("/dev/null") as nothing, open("/dev/full", "w") as full:
        assert popen(command, stdin=nothing, stdout=full, stderr=full).wait() == 0


@pytest.mark.slow
def test_a_locale_without_the_characters_that_are_drawn(finished: Path) -> None:
    environment = {**os.environ, "LC_ALL": "C", "PYTHONUTF8": "0"}
    command = [*PROGRAM, "query", "--path", str(finished), "123456078", "-"]
    ended = subprocess.run(command, input=b"\xff\n", capture_output=True, env=environment, check=False)
    assert ended.returncode == 2
    assert ended.stderr.isascii()
    assert b"'\\udcff'" in ended.stderr


@pytest.mark.parametrize(
    "environment",
    [{"COLUMNS": "²"}, {"COLUMNS": "9" * 5000}, pytest.param({"PYTHONIOENCODING": "ascii"}, marks=pytest.mark.slow)],
    ids=str,
)
def test_an_odd_terminal(environment: dict[str, str], finished: Path) -> None:
    ours, theirs = pty.openpty()
    command = [*PROGRAM, "run", "eight-puzzle", "--store", str(finished)]
    process = popen(command, stdout=theirs, stderr=theirs, env={**os.environ, "TERM": "xterm", **environment})
    os.close(theirs)
    shown = b"".join(iter(partial(_read, ours), b""))
    assert process.wait() == 0, shown
    assert b"\\u" not in shown


def _read(terminal: int) -> bytes:
    try:
        return os.read(terminal, 1 << 16)
    except OSError:  # as a terminal says that its process has ended
        return b""


@pytest.mark.slow
def test_a_run_goes_on_where_no_message_can_be_read(tmp_path: Path) -> None:
    command = [*PROGRAM, "run", "eight-puzzle", "--store", str(tmp_path / "t.zarr"), "--json"]
    with open("/dev/full", "w") as full:
        process = popen(command, stdout=subprocess.PIPE, stderr=full)
        out, _ = process.communicate()
    assert process.returncode == 0
    assert json.loads(out)["radius"] == 31


ENCODINGS = ("ascii", "cp437", "utf-16")
UNWRITABLE = ("full", "closed", "left")


@contextmanager
def encoded(path: Path, encoding: str) -> Iterator[TextIO]:
    """Standard output in an encoding; its bytes go into the file."""
    with writer(io.BufferedWriter(Results(path, "wb")), encoding) as stream:
        yield stream


@contextmanager
def unwritable(kind: str) -> Iterator[TextIO]:
    """Standard output that cannot be written to."""
    if kind == "full":
        number = os.open("/dev/full", os.O_WRONLY)
    elif kind == "closed":
        number = os.open(os.devnull, os.O_RDONLY)
    else:
        reader, number = os.pipe()
        os.close(reader)
    with writer(io.BufferedWriter(Results(number, "wb")), "utf-8") as stream:
        yield stream


@pytest.mark.slow
def test_messages_have_the_time_unless_they_go_to_a_terminal() -> None:
    command = [*PROGRAM, "status", "no-such-store"]
    _, logged = popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True).communicate()
    assert re.fullmatch(r"antipodes: \d{4}-\d\d-\d\d \d\d:\d\d:\d\d there is no store .*\n", logged), logged
    ours, theirs = pty.openpty()
    process = popen(command, stdout=theirs, stderr=theirs)
    os.close(theirs)
    shown = b"".join(iter(partial(_read, ours), b""))
    assert process.wait() == 2
    assert shown.startswith(b"antipodes: there is no store ")
