"""Calls on workers beside tasks: when a run starts, and when it ends."""

import time
from functools import partial
from pathlib import Path

import pytest
from clusters import NO_ANTIPODES, Cluster, python_path
from distributed import Client
from waiting import error_of, wait_until

from antipodes.events import silence
from antipodes.executors.api import never
from antipodes.executors.distributed.cluster import Cluster as Workers


def test_a_worker_gives_memory_back_when_the_last_of_its_runs_ends(cluster: Cluster) -> None:
    cluster.add_workers(1)
    with cluster.client() as one, cluster.client() as other, Workers(other) as lasting:
        assert lasting.wait_for_workers(silence, never)
        with Workers(one) as short:
            assert short.wait_for_workers(silence, never)
            for scheduler in (short, lasting):
                scheduler.on_worker_start((time.sleep, 0))
            wait_until(lambda: runs_of(other) == 2, "the worker knows both runs")
        assert runs_of(other) == 1
    with cluster.client() as client:
        assert runs_of(client) == 0


def runs_of(client: Client) -> int:
    """The number of runs that the only worker knows."""

    def count() -> int:
        from antipodes.executors.distributed.worker import _runs

        return len(_runs)

    (found,) = client.run(count).values()
    return int(found)


def test_the_end_of_a_run_does_not_wait_for_a_frozen_worker(cluster: Cluster, client: Client) -> None:
    (worker,) = cluster.add_workers(1)

    def end() -> None:
        with Workers(client) as scheduler:
            assert scheduler.wait_for_workers(silence, never)
            scheduler.on_worker_start((time.sleep, 0))
            worker.stop()

    assert error_of(end, 30) is None
    worker.thaw()


@pytest.mark.slow
def test_an_excluded_worker_is_not_warmed_up(cluster: Cluster, client: Client, tmp_path: Path) -> None:
    cluster.add_workers(1)
    with Workers(client) as scheduler:
        assert scheduler.wait_for_workers(silence, never)
        cluster.add_workers(1, environment=python_path(tmp_path / "site", sitecustomize=NO_ANTIPODES))
        assert scheduler.wait_for_workers(silence, never)
        assert error_of(lambda: scheduler.on_worker_start((time.sleep, 0))) is None
        assert error_of(partial(scheduler.run_on_all_workers, (time.sleep, 0))) is None
