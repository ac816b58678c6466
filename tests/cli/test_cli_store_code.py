"""A store alone runs no code: an attacker sends stores that name code, and the person only names the stores."""

import builtins
import contextlib
import hashlib
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from programs import Command, forget_puzzles
from s3 import Bucket
from stores import change_manifest, contents

import antipodes as api
from antipodes.puzzles import python_source
from antipodes.storage import bucket
from antipodes.system import user_records
from antipodes_tasks.base.errors import SourceError, StoreMismatchError

GOOD = """
import numpy as np
from antipodes import Definition, define_puzzle

def turn(dials):
    return (dials + 1) % 5

def back(dials):
    return (dials + 4) % 5

MOVES = {"turn": turn, "back": back}

def dials():
    return define_puzzle(name="dials", radices=[5, 5], start=[0, 0], moves=MOVES, inverses={"turn": "back"})
"""
EVIL = GOOD + "\nimport os\nopen(os.environ['MARKER'], 'w').close()\n"
ELSEWHERE = GOOD + "\ndef other():\n    open(__import__('os').environ['MARKER'], 'w').close()\n    return dials()\n"
COMMANDS: list[list[object]] = [
    ["status", "STORE"],
    ["layers", "STORE"],
    ["list", "."],
    ["verify", "STORE", "--quiet"],
    ["farthest", "STORE"],
    ["query", "STORE", "0 0"],
    ["query", "STORE", "--depth", "1"],
    ["query", "STORE", "--pattern", "? 0"],
    ["play", "STORE", "0 0", "--once"],
    ["resume", "STORE", "--quiet"],
    ["solve", "eight-puzzle", "867254301", "--method", "table", "--store", "STORE"],
    ["run", "eight-puzzle", "--store", "STORE", "--quiet"],
]
"""Every command that takes a store."""
FUNCTIONS: list[Callable[[Any], Any]] = [api.open_table, api.verify, api.open_counts]


@pytest.fixture
def marker(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The file that the attacker's code writes."""
    path = tmp_path_factory.mktemp("marker") / "was-run"
    monkeypatch.setenv("MARKER", str(path))
    return path


@pytest.fixture
def victim(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, marker: Path) -> Path:
    """The folder where the person is, who has run nothing yet."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data-home"))
    monkeypatch.syspath_prepend(str(tmp_path / "not-there"))  # restores the path afterwards
    folder = tmp_path / "downloads"
    folder.mkdir()
    monkeypatch.chdir(folder)
    return folder


@pytest.fixture(scope="module")
def sent(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The store that the attacker changes: of a puzzle without a file."""
    namespace: dict[str, Any] = {}
    exec(GOOD, namespace)
    store = tmp_path_factory.mktemp("attacker") / "dials.zarr"
    api.run(namespace["dials"](), store, workers=1)
    return store


def received(sent: Path, store: Path, source: str, text: str = EVIL) -> Path:
    """The store as it arrives: it names a source, with the SHA-256 of the attacker's text."""
    shutil.copytree(sent, store, dirs_exist_ok=True)
    digest = hashlib.sha256(text.encode()).hexdigest()
    change_manifest(store, puzzle={"name": "dials", "family": "python", "source": source, "sha256": digest})
    return store


def beside(sent: Path, here: Path) -> Path:
    (here / "evil.py").write_text(EVIL)
    return received(sent, here / "t.zarr", "evil.py:dials")


def within(sent: Path, here: Path) -> Path:
    store = received(sent, here / "t.zarr", f"{here}/t.zarr/evil.py:dials")
    (store / "evil.py").write_text(EVIL)
    return store


def by_a_link(sent: Path, here: Path) -> Path:
    within(sent, here)
    (here / "link.py").symlink_to(here / "t.zarr" / "evil.py")
    return received(sent, here / "t.zarr", f"{here}/link.py:dials")


def by_dots(sent: Path, here: Path) -> Path:
    (here / "evil.py").write_text(EVIL)
    return received(sent, here / "t.zarr", f"{here}/t.zarr/../evil.py:dials")


def as_a_module(sent: Path, here: Path) -> Path:
    (here / "evil.py").write_text(EVIL)
    return received(sent, here / "t.zarr", "evil:dials")


def as_a_package(sent: Path, here: Path) -> Path:
    (here / "evil").mkdir()
    (here / "evil" / "__init__.py").write_text(EVIL)
    (here / "evil" / "inner.py").write_text(EVIL)
    return received(sent, here / "t.zarr", "evil.inner:dials")


def changed(sent: Path, here: Path) -> Path:
    """The person ran the file before, and the attacker can write it."""
    (here / "own.py").write_text(GOOD)
    api.load_puzzle("own.py:dials")
    (here / "own.py").write_text(EVIL)
    return received(sent, here / "t.zarr", f"{here}/own.py:dials")


def another_name(sent: Path, here: Path) -> Path:
    """The person ran the file before, but not the function in it that the attacker names."""
    (here / "own.py").write_text(ELSEWHERE)
    api.load_puzzle("own.py:dials")
    return received(sent, here / "t.zarr", f"{here}/own.py:other", ELSEWHERE)


def shadowing(sent: Path, here: Path) -> Path:
    """The person ran a module of this name elsewhere."""
    work = here.parent / "work"
    work.mkdir()
    (work / "own.py").write_text(GOOD)
    os.chdir(work)
    api.load_puzzle("own:dials")
    os.chdir(here)
    (here / "own.py").write_text(EVIL)
    return received(sent, here / "t.zarr", "own:dials")


def in_a_config(sent: Path, here: Path) -> Path:
    """Keys that name files in the settings of other families."""
    store = beside(sent, here)
    change_manifest(store, puzzle={"name": "x", "family": "twisty", "file": f"{here}/evil.py", "format": "tws"})
    return store


ATTACKS = [
    beside, within, by_a_link, by_dots, as_a_module, as_a_package, changed, another_name, shadowing, in_a_config
]  # fmt: skip


@pytest.mark.parametrize("attack", ATTACKS)
def test_no_command_runs_code_that_only_a_store_names(
    attack: Callable[[Path, Path], Path], sent: Path, victim: Path, marker: Path, cli: Command, monkeypatch: Any
) -> None:
    monkeypatch.chdir(victim)
    store = attack(sent, victim)
    for command in COMMANDS:
        outcome = cli(*[store if word == "STORE" else word for word in command])
        assert not marker.exists(), command
        assert len(outcome.err.splitlines()) <= 1, (command, outcome)
        if attack is not in_a_config and command[0] in ("status", "layers", "list"):
            assert outcome.status == 0, outcome
        elif command[0] in ("farthest", "query", "play", "resume"):
            assert (outcome.status, outcome.out) == (1 if attack is in_a_config else 2, ""), (command, outcome)
            assert attack is in_a_config or "--puzzle path.py:name" in outcome.err, outcome
    for function in FUNCTIONS:
        forget_puzzles()
        with contextlib.suppress(api.AntipodesError):
            function(store)
        assert not marker.exists(), function


def test_a_store_in_a_bucket_runs_no_code(
    bucket: Bucket, sent: Path, victim: Path, marker: Path, cli: Command, monkeypatch: Any
) -> None:
    monkeypatch.chdir(victim)
    for key, content in contents(beside(sent, victim)).items():
        bucket.put(f"t.zarr/{key}", content)
    bucket.put("t.zarr/evil.py", EVIL.encode())
    for command in (["status"], ["verify"], ["query", "0 0"]):
        cli(command[0], bucket.url(), *command[1:])
        assert not marker.exists(), command


@pytest.fixture
def named(cli: Command, victim: Path, monkeypatch: Any) -> Path:
    """A file that the person runs, and its store in outputs/."""
    monkeypatch.chdir(victim)
    (victim / "own.py").write_text(GOOD)
    assert cli("run", "own.py:dials", "--quiet").status == 0
    return victim / "own.py"


@pytest.mark.parametrize(("moment", "reference"), [("_is_recorded", "own.py:dials"), ("read", "own:dials")])
def test_the_bytes_that_are_compared_are_those_that_run(
    reference: str, moment: str, named: Path, marker: Path, cli: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The file is swapped after the look at the record, or after it is read."""
    assert cli("check", reference).status == 0
    assert cli("run", reference, "--quiet", "--store", "t.zarr").status == 0
    place = python_source if moment == "_is_recorded" else python_source._Place
    original: Any = getattr(place, moment)

    def swapping(*arguments: Any) -> Any:
        found = original(*arguments)
        named.write_text(EVIL)
        return found

    monkeypatch.setattr(place, moment, swapping)
    outcome = cli("query", "t.zarr", "1 1")
    assert not marker.exists()
    if moment == "read":
        assert (outcome.status, outcome.out) == (0, "1 1: 1\n")
    else:
        assert "own.py, which has changed since" in outcome.err


def test_a_cached_module_is_not_run(named: Path, marker: Path, cli: Command) -> None:
    """Importing the module would load the attacker's bytecode, which fits the time and size of the file."""
    import importlib.util
    import py_compile

    assert cli("run", "own:dials", "--quiet", "--store", "t.zarr").status == 0
    times, evil = os.stat(named), named.with_name("x.py")
    evil.write_text(EVIL)
    cached = py_compile.compile(str(evil), cfile=importlib.util.cache_from_source(str(named)))
    assert cached is not None
    with open(cached, "r+b") as file:
        file.seek(8)
        file.write(int(times.st_mtime).to_bytes(4, "little") + times.st_size.to_bytes(4, "little"))
    assert cli("query", "t.zarr", "1 1").status == 0
    assert not marker.exists()


def test_one_that_the_person_ran_before_is_loaded_again(named: Path, cli: Command) -> None:
    assert cli("query", "dials", "1 1").out == "1 1: 1\n"
    assert cli("verify", "dials", "--quiet").status == 0
    (record,) = (named.parent.parent / "data-home" / "antipodes" / "definitions").iterdir()
    assert record.stat().st_mode & 0o777 == 0o600
    record.unlink()
    assert "own.py:dials', which you have not run or checked here" in cli("query", "dials", "1 1").err
    assert cli("query", "dials", "1 1", "--puzzle", "own.py:dials").out == "1 1: 1\n"
    assert cli("query", "dials", "1 1").status == 0, "it was named, and is known now"


def test_the_puzzle_may_be_given(named: Path, cli: Command, refused: Callable[..., str], tmp_path: Path) -> None:
    """The file is somewhere else here; any other puzzle, and a file in the store, are refused."""
    Path("outputs/dials.zarr").rename(tmp_path / "t.zarr")
    os.chdir(tmp_path)
    moved = named.rename(tmp_path / "elsewhere.py")
    for command in (["query", "1 1"], ["farthest"], ["play", "1 1", "--once"], ["resume"], ["verify", "--quiet"]):
        given = cli(command[0], "t.zarr", *command[1:], "--puzzle", "elsewhere.py:dials")
        assert given.status == 0, given
    table = api.open_table(tmp_path / "t.zarr", puzzle=f"{moved}:dials")
    assert table.distance([1, 1]) == 1
    message = refused("query", "t.zarr", "1 1", "--puzzle", "eight-puzzle")
    assert "--puzzle: t.zarr belongs to a different puzzle than eight-puzzle" in message
    with pytest.raises(StoreMismatchError, match="another puzzle"):
        api.open_table(tmp_path / "t.zarr", puzzle="eight-puzzle")
    moved.rename(tmp_path / "t.zarr" / "own.py")
    message = refused("query", "t.zarr", "1 1", "--puzzle", "t.zarr/own.py:dials")
    assert "Python files inside stores are never loaded" in message
    with pytest.raises(SourceError, match="inside the store"):
        api.load_puzzle(tmp_path / "t.zarr" / "own.py")


@pytest.mark.parametrize("damage", ["a file", "read-only", "relative"])
def test_without_a_data_directory_a_run_works(
    damage: str, victim: Path, cli: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(victim)
    home = victim.parent / "data-home"
    if damage == "a file":
        home.write_text("")
    elif damage == "read-only":
        monkeypatch.setattr(user_records, "replacing", _refusing)
    else:
        monkeypatch.setattr("platformdirs.user_data_path", lambda *_, **__: Path("data-home"))
    (victim / "own.py").write_text(GOOD)
    assert cli("run", "own.py:dials", "--quiet").status == 0
    assert "--puzzle path.py:name" in cli("query", "dials", "1 1").err
    assert cli("query", "dials", "1 1", "--puzzle", "own.py:dials").status == 0


def _refusing(path: Path) -> Any:
    raise PermissionError(13, "Permission denied", str(path))


def test_the_records_are_bounded(named: Path, cli: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(user_records, "MAX_RECORDS", 2)
    for number in range(4):
        Path(f"p{number}.py").write_text(GOOD)
        assert cli("check", f"p{number}.py:dials").status == 0
    records = (named.parent.parent / "data-home" / "antipodes" / "definitions").iterdir()
    assert {file.read_text().splitlines()[0] for file in records} == {
        f"{named.parent}/p{number}.py:dials" for number in (2, 3)
    }


def test_what_verify_says_without_the_moves(named: Path, cli: Command) -> None:
    """Every byte is read; the distances are not claimed to be right."""
    import json

    from stores import chunk_files, flip_bit

    named.unlink()
    outcome = cli("verify", "dials", "--quiet", "--json")
    verdict = json.loads(outcome.out)
    assert (outcome.status, verdict["ok"], verdict["problems"], verdict["sampled_states"]) == (2, False, [], 0)
    assert "own.py: cannot be read as a Python file: No such file" in verdict["unchecked"]
    assert "no distance was checked against the moves" in cli("verify", "dials", "--quiet").out
    flip_bit(chunk_files(Path("outputs/dials.zarr"))[0], 77)
    damaged = cli("verify", "dials", "--quiet")
    assert (damaged.status, len(damaged.out.splitlines())) == (1, 1)
    assert "depth/c/0/0 is corrupt" in damaged.out


def test_a_puzzle_of_permutations_needs_no_code(victim: Path, cli: Command) -> None:
    """Its store describes them. Texts or drawings of its own need the code."""
    (victim / "ring.py").write_text(
        "from antipodes import define_puzzle\n"
        'ring = define_puzzle(name="ring", start="A B . C", moves={"r": [3, 0, 1, 2], "l": "(3 2 1 0)"})\n'
        'drawn = define_puzzle(name="drawn", start="A B . C", moves={"r": [3, 0, 1, 2]}, draw=str)\n'
    )
    os.chdir(victim)
    for name in ("ring", "drawn"):
        assert cli("run", f"ring.py:{name}", "--quiet").status == 0
    (victim / "ring.py").unlink()
    assert cli("query", "ring", "B . C A").out == "B . C A: 1\n"
    assert cli("verify", "ring", "--quiet").status == 0
    assert "No such file" in cli("query", "drawn", "B . C A").err


def test_store_files_are_recognised() -> None:
    from antipodes.storage.backend import MANIFEST

    assert python_source.STORE_FILE == MANIFEST


ELSEWHERE_NAMED: list[dict[str, Any]] = [
    {"starts": {"table": "/net/elsewhere/t.zarr", "depth": 3}},
    {"starts": {"table": "s3://elsewhere/t.zarr", "depth": 3}},
    {"starts": {"table": "/net/elsewhere/t.zarr", "depth": 3, "positions": "AAAA"}},
    {"family": "python", "source": "/net/elsewhere/t.py:dials", "sha256": "0" * 64},
    {"family": "python", "source": "elsewhere.inner:dials", "sha256": "0" * 64},
    {"family": "twisty", "file": "/net/elsewhere/t.tws"},
    {"description": "/net/elsewhere", "file": "/net/elsewhere", "store": "s3://elsewhere/t.zarr"},
]
"""Settings of forged stores that name something outside of the store."""


@pytest.fixture
def looked_at(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The paths and URLs with "elsewhere" in them that the program looks at."""
    found: list[str] = []

    def watch(module: Any, name: str) -> None:
        original = getattr(module, name)

        def watched(*arguments: Any, **options: Any) -> Any:
            found.extend(str(one) for one in arguments[:1] if "elsewhere" in str(one))
            return original(*arguments, **options)

        monkeypatch.setattr(module, name, watched)

    for name in ("open", "stat", "lstat", "listdir", "scandir"):
        watch(os, name)
    for module, name in ((python_source, "_module_path"), (bucket, "_opened"), (builtins, "open")):
        watch(module, name)
    return found


@pytest.mark.parametrize("settings", ELSEWHERE_NAMED, ids=str)
@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: " ".join(map(str, command)))
def test_nothing_outside_of_the_store_is_looked_at(
    command: list[object],
    settings: dict[str, Any],
    sent: Path,
    victim: Path,
    cli: Command,
    looked_at: list[str],
) -> None:
    """Neither a path, whose look-up alone may mount another machine's directory, nor a bucket, nor a module."""
    shutil.copytree(sent, victim / "t.zarr")
    puzzle = {"name": "p", "family": "sliding", "rows": 3, "columns": 3, "start": "1 2 3 4 5 6 7 8 0"}
    change_manifest(victim / "t.zarr", puzzle={**puzzle, **settings})
    outcome = cli(*(victim / "t.zarr" if part == "STORE" else part for part in command))
    assert looked_at == []
    assert len(outcome.err.splitlines()) <= 1
    assert "defect" not in outcome.err
    assert "Traceback" not in outcome.err
