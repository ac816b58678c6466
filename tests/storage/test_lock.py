"""The lock and the fencing token of a store: one owner at a time, and none after a crash."""

import os
import socket
import subprocess
import sys
import threading
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path
from typing import Any

import lock_holder
import numpy as np
import pytest
from forks import popen
from places import Place
from waiting import PATIENCE

from antipodes.puzzles.config import load_config
from antipodes.storage.directory import DirectoryStorage
from antipodes.storage.lock import StoreLock
from antipodes.storage.opening import storage_at
from antipodes.tables.planning.plan import plan_run
from antipodes.tables.store.search_stores import TableStore
from antipodes.tables.store.table_manifest import TableManifest
from antipodes_tasks.base.errors import NotAStoreError, StoreError, StoreLockedError


def lock_of(store: Path) -> StoreLock:
    return DirectoryStorage(store).lock


def lock(store: Path) -> AbstractContextManager[StoreLock]:
    return lock_of(store).hold()


def test_readers_see_who_holds_the_lock_and_keep_no_run_from_it(tmp_path: Path) -> None:
    seen: set[str] = set()
    free, held, done = threading.Event(), threading.Event(), threading.Event()

    def read() -> None:
        while not done.is_set():
            holder = lock_of(tmp_path / "t.zarr").holder()
            if holder is None:
                free.set()
            else:
                seen.add(str(holder).partition(" since ")[0])  # another process, before the lock says whose it is
                if len(seen) > 1 or "another process" not in seen:
                    held.set()

    readers = [threading.Thread(target=read) for _ in range(2)]
    for reader in readers:
        reader.start()
    try:
        assert free.wait(PATIENCE)
        for _ in range(100):
            with lock(tmp_path / "t.zarr"):
                pass
        with lock(tmp_path / "t.zarr"):
            assert held.wait(PATIENCE)
    finally:
        done.set()
        for reader in readers:
            reader.join()
    assert f"process {os.getpid()} on {socket.gethostname()}" in seen


def test_a_lock_file_that_was_left_is_no_run(tmp_path: Path) -> None:
    (tmp_path / "t.zarr.lock").write_text('{"process": 1, "host": "elsewhere", "token": "t"}')
    assert lock_of(tmp_path / "t.zarr").holder() is None
    assert lock_of(tmp_path / "none.zarr").holder() is None


@pytest.mark.parametrize("content", [b"", b"{}", b"[]", b"\xff", b"[" * 100_000])
def test_a_lock_that_names_no_owner(content: bytes, tmp_path: Path) -> None:
    with lock(tmp_path / "t.zarr"):
        (tmp_path / "t.zarr.lock").write_bytes(content)
        with pytest.raises(StoreLockedError, match="in use by another process"), lock(tmp_path / "t.zarr"):
            pass


def test_a_lock_file_that_cannot_be_created(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match="cannot create"), lock(tmp_path / "file" / "t.zarr"):
        pass


@pytest.mark.parametrize("path", [".", "/", ""])
def test_paths_that_no_store_can_have(path: str) -> None:
    with pytest.raises(NotAStoreError), lock(Path(path)):
        pass


def test_two_names_of_one_store(tmp_path: Path) -> None:
    (tmp_path / "t.zarr").mkdir()
    (tmp_path / "link.zarr").symlink_to(tmp_path / "t.zarr")
    with lock(tmp_path / "t.zarr"), pytest.raises(StoreLockedError), lock(tmp_path / "link.zarr"):
        pass


def test_a_link_or_a_pipe_in_place_of_the_lock(tmp_path: Path) -> None:
    """They may come with a store from elsewhere: no other file is overwritten, and nothing waits for a writer."""
    path, mine = tmp_path / "t.zarr.lock", tmp_path / "mine"
    mine.write_text("mine")
    path.symlink_to(mine)
    assert lock_of(tmp_path / "t.zarr").holder() is None
    with pytest.raises(StoreError, match=r"t\.zarr\.lock: expected a file, found a link"), lock(tmp_path / "t.zarr"):
        pass
    assert mine.read_text() == "mine"
    path.unlink()
    os.mkfifo(path)
    assert lock_of(tmp_path / "t.zarr").holder() is None


def test_the_fencing_token(tmp_path: Path) -> None:
    with lock(tmp_path / "t.zarr") as handle:
        old = handle.token
        lock_of(tmp_path / "t.zarr").check_token(old)
        handle.rotate_token()
        new = handle.token
        assert new != old
        lock_of(tmp_path / "t.zarr").check_token(new)
        with pytest.raises(StoreLockedError, match=rf"taken over by process {os.getpid()} on .*; nothing was written"):
            lock_of(tmp_path / "t.zarr").check_token(old)
    with pytest.raises(StoreLockedError, match="taken over by another process"):
        lock_of(tmp_path / "t.zarr").check_token(new)


def test_a_token_that_cannot_be_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> int:
        raise OSError(28, "No space left on device")

    with lock(tmp_path / "t.zarr") as handle:
        monkeypatch.setattr(os, "pwrite", full)
        with pytest.raises(StoreError, match=r"cannot write .*t.zarr.lock: No space left on device"):
            handle.rotate_token()
    monkeypatch.undo()
    with lock(tmp_path / "t.zarr"):
        pass


def test_a_new_token_is_synced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Otherwise other hosts, which share the directory, would read the old one."""
    synced: list[bytes] = []
    path = tmp_path / "t.zarr.lock"
    with lock(tmp_path / "t.zarr") as handle:
        monkeypatch.setattr(os, "fsync", lambda descriptor: synced.append(os.pread(descriptor, 1000, 0)))
        handle.rotate_token()
        assert synced == [path.read_bytes()]
        assert handle.token.encode() in synced[0]


def test_the_lock_of_a_later_run_is_not_removed(tmp_path: Path) -> None:
    """The lock file of the first run was removed by hand."""
    store = tmp_path / "t.zarr"
    with lock(store):
        (tmp_path / "t.zarr.lock").unlink()
        later = lock(store)
        later.__enter__()
    with pytest.raises(StoreLockedError), lock(store):
        pass
    later.__exit__(None, None, None)
    assert not list(tmp_path.iterdir())


def test_an_unreadable_lock_file_was_not_taken_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def exhausted(*_: object, **__: object) -> bytes:
        raise OSError(24, "Too many open files")

    with lock(tmp_path / "t.zarr") as handle:
        monkeypatch.setattr(os, "open", exhausted)
        with pytest.raises(StoreError, match=r"cannot read .*t.zarr.lock: Too many open files"):
            handle.check()
        monkeypatch.undo()
        handle.check()


def test_a_file_system_without_locks_is_not_in_use(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise OSError(37, "No locks available")

    monkeypatch.setattr("fcntl.flock", refuse)
    with pytest.raises(StoreError, match=r"cannot lock .*t.zarr.lock: No locks available"), lock(tmp_path / "t.zarr"):
        pass


def lock_at(address: str) -> Any:
    return storage_at(address).lock.hold()


def created(place: Place) -> tuple[TableStore, TableManifest]:
    store, config = TableStore(place.address()), load_config("eight-puzzle")
    return store, store.create(config, plan_run(config.puzzle).cut)


def test_one_run_at_a_time(place: Place) -> None:
    address = place.address()
    owner = f"{address} is in use by process {os.getpid()} on {socket.gethostname()}"
    with lock_at(address) as handle:
        assert handle.token.encode() in place.files()["t.zarr.lock"]
        for _ in range(2):
            with pytest.raises(StoreLockedError, match=owner), lock_at(address):
                pass
        with lock_at(place.address("other.zarr")):
            pass
    with lock_at(address):
        pass
    assert not place.files()


def test_an_error_releases_the_lock(place: Place) -> None:
    for _ in range(2):
        with pytest.raises(KeyError), lock_at(place.address()):
            raise KeyError
    assert not place.files()


def test_the_lock_of_a_killed_process_is_taken_over_immediately(place: Place) -> None:
    command = [sys.executable, lock_holder.__file__, place.address()]
    with popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline() == "held\n"
        with pytest.raises(StoreLockedError, match=f"process {process.pid}"), lock_at(place.address()):
            pass
        process.kill()
    assert "t.zarr.lock" in place.files()
    with lock_at(place.address()):
        pass


def test_only_the_token_in_the_lock_permits_writes(place: Place) -> None:
    store, manifest = created(place)
    manifest = replace(manifest, committed_depth=7, layers=(1,) * 8, searched=True)
    store.create_arrays(manifest)
    newer = np.full((manifest.chunk_rows, manifest.width), 7, dtype=np.uint8)
    with store.lock() as handle:
        old = handle.token
        store.write_chunk(manifest, 0, newer - 1, old)
        handle.rotate_token()
        assert handle.token != old
        store.write_chunk(manifest, 0, newer, handle.token)
        before = place.files()
        with pytest.raises(StoreLockedError, match="taken over"):
            store.write_chunk(manifest, 0, newer - 1, old)
        assert place.files() == before
    with pytest.raises(StoreLockedError, match="taken over"):
        store.write_chunk(manifest, 0, newer, handle.token)


CHANGES: list[Callable[[TableStore, TableManifest], object]] = [
    lambda store, manifest: store.storage.staged(overwrite=True).__enter__(),
    lambda store, manifest: store.remove_leftovers(manifest),
    lambda store, manifest: store.commit(manifest),
    lambda store, manifest: store.journal(manifest).delete(),
    lambda store, manifest: store.storage.delete("depth"),
    lambda store, manifest: store.storage.delete_keys(["journal/0-1-0-00"]),
    lambda store, manifest: store.storage.put("journal/0-1-0-01", [b"late"]),
]


def test_a_run_that_lost_its_lock_changes_nothing_and_leaves_the_new_lock(place: Place) -> None:
    store, manifest = created(place)
    for key in ("depth/c/0/0", "journal/0-1-0-00", "depth/c/0/0.x.partial"):
        place.put(f"t.zarr/{key}", b"of the successor")
    with store.lock():
        place.take_over()
        before = place.files()
        for change in CHANGES:
            with pytest.raises(StoreLockedError, match="taken over by process 1 on elsewhere; nothing was written"):
                change(store, manifest)
            assert place.files() == before
    if "://" in place.address():  # a file is the lock only of the process that has opened it
        assert place.files() == before
