"""The lock of a store in object storage: one owner at a time, and when another run may take it over."""

import json
import os
import threading
import time
from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import psutil
import pytest
from programs import Command
from s3 import Bucket, Proxy
from stores import contents, stop_after

from antipodes.config import load_config
from antipodes.storage import lock, objects
from antipodes.storage.bucket import Bucket as Client
from antipodes.tables.run import RunOptions, run_puzzle
from antipodes.tables.store.stores import TableStore
from antipodes_tasks.errors import StoreLockedError

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


def test_a_second_run_is_refused(bucket: Bucket, refused: Callable[..., str]) -> None:
    with TableStore(bucket.url()).lock():
        assert "is in use by process" in refused("run", "eight-puzzle", "--store", bucket.url(), status=1)
        assert "is in use by process" in refused("tile", "6x10", "--store", bucket.url(), status=1)


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
        put, deadline = modified(bucket), time.monotonic() + 30
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
        ready.wait(60)
        return now

    def claim() -> None:
        try:
            with TableStore(bucket.url()).lock():
                outcomes.append("held")
                done.wait(60)
        except StoreLockedError:
            outcomes.append("refused")
            done.wait(60)

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


def test_an_interrupted_run_releases_the_lock(bucket: Bucket, cli: Command, finished: Path) -> None:
    config = load_config("eight-puzzle")
    run_puzzle(config, bucket.url(), RunOptions(workers=2), interrupted=stop_after(10))
    assert LOCK not in bucket.listing()
    assert cli("resume", bucket.url(), "--workers", 2).status == 0
    assert bucket.contents() == contents(finished)


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
