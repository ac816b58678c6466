"""A failing server: a run survives some seconds of it, and ends with one line when it lasts."""

import json
import time
from collections.abc import Callable
from typing import Any

import pytest
from programs import Command, Process
from s3 import KEY, SECRET, Bucket, Proxy
from stores import contents

from antipodes.config import load_config
from antipodes.errors import StoreError
from antipodes.storage.cloud import bucket as cloud_bucket
from antipodes.storage.cloud import retry
from antipodes.storage.cloud.retry import reason
from antipodes.tables.run import RunOptions, run_puzzle
from antipodes.tables.store.table_store import TableStore
from antipodes.tables.table import open_table

OPTIONS = RunOptions(workers=2, checkpoint_every=0)
PUZZLE = "knights-coloured"


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """The files of the table in a directory."""
    store = tmp_path_factory.mktemp("whole") / "t.zarr"
    run_puzzle(load_config(PUZZLE), store, OPTIONS)
    return contents(store)


def slow(*faults: str) -> list[Any]:
    """Faults for the slow suite, whose tests differ little from the others."""
    return [pytest.param(fault, marks=pytest.mark.slow) for fault in faults]


@pytest.mark.slow
@pytest.mark.parametrize("fault", ["truncate", "drop", "lose", "503"])
def test_an_outage_of_seconds(fault: str, bucket: Bucket, proxy: Proxy, whole: dict[str, bytes]) -> None:
    proxy.fail_for(0.7, fault, after=25)
    run_puzzle(load_config(PUZZLE), bucket.url(), OPTIONS)
    assert len(proxy.requests) > 60
    assert bucket.contents() == whole
    assert not [key for key in bucket.listing() if not key.startswith("t.zarr/")]


@pytest.mark.parametrize("fault", ["lose", *slow("truncate", "drop", "503")])
def test_every_third_request_fails(
    fault: str, bucket: Bucket, proxy: Proxy, whole: dict[str, bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    """After a lost answer the client does not know whether a write was done; it was, and counts."""
    monkeypatch.setattr(retry, "FIRST_PAUSE", 0.01)
    proxy.fault = lambda number, method, path: fault if number % 3 == 2 else None
    run_puzzle(load_config(PUZZLE), bucket.url(), RunOptions(workers=2))
    assert bucket.contents() == whole
    with open_table(bucket.url()) as table:
        assert [len(table.positions_at(depth)) for depth in (0, 10, 22)] == [1, 1947, 3]


@pytest.mark.parametrize("fault", ["503", *slow("drop")])
def test_a_lasting_outage(fault: str, bucket: Bucket, proxy: Proxy, refused: Callable[..., str], cli: Command) -> None:
    run = ("run", PUZZLE, "--store", bucket.url(), "--checkpoint-every", 0, "--workers", 2, "--quiet")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ANTIPODES_STORE_PATIENCE", "0.5")
        proxy.fail_for(1000, fault, after=40)
        begin = time.monotonic()
        message = refused(*run, status=1)
        assert time.monotonic() - begin < 30
    assert f"resume with: antipodes resume {bucket.url()}" in message
    assert "127.0.0.1" not in message
    assert not [secret for secret in (KEY, SECRET) if secret in message]
    proxy.fault = lambda number, method, path: None
    said = json.loads(cli("resume", bucket.url(), "--workers", 2, "--json").out)
    assert said["complete"]


@pytest.mark.slow
def test_a_lasting_outage_of_a_process(bucket: Bucket, proxy: Proxy, process: Process, whole: dict[str, bytes]) -> None:
    proxy.fail_for(1000, "503", after=40)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ANTIPODES_STORE_PATIENCE", "1")
        run = ("run", PUZZLE, "--store", bucket.url(), "--checkpoint-every", 0, "--workers", 2, "--quiet")
        running = process(*run)
    _, err = running.communicate(timeout=60)
    assert running.returncode == 1
    assert len(err.splitlines()) == 1
    assert "503 Service Unavailable" in err
    proxy.fault = lambda number, method, path: None
    running = process("resume", bucket.url(), "--workers", 2, "--json")
    out, _ = running.communicate(timeout=60)
    assert json.loads(out)["complete"]
    assert bucket.contents() == whole


@pytest.mark.parametrize(("fault", "said"), [("403", "403 Forbidden"), ("401", "401 Unauthorized"), ("501", "501")])
def test_permanent_errors_are_not_retried(fault: str, said: str, bucket: Bucket, proxy: Proxy) -> None:
    proxy.fault = lambda number, method, path: fault
    with pytest.raises(StoreError, match=f"cannot read {bucket.url()}/commit.json: {said}"):
        TableStore(bucket.url()).read()
    assert len(proxy.requests) == 1


@pytest.mark.parametrize("fault", ["drop", "lose", "408", "429", "500", "502", "503", "504"])
def test_transient_errors_are_retried(fault: str, bucket: Bucket, proxy: Proxy) -> None:
    proxy.fault = lambda number, method, path: fault if number == 0 else None
    with pytest.raises(StoreError, match="there is no store at"):
        TableStore(bucket.url()).manifest_digest()
    assert len(proxy.requests) == 2


def test_requests_are_made_once_after_retries_ran_out(
    bucket: Bucket, proxy: Proxy, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Otherwise each of the last requests of a failed run would wait as long as the first."""
    monkeypatch.setenv("ANTIPODES_STORE_PATIENCE", "1")
    monkeypatch.setattr(retry, "FIRST_PAUSE", 0.01)
    store = TableStore(bucket.url())
    proxy.fault = lambda number, method, path: "503"
    with pytest.raises(StoreError, match="503 Service Unavailable"):
        store.manifest_digest()
    asked = len(proxy.requests)
    assert asked > 1
    with pytest.raises(StoreError, match="503 Service Unavailable"):
        store.manifest_digest()
    assert len(proxy.requests) == asked + 1
    proxy.fault = lambda number, method, path: None
    with pytest.raises(StoreError, match="there is no store at"):
        store.manifest_digest()
    asked = len(proxy.requests)
    proxy.fault = lambda number, method, path: "503" if number == asked else None
    with pytest.raises(StoreError, match="there is no store at"):
        store.manifest_digest()
    assert len(proxy.requests) == asked + 2, "requests are retried again"


def test_without_credentials() -> None:
    error = OSError("Generic S3 error: Error performing PUT http://169.254.169.254/latest/api/token in 2s - HTTP error")
    assert reason(error) == "no credentials in the environment"


def test_reasons_have_no_addresses() -> None:
    """Addresses of requests may be signed."""
    error = OSError("Error performing GET https://host/x?sig=secret in 4ms - HTTP error: redirect to https://h/?sig=s")
    assert reason(error) == "HTTP error: redirect to ..."


@pytest.mark.parametrize("fault", ["412", "409", "404"])
@pytest.mark.parametrize("part", ["commit.json", "/c/", ".lock"])
def test_a_write_that_is_refused_though_its_condition_is_met(
    fault: str,
    part: str,
    bucket: Bucket,
    proxy: Proxy,
    whole: dict[str, bytes],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The client reads the object, finds that no other run has changed it, and retries the write."""
    monkeypatch.setattr(cloud_bucket, "REFUSAL_PAUSES", (0.01, 0.01, 0.01))
    refused: list[int] = []

    def first(number: int, method: str, path: str) -> str | None:
        if method != "PUT" or part not in path or len(refused) > 1 or (fault == "404" and number > 40):
            return None
        refused.append(number)
        return fault

    proxy.fault = first
    run_puzzle(load_config(PUZZLE), bucket.url(), RunOptions(workers=2))
    assert refused
    assert bucket.contents() == whole


@pytest.mark.parametrize("method", ["PUT", "HEAD"])
def test_a_server_that_does_not_show_what_was_put(
    method: str, bucket: Bucket, proxy: Proxy, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cloud_bucket, "REFUSAL_PAUSES", (0.01, 0.01, 0.01))
    proxy.fault = lambda number, made, path: "404" if made == method and ".clock/" in path else None
    with pytest.raises(StoreError, match=r"cannot (lock|write) s3://.*(404 Not Found|just put there)"):
        run_puzzle(load_config(PUZZLE), bucket.url())


def test_a_request_that_fails_for_long_is_told_once(monkeypatch: pytest.MonkeyPatch) -> None:
    clock, told, tries = [0.0], [], []
    monkeypatch.setattr("time.monotonic", lambda: clock[0])
    monkeypatch.setattr("time.sleep", lambda pause: clock.__setitem__(0, clock[0] + pause))
    monkeypatch.setattr(retry, "watch", retry.Watch(told.append))

    def request() -> str:
        tries.append(clock[0])
        if clock[0] < 20:
            raise OSError('kind: Other, message: "no route to host"')
        return "answer"

    assert retry.RetryPolicy("s3://nowhere", 75).run("read", "s3://nowhere/a", request) == "answer"
    assert told == ["cannot read s3://nowhere/a: no route to host; trying for 75 s"]
    assert len(tries) > 5
