"""Stores in a directory: an unreadable path is not a missing one, and foreign files stay."""

import errno
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from depths import depths_in
from programs import Command
from stores import chunk_files

from antipodes.storage.directory import DirectoryStorage
from antipodes.storage.files import PARTIAL, STORED
from antipodes.tables.journal import FOLDER
from antipodes.tables.store.manifest import COUNTS, DEPTH
from antipodes.tables.store.stores import TableStore
from antipodes.tilings.store import PARTITIONS, TILINGS
from antipodes_tasks.errors import StoreError


@pytest.fixture
def unreadable(monkeypatch: pytest.MonkeyPatch) -> Callable[[Path], None]:
    """Makes the system fail to read the status of a path."""

    def hide(path: Path) -> None:
        def stat(asked: Any, **options: Any) -> os.stat_result:
            if asked == path:
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


def test_no_array_is_created_over_one_that_could_not_be_deleted(eight: Path, tmp_path: Path) -> None:
    (eight / "depth").rename(tmp_path / "elsewhere")
    (eight / "depth").symlink_to(tmp_path / "elsewhere")
    store = TableStore(eight)
    with pytest.raises(StoreError, match=r"cannot write .*depth: cannot delete what is there"):
        store.create_depths(store.read())


@pytest.mark.parametrize("name", [".eight.zarr.old", ".eight.zarr.new"])
def test_foreign_files_beside_a_store_are_not_deleted(name: str, cli: Command, eight: Path) -> None:
    (eight.parent / name).mkdir()
    (eight.parent / name / "mine").write_text("precious")
    outcome = cli("run", "eight-puzzle", "--store", eight, "--overwrite", "--quiet")
    assert outcome.status == 1
    assert f"{eight.parent / name} is in the way, since mine is in it" in outcome.err
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
