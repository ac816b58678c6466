"""The store of a table: its content, commits, fencing, and crashes while it is overwritten."""

import os
import pickle
import re
import shutil
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from faults import killed_from
from stores import change_manifest, chunk_files, contents, read_manifest

from antipodes.puzzles.config import Config, load_config
from antipodes.storage.backend import MANIFEST
from antipodes.tables.planning.plan import plan_run
from antipodes.tables.run import RunOptions, run_puzzle
from antipodes.tables.store.search_stores import TableStore
from antipodes_tasks.base.errors import NotAStoreError, StoreDamagedError, StoreError


def created(path: Path) -> TableStore:
    store = TableStore(path)
    config = load_config("eight-puzzle")
    store.create(config, plan_run(config.puzzle).cut)
    return store


def test_a_path_at_which_no_store_can_be_created(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match="cannot write"):
        created(tmp_path / "file" / "t.zarr")


@pytest.mark.parametrize(
    ("changes", "error", "match"),
    [
        ({"version": 8}, NotAStoreError, r"expected a store of format version 7 .* version 8; read it with"),
        ({"version": 1}, NotAStoreError, "found version 1; compute it again with overwrite=True"),
        ({"version": 4}, NotAStoreError, "found version 4; compute it again with overwrite=True"),
        ({"format": "antipodes-tilings"}, NotAStoreError, "found tilings of a board"),
        ({"extra": 1}, StoreDamagedError, "is corrupt"),
        ({"of": 1, "another": 2}, StoreDamagedError, "is corrupt"),
    ],
)
def test_manifests_of_other_stores(changes: dict[str, Any], error: type[StoreError], match: str, eight: Path) -> None:
    change_manifest(eight, **changes)
    with pytest.raises(error, match=match):
        TableStore(eight).read()


@pytest.mark.parametrize(
    ("removed", "key"),
    [
        ({"least_over_regions": True}, "least_over_regions"),
        ({"starts": {"table": "s3://bucket/table.zarr", "depth": 3}}, "starts = { table = ... }"),
    ],
)
def test_keys_of_earlier_versions_are_named(removed: dict[str, Any], key: str, eight: Path) -> None:
    puzzle = read_manifest(eight / "commit.json")["puzzle"]
    change_manifest(eight, puzzle={**puzzle, **removed})
    with pytest.raises(NotAStoreError, match=f"made with {re.escape(key)}, which antipodes no longer supports"):
        TableStore(eight).read()


def test_leftovers_are_removed(eight: Path) -> None:
    before = contents(eight)
    (chunk_files(eight)[0].parent / "0.1234.partial").write_bytes(b"half")
    (eight / "journal").mkdir()
    (eight / "journal/0-1-1-00").write_bytes(b"left by a kill after the table was complete")
    store = TableStore(eight)
    store.remove_leftovers(store.read())
    assert contents(eight) == before


@pytest.mark.slow
def test_killed_while_overwriting(finished: Path, tmp_path: Path) -> None:
    config, step = load_config("knights-coloured"), 0
    cut = plan_run(config.puzzle).cut
    while True:
        store = Path(shutil.copytree(finished, tmp_path / f"{step}.zarr"))
        create = partial(TableStore(store).create, config, cut, overwrite=True)
        killed = killed_from(step, os, ("fsync", "rename", "unlink", "rmdir"), create)
        report = run_puzzle(config, store, RunOptions(overwrite=True))
        assert report.manifest.radius == 22
        assert not [path for path in tmp_path.iterdir() if path.name.startswith(".")], "nothing is left behind"
        if not killed:
            break
        step += 2
    assert step > 10


def test_a_chunk_is_synced_before_it_is_renamed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Otherwise a power failure could spoil chunks of an earlier commit. Files of the journal have until the commit."""
    calls: list[tuple[str, str]] = []
    fsync, replace = os.fsync, os.replace

    def note_fsync(descriptor: int) -> None:
        calls.append(("fsync", os.path.basename(os.readlink(f"/proc/self/fd/{descriptor}"))))
        fsync(descriptor)

    def note_replace(source: str | Path, destination: str | Path) -> None:
        if str(destination).startswith(str(tmp_path)):  # others are of numba's cache
            calls.append(("replace", os.path.basename(source)))
        replace(source, destination)

    monkeypatch.setattr(os, "fsync", note_fsync)
    monkeypatch.setattr(os, "replace", note_replace)
    board = Config({"name": "board", "family": "sliding", "rows": 2, "columns": 3, "start": "1 2 3 4 5 0"})
    run_puzzle(board, tmp_path / "board.zarr", RunOptions(workers=1, checkpoint_every=0))
    renamed = [(place, name) for place, (what, name) in enumerate(calls) if what == "replace"]
    assert sum(name.startswith("0.") for _, name in renamed) >= 2  # chunks of both arrays
    assert sum(name.startswith("0-1-") for _, name in renamed) >= 2  # files of the journal
    commits = [place for place, name in renamed if name.startswith(MANIFEST)]
    for place, name in renamed:
        synced = ("fsync", name) in calls[:place]
        if name.startswith("0-1-") and not synced:
            commit = next(later for later in commits if later > place)
            synced = ("fsync", name.partition(".")[0]) in calls[place:commit]
        assert synced, name


def test_reachable(eight: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    store = TableStore(eight.name)
    digest, before = store.manifest_file.current_digest(), contents(tmp_path)
    elsewhere = pickle.loads(pickle.dumps(store))
    monkeypatch.chdir("/")
    elsewhere.check_reachable(digest)
    assert contents(tmp_path) == before
    with pytest.raises(StoreError, match="there is no store at"):
        store.check_reachable(digest)
    with pytest.raises(StoreError, match="a different store on this machine"):
        elsewhere.check_reachable("0" * 64)
    monkeypatch.setattr(os, "fsync", lambda _: (_ for _ in ()).throw(OSError(30, "Read-only file system")))
    with pytest.raises(StoreError, match=rf"cannot write {eight}: Read-only file system"):
        elsewhere.check_reachable(digest)


def test_a_copy_does_not_hold_the_lock(tmp_path: Path) -> None:
    store = created(tmp_path / "t.zarr")
    with store.lock():
        assert store.storage.lock.is_held
        assert not pickle.loads(pickle.dumps(store)).storage.lock.is_held
