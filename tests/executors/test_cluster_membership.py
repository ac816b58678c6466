"""Workers that retire, come back or are paused from the start, and lost connections: no run waits forever."""

import signal
import time
import uuid
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from clusters import Cluster, with_other
from distributed import Client
from ports import free_port
from program_runs import EVERY_LAYER, Begin, Same
from waiting import PATIENCE, error_of, wait_until

from antipodes.executors.api import Call, Key, never_stop
from antipodes.executors.distributed import health
from antipodes.executors.distributed.cluster import Cluster as Workers
from antipodes.puzzles.config import load_config
from antipodes.system.events import Event, WaitingForWorkers, WorkerRefused, silence
from antipodes.tables.run import RunOptions, run_puzzle
from antipodes_tasks.base.errors import SchedulerLostError, WorkerFailedError, WorkersLostError

PAUSED = {"DASK_DISTRIBUTED__WORKER__MEMORY__PAUSE": "0.0001", "DASK_DISTRIBUTED__WORKER__MEMORY__SPILL": "False"}


def submit_two(scheduler: Workers) -> None:
    name = f"nap-{uuid.uuid4().hex}"
    calls: dict[Key, Call] = {(name, number): (time.sleep, 0) for number in range(2)}
    scheduler.gather(list(scheduler.persist(calls, places=dict(zip(calls, scheduler.members, strict=False))).values()))


def ask_all(scheduler: Workers) -> None:
    scheduler.run_on_all_workers((time.sleep, 0))


@pytest.mark.slow
def test_calls_end_with_an_error_after_a_worker_retired(cluster: Cluster, client: Client) -> None:
    cluster.add_workers(2)
    with Workers(client) as scheduler:
        assert scheduler.wait_for_workers(silence, never_stop)
        gone = sorted(scheduler.members)[1]
        client.retire_workers([gone])
        wait_until(lambda: scheduler.workers_changed, "the run knows that the worker has left")
        assert not scheduler._membership.watch.lost
        for do in (ask_all, submit_two):
            error = error_of(partial(do, scheduler))
            assert isinstance(error, WorkersLostError)
            assert gone in str(error)
        assert scheduler.wait_for_workers(silence, never_stop)
        for do in (ask_all, submit_two):
            assert error_of(partial(do, scheduler)) is None


@pytest.mark.slow
def test_a_worker_that_retires_as_soon_as_it_is_a_member_is_noticed(cluster: Cluster, client: Client) -> None:
    """Dask sends subscriptions in batches, here once a second: they have to reach the scheduler before."""
    cluster.add_workers(2)
    client.scheduler_comm.interval = 1.0
    with Workers(client) as scheduler:
        client.subscribe_topic("a batch", print)
        assert scheduler.wait_for_workers(silence, never_stop)
        client.retire_workers([sorted(scheduler.members)[1]])
        wait_until(lambda: scheduler.workers_changed, "the run knows that the worker has left")


def test_calls_end_with_an_error_after_the_client_reconnected(shared: Cluster) -> None:
    """The scheduler may be a new one, which would wait forever for the workers of the last one."""
    with shared.client() as client, Workers(client) as scheduler:
        assert scheduler.wait_for_workers(silence, never_stop)
        before = client.scheduler_comm
        client.loop.add_callback(before.comm.abort)
        wait_until(lambda: client.scheduler_comm is not before and client.status == "running", "it is connected again")
        slow = partial(scheduler.run_on_all_workers, (time.sleep, 2))
        assert isinstance(error_of(slow), SchedulerLostError)
        assert scheduler.wait_for_workers(silence, never_stop)
        assert error_of(partial(ask_all, scheduler)) is None


def test_calls_end_with_an_error_after_the_scheduler_forgot_tasks(shared: Cluster) -> None:
    """A restart while a task is being submitted has this effect: the scheduler cannot find what the task needs."""

    def forget(key: Any, client: str, dask_scheduler: Any) -> None:
        dask_scheduler.client_releases_keys(keys=[key], client=client, stimulus_id="test")

    with shared.client() as client, Workers(client) as scheduler:
        assert scheduler.wait_for_workers(silence, never_stop)
        needed = scheduler.persist({("needed", 0): (int, 1)})["needed", 0]
        assert scheduler.gather([needed]) == [1]
        client.run_on_scheduler(forget, needed.key, client.id)
        error = error_of(lambda: scheduler.gather(list(scheduler.persist({("next", 0): (int, needed)}).values())))
        assert isinstance(error, SchedulerLostError)
        assert str(error) == "the dask scheduler has lost the tasks"


def test_calls_end_with_an_error_after_the_client_was_closed(shared: Cluster) -> None:
    with shared.client() as client, Workers(client) as scheduler:
        assert scheduler.wait_for_workers(silence, never_stop)
        client.close()
        for do in (
            partial(Workers.on_worker_start, call=(time.sleep, 0)),
            ask_all,
            submit_two,
            partial(Workers.wait_for_workers, listener=silence, stop=never_stop),
        ):
            assert isinstance(error_of(partial(do, scheduler)), SchedulerLostError)


def test_workers_that_the_scheduler_cannot_reach_are_named(shared: Cluster, monkeypatch: pytest.MonkeyPatch) -> None:
    async def unreachable(*_: object, workers: list[str], **__: object) -> dict[str, Exception]:
        return {worker: OSError("no route") for worker in workers}

    events: list[Event] = []

    def note(event: Event) -> None:
        if isinstance(event, WaitingForWorkers):  # a busy scheduler may have to be waited for, too
            events.append(event)

    with shared.client() as client:
        monkeypatch.setattr(client, "run", unreachable)
        with Workers(client) as scheduler:
            assert not scheduler.wait_for_workers(note, lambda: bool(events))
    assert events == [WaitingForWorkers(f"worker {worker} does not answer") for worker in sorted(shared.workers())]


@pytest.mark.slow
@pytest.mark.parametrize("moment", ["2 workers with 2 threads", "depth 6:"])
def test_a_run_continues_after_a_worker_retired(
    moment: str, cluster: Cluster, client: Client, begin: Begin, same: Same
) -> None:
    cluster.add_workers(2)
    _, retiring = sorted(cluster.workers())
    at = ["--scheduler", cluster.address, *EVERY_LAYER, "--json"]
    run = begin("run", "eight-puzzle", "--store", "t.zarr", *at)
    run.wait_for(moment)
    client.retire_workers([retiring])
    assert run.finish()["workers_lost"] <= 1
    assert "1 worker with 1 thread" in run.err
    same("eight-puzzle")


@pytest.mark.slow
def test_tilings_continue_after_the_only_worker_retired(
    cluster: Cluster, client: Client, begin: Begin, same: Same
) -> None:
    cluster.add_workers(1)
    run = begin("tile", "3x4x5", "--store", "t.zarr", "--scheduler", cluster.address, "--json")
    run.wait_for("partition 2 of")
    client.retire_workers(list(cluster.workers()))
    cluster.add_workers(1)
    run.finish()
    same("3x4x5")


def start_at(port: int, cluster: Cluster, **more: Any) -> Any:
    return cluster.add_workers(1, "--worker-port", port, "--host", "127.0.0.1", **more)[0]


@pytest.mark.slow
def test_an_excluded_worker_restarts(cluster: Cluster, client: Client, tmp_path: Path) -> None:
    """It restarts at the same address, with the right version, as the only worker."""
    port = free_port()
    (first,) = cluster.add_workers(1)
    with Workers(client) as scheduler:
        events: list[Event] = []
        assert scheduler.wait_for_workers(events.append, never_stop)
        wrong = start_at(port, cluster, environment=with_other("antipodes", tmp_path / "site"))

        def refused() -> bool:
            return any(isinstance(event, WorkerRefused) for event in events)

        # it is examined beside the run, which goes on
        wait_until(lambda: scheduler.workers_changed or refused(), "it is refused")
        assert not scheduler.workers_changed
        wrong.kill()
        cluster.wait_for_workers(1)
        start_at(port, cluster)
        wait_until(lambda: scheduler.workers_changed, "the run knows that the worker is back")
        first.kill()
        cluster.wait_for_workers(1)
        assert error_of(lambda: scheduler.wait_for_workers(events.append, never_stop)) is None
        assert list(scheduler.members) == [f"tcp://127.0.0.1:{port}"]
        assert error_of(partial(ask_all, scheduler)) is None


@pytest.mark.slow
def test_a_worker_that_is_paused_from_the_start_fails_the_run(
    cluster: Cluster, client: Client, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    cluster.add_workers(1, "--memory-limit", "8GB", environment=PAUSED)
    wait_until(lambda: [one["status"] for one in cluster.workers().values()] == ["paused"], "the worker is paused")
    (worker,) = cluster.workers()
    monkeypatch.setattr(health, "PAUSED_SECONDS", 1)
    config, options = load_config("eight-puzzle"), RunOptions(memory_limit=2**30)
    error = error_of(lambda: run_puzzle(config, tmp_path / "t.zarr", options, scheduler=client))
    assert isinstance(error, WorkerFailedError)
    assert f"worker {worker} has been paused for 1 seconds" in str(error)
    assert len(str(error).splitlines()) == 1


@pytest.mark.slow
def test_a_missing_scheduler_file_is_waited_for(begin: Begin, tmp_path: Path) -> None:
    command = ["tile", "3x20", "--store", "t.zarr", "--scheduler-file", "none.json", "--scheduler-timeout"]
    begin(*command, 2).fail(1, "none.json", "does not exist")
    run = begin(*command, int(PATIENCE))
    run.wait_for(" waiting for a dask scheduler to write none.json\n")
    run.signal(signal.SIGINT)
    run.fail(75, "interrupted while waiting for a dask scheduler to write none.json")
    assert not (tmp_path / "t.zarr").exists()


@pytest.mark.slow
def test_a_lost_scheduler_matters_more_than_its_performance_report(cluster: Cluster, begin: Begin) -> None:
    pytest.importorskip("bokeh")
    cluster.add_workers(1)
    at = ["--scheduler", cluster.address, "--scheduler-timeout", 30, *EVERY_LAYER]
    run = begin("run", "eight-puzzle", "--store", "t.zarr", *at, "--performance-report", "report.html")
    run.wait_for("committed up to depth 6")
    assert cluster.scheduler is not None
    cluster.scheduler.kill()
    run.fail(
        75, "scheduler", "are kept", "resume with: antipodes resume t.zarr --checkpoint-every 0 --scheduler tcp://"
    )
