"""A failing server: a run survives some seconds of it, and ends with one line when it lasts."""

import json
import re
import shlex
import signal
import threading
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

import pytest
from program_runs import Run
from programs import Command
from s3 import KEY, SECRET, Bucket, Proxy
from stores import contents
from waiting import PATIENCE

from antipodes.puzzles.config import load_config
from antipodes.storage import bucket as cloud_bucket
from antipodes.storage import retry
from antipodes.storage.retry import reason
from antipodes.system.events import Event, Waiting
from antipodes.tables.run import RunOptions, run_puzzle
from antipodes.tables.store.search_stores import TableStore
from antipodes.tables.table import open_table
from antipodes_tasks.base.errors import StoreError, StoreSilentError

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


@pytest.mark.parametrize("fault", ["lose", *slow("truncate")])
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
        patch.setenv("ANTIPODES_RETRY_SECONDS", "0.5")
        proxy.fail_for(1000, fault, after=40)
        message = refused(*run, status=1)
    assert f"resume with: antipodes resume {bucket.url()}" in message
    assert "127.0.0.1" not in message
    assert not [secret for secret in (KEY, SECRET) if secret in message]
    proxy.fault = lambda number, method, path: None
    said = json.loads(cli("resume", bucket.url(), "--workers", 2, "--json").out)
    assert said["complete"]


def test_an_outage_while_the_store_is_opened(bucket: Bucket, proxy: Proxy, refused: Callable[..., str]) -> None:
    """It is unknown whether the store exists; the same command begins or resumes it."""
    again = f"run {PUZZLE} --store {bucket.url()} --workers 2"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ANTIPODES_RETRY_SECONDS", "0.1")
        for overwrite in ("", " --overwrite"):
            proxy.fail_for(1000, "503")
            message = refused(*shlex.split(f"{again}{overwrite} --quiet"), status=1)
            start = f"try again with: antipodes run {PUZZLE} --store {bucket.url()}{overwrite} --workers 2"
            assert message.count("again with") == message.count(start) == 1, message


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
        TableStore(bucket.url()).manifest_file.current_digest()
    assert len(proxy.requests) == 2


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The time of the retries in seconds; only their pauses move it on."""
    now = [0.0]

    def sleep(seconds: float) -> None:
        now[0] += seconds

    monkeypatch.setattr(retry, "time", SimpleNamespace(monotonic=lambda: now[0], sleep=sleep))
    monkeypatch.setattr(retry, "REPORT_AFTER_SECONDS", 3.0)
    return now


@pytest.mark.usefixtures("clock")
def test_requests_are_made_once_after_retries_ran_out(
    bucket: Bucket, proxy: Proxy, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Otherwise each of the last requests of a failed run would wait as long as the first."""
    monkeypatch.setenv("ANTIPODES_RETRY_SECONDS", "1")
    monkeypatch.setattr(retry, "FIRST_PAUSE", 0.01)
    store = TableStore(bucket.url())
    proxy.fault = lambda number, method, path: "503"
    with pytest.raises(StoreError, match="503 Service Unavailable"):
        store.manifest_file.current_digest()
    asked = len(proxy.requests)
    assert asked > 1
    with pytest.raises(StoreError, match="503 Service Unavailable"):
        store.manifest_file.current_digest()
    assert len(proxy.requests) == asked + 1
    proxy.fault = lambda number, method, path: None
    with pytest.raises(StoreError, match="there is no store at"):
        store.manifest_file.current_digest()
    asked = len(proxy.requests)
    proxy.fault = lambda number, method, path: "503" if number == asked else None
    with pytest.raises(StoreError, match="there is no store at"):
        store.manifest_file.current_digest()
    assert len(proxy.requests) == asked + 2, "requests are retried again"


def test_without_credentials() -> None:
    error = OSError("Generic S3 error: Error performing PUT http://169.254.169.254/latest/api/token in 2s - HTTP error")
    assert reason(error) == "no credentials in the environment"


def test_reasons_have_no_addresses() -> None:
    """Addresses of requests may be signed."""
    error = OSError("Error performing GET https://host/x?sig=secret in 4ms - HTTP error: redirect to https://h/?sig=s")
    assert reason(error) == "HTTP error: redirect to ..."


@pytest.mark.parametrize(
    ("fault", "part"),
    [("412", "commit.json"), ("412", "/c/"), ("412", ".lock"), ("409", "/c/"), ("404", "commit.json")],
)
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


def test_a_server_that_takes_no_lock(bucket: Bucket, proxy: Proxy, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cloud_bucket, "REFUSAL_PAUSES", (0.01, 0.01, 0.01))
    proxy.fault = lambda number, method, path: "404" if method == "PUT" and path.endswith(".lock") else None
    with pytest.raises(StoreError, match=r"cannot write s3://.*lock: 404 Not Found"):
        run_puzzle(load_config(PUZZLE), bucket.url())


def test_a_request_that_fails_for_long_is_told_now_and_then(
    clock: list[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    tries = 0
    told: list[tuple[float, str]] = []
    monkeypatch.setattr(retry, "watch", retry.StorageWatch(lambda what: told.append((clock[0], what))))

    def request() -> str:
        nonlocal tries
        tries += 1
        if clock[0] < 20:
            raise OSError('kind: Other, message: "no route to host"')
        return "answer"

    assert retry.RetryPolicy("s3://nowhere", 75).run("read", "s3://nowhere/a", request) == "answer"
    assert [round(when) for when, _ in told] == [3, 13]
    assert told[0][1] == "s3://nowhere/a to be read, for 3 s, try 5: no route to host"
    assert tries > 5


class Silent:
    """A server that answers nothing until it is told to."""

    def __init__(self) -> None:
        self.speaks = threading.Event()

    def request(self) -> str:
        self.speaks.wait(PATIENCE)
        return "answer"


@pytest.fixture
def silent(monkeypatch: pytest.MonkeyPatch) -> Iterator[Silent]:
    monkeypatch.setattr(retry, "REPORT_AFTER_SECONDS", 0.05)
    monkeypatch.setattr(retry, "LAST_SECONDS", 0.05)
    for name in ("REPEAT_SECONDS", "FORGIVEN_SECONDS"):  # this process may stand still for longer than usual limits
        monkeypatch.setattr(retry, name, PATIENCE)
    monkeypatch.setattr(retry, "_trouble", {})
    server = Silent()
    yield server
    server.speaks.set()


def test_a_silent_server_is_told_and_its_answer_still_counts(silent: Silent, monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[str] = []

    def tell(what: str) -> None:
        told.append(what)
        silent.speaks.set()

    monkeypatch.setattr(retry, "watch", retry.StorageWatch(tell))
    assert retry.RetryPolicy("s3://silent", 75).run("list", "s3://silent/a", silent.request) == "answer"
    (said,) = told
    assert re.fullmatch(r"s3://silent/a to be listed, for \d+ s, no answer yet", said)


@pytest.mark.parametrize("ended_by", ["stop", "signal"])
def test_a_stop_ends_the_wait_for_a_silent_server_in_any_thread(
    ended_by: str, silent: Silent, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And those that come after it, such as to release the lock: first they are short, and then they end at once."""
    watch = retry.StorageWatch()
    monkeypatch.setattr(retry, "watch", watch)
    policy, raised, asked = retry.RetryPolicy("s3://silent", 75), [], []
    answer_to = retry._answer_to
    monkeypatch.setattr(retry, "_answer_to", lambda request: asked.append(request) or answer_to(request))

    def ask() -> None:
        try:
            policy.run("write", "s3://silent/a", silent.request)
        except StoreSilentError as error:
            raised.append(str(error))

    waiting = [threading.Thread(target=ask) for _ in range(3)]
    for thread in waiting:
        thread.start()
    if ended_by == "stop":
        watch.stop = lambda: True
    else:
        watch.ending = True
    for thread in waiting:
        thread.join(PATIENCE)
    ask()
    before = len(asked)
    ask()
    assert len(raised) == 5
    for one in raised:
        assert re.fullmatch(r"interrupted: cannot write s3://silent/a: no answer( for \d+ s)?", one)
    assert len(asked) == before, "the last one asked nothing"


def test_a_server_that_was_interrupted_is_trusted_again_once_it_answers(
    silent: Silent, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(retry, "LAST_SECONDS", PATIENCE)
    policy = retry.RetryPolicy("s3://silent", 75)
    with monkeypatch.context() as patch:
        patch.setattr(retry._Wait, "look", interrupt)
        with pytest.raises(KeyboardInterrupt):
            policy.run("read", "s3://silent/a", silent.request)
    silent.speaks.set()
    assert policy.run("read", "s3://silent/a", silent.request) == "answer"
    assert retry._trouble == {}


@pytest.mark.parametrize("part", ["/c/", "commit.json", ".lock"])
def test_a_run_on_a_silent_bucket_says_so_and_stops(
    part: str, bucket: Bucket, proxy: Proxy, monkeypatch: pytest.MonkeyPatch
) -> None:
    """While it assembles, commits, and locks the store."""
    monkeypatch.setattr(retry, "REPORT_AFTER_SECONDS", 0.3)
    monkeypatch.setattr(retry, "LAST_SECONDS", 0.1)
    waited: list[str] = []
    proxy.fault = lambda number, method, path: "stall" if method == "PUT" and path.endswith(part) else None
    if part == "/c/":
        proxy.fault = lambda number, method, path: "stall" if part in path else None

    def listener(event: Event) -> None:
        if isinstance(event, Waiting) and part in event.what:  # on a busy machine, others are slow, too
            waited.append(event.what)

    with pytest.raises(StoreSilentError, match=rf"cannot \w+ {bucket.url()}.*: no answer"):  # or another slow request
        run_puzzle(load_config(PUZZLE), bucket.url(), RunOptions(workers=2), listener, lambda: bool(waited))
    assert waited[0].startswith(bucket.url())
    monkeypatch.setattr(retry, "_trouble", {})
    proxy.fault = lambda number, method, path: None
    assert run_puzzle(load_config(PUZZLE), bucket.url(), RunOptions(workers=2)).complete


@pytest.mark.slow
@pytest.mark.parametrize(("command", "number"), [("query", signal.SIGINT), ("run", signal.SIGTERM)])
def test_a_signal_ends_a_command_on_a_silent_bucket(
    command: str, number: int, bucket: Bucket, proxy: Proxy, begin: Callable[..., Run]
) -> None:
    """The bucket does not answer before the end of the test, and a request alone would last 40 seconds."""
    if command == "query":
        run_puzzle(load_config("eight-puzzle"), bucket.url(), RunOptions(workers=2))
    proxy.fault = lambda number, method, path: "stall" if "/c/" in path else None
    arguments = {
        "query": (bucket.url(), "8 6 7 / 2 5 4 / 3 0 1"),
        "run": ("eight-puzzle", "--store", bucket.url()),
    }[command]
    run = begin(command, *arguments)
    run.wait_for(f"waiting for {bucket.url()}/depth/c/")
    run.signal(number)
    status, out, err = run.end(35)
    assert (status, out) == (75, "")
    assert "Traceback" not in err
