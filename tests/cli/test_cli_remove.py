"""`remove`: it deletes stores, and nothing else, whenever it is killed."""

import json
import os
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import all_stores
import pytest
from faults import DELETES, Killed, fault_at, kill, killed_from
from programs import Command, Terminal
from s3 import Bucket
from stores import contents
from tiling_stores import SQUARE, tiled

from antipodes.storage import store as storing
from antipodes.storage.bucket import Bucket as Client
from antipodes.storage.opening import storage_at
from antipodes.storage.store import remove_store
from antipodes.stores import KINDS
from antipodes.tables.store.search_stores import TableStore
from antipodes_tasks.base.errors import StoreLockedError


@pytest.mark.parametrize("kind", all_stores.KINDS)
def test_every_kind(kind: str, cli: Command, tmp_path: Path) -> None:
    store = all_stores.store_of(kind, tmp_path / "t.zarr")
    size = sum(map(len, contents(store).values()))
    outcome = cli("remove", store, "--yes", "--json")
    assert (outcome.status, outcome.err, list(tmp_path.iterdir())) == (0, "", [])
    assert json.loads(outcome.out) == {"store": str(store), "freed_bytes": size}


def test_a_damaged_store_by_its_name(cli: Command, finished: Path, tmp_path: Path) -> None:
    store = tmp_path / "outputs" / "t.zarr"
    shutil.copytree(finished, store)
    (store / "commit.json").write_text("{")
    assert cli("remove", "t", "--yes").out.startswith("removed outputs/t.zarr")
    assert list(store.parent.iterdir()) == []


@pytest.mark.parametrize("kind", ["table", "unfinished keys", "reduced fields", "unfinished tilings"])
def test_other_kinds_in_a_bucket(kind: str, cli: Command, bucket: Bucket) -> None:
    outcome = cli("remove", all_stores.put_store(kind, bucket), "--yes")
    assert (outcome.status, outcome.err, bucket.listing()) == (0, "", [])


def test_of_a_link_to_a_store_only_the_link(cli: Command, eight: Path, tmp_path: Path) -> None:
    before, link = contents(eight), tmp_path / "link.zarr"
    for target in (eight, eight.name):
        link.symlink_to(target)
        outcome = cli("remove", link, "--yes")
        assert outcome.out == f"removed the link {link}; its target was not changed\n"
        assert not link.is_symlink()
        assert contents(eight) == before
    link.symlink_to(eight)
    assert json.loads(cli("remove", link, "--yes", "--json").out) == {"store": str(link), "freed_bytes": 0}


@pytest.mark.parametrize("name", ["depth", "depth/c/0/0", "commit.json", "zarr.json", "layer_counts/zarr.json"])
def test_links_inside_of_a_store_are_not_followed(name: str, cli: Command, eight: Path, tmp_path: Path) -> None:
    mine = tmp_path / "mine"
    (eight / name).rename(mine)
    (eight / name).symlink_to(mine)
    before = contents(mine) if mine.is_dir() else mine.read_bytes()
    outcome = cli("remove", eight, "--yes")
    assert (outcome.status == 0) is (name != "commit.json"), outcome
    assert (contents(mine) if mine.is_dir() else mine.read_bytes()) == before


def test_a_bucket(cli: Command, bucket: Bucket, finished: Path) -> None:
    bucket.fill(contents(finished))
    bucket.put("t.zarr.txt", b"another")
    outcome = cli("remove", bucket.url(), "--yes")
    assert (outcome.status, outcome.err) == (0, "")
    assert outcome.out.startswith(f"removed {bucket.url()}: ")
    assert bucket.listing() == ["t.zarr.txt"]


def test_directories_with_other_files_are_refused(refused: Callable[..., str], eight: Path, tmp_path: Path) -> None:
    before = contents(eight)
    (eight / "notes.txt").write_text("mine")
    assert f"{eight / 'notes.txt'} does not belong to a store; nothing was removed" in refused(
        "remove", eight, "--yes", status=1
    )
    (eight / "notes.txt").rename(tmp_path / "notes.txt")
    (tmp_path / ".eight.zarr.old").mkdir()
    (tmp_path / ".eight.zarr.old" / "notes.txt").write_text("mine")
    assert "notes.txt does not belong to a store" in refused("remove", eight, "--yes", status=1)
    assert contents(eight) == before


def test_a_link_in_place_of_leftovers_is_not_followed(
    cli: Command, eight: Path, finished: Path, tmp_path: Path
) -> None:
    other = shutil.copytree(finished, tmp_path / "other.zarr")
    before = contents(other)
    for name in (".eight.zarr.old", ".eight.zarr.new"):
        (tmp_path / name).symlink_to(other)
    (eight / "journal").symlink_to(other)
    cli("remove", eight, "--yes")
    assert contents(other) == before


def test_foreign_objects_are_refused(refused: Callable[..., str], bucket: Bucket, finished: Path) -> None:
    bucket.fill({**contents(finished), "notes.txt": b"mine"})
    before = bucket.listing()
    assert "notes.txt does not belong to a store" in refused("remove", bucket.url(), "--yes", status=1)
    assert bucket.listing() == before
    assert "does not exist" in refused("remove", bucket.url("none.zarr"), "--yes")


@pytest.mark.parametrize("kind", ["directory", "bucket"])
def test_a_store_that_a_run_holds(
    kind: str, refused: Callable[..., str], eight: Path, request: pytest.FixtureRequest
) -> None:
    store: Any = eight
    if kind == "bucket":
        bucket = request.getfixturevalue("bucket")
        bucket.fill(contents(eight))
        store = bucket.url()
    with TableStore(store).lock():
        assert f"is in use by process {os.getpid()} on" in refused("remove", store, "--yes", status=1)
        assert TableStore(store).read().complete


def test_a_run_that_begins_after_the_question(eight: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(storing, "check_not_in_use", lambda *_: None)
    with TableStore(eight).lock(), pytest.raises(StoreLockedError):
        remove_store(storage_at(eight), KINDS)
    assert TableStore(eight).read().complete


@pytest.mark.parametrize(("answer", "status"), [("y\n", 0), ("\n", 1), ("n\n", 1), ("", 1)])
def test_it_asks_on_a_terminal(answer: str, status: int, eight: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from antipodes.cli.main import run_command

    screen = Terminal()
    monkeypatch.setattr(sys, "stdin", Terminal(answer))
    monkeypatch.setattr(sys, "stderr", screen)
    assert run_command(["remove", str(eight)]) == status
    assert screen.getvalue().startswith(f"remove {eight}, ")
    assert eight.exists() is (status == 1)


def test_without_a_terminal_it_needs_an_option(refused: Callable[..., str], eight: Path) -> None:
    assert f"confirm with: antipodes remove {eight} --yes" in refused("remove", eight)
    assert eight.exists()


def test_killed_at_any_step(cli: Command, tmp_path: Path) -> None:
    """The store is there as it was, or no command finds it; the same command, by name or path, deletes the rest."""
    whole = tiled(SQUARE, tmp_path / "whole.zarr")
    store, step = tmp_path / "outputs" / "t.zarr", 1
    while True:
        shutil.copytree(whole, store)
        with fault_at(step, kill, (DELETES,)):
            try:
                remove_store(storage_at(store), KINDS)
                break
            except Killed:
                pass
        if store.exists():
            assert contents(store) == contents(whole)
        else:
            assert "there is no store at" in cli("status", store).err
            assert json.loads(cli("list", "--json").out) == []
        if list(store.parent.iterdir()) != [store.with_name("t.zarr.lock")]:  # the last step: nothing else is left
            assert cli("remove", "t" if step % 2 else store, "--yes").status == 0
            assert list(store.parent.iterdir()) == []
        step += 1
    assert step > 5


def test_killed_at_any_step_in_a_bucket(cli: Command, bucket: Bucket, finished: Path) -> None:
    whole, steps = contents(finished), 0
    bucket.fill(whole)
    while killed_from(steps, Client, ["delete"], lambda: remove_store(storage_at(bucket.url()), KINDS)):
        assert bucket.contents() == whole or not TableStore(bucket.url()).exists()
        bucket.delete("t.zarr.lock")  # its process is alive: the test
        if bucket.listing():  # not after the last step, which deletes the lock
            assert cli("remove", bucket.url(), "--yes").status == 0
            assert bucket.listing() == []
        bucket.fill(whole)
        steps += 1
    assert steps >= 3
