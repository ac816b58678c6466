"""Layers in a directory that the user names: no store can choose it, and only files of runs are deleted there."""

import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from every_kind import config_of
from faults import DELETES, EVERY, Killed, fault_at, kill
from forgetful import Forgetful
from programs import Command, Outcome
from stores import change_manifest, contents, read_manifest, stop_after, toml

from antipodes.puzzles.config import Config
from antipodes.storage.backend import MANIFEST
from antipodes.system.options import RunOptions
from antipodes.tables.layers import division as dividing
from antipodes.tables.planning import plan as planning
from antipodes.tables.run import run_puzzle
from antipodes.tables.strategies.disk_strategy import DiskStrategy
from antipodes_tasks.base.errors import InputError, StoreError

IDENTIFIER = "ab" * 32
READ = [
    ["query", "t.zarr", config_of("topspin").puzzle.format(config_of("topspin").puzzle.start_labels[0])],
    ["verify", "t.zarr", "--quiet"],
    ["report", "t.zarr", "--output", "t.html"],
]
"""Commands that need the layers, but have no option that names their directory."""


@pytest.fixture(autouse=True)
def on_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep layers on disk, in several chunks."""
    monkeypatch.setattr(planning, "STRATEGIES", (DiskStrategy(),))
    monkeypatch.setattr(dividing, "CHUNK_STATES", (8, 64))


@pytest.fixture(autouse=True)
def home(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the records of this user."""
    home = tmp_path_factory.mktemp("home")
    monkeypatch.setenv("XDG_DATA_HOME", str(home))
    return home


def elsewhere(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Continue on another machine, where the user has run nothing."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "other-home"))


SMALL = {"name": "small", "family": "pancake", "n": 4}


def begun(store: Path, spill: Path, counts_only: bool = False, settings: dict[str, Any] | None = None) -> None:
    """Search three layers, which are in the directory ``spill``."""
    options = RunOptions(spill=str(spill), counts_only=counts_only, workers=1)
    config = Config(settings) if settings else config_of("topspin")
    run_puzzle(config, store, options, interrupted=stop_after(3))


def one_line(outcome: Outcome) -> str:
    assert (outcome.status in (1, 2), outcome.out, len(outcome.err.splitlines())) == (True, "", 1), outcome
    assert "internal error" not in outcome.err
    return outcome.err


@pytest.mark.parametrize("spill", [".", "..", "/", "", "t.zarr", "https://example.org", 1])
def test_a_manifest_cannot_contain_a_path(spill: object, cli: Command, tmp_path: Path) -> None:
    """A store and the files beside it come from somebody else, who wrote that they belong together."""
    begun(tmp_path / "t.zarr", tmp_path / "spill")
    shutil.rmtree(tmp_path / "spill")
    change_manifest(tmp_path / "t.zarr", spill=spill)
    (tmp_path / "store.txt").write_text(
        f"{read_manifest(tmp_path / 't.zarr' / MANIFEST)['spill_id']}\n{tmp_path}/t.zarr"
    )
    (tmp_path / "precious").write_text("x")
    assert "spill: expected one of" in one_line(cli("resume", "t.zarr"))
    assert "spill: expected one of" in one_line(cli("query", "t.zarr", "1 2"))
    assert cli("remove", "t.zarr", "--yes").status == 0
    assert (tmp_path / "precious").exists()


def test_layers_that_a_received_store_names_are_neither_opened_nor_deleted(
    cli: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun(tmp_path / "t.zarr", tmp_path)
    elsewhere(monkeypatch, tmp_path)
    before = contents(tmp_path / "t.zarr.spill")
    for command in READ:
        assert "in a directory that no command of yours has named on this machine" in one_line(cli(*command))
    assert "name it with: antipodes resume t.zarr --spill DIRECTORY" in one_line(cli("resume", "t.zarr"))
    assert cli("status", "t.zarr").status == 0
    outcome = cli("remove", "t.zarr", "--yes")
    assert (outcome.status, "the layers of t.zarr are in a directory that is unknown here" in outcome.err) == (0, True)
    assert contents(tmp_path / "t.zarr.spill") == before


@pytest.mark.parametrize("counts_only", [False, True])
def test_resume_remembers_the_directory_or_is_told(
    counts_only: bool, cli: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun(tmp_path / "t.zarr", tmp_path / "spill", counts_only)
    if not counts_only:
        assert cli("verify", "t.zarr", "--quiet").status == 0
    elsewhere(monkeypatch, tmp_path)
    assert one_line(cli("resume", "t.zarr"))
    assert cli("resume", "t.zarr", "--spill", "spill", "--quiet").status == 0
    assert sorted(os.listdir(tmp_path)) == ["other-home", "spill", "t.zarr"]
    assert not os.listdir(tmp_path / "spill")
    assert not os.listdir(tmp_path / "other-home/antipodes/spill")
    assert "spill" not in read_manifest(tmp_path / "t.zarr" / MANIFEST)


def test_a_cluster_cannot_resume_layers_outside_of_the_store(
    cli: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, home: Path
) -> None:
    """Its workers know neither the directory nor the lock of the store."""
    begun(tmp_path / "t.zarr", tmp_path / "spill")
    monkeypatch.undo()
    monkeypatch.setenv("XDG_DATA_HOME", str(home))
    with pytest.raises(InputError, match="only threads of one process can resume it, with scheduler="):
        run_puzzle(config_of("topspin"), tmp_path / "t.zarr", scheduler=Forgetful(()))
    assert cli("resume", tmp_path / "t.zarr", "--quiet").status == 0


def test_run_uses_the_directory_in_the_file_that_the_user_names(cli: Command, tmp_path: Path) -> None:
    (tmp_path / "p.toml").write_text(toml(dict(config_of("topspin").settings), {"spill": "spill", "store": "t.zarr"}))
    begun(tmp_path / "t.zarr", tmp_path / "spill")
    (tmp_path / "spill").rename(tmp_path / "moved")
    assert "t.zarr.spill, which is missing" in one_line(cli("run", "p.toml"))
    (tmp_path / "moved").rename(tmp_path / "spill")
    assert cli("run", "p.toml", "--quiet").status == 0


@pytest.mark.parametrize("content", [b"", b"spill", b"/spill\0", b"\xff"])
def test_a_corrupt_record_names_no_directory(content: bytes, cli: Command, tmp_path: Path, home: Path) -> None:
    begun(tmp_path / "t.zarr", tmp_path / "spill")
    (record,) = (home / "antipodes/spill").iterdir()
    record.write_bytes(content)
    assert "no command of yours has named" in one_line(cli("resume", "t.zarr"))


def test_another_store_at_the_same_path_does_not_inherit_the_layers(cli: Command, tmp_path: Path) -> None:
    begun(tmp_path / "t.zarr", tmp_path / "spill")
    (tmp_path / "t.zarr").rename(tmp_path / "mine.zarr")
    shutil.copytree(tmp_path / "mine.zarr", tmp_path / "t.zarr")
    change_manifest(tmp_path / "t.zarr", spill_id=IDENTIFIER)
    before = contents(tmp_path / "spill")
    assert "no command of yours has named" in one_line(cli("resume", "t.zarr"))
    assert "contains the layers of an earlier store at this path" in one_line(
        cli("resume", "t.zarr", "--spill", "spill")
    )
    assert cli("remove", "t.zarr", "--yes").status == 0
    assert contents(tmp_path / "spill") == before
    (tmp_path / "mine.zarr").rename(tmp_path / "t.zarr")
    assert cli("resume", "t.zarr", "--quiet").status == 0


FOREIGN: dict[str, Callable[[Path, Path], None]] = {
    "without an owner file": lambda folder, _: (folder / "store.txt").unlink(),
    "whose owner file is a pipe": lambda folder, _: ((folder / "store.txt").unlink(), os.mkfifo(folder / "store.txt")),  # type: ignore[func-returns-value]
    "that is a file": lambda folder, _: (shutil.rmtree(folder), folder.write_text("mine")),  # type: ignore[func-returns-value]
    "that is a link": lambda folder, away: (shutil.move(folder, away), folder.symlink_to(away)),  # type: ignore[func-returns-value]
    "with a link to another": lambda folder, away: (
        shutil.move(folder / "journal", away),
        (folder / "journal").symlink_to(away),
    ),  # type: ignore[func-returns-value]
}


@pytest.mark.parametrize("kind", FOREIGN)
def test_a_folder(kind: str, cli: Command, tmp_path: Path) -> None:
    """One line names what was found, nothing is deleted, and the run continues once it is repaired."""
    begun(tmp_path / "t.zarr", tmp_path / "spill")
    FOREIGN[kind](tmp_path / "spill/t.zarr.spill", tmp_path / "away")
    before = sorted(str(path) for path in tmp_path.rglob("*") if path.is_file())
    for command in (["resume"], ["resume", "--spill", "spill"], ["remove", "--yes"], ["verify", "--quiet"]):
        message = one_line(cli(command[0], "t.zarr", *command[1:]))
        assert "t.zarr.spill" in message
        assert "does not belong to a run: " in message
    assert "away" not in message
    assert sorted(str(path) for path in tmp_path.rglob("*") if path.is_file()) == before
    if (path := tmp_path / "spill/t.zarr.spill").is_symlink() or path.is_file():
        path.unlink()
    else:
        shutil.rmtree(path)
    assert cli("remove", "t.zarr", "--yes").status == 0


@pytest.mark.parametrize("command", [["resume", "--quiet"], ["remove", "--yes"]])
def test_only_files_of_runs_are_deleted(command: list[str], cli: Command, tmp_path: Path) -> None:
    begun(tmp_path / "t.zarr", tmp_path / "spill")
    folder = tmp_path / "spill/t.zarr.spill"
    (tmp_path / "precious").write_text("x")
    mine = [folder / "notes.md", folder / "journal/0-1-2-zz", folder / "checkpoint/0-1-2-0123456789abcdef/x"]
    for path in mine:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("mine")
    (folder / "journal/0-1-2-0123456789abcdef").symlink_to(tmp_path / "precious")
    assert cli(command[0], "t.zarr", *command[1:]).status == 0
    left = sorted(path for path in folder.rglob("*") if not path.is_dir() or path.is_symlink())
    assert left == sorted([*mine, folder / "journal/0-1-2-0123456789abcdef"])
    assert (tmp_path / "precious").read_text() == "x"


def test_the_working_directory_is_not_deleted(cli: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    begun(tmp_path / "t.zarr", tmp_path / "spill")
    monkeypatch.chdir(tmp_path / "spill/t.zarr.spill")
    assert cli("remove", tmp_path / "t.zarr", "--yes").status == 0
    assert os.listdir() == []


@pytest.mark.parametrize("spill", ["t.zarr", "t.zarr/journal"])
def test_a_directory_in_the_store_is_refused(spill: str, tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="is inside the store"):
        begun(tmp_path / "t.zarr", tmp_path / spill)
    assert not (tmp_path / "t.zarr").exists()


def test_a_directory_that_would_contain_the_store_is_refused(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="or contains it"):
        begun(tmp_path / "t.zarr.spill/t.zarr", tmp_path)


@pytest.mark.parametrize(
    ("then", "counts_only"),
    [("run", False), ("resume", True), ("overwrite elsewhere", False)],
)
def test_layers_of_a_run_that_is_killed_at_its_end_are_found_and_deleted(
    then: str, counts_only: bool, cli: Command, tmp_path: Path
) -> None:
    config = Config(SMALL)
    options = RunOptions(spill=str(tmp_path / "spill"), counts_only=counts_only, workers=1)
    (tmp_path / "p.toml").write_text(toml(SMALL))
    with fault_at(0, kill, (DELETES,)) as deletes:
        run_puzzle(config, tmp_path / "t.zarr", options)
    more = ["--counts-only"] if counts_only else []
    run = ["run", "p.toml", "--store", "t.zarr", "--quiet", *more]
    commands: dict[str, list[str]] = {
        "run": run,
        "resume": ["resume", "t.zarr", "--quiet"],
        "overwrite elsewhere": [*run, "--overwrite"],
    }
    found = 0
    for at in range(max(1, deletes.count - 4), deletes.count + 1, 2):
        shutil.rmtree(tmp_path / "t.zarr", ignore_errors=True)
        shutil.rmtree(tmp_path / "spill")
        with fault_at(at, kill, (DELETES,), lasts=True), pytest.raises(Killed):
            run_puzzle(config, tmp_path / "t.zarr", options)
        found += bool(os.listdir(tmp_path / "spill")) and read_manifest(tmp_path / "t.zarr" / MANIFEST)["complete"]
        assert cli(*commands[then]).status == 0
        assert not os.listdir(tmp_path / "spill")
    assert found


@pytest.mark.slow
@pytest.mark.parametrize(
    ("begin", "counts_only", "step"),
    [("new", False, 17), ("overwritten", True, 17), ("removed", False, 3)],
)
def test_a_run_that_is_killed_at_some_call_leaves_no_folder(
    begin: str, counts_only: bool, step: int, cli: Command, tmp_path: Path
) -> None:
    """The same command deletes the folder; its layers are in another one if the store is overwritten."""
    (tmp_path / "p.toml").write_text(toml(SMALL))
    more = ["--counts-only"] if counts_only else []
    first = ["run", "p.toml", "--store", "t.zarr", "--quiet", "--spill", "first", *more]
    commands = {
        "new": first,
        "overwritten": [*first[: -1 - len(more)], "second", *more, "--overwrite"],
        "removed": ["remove", "t.zarr", "--yes"],
    }
    at, killed = 1, True
    while killed:
        shutil.rmtree(tmp_path / "t.zarr", ignore_errors=True)
        if begin != "new":
            begun(tmp_path / "t.zarr", tmp_path / "first", counts_only, SMALL)
        killed = False
        with fault_at(at, kill, EVERY, lasts=True):
            try:
                cli(*commands[begin])
            except Killed:
                killed = True
        if begin != "removed":
            assert cli(*commands[begin]).status == 0
        elif killed:
            assert cli(*commands[begin]).status in (0, 2)  # 2: the store is gone already
        for name in ("first", "second"):
            assert not (tmp_path / name).exists() or not os.listdir(tmp_path / name), (at, name)
        at += step
    assert at > 5


def test_a_store_is_not_overwritten_if_its_layers_could_not_be_deleted(
    cli: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, home: Path
) -> None:
    """Now everything fits into memory, so the run has no folder of its own."""
    begun(tmp_path / "t.zarr", tmp_path / "spill")
    monkeypatch.undo()
    monkeypatch.setenv("XDG_DATA_HOME", str(home))
    monkeypatch.chdir(tmp_path)
    owner = tmp_path / "spill/t.zarr.spill/store.txt"
    owner.rename(tmp_path / "moved")
    before = contents(tmp_path / "t.zarr")
    (tmp_path / "p.toml").write_text(toml(dict(config_of("topspin").settings)))
    run = ["run", "p.toml", "--store", "t.zarr", "--quiet", "--overwrite"]
    assert "it has no file store.txt; it was the folder with the layers of" in one_line(cli(*run))
    assert contents(tmp_path / "t.zarr") == before
    (tmp_path / "moved").rename(owner)
    assert cli(*run).status == 0
    assert not os.listdir(tmp_path / "spill")
    assert not os.listdir(home / "antipodes/spill")


def test_a_link_to_itself_is_not_removed(refused: Callable[..., str], tmp_path: Path) -> None:
    (tmp_path / "t.zarr").symlink_to("t.zarr")
    assert "'t.zarr' is a link to itself" in refused("remove", "t.zarr", "--yes")
