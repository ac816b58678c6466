"""The lock of a store in object storage: when it may be taken over, and what a run without it cannot change."""

import json
import os
import threading
import time
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

import numpy as np
import psutil
import pytest
from faults import killed_from
from s3 import Bucket, Proxy
from tiling_stores import SQUARE
from waiting import PATIENCE

from antipodes.puzzles.config import load_config
from antipodes.storage import lock, objects
from antipodes.storage.bucket import REQUEST_TIMEOUT
from antipodes.storage.bucket import Bucket as Client
from antipodes.tables.planning.plan import plan_run
from antipodes.tables.store.search_stores import TableStore
from antipodes.tables.store.table_manifest import TableManifest
from antipodes.tilings.board_config import BoardConfig
from antipodes.tilings.store import Searched, TilingStore
from antipodes_tasks.base.errors import StoreError, StoreLockedError

LOCK = "t.zarr.lock"
ELSEWHERE = {"process": 1, "host": "elsewhere", "machine": "another", "started": 0, "token": "old", "beat": 0}


def modified(bucket: Bucket) -> datetime:
    """The date of the lock object, by the clock of the server."""
    meta = Client(f"s3://{bucket.name}").head(LOCK)
    assert meta is not None
    found: datetime = meta["last_modified"]
    return found


def put_lock(bucket: Bucket, **changes: Any) -> None:
    bucket.put(LOCK, json.dumps({**ELSEWHERE, **changes}).encode())


def test_another_process_with_the_number_of_the_owner(bucket: Bucket) -> None:
    with TableStore(bucket.url()).lock():
        owner = json.loads(bucket.get(LOCK))
    bucket.put(LOCK, json.dumps({**owner, "started": owner["started"] - 1000}).encode())
    with TableStore(bucket.url()).lock():
        pass


@pytest.mark.parametrize("content", [b"", b"[]", b"\xff", b"{}", json.dumps(ELSEWHERE).encode()])
def test_an_owner_on_another_machine(content: bytes, bucket: Bucket, monkeypatch: pytest.MonkeyPatch) -> None:
    bucket.put(LOCK, content)
    owner = "process 1 on elsewhere" if b"elsewhere" in content else "another process"
    with pytest.raises(StoreLockedError, match=f"in use by {owner}"), TableStore(bucket.url()).lock():
        pass
    assert bucket.get(LOCK) == content
    monkeypatch.setattr(objects, "EXPIRY_SECONDS", -5.0)
    with TableStore(bucket.url()).lock():
        assert json.loads(bucket.get(LOCK))["process"] == os.getpid()


def test_an_owner_elsewhere_keeps_the_lock_until_it_expires(bucket: Bucket, monkeypatch: pytest.MonkeyPatch) -> None:
    put_lock(bucket)
    put = modified(bucket)
    monkeypatch.setattr(objects, "server_time", lambda *_: put + timedelta(seconds=objects.EXPIRY_SECONDS))
    with pytest.raises(StoreLockedError), TableStore(bucket.url()).lock():
        pass
    monkeypatch.setattr(objects, "server_time", lambda *_: put + timedelta(seconds=objects.EXPIRY_SECONDS + 1))
    with TableStore(bucket.url()).lock():
        assert json.loads(bucket.get(LOCK))["process"] == os.getpid()


def test_a_renewed_lock_does_not_expire(bucket: Bucket, monkeypatch: pytest.MonkeyPatch) -> None:
    """At a time when the first put would have expired, the lock is held, since its heartbeats are younger."""
    monkeypatch.setattr(objects, "HEARTBEAT_SECONDS", 0.1)
    with TableStore(bucket.url()).lock() as handle:
        put, deadline = modified(bucket), time.monotonic() + PATIENCE
        while modified(bucket) == put:  # dates are in whole seconds
            assert time.monotonic() < deadline
            time.sleep(0.02)
        late = put + timedelta(seconds=objects.EXPIRY_SECONDS + 1)
        monkeypatch.setattr(objects, "server_time", lambda *_: late)
        with pytest.raises(StoreLockedError), TableStore(bucket.url()).lock():
            pass
        assert json.loads(bucket.get(LOCK))["beat"] > 0
        assert json.loads(bucket.get(LOCK))["token"] == handle.token


def test_one_of_several_runs_takes_an_expired_lock_over(bucket: Bucket, monkeypatch: pytest.MonkeyPatch) -> None:
    """All find the same expired lock before any of them puts its own."""
    put_lock(bucket)
    monkeypatch.setattr(objects, "EXPIRY_SECONDS", -5.0)
    monkeypatch.setattr(objects, "TRIES", 1)
    ready, done = threading.Barrier(3), threading.Barrier(3)
    read, outcomes = objects.server_time, []

    def wait_for_others(*arguments: Any) -> Any:
        now = read(*arguments)
        ready.wait(PATIENCE)
        return now

    def claim() -> None:
        try:
            with TableStore(bucket.url()).lock():
                outcomes.append("held")
                done.wait(PATIENCE)
        except StoreLockedError:
            outcomes.append("refused")
            done.wait(PATIENCE)

    monkeypatch.setattr(objects, "server_time", wait_for_others)
    threads = [threading.Thread(target=claim) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(outcomes) == ["held", "refused", "refused"]


def test_a_server_without_conditional_writes(bucket: Bucket, proxy: Proxy, refused: Callable[..., str]) -> None:
    proxy.fault = lambda number, method, path: "unconditional"
    message = refused("run", "eight-puzzle", "--store", bucket.url(), status=1)
    assert "the server does not support conditional writes" in message
    assert bucket.listing() == []


def test_a_failing_server_does_not_hide_an_error(bucket: Bucket, proxy: Proxy, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTIPODES_RETRY_SECONDS", "0")

    def fail() -> None:
        proxy.fault = lambda number, method, path: "drop"
        raise KeyError

    with pytest.raises(KeyError), TableStore(bucket.url()).lock():
        fail()
    proxy.fault = lambda number, method, path: None
    assert LOCK in bucket.listing()
    with TableStore(bucket.url()).lock():  # immediately: this process knows that it has released it
        pass
    assert bucket.listing() == []


@pytest.mark.parametrize(("error", "dead"), [(ProcessLookupError, True), (PermissionError, False), (None, False)])
def test_an_owner_whose_process_is_hidden(
    error: type[OSError] | None, dead: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The process of another user, where /proc shows users only their own processes."""

    def hidden(number: int) -> None:
        raise psutil.NoSuchProcess(number)

    def kill(number: int, signal: int) -> None:
        assert (number, signal) == (4321, 0)
        if error:
            raise error

    monkeypatch.setattr(psutil, "Process", hidden)
    monkeypatch.setattr(os, "kill", kill)
    here = {"process": 4321, "machine": lock._machine(), "started": 1.0}
    assert lock.is_dead(here) is dead


def test_an_interrupt_during_locking_leaves_no_lock(bucket: Bucket, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(objects.Lease, "_is_put", interrupted)
        with pytest.raises(KeyboardInterrupt), TableStore(bucket.url()).lock():
            pass
    assert LOCK not in bucket.listing()
    with TableStore(bucket.url()).lock():
        pass


def take_over(bucket: Bucket) -> None:
    bucket.put(LOCK, json.dumps(ELSEWHERE).encode())


def created(bucket: Bucket) -> tuple[TableStore, TableManifest]:
    store, config = TableStore(bucket.url()), load_config("eight-puzzle")
    return store, store.create(config, plan_run(config.puzzle).cut)


def test_a_run_that_lost_its_lock_takes_no_new_token(bucket: Bucket) -> None:
    with TableStore(bucket.url()).lock() as handle:
        take_over(bucket)
        with pytest.raises(StoreLockedError, match="taken over by process 1 on elsewhere; nothing was written"):
            handle.rotate_token()
    assert json.loads(bucket.get(LOCK)) == ELSEWHERE


def test_a_retried_commit_checks_the_lock_again(bucket: Bucket, proxy: Proxy) -> None:
    """Otherwise the commit could succeed long after another run, which has read the old one, took the lock over."""
    store, manifest = created(bucket)
    before = bucket.get("t.zarr/commit.json")

    def unavailable_while_taken_over(number: int, method: str, path: str) -> str | None:
        if method != "PUT" or not path.endswith("t.zarr/commit.json"):
            return None
        take_over(bucket)
        return "503"

    with store.lock():
        proxy.fault = unavailable_while_taken_over
        with pytest.raises(StoreLockedError, match="taken over by process 1 on elsewhere"):
            store.commit(manifest)
    assert bucket.get("t.zarr/commit.json") == before


def test_a_lock_that_was_deleted(bucket: Bucket) -> None:
    store, manifest = created(bucket)
    with store.lock():
        bucket.delete(LOCK)
        with pytest.raises(StoreLockedError, match="taken over by another process"):
            store.commit(manifest)
    assert LOCK not in bucket.listing()


@pytest.mark.parametrize("there", [True, False])
def test_newer_bytes_between_the_check_and_the_write_stay(there: bool, bucket: Bucket) -> None:
    """After the check the lock gets another token, and a writer with that token writes first."""
    checks: list[str] = []
    if there:
        bucket.put("t.zarr/depth/c/0/0", b"oldest")

    def check() -> None:
        checks.append("check")
        if len(checks) > 1:
            raise StoreLockedError("taken over")
        bucket.put("t.zarr/depth/c/0/0", b"newer")

    with pytest.raises(StoreLockedError):
        Client(f"s3://{bucket.name}").put_fenced("t.zarr/depth/c/0/0", b"older", check)
    assert bucket.get("t.zarr/depth/c/0/0") == b"newer"
    assert len(checks) == 2


def test_a_writer_with_the_token_replaces_late_bytes(bucket: Bucket) -> None:
    checks = iter(range(100))

    def check() -> None:
        if next(checks) < 3:
            bucket.put("t.zarr/depth/c/0/0", f"late {next(checks)}".encode())

    Client(f"s3://{bucket.name}").put_fenced("t.zarr/depth/c/0/0", b"new", check)
    assert bucket.get("t.zarr/depth/c/0/0") == b"new"


def test_a_run_that_lost_its_lock_stores_no_tilings(bucket: Bucket) -> None:
    store = TilingStore(bucket.url())
    tilings = np.zeros((1, 5), dtype=np.int32)
    with store.lock():
        manifest = store.create(BoardConfig(SQUARE), "pruning", 2)
        manifest = store.add(manifest, {Searched(0, 1, 1, 1): tilings})
        before = bucket.contents()
        take_over(bucket)
        for write in (
            lambda: store.add(manifest, {Searched(1, 1, 1, 1): tilings}),
            lambda: store.finish(manifest, [Searched(1, 0, 0, 1)], tilings),
        ):
            with pytest.raises(StoreLockedError, match="taken over"):
                write()
    assert bucket.contents() == before


def test_a_deletion_is_not_retried_after_the_lock_was_lost(bucket: Bucket, proxy: Proxy) -> None:
    store, _ = created(bucket)
    before = bucket.contents()

    def fault(number: int, method: str, path: str) -> str | None:
        if method != "POST":
            return None
        take_over(bucket)
        return "503"

    with store.lock():
        proxy.fault, asked = fault, len(proxy.requests)
        with pytest.raises(StoreLockedError, match="taken over"):
            store.storage.staged(overwrite=True).__enter__()
    assert [method for method, _ in proxy.requests[asked:]].count("POST") == 1
    assert bucket.contents() == before


def test_a_request_ends_before_the_lock_can_expire() -> None:
    assert objects.HEARTBEAT_SECONDS < objects.SAFE_SECONDS
    assert objects.SAFE_SECONDS + REQUEST_TIMEOUT.total_seconds() < objects.EXPIRY_SECONDS


def test_a_server_too_slow_to_renew_the_lock(bucket: Bucket, monkeypatch: pytest.MonkeyPatch) -> None:
    """The lock stays, since another run may hold it by the time of the deletion."""
    store, manifest = created(bucket)
    with store.lock():
        monkeypatch.setattr(objects, "SAFE_SECONDS", -1.0)
        with pytest.raises(StoreError, match=r"cannot renew the lock of .* in time"):
            store.commit(manifest)
    assert LOCK in bucket.listing()


@pytest.mark.parametrize("change", ["rotate", "renew"])
def test_a_lock_that_was_put_though_the_answer_was_lost(
    change: str, bucket: Bucket, proxy: Proxy, monkeypatch: pytest.MonkeyPatch
) -> None:
    for limit in ("HEARTBEAT_SECONDS", "SAFE_SECONDS"):  # the lock is renewed only where the test asks for it
        monkeypatch.setattr(objects, limit, PATIENCE)
    monkeypatch.setenv("ANTIPODES_RETRY_SECONDS", "0")
    store, manifest = created(bucket)
    with store.lock() as handle:
        before = json.loads(bucket.get(LOCK))
        proxy.fault = lambda number, method, path: "lose" if path.endswith(LOCK) else None
        with monkeypatch.context() as patch:
            patch.setattr(objects, "HEARTBEAT_SECONDS", -1.0)
            with pytest.raises(StoreError, match="cannot write"):
                (handle.rotate_token if change == "rotate" else handle.check)()
        proxy.fault = lambda number, method, path: None
        lost = json.loads(bucket.get(LOCK))
        assert (lost["beat"], lost["token"] == before["token"]) == (2, change == "renew")
        handle.rotate_token()
        assert json.loads(bucket.get(LOCK)) == {**before, "token": handle.token, "beat": 3}
        store.commit(manifest)
    assert LOCK not in bucket.listing()


def test_the_objects_of_the_server_clock_do_not_pile_up(bucket: Bucket, monkeypatch: pytest.MonkeyPatch) -> None:
    """Runs that find a lock are killed before they delete the object that shows them the server's time."""

    def lock_once() -> None:
        with TableStore(bucket.url()).lock():
            pass

    for _ in range(3):
        bucket.put(LOCK, b"{}")
        assert killed_from(0, Client, ["head"], lock_once)
        assert bucket.listing() == [LOCK, f"{LOCK}.time"]
    monkeypatch.setattr(objects, "EXPIRY_SECONDS", -5.0)
    with TableStore(bucket.url()).lock():
        assert bucket.listing() == [LOCK], "nothing but the lock is left while a run is in progress"
    bucket.put(f"{LOCK}.time", b"")
    lock_once()
    assert bucket.listing() == []
