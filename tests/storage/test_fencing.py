"""The lock and the fencing token of a store, in a directory and in object storage."""

import multiprocessing
import os
import socket
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from places import Place

from antipodes.config import load_config
from antipodes.storage.address import storage_at
from antipodes.tables.planning.plan import plan_run
from antipodes.tables.store.manifest import TableManifest
from antipodes.tables.store.stores import TableStore
from antipodes_tasks.errors import StoreLockedError


def lock(address: str) -> Any:
    return storage_at(address).lock.hold()


def hold(address: str, pipe: Any) -> None:
    """Take the lock, report it, and keep it."""
    with lock(address):
        pipe.send(True)
        pipe.recv()


def created(place: Place) -> tuple[TableStore, TableManifest]:
    store, config = TableStore(place.address()), load_config("eight-puzzle")
    return store, store.create(config, plan_run(config.puzzle).cut)


def test_one_run_at_a_time(place: Place) -> None:
    address = place.address()
    owner = f"{address} is in use by process {os.getpid()} on {socket.gethostname()}"
    with lock(address) as handle:
        assert handle.token.encode() in place.files()["t.zarr.lock"]
        for _ in range(2):
            with pytest.raises(StoreLockedError, match=owner), lock(address):
                pass
        with lock(place.address("other.zarr")):
            pass
    with lock(address):
        pass
    assert not place.files()


def test_an_error_releases_the_lock(place: Place) -> None:
    for _ in range(2):
        with pytest.raises(KeyError), lock(place.address()):
            raise KeyError
    assert not place.files()


def test_the_lock_of_a_killed_process_is_taken_over_immediately(place: Place) -> None:
    ours, theirs = multiprocessing.Pipe()
    process = multiprocessing.get_context("spawn").Process(target=hold, args=(place.address(), theirs))
    process.start()
    assert ours.recv()
    with pytest.raises(StoreLockedError, match=f"process {process.pid}"), lock(place.address()):
        pass
    process.kill()
    process.join()
    assert "t.zarr.lock" in place.files()
    with lock(place.address()):
        pass


def test_only_the_token_in_the_lock_permits_writes(place: Place) -> None:
    store, manifest = created(place)
    manifest = replace(manifest, committed_depth=7, layers=(1,) * 8, searched=True)
    store.create_depths(manifest)
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
]


def test_a_run_that_lost_its_lock_changes_nothing_and_leaves_the_new_lock(place: Place) -> None:
    store, manifest = created(place)
    for key in ("depth/c/0/0", "journal/0-1-0-00", "depth/c/0/0.x.partial"):
        place.put(f"t.zarr/{key}", b"of the successor")
    with store.lock():
        place.take_over()
        before = place.files()
        for change in CHANGES:
            with pytest.raises(StoreLockedError, match="taken over by process 1 on elsewhere; not written"):
                change(store, manifest)
            assert place.files() == before
    if "://" in place.address():  # a file is the lock only of the process that has opened it
        assert place.files() == before
