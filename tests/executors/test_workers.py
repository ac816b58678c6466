"""What runs on workers beside and around tasks: calls at the start and the end of a run, errors, freed memory."""

import asyncio
import logging
import subprocess
import sys
import time
import uuid
from functools import partial
from pathlib import Path
from types import SimpleNamespace

import pytest
from clusters import NO_ANTIPODES, Cluster, python_path
from distributed import Client
from tornado.ioloop import PeriodicCallback
from waiting import PATIENCE, error_of, wait_until

from antipodes.executors.api import never_stop
from antipodes.executors.distributed import connection, worker
from antipodes.executors.distributed.cluster import Cluster as Workers
from antipodes.system.events import silence
from antipodes.system.machine import glibc
from antipodes_tasks.base.errors import StoreError

FAULTS = """
import resource
import numpy as np
from antipodes.executors.distributed.worker import give_back_freed_memory, keep_freed_memory

def faults():
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    for _ in range(50):
        np.ones(1 << 18)
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before

give_back_freed_memory()
given_back = faults()
keep_freed_memory()
faults()
kept = faults()
give_back_freed_memory()
print(given_back, kept, faults())
"""


@pytest.mark.slow
@pytest.mark.skipif(glibc() is None, reason="the C library is not glibc")
def test_freed_memory_is_kept_and_given_back() -> None:
    environment = {"MALLOC_TRIM_THRESHOLD_": "65536"}  # as dask starts its workers
    done = subprocess.run(
        [sys.executable, "-c", FAULTS], capture_output=True, text=True, check=True, env=environment, timeout=PATIENCE
    )
    given_back, kept, given_back_again = map(int, done.stdout.split())
    assert given_back > 50 * 256  # half of the pages of two megabytes, each time
    assert kept < given_back / 10
    assert given_back_again > 50 * 256


def test_kept_memory_is_in_proportion_to_the_memory_limit() -> None:
    assert worker.kept_memory(None) == worker.kept_memory(64 << 30) == 256 << 20
    assert worker.kept_memory(512 << 20) == 32 << 20


def test_every_error_of_a_task_reaches_the_run(shared: Cluster) -> None:
    """Even one that would end the process of the worker."""

    def raising(kind: type[BaseException]) -> None:
        raise kind("of a task")

    with shared.client() as client, Workers(client) as scheduler:
        assert scheduler.wait_for_workers(silence, never_stop)
        for number, kind in enumerate((SystemExit, KeyboardInterrupt, type("PanicException", (BaseException,), {}))):
            name = f"raise-{uuid.uuid4().hex}"
            handles = scheduler.persist({(name, number): (raising, kind)})
            with pytest.raises(RuntimeError, match=rf"worker tcp://.*: {kind.__name__}: of a task"):
                scheduler.gather(list(handles.values()))
        assert shared.workers().keys() == scheduler.members.keys()


@pytest.mark.parametrize(("error", "logged"), [(StoreError("x.zarr: no space left"), False), (KeyError("a"), True)])
def test_a_worker_does_not_log_errors_that_the_run_prints(
    error: Exception, logged: bool, client: Client, cluster: Cluster
) -> None:
    """Dask would log them with a traceback; those of other programs it still does."""
    (group,) = cluster.add_workers(1)
    with Workers(client) as scheduler:
        assert scheduler.wait_for_workers(silence, never_stop)
        scheduler.on_worker_start((len, ""))
        done = client.submit(lambda: (_ for _ in ()).throw(error))
        assert type(done.exception()) is type(error)
    assert ("Compute Failed" in group.log.read_text()) == logged


def test_a_worker_gives_memory_back_when_the_last_of_its_runs_ends(shared: Cluster) -> None:
    with shared.client() as one, shared.client() as other:
        before = runs_of(other)
        with Workers(other) as lasting:
            assert lasting.wait_for_workers(silence, never_stop)
            with Workers(one) as short:
                assert short.wait_for_workers(silence, never_stop)
                for scheduler in (short, lasting):
                    scheduler.on_worker_start((time.sleep, 0))
                wait_until(lambda: runs_of(other) == before + 4, "both workers know both runs")
            # the end of a run does not wait for a busy worker
            wait_until(lambda: runs_of(other) == before + 2, "both workers know only the other run")
        wait_until(lambda: runs_of(other) == before, "both workers know neither run")


def test_dask_observes_and_logs_less_until_the_last_run_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker, "_runs", set[str]())
    observations = {name: PeriodicCallback(int, 10.0) for name in (*worker.RARE_MS, "heartbeat")}
    dask_worker = SimpleNamespace(memory_manager=SimpleNamespace(memory_limit=None), periodic_callbacks=observations)

    def intervals() -> dict[str, float]:
        return {name: one.callback_time for name, one in observations.items()}

    def is_filtered() -> bool:
        return worker._is_news in logging.getLogger("distributed.worker").filters

    for run in ("first", "second"):
        asyncio.run(worker.begin_run(run, (int,), dask_worker))
        assert intervals() == {**worker.RARE_MS, "heartbeat": 10.0}
    worker.end_run("first")
    assert intervals() == {**worker.RARE_MS, "heartbeat": 10.0}
    assert is_filtered()
    worker.end_run("second")
    assert intervals() == dict.fromkeys(intervals(), 10.0)
    assert not is_filtered()


def runs_of(client: Client) -> int:
    """The number of runs that the workers know, all together."""

    def count() -> int:
        from antipodes.executors.distributed.worker import _runs

        return len(_runs)

    return sum(client.run(count).values())


def test_the_end_of_a_run_does_not_wait_for_a_frozen_worker(shared: Cluster, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "NOTICE_SECONDS", 2.0)
    frozen = shared.groups[-1]

    def end() -> None:
        with shared.client() as client, Workers(client) as scheduler:
            assert scheduler.wait_for_workers(silence, never_stop)
            scheduler.on_worker_start((time.sleep, 0))
            frozen.stop()

    try:
        assert error_of(end) is None
    finally:
        frozen.thaw()


@pytest.mark.slow
def test_an_excluded_worker_is_not_warmed_up(cluster: Cluster, client: Client, tmp_path: Path) -> None:
    cluster.add_workers(1)
    with Workers(client) as scheduler:
        assert scheduler.wait_for_workers(silence, never_stop)
        cluster.add_workers(1, environment=python_path(tmp_path / "site", sitecustomize=NO_ANTIPODES))
        assert scheduler.wait_for_workers(silence, never_stop)
        assert error_of(lambda: scheduler.on_worker_start((time.sleep, 0))) is None
        assert error_of(partial(scheduler.run_on_all_workers, (time.sleep, 0))) is None
