"""What all executors have in common, and how one is chosen."""

import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from concurrent.futures import Future
from contextlib import nullcontext
from operator import add, attrgetter, mul
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from waiting import PATIENCE

from antipodes.cli.failures import Stopped
from antipodes.executors.api import Call, Key, Scheduler
from antipodes.executors.distributed import cluster
from antipodes.executors.distributed.connection import PREFIX, _deaf_loop, scratch_folder
from antipodes.executors.open_scheduler import address_in, as_scheduler, check_scheduler_name, open_scheduler
from antipodes.executors.threads import Threads
from antipodes.system.events import silence
from antipodes_tasks.base.errors import InputError, SchedulerError, WorkerFailedError


@pytest.fixture(scope="module", params=["threads", "local"])
def scheduler(request: pytest.FixtureRequest) -> Iterator[Scheduler]:
    with open_scheduler(request.param, 2) as opened:
        assert opened.wait_for_workers(silence, lambda: False)
        yield opened


def test_results_are_in_the_order_of_the_calls(scheduler: Scheduler) -> None:
    handles = scheduler.persist({("a", number): (add, number, 1) for number in (5, 3, 9, 0)})
    assert list(handles) == [("a", 5), ("a", 3), ("a", 9), ("a", 0)]
    assert scheduler.gather(list(handles.values())) == [6, 4, 10, 1]
    assert scheduler.workers == 2


def test_handles_stand_for_results_even_in_lists(scheduler: Scheduler) -> None:
    first = list(scheduler.persist({("b", number): (mul, number, 10) for number in range(4)}).values())
    second = scheduler.persist({("c", 0): (sum, first), ("c", 1): (add, first[1], first[3])})
    assert scheduler.gather(list(second.values())) == [60, 40]
    third = scheduler.persist({("d", number): (attrgetter("real"), one) for number, one in enumerate(first)})
    assert scheduler.gather(list(third.values())) == [0, 10, 20, 30]


def test_tuples_and_texts_are_plain_arguments(scheduler: Scheduler) -> None:
    scheduler.persist({("d", 0): (add, 1, 1)})
    handles = scheduler.persist({("e", 0): (len, ("d", 0)), ("e", 1): (len, "d")})
    assert scheduler.gather(list(handles.values())) == [2, 1]


def test_items_are_divided_among_processes_and_their_results_stay_there(scheduler: Scheduler) -> None:
    parts = scheduler.divide(range(7), {})
    assert [item for part in parts.values() for item in part] == list(range(7))
    assert len(parts) == max(1, scheduler.processes)
    processes = dict(enumerate(parts))
    calls: dict[Key, Call] = {("g", at): (list, parts[process]) for at, process in processes.items()}
    made = scheduler.persist(calls, places={("g", at): process for at, process in processes.items()})
    assert all(map(scheduler.holds, made.values()))
    for at, process in processes.items():
        calls = {("h", at): (sum, made["g", at])}
        (placed,) = scheduler.persist(calls, places={("h", at): process}).values()
        assert scheduler.gather([placed]) == [sum(parts[process])]


def test_processes_that_have_more_get_fewer_items(scheduler: Scheduler) -> None:
    first, *others = scheduler.divide(range(20), {})
    expected = {first: [0], others[0]: [1, 2, 3, 4]} if others else {first: [0, 1, 2, 3, 4]}
    assert {process: list(part) for process, part in scheduler.divide(range(5), {first: 4}).items()} == expected


def test_no_calls_have_no_results(scheduler: Scheduler) -> None:
    assert scheduler.persist({}) == {}
    assert scheduler.gather([]) == []
    scheduler.run_unordered({}, lambda *_: pytest.fail("there was no task"), lambda: False)


def test_on_done_is_called_for_each_result() -> None:
    done: list[Key] = []
    calls = {("f", number): (add, number, 1) for number in range(7)}
    Threads(3).persist(calls, on_done=done.append)
    assert sorted(done) == list(calls)


@pytest.mark.parametrize(("error", "drawn"), [(ValueError, 1), (Stopped, 0), (KeyboardInterrupt, 0)])
def test_an_immediate_stop_does_not_wait_for_the_performance_report(
    error: type[BaseException], drawn: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pages: list[object] = []
    monkeypatch.setattr(cluster, "ask", lambda *_: None)
    reporting = SimpleNamespace(client=SimpleNamespace(as_current=nullcontext), _write=pages.append)
    with pytest.raises(error), cluster.Cluster.performance_report(cast(Any, reporting), str(tmp_path / "report.html")):
        raise error
    assert len(pages) == drawn


def test_threads_have_no_performance_report() -> None:
    refused = pytest.raises(InputError, match="performance_report needs a cluster; choose one with scheduler")
    with refused, Threads(1).performance_report("report.html"):
        pass


def test_other_objects_are_refused_as_schedulers() -> None:
    with (
        pytest.raises(InputError, match=r"or a client of dask.distributed, found 'tcp"),
        as_scheduler("tcp://h:1"),
    ):
        pass


def test_errors_of_tasks_are_raised(scheduler: Scheduler) -> None:
    """A cluster raises another error, which names the worker."""
    calls: dict[Key, Call] = {("g", 0): (divmod, 1, 0)}
    for run in (
        lambda: scheduler.gather(list(scheduler.persist(calls).values())),
        lambda: scheduler.run_unordered(calls, lambda *_: None, lambda: False),
    ):
        with pytest.raises((ZeroDivisionError, WorkerFailedError), match="by zero"):
            run()


@pytest.mark.parametrize(
    "name",
    [
        *("", "slurm", "Threads", "localhost:8786", "tcp://", "tcp://host", "tcp://host:99999", "tcp://host:0"),
        *("inproc://1", "tcp://ho st:1", " tcp://host:1", "tcp://host:1/x", "tcp://[::1:8", "tcp://h:٣"),
    ],
)
def test_invalid_scheduler_names_are_refused(name: str) -> None:
    with pytest.raises(InputError, match="threads, local or an address"), open_scheduler(name, 1):
        pass


@pytest.mark.parametrize(
    "name", ["tcp://host.example:8786", "tls://[::1]:8786", "tcp://[fe80::1%eth0]:1", "ws://h:65535"]
)
def test_addresses_are_scheduler_names(name: str) -> None:
    check_scheduler_name(name)


def test_no_scheduler_answers_at_a_port() -> None:
    with pytest.raises(SchedulerError, match="tcp://"), open_scheduler("tcp://127.0.0.1:1", 1, timeout=0.5):
        pass


def test_every_result_is_passed_on_once(scheduler: Scheduler) -> None:
    told: list[tuple[Key, int]] = []
    scheduler.run_unordered(
        {("double", n): (mul, 2, n) for n in range(30)}, lambda *pair: told.append(pair), lambda: False
    )
    assert sorted(told) == [(("double", n), 2 * n) for n in range(30)]


def test_started_tasks_end_after_a_stop(scheduler: Scheduler) -> None:
    told: list[Key] = []
    calls = {("nap", n): (time.sleep, 0.02) for n in range(40)}
    scheduler.run_unordered(calls, lambda key, _: told.append(key), lambda: len(told) >= 5)
    assert 5 <= len(told) <= 5 + 2 * 2 + 2
    assert len(set(told)) == len(told)


def test_threads_run_the_first_call_with_the_next_calls() -> None:
    """It is run once, and its result is not passed on."""
    started: list[int] = []
    results: list[int] = []
    scheduler = Threads(1)
    scheduler.on_worker_start((started.append, 7))
    assert started == []
    for _ in range(2):
        scheduler.run_unordered({("n", 0): (len, "abc")}, lambda _, result: results.append(result), lambda: False)
    assert (started, results) == ([7], [3, 3])


def test_threads_run_no_first_call_after_a_stop() -> None:
    scheduler = Threads(1)
    scheduler.on_worker_start((pytest.fail, "it was run"))
    scheduler.run_unordered({}, lambda *_: None, lambda: True)


def test_one_thread_runs_calls_in_their_order() -> None:
    told: list[int] = []
    Threads(1).run_unordered(
        {("nap", n): (mul, 2, n) for n in range(12)}, lambda key, _: told.append(key[1]), lambda: False
    )
    assert told == list(range(12))


@pytest.mark.parametrize(
    ("content", "found"),
    [
        ("", "is empty"),
        ("hello", "contains no JSON object with an address"),
        ("{}", "contains no JSON object with an address"),
        ("[" * 100_000, "contains no JSON object with an address"),
        ('{"address": 5}', "contains no JSON object with an address"),
        ('{"address": "ftp://x"}', "found 'ftp://x'"),
    ],
)
def test_files_that_no_scheduler_wrote_are_refused(
    content: str, found: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("antipodes.executors.open_scheduler.FLUSH_SECONDS", 0.1)
    (tmp_path / "s.json").write_text(content)
    with pytest.raises(InputError, match=found):
        address_in(str(tmp_path / "s.json"), 5)


def test_paths_that_are_no_files_are_refused(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    for path in (tmp_path, tmp_path / "fifo", "/dev/zero", "a\0b"):
        with pytest.raises(InputError, match="cannot read"):
            address_in(str(path), 5)


def test_the_address_is_read_once_the_file_is_complete(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("antipodes.executors.open_scheduler.FLUSH_SECONDS", PATIENCE)
    path, address = tmp_path / "s.json", "tcp://127.0.0.1:8786"
    path.write_text('{"addr')
    threading.Timer(0.3, path.write_text, [json.dumps({"address": address})]).start()
    assert address_in(str(path), 5) == address


HOLD = """
import time
from antipodes.executors.distributed.connection import scratch_folder
with scratch_folder() as folder:
    print(folder, flush=True)
    time.sleep(600)
"""


@pytest.mark.slow
def test_folders_of_killed_runs_are_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    other = subprocess.Popen([sys.executable, "-c", HOLD], stdout=subprocess.PIPE, text=True, env=environment)
    assert other.stdout is not None
    theirs = Path(other.stdout.readline().strip())
    with scratch_folder() as ours:
        assert theirs.is_dir()
        (ours / "spilled").write_text("x")
    assert not ours.exists()
    other.send_signal(signal.SIGKILL)
    other.communicate()
    assert theirs.is_dir()
    with scratch_folder() as ours:
        assert [path.name for path in tmp_path.glob(f"{PREFIX}*")] == [ours.name]


def test_processes_of_a_local_cluster_never_get_signals() -> None:
    """Not even while they load Python: a Ctrl-C then showed their tracebacks, and the run failed."""
    mine = signal.pthread_sigmask(signal.SIG_BLOCK, ())
    with _deaf_loop() as loop:
        assert signal.pthread_sigmask(signal.SIG_BLOCK, ()) == mine
        answer: Future[str] = Future()
        read = ["grep", "SigBlk", "/proc/self/status"]
        loop.add_callback(lambda: answer.set_result(subprocess.check_output(read, text=True)))
        blocked = int(answer.result(PATIENCE).split()[1], 16)
    assert all(blocked & 1 << (number - 1) for number in (signal.SIGINT, signal.SIGTERM))
