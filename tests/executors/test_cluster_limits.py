"""Workers without enough memory or disk: messages name them, and the run resumes on better workers."""

import re
import shutil
import signal
from collections.abc import Callable
from functools import partial
from pathlib import Path

import psutil
import pytest
from clusters import Cluster, Group
from mounts import small
from program_runs import Begin, Same
from stores import contents
from waiting import error_of

from antipodes.executors.distributed import health, tasks
from antipodes.puzzles.config import load_config
from antipodes.system.events import ClusterReady, Event, WaitingForWorkers
from antipodes.system.machine import GIB, KIB, MIB
from antipodes.system.options import RunOptions
from antipodes.tables.run import run_puzzle
from antipodes_tasks.base.errors import (
    InterruptedRunError,
    SchedulerError,
    StoreDamagedError,
    StoreError,
    WorkerFailedError,
)

ByThreads = Callable[[str], dict[str, bytes]]
pytestmark = pytest.mark.slow


def test_a_nanny_stops_a_worker_without_memory(
    cluster: Cluster, by_threads: ByThreads, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The run names it, and waits for the nanny's reason for as long as it takes here; it resumes on another one."""
    monkeypatch.setattr(tasks, "REASON_SECONDS", 20.0)
    small, config = cluster.add_workers(1, "--memory-limit", "160MB", nanny=True)[0], load_config("three-colours")
    at = RunOptions(scheduler=cluster.address, memory_limit=8 * GIB)
    error = error_of(lambda: run_puzzle(config, tmp_path / "t.zarr", at))
    assert isinstance(error, WorkerFailedError)
    assert re.match(r"worker tcp://.* exceeded its memory limit of .*; the same call resumes", str(error)), error
    small.kill()
    cluster.wait_for_workers(0)
    cluster.add_workers(1)
    assert run_puzzle(config, tmp_path / "t.zarr", at).complete
    assert contents(tmp_path / "t.zarr") == by_threads("three-colours")


def limit_memory(worker: Group, more: int) -> None:
    """Let a worker process have this many bytes of memory more than it has now."""
    status = Path(f"/proc/{worker.process.pid}/status").read_text()
    used = int(re.findall(r"^VmData:\s*(\d+) kB$", status, re.MULTILINE)[0]) * KIB
    psutil.Process(worker.process.pid).rlimit(psutil.RLIMIT_DATA, (used + more, used + more))


def test_workers_without_a_nanny_run_out_of_memory(
    cluster: Cluster, by_threads: ByThreads, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However little is missing, the worker reports that, is stuck, or dies: the run names it, and can be resumed."""
    at = RunOptions(scheduler=cluster.address, memory_limit=8 * GIB)
    expected = by_threads("three-colours")
    events: list[Event] = []

    def waits() -> bool:
        return any(isinstance(event, WaitingForWorkers) for event in events)

    def compute(puzzle: str, store: str) -> None:
        events.clear()
        if not run_puzzle(load_config(puzzle), tmp_path / store, at, events.append, interrupted=waits).complete:
            raise InterruptedRunError("it waits for workers")

    def fresh_worker() -> Group:
        (worker,) = cluster.add_workers(1)
        compute("eight-puzzle", f"e{len(cluster.groups)}.zarr")  # the worker loads what it needs
        return worker

    too_little, enough = 0, 256 * MIB
    while enough - too_little > 32 * MIB:
        more = (too_little + enough) // 2
        worker, store = fresh_worker(), f"{more}.zarr"
        limit_memory(worker, more)
        with monkeypatch.context() as patch:  # a healthy worker of a busy machine may stand still for longer
            patch.setattr(health, "STUCK_SECONDS", 5.0)
            error = error_of(partial(compute, "three-colours", store))
        if error:
            assert isinstance(error, SchedulerError | StoreError | WorkerFailedError | InterruptedRunError), error
            assert not isinstance(error, StoreDamagedError), error
            # A worker that dies between two tasks is only missing: no task names it, and the run waits for workers.
            waited = isinstance(error, InterruptedRunError)
            member = any(isinstance(event, ClusterReady) for event in events)
            assert "worker tcp://" in f"{error} {events}" or waited or not member
            too_little, failed = more, store
        else:
            assert contents(tmp_path / store) == expected
            enough = more
        worker.kill()
        cluster.wait_for_workers(0)
    assert 0 < too_little < enough < 256 * MIB
    fresh_worker()
    compute("three-colours", failed)
    assert contents(tmp_path / failed) == expected


def test_a_full_disk(cluster: Cluster, begin: Begin, same: Same, tmp_path: Path) -> None:
    """There is enough free disk when the run begins, but another program fills it."""
    (worker,) = cluster.add_workers(1)
    with small(tmp_path / "disk", "16m") as disk:
        store, other = disk / "t.zarr", disk / "other"
        run = begin("run", "five-tiles", "--store", store, "--scheduler", cluster.address)
        run.wait_for_depth(3)
        run.signal(signal.SIGSTOP)  # nobody else takes what is free
        with worker.frozen():
            other.write_bytes(bytes(shutil.disk_usage(disk).free - 64 * KIB))
        run.signal(signal.SIGCONT)
        run.fail(1, "worker tcp://", f"{store}", "No space left on device", f"antipodes resume {store}")
        other.unlink()
        begin("resume", store, "--scheduler", cluster.address, "--json").finish()
        same("five-tiles", store)
