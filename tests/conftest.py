import fcntl
import gc
import io
import os
import signal
import subprocess
import sys
import time
import uuid
from collections.abc import Callable, Generator, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest
from forks import PROGRAM, Forked, popen
from hypothesis import settings
from hypothesis.internal.conjecture import providers
from programs import Command, Outcome, Process, forget_puzzles
from waiting import PATIENCE

if TYPE_CHECKING:
    from browsers import Pages
    from clusters import Cluster
    from program_runs import Run
    from s3 import Bucket, Proxy, Server

pytest_plugins = ["cpu_times"]  # hooks of this file are not called for fixtures of a session

os.environ["ANTIPODES_TRACEBACK"] = "1"  # a defect of the program fails a test where it is, not as a line on stderr
# What a sync adds counts only when the power fails; it takes a third of the time of small runs. Fresh processes sync.
os.fsync = os.fstat  # type: ignore[assignment]
# A shell starts jobs in the background with Ctrl-C ignored, and processes inherit that: tests send it to programs.
signal.signal(signal.SIGINT, signal.default_int_handler)

# Dask would look at every thread a hundred times a second, which takes half of the CPU time of workers that wait.
os.environ["DASK_DISTRIBUTED__WORKER__PROFILE__ENABLED"] = "False"

for profile, examples in {"dev": 5, "nightly": 500}.items():
    # The same few examples each time, so that what passed before a change lands passes after it; nightly tries others.
    settings.register_profile(profile, max_examples=examples, deadline=None, derandomize=profile != "nightly")
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE") or "dev")
# Hypothesis would read the constants in all modules, which takes a sixth of the time of collecting the tests. Examples
# would depend on them: a change of any module would try others.
providers._get_local_constants = lambda: providers._local_constants


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Look for no garbage while the tests are collected, since what is made then stays: saves a sixth of the time."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put the tests in a browser first: then one of the test processes runs them all, and only it starts a browser.

    Slow tests come last, in one of the processes, while the others run fast ones; the last to be taken over are short.
    """

    def rank(item: pytest.Item) -> tuple[bool, bool, float]:
        slow = item.get_closest_marker("slow")
        longest_first = -slow.kwargs.get("seconds", 0) if slow else 0
        return "pages" not in getattr(item, "fixturenames", ()), slow is not None, longest_first

    items.sort(key=rank)


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip slow tests after the time at which CI begins no more of them, in seconds since 1970."""
    end = os.environ.get("SLOW_TESTS_END")
    if end and time.time() > float(end) and item.get_closest_marker("slow"):
        pytest.skip("a slow test that had not begun when CI's time for slow tests ended")


@pytest.fixture(scope="session", autouse=True)
def _data_home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Keeps the records of the tests' definitions out of the user's own data directory."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_DATA_HOME", str(tmp_path_factory.mktemp("data-home")))
        yield


@pytest.fixture(scope="session", autouse=True)
def _second_processes() -> Iterator[None]:
    """Forks the second process that compares a puzzle in Python, instead of a start that takes half a second of CPU.

    On a busy machine, it may take its time.
    """
    from antipodes.puzzles import python_source

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(python_source, "subprocess", SimpleNamespace(**{**vars(subprocess), "Popen": Forked}))
        patch.setattr(python_source, "SECOND_SECONDS", PATIENCE)
        yield


@pytest.fixture(scope="session", autouse=True)
def _slow_files() -> Iterator[None]:
    """Runs wait patiently for files, since while they wait, they would report it and ask whether to stop.

    Tests count how often a run asks, once for each layer, and compare its messages.
    """
    from antipodes.storage import retry

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(retry, "REPORT_AFTER_SECONDS", PATIENCE)
        yield


@pytest.fixture(scope="session", autouse=True)
def _kernels(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Compiles the kernels of a search, or loads them, before the first test is timed.

    Each kernel is compiled by one process: the others wait, and load it from numba's cache.
    """
    from cpu_times import compiling
    from numba.core.caching import NullCache
    from numba.core.dispatcher import Dispatcher

    from antipodes_tasks.bfs.partition import warm_up

    folder, compile_or_load = tmp_path_factory.getbasetemp().parent, Dispatcher.compile

    def alone(kernel: Any, signature: Any) -> Any:
        if isinstance(kernel._cache, NullCache):  # a part of another kernel
            return compile_or_load(kernel, signature)
        with compiling(), (folder / f"{kernel.py_func.__qualname__}.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            return compile_or_load(kernel, signature)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Dispatcher, "compile", alone)
        warm_up()
        yield


@pytest.fixture
def cli(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Command:
    """Runs a command in this process, in an empty directory; time estimates are rough, and therefore fast.

    It reports no progress of quick work, not even on a busy machine.
    """
    from antipodes.cli.main import run_command
    from antipodes.progress import search_progress
    from antipodes.tables.search import duration
    from antipodes_tasks.base import parallel

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(duration, "TRIAL_SECONDS", 0.05)
    monkeypatch.setattr(parallel, "REPORT_AFTER_SECONDS", PATIENCE)
    monkeypatch.setattr(search_progress, "FIRST", PATIENCE)

    def run(*arguments: object, stdin: str = "") -> Outcome:
        forget_puzzles()
        monkeypatch.setattr(
            sys,
            "stdin",
            io.TextIOWrapper(io.BytesIO(stdin.encode("utf-8", "surrogateescape")), "utf-8", "surrogateescape"),
        )
        status = run_command([str(argument) for argument in arguments])
        captured = capsys.readouterr()
        return Outcome(status, captured.out, captured.err)

    return run


@pytest.fixture
def refused(cli: Command) -> Callable[..., str]:
    """Runs a command that must fail with one line on stderr, which it gives back."""

    def run(*arguments: object, status: int = 2, stdin: str = "") -> str:
        outcome = cli(*arguments, stdin=stdin)
        assert outcome.status == status, outcome
        assert outcome.out == ""
        assert len(outcome.err.splitlines()) == 1
        assert outcome.err.startswith("antipodes: ")
        assert len(outcome.err) < 500, "longer than anyone reads"
        return outcome.err

    return run


@pytest.fixture
def process(tmp_path: Path) -> Iterator[Process]:
    """Starts the program as a process of its own, in an empty directory; a fresh one loads the libraries itself."""
    started: list[subprocess.Popen[str]] = []

    def start(*arguments: object, fresh: bool = False, **options: Any) -> "subprocess.Popen[str]":
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "cwd": tmp_path, **options}
        command, open_process = [*PROGRAM, *map(str, arguments)], subprocess.Popen if fresh else popen
        started.append(open_process(command, text=True, env={**os.environ, "COLUMNS": "100"}, **pipes))
        return started[-1]

    yield start
    for one in started:
        one.kill()
        one.communicate()


@pytest.fixture(scope="session")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The finished table of the eight-puzzle; not to be changed."""
    from antipodes.puzzles.config import load_config
    from antipodes.tables.run import RunOptions, run_puzzle

    store = tmp_path_factory.mktemp("finished") / "eight-puzzle.zarr"
    run_puzzle(load_config("eight-puzzle"), store, RunOptions(workers=2))
    return store


@pytest.fixture
def eight(finished: Path, tmp_path: Path) -> Path:
    """A copy of the finished table of the eight-puzzle, which a test may damage."""
    import shutil

    return Path(shutil.copytree(finished, tmp_path / "eight.zarr"))


@pytest.fixture
def unfinished(tmp_path: Path) -> Path:
    """The table of the eight-puzzle up to depth 10."""
    from stores import stop_after

    from antipodes.puzzles.config import load_config
    from antipodes.tables.run import RunOptions, run_puzzle

    store = tmp_path / "unfinished.zarr"
    run_puzzle(load_config("eight-puzzle"), store, RunOptions(workers=2), interrupted=stop_after(10))
    return store


@pytest.fixture(scope="session")
def by_threads(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], dict[str, bytes]]:
    """The files of a puzzle's table that threads made, or of a board's tilings."""
    from stores import contents

    from antipodes.puzzles.config import load_config
    from antipodes.tables.run import RunOptions, run_puzzle
    from antipodes.tilings.board_config import bundled_boards, load_board
    from antipodes.tilings.run import tile_board

    made: dict[str, dict[str, bytes]] = {}

    def make(name: str) -> dict[str, bytes]:
        if name not in made:
            store = tmp_path_factory.mktemp("threads") / f"{name}.zarr"
            if name in bundled_boards():
                tile_board(load_board(name), store, options=RunOptions(workers=2))
            else:
                run_puzzle(load_config(name), store, RunOptions(workers=2))
            made[name] = contents(store)
        return made[name]

    return make


@pytest.fixture
def same(by_threads: Callable[[str], dict[str, bytes]], tmp_path: Path) -> Callable[..., None]:
    """Checks that a store in the test's folder has the bytes that threads make."""
    from stores import contents

    def check(name: str, store: str = "t.zarr") -> None:
        assert contents(tmp_path / store) == by_threads(name)

    return check


@pytest.fixture
def cluster(tmp_path: Path) -> "Iterator[Cluster]":
    """A dask scheduler in a process of its own, to which a test adds workers."""
    from clusters import Cluster

    with Cluster(tmp_path) as started:
        started.start_scheduler()
        yield started


@pytest.fixture(scope="module")
def idle(tmp_path_factory: pytest.TempPathFactory) -> "Iterator[Cluster]":
    """A scheduler without workers, which no test breaks; it ends with the module, because it takes CPU time."""
    from clusters import Cluster

    with Cluster(tmp_path_factory.mktemp("idle")) as cluster:
        cluster.start_scheduler()
        yield cluster


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> "Iterator[Cluster]":
    """A cluster of two workers, one with a nanny, which no test breaks: what a test freezes, it thaws.

    It ends with the module: its processes take a sixth of a core while they wait, and start in a second.
    """
    from clusters import Cluster

    with Cluster(tmp_path_factory.mktemp("shared")) as cluster:
        cluster.start_scheduler()
        cluster.add_worker("--memory-limit", "2GB", nanny=True)
        cluster.add_worker()
        cluster.wait_for_workers(2)
        yield cluster


@pytest.fixture
def begin(tmp_path: Path) -> "Iterator[Callable[..., Run]]":
    """Starts the program as a process whose messages are read while it runs, in an empty directory."""
    from program_runs import Run

    runs: list[Run] = []

    def start(*arguments: object, environment: dict[str, str] | None = None, prefix: tuple[object, ...] = ()) -> Run:
        runs.append(Run(arguments, tmp_path, environment or {}, prefix))
        return runs[-1]

    yield start
    for run in runs:
        run.kill()


@pytest.fixture(scope="session")
def s3_server() -> "Iterator[Server]":
    """An S3 server."""
    from s3 import Server

    with Server() as server:
        yield server


@pytest.fixture
def bucket(s3_server: "Server", monkeypatch: pytest.MonkeyPatch) -> "Bucket":
    """An empty bucket of its own; credentials and address are in the environment."""
    for name, value in {**s3_server.environment(), "ANTIPODES_RETRY_SECONDS": "30"}.items():
        monkeypatch.setenv(name, value)
    return s3_server.create_bucket(f"bucket-{uuid.uuid4().hex}")


@pytest.fixture
def proxy(bucket: "Bucket", monkeypatch: pytest.MonkeyPatch) -> "Iterator[Proxy]":
    """What stands between the program and the bucket's server, and makes it fail when asked to."""
    from s3 import Proxy

    standing = Proxy(bucket.server)
    monkeypatch.setenv("AWS_ENDPOINT_URL", standing.url)
    yield standing
    standing.close()


@pytest.fixture(scope="session")
def _browser() -> "Iterator[Pages]":
    """The system's Chromium, once for all tests of this process."""
    from browsers import started_browser

    with started_browser() as started:
        yield started


@pytest.fixture
def pages(_browser: "Pages", request: pytest.FixtureRequest) -> "Iterator[Pages]":
    """Pages of the browser, for one test."""
    from browsers import in_use

    with in_use(_browser) as used:
        yield used
    request.node.user_properties.append(("browser_seconds", f"{_browser.cpu_seconds_since_last_call():.2f}"))
