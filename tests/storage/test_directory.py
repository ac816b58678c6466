"""Stores in a directory: unreadable paths, foreign files, and their creation on a full disk or over an old store."""

import errno
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from mounts import small
from programs import Command
from s3 import Bucket, Proxy
from stores import chunk_files, contents, depths_in
from tiling_stores import SQUARE, board_file

from antipodes.cli.failures import Stopped
from antipodes.puzzles.config import load_config
from antipodes.storage.arrays import Arrays
from antipodes.storage.directory import DirectoryStorage
from antipodes.storage.files import STORED
from antipodes.system.output_files import PARTIAL
from antipodes.tables.journal import FOLDER
from antipodes.tables.planning.plan import plan_run
from antipodes.tables.run import RunOptions, run_puzzle
from antipodes.tables.store.search_stores import TableStore
from antipodes.tables.store.table_manifest import COUNTS, DEPTH
from antipodes.tilings.store import PARTITIONS, TILINGS
from antipodes_tasks.base.errors import StoreError, StoreLockedError


@pytest.fixture
def unreadable(monkeypatch: pytest.MonkeyPatch) -> Callable[[Path], None]:
    """Makes the system fail to read the status of a path."""

    def hide(path: Path) -> None:
        def stat(asked: Any, **options: Any) -> os.stat_result:
            folder = os.readlink(f"/proc/self/fd/{found}") if (found := options.get("dir_fd")) is not None else "."
            if Path(folder, asked) == path:
                raise OSError(errno.EIO, "Input/output error", str(path))
            return os_stat(asked, **options)

        os_stat = os.stat
        monkeypatch.setattr(os, "stat", stat)

    return hide


def test_an_unreadable_chunk_is_not_missing(eight: Path, unreadable: Callable[[Path], None]) -> None:
    store = TableStore(eight)
    manifest = store.read()
    chunk = chunk_files(eight)[0]
    unreadable(chunk)
    with pytest.raises(StoreError, match=f"^cannot read {chunk}: Input/output error$"):
        depths_in(store, manifest)


def test_an_unreadable_store_is_not_created_again(
    cli: Command, eight: Path, unreadable: Callable[[Path], None]
) -> None:
    unreadable(eight)
    outcome = cli("run", "eight-puzzle", "--store", eight, "--quiet")
    assert (outcome.status, outcome.err) == (1, f"antipodes: cannot read {eight}: Input/output error\n")


def test_an_unreadable_manifest(cli: Command, eight: Path, unreadable: Callable[[Path], None]) -> None:
    unreadable(eight / "commit.json")
    outcome = cli("status", eight)
    assert (outcome.status, outcome.err) == (1, f"antipodes: cannot read {eight}/commit.json: Input/output error\n")


def test_a_damaged_store_of_an_unreadable_kind_is_not_overwritten(
    cli: Command, eight: Path, unreadable: Callable[[Path], None]
) -> None:
    (eight / "commit.json").write_text("{}")
    unreadable(eight / "zarr.json")
    outcome = cli("run", "eight-puzzle", "--store", eight, "--overwrite", "--quiet")
    assert (outcome.status, "not overwritten" in outcome.err) == (2, True)


def test_the_size_while_files_come_and_go(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_bytes(bytes(1000))
    monkeypatch.setattr(os, "walk", lambda path: iter([(str(path), [], ["file", "renamed.partial"])]))
    assert DirectoryStorage(tmp_path).size() == 1000


def test_no_array_is_created_over_one_that_could_not_be_deleted(eight: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise OSError(errno.EACCES, "Permission denied")

    store = TableStore(eight)
    monkeypatch.setattr(shutil, "rmtree", refuse)
    with pytest.raises(StoreError, match=r"cannot write .*depth: cannot delete the old array"):
        store.create_arrays(store.read())


@pytest.mark.parametrize("name", [".eight.zarr.old", ".eight.zarr.new"])
def test_foreign_files_beside_a_store_are_not_deleted(name: str, cli: Command, eight: Path) -> None:
    (eight.parent / name).mkdir()
    (eight.parent / name / "mine").write_text("precious")
    outcome = cli("run", "eight-puzzle", "--store", eight, "--overwrite", "--quiet")
    assert outcome.status == 1
    assert f"{eight.parent / name} is in the way, and contains a foreign file, mine" in outcome.err
    assert (eight.parent / name / "mine").read_text() == "precious"


@pytest.mark.parametrize("name", [".eight.zarr.old", ".eight.zarr.new"])
def test_leftovers_of_a_crashed_run_are_deleted(name: str, cli: Command, eight: Path) -> None:
    shutil.copytree(eight, eight.parent / name)
    (eight.parent / name / f"zarr.json.0{PARTIAL}").write_text("")
    assert cli("run", "eight-puzzle", "--store", eight, "--overwrite", "--quiet").status == 0
    assert not (eight.parent / name).exists()


def test_every_name_in_a_store_is_known(eight: Path) -> None:
    assert {DEPTH, COUNTS, FOLDER, TILINGS, PARTITIONS} < STORED
    assert {path.name for path in eight.iterdir()} <= STORED


@pytest.mark.parametrize("blocks", [0, 2, 4])
@pytest.mark.parametrize("what", ["table", "tilings"])
def test_a_full_disk(what: str, blocks: int, cli: Command, tmp_path: Path) -> None:
    """The disk has room for the first ``blocks`` files: the lock, the group, the array, the manifest."""
    board = board_file(SQUARE, tmp_path / "board.toml")
    with small(tmp_path / "small", "1m") as disk:
        filler = disk / "filler"
        filler.write_bytes(bytes(4096 * (256 - blocks)))
        make: list[object] = ["run", "knights-coloured"] if what == "table" else ["tile", board]
        outcome = cli(*make, "--store", disk / "t.zarr", "--quiet")
        refused = what == "table" and blocks > 0  # as soon as there is room for the lock, before anything is created
        assert (outcome.status, len(outcome.err.splitlines())) == (2 if refused else 1, 1)
        assert ("of free disk" if refused else "No space left on device") in outcome.err
        assert {path.name for path in disk.iterdir()} <= {"filler", "t.zarr"}
        if (disk / "t.zarr").exists():
            assert "resume with" in outcome.err
        filler.unlink()
        assert cli(*make, "--store", disk / "t.zarr", "--quiet").status == 0
        assert cli("verify", disk / "t.zarr").out.startswith("ok: ")


def test_a_run_that_is_stopped_during_creation_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def stop(*arguments: object, **options: object) -> None:
        raise Stopped("stopped")

    config = load_config("eight-puzzle")
    monkeypatch.setattr(Arrays, "write_group", stop)
    with pytest.raises(Stopped):
        TableStore(tmp_path / "t.zarr").create(config, plan_run(config.puzzle).cut)
    assert not list(tmp_path.iterdir())


def test_a_run_without_its_lock_leaves_the_staging_place_of_the_next(tmp_path: Path) -> None:
    storage = TableStore(tmp_path / "t.zarr").storage
    with pytest.raises(StoreLockedError), storage.lock.hold(), storage.staged():
        (tmp_path / "t.zarr.lock").write_text("{}")
    assert (tmp_path / ".t.zarr.new").exists()


@pytest.mark.parametrize("what", ["table", "tilings"])
def test_a_full_disk_keeps_the_old_store(what: str, cli: Command, tmp_path: Path) -> None:
    board = board_file(SQUARE, tmp_path / "board.toml")
    make: list[object] = ["run", "knights-coloured"] if what == "table" else ["tile", board]
    with small(tmp_path / "small", "256k") as disk:
        store = disk / "t.zarr"
        assert cli(*make, "--store", store, "--quiet").status == 0
        before = contents(store)
        (disk / "filler").write_bytes(bytes(shutil.disk_usage(disk).free - 4096))  # room for the lock
        outcome = cli(*make, "--store", store, "--quiet", "--overwrite")
        if what == "table":  # refused before anything is overwritten
            assert (outcome.status, len(outcome.err.splitlines())) == (2, 1)
            assert "of free disk" in outcome.err
        else:
            assert (outcome.status, len(outcome.err.splitlines())) == (1, 1)
            assert "No space left on device; the store to be overwritten is unchanged; start over with" in outcome.err
            assert outcome.err.endswith("--overwrite\n")
        assert contents(store) == before
        assert {path.name for path in disk.iterdir()} == {"t.zarr", "filler"}


def test_the_old_store_is_restored_if_the_new_one_cannot_be_renamed(
    eight: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before, rename = contents(eight), os.rename

    def refuse(source: Path, destination: Path) -> None:
        if str(source).endswith(".new"):
            raise OSError(5, "Input/output error")
        rename(source, destination)

    monkeypatch.setattr(os, "rename", refuse)
    with pytest.raises(
        StoreError, match=r"error; the store to be overwritten is unchanged; the same call starts over$"
    ):
        run_puzzle(load_config("eight-puzzle"), eight, RunOptions(overwrite=True))
    assert contents(eight) == before
    assert [path.name for path in eight.parent.iterdir()] == [eight.name]


def test_the_old_store_is_restored_after_a_crash_between_the_renames(eight: Path) -> None:
    before = contents(eight)
    eight.rename(eight.with_name(f".{eight.name}.old"))
    eight.with_name(f".{eight.name}.new").mkdir()
    assert run_puzzle(load_config("eight-puzzle"), eight).states_found == 0
    assert contents(eight) == before


def test_an_error_in_a_bucket_says_that_the_old_store_is_deleted(
    bucket: Bucket, proxy: Proxy, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A bucket cannot hold both stores, since objects cannot be renamed."""
    config = load_config("knights-coloured")
    plan = plan_run(config.puzzle)
    TableStore(bucket.url()).create(config, plan.cut)
    monkeypatch.setattr(Arrays, "digests", lambda *_: (_ for _ in ()).throw(StoreError("refused")))
    with pytest.raises(StoreError, match=r"^refused; the old store has already been deleted$"):
        TableStore(bucket.url()).create(config, plan.cut, overwrite=True)


def test_files_that_are_deleted_are_not_taken_for_the_store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A run on disk deletes thousands of old layers, and printed that the store was being deleted."""
    storage, told = DirectoryStorage(tmp_path), list[tuple[object, ...]]()

    def call(what: str, name: str, method: Callable[[], object], *_: object) -> object:
        told.append((what, name))
        return method()

    monkeypatch.setattr(storage.waits, "call_unchanged", call)
    (tmp_path / "old").touch()
    storage.delete_keys(["old"])
    assert told == [("delete", f"files of {tmp_path}")]
    assert not list(tmp_path.iterdir())
