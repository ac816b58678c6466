"""Clients and performance reports that a run cannot use, and clients that are closed or interrupted during a run."""

import gc
import logging
import os
import re
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from clusters import Cluster
from distributed import Client, LocalCluster
from program_runs import Same
from waiting import PATIENCE, wait_until

from antipodes.executors.distributed.cluster import Cluster as Workers
from antipodes.puzzles.config import load_config
from antipodes.system.events import Event, LayerFinished, WorkersLost, silence
from antipodes.tables.run import RunOptions, run_puzzle
from antipodes_tasks.base.errors import InputError, InterruptedRunError, SchedulerLostError
from antipodes_tasks.move_tables import Fill, MoveTables
from antipodes_tasks.spaces.swap_tables import SwapTables

EIGHT = load_config("eight-puzzle")
EVERY_LAYER = RunOptions(checkpoint_every=0)


class Acting:
    """A listener that does something at its third layer."""

    def __init__(self, act: Callable[[], object]) -> None:
        self.events: list[Event] = []
        self._act = act

    def __call__(self, event: Event) -> None:
        self.events.append(event)
        if isinstance(event, LayerFinished) and sum(isinstance(one, LayerFinished) for one in self.events) == 3:
            self._act()


def test_a_closed_client_is_refused(idle: Cluster, tmp_path: Path) -> None:
    with idle.client() as client:
        pass
    for _ in range(2):
        with pytest.raises(InputError, match=r"the client <Client: .*> is closed"):
            run_puzzle(EIGHT, tmp_path / "t.zarr", scheduler=client)


def test_a_client_is_closed_during_its_run(shared: Cluster, tmp_path: Path) -> None:
    lost = pytest.raises(SchedulerLostError, match=r"was lost, or the client was closed")
    with shared.client() as client, lost:
        run_puzzle(EIGHT, tmp_path / "t.zarr", EVERY_LAYER, Acting(client.close), scheduler=client)


@pytest.mark.slow
def test_a_run_continues_after_a_cluster_restart(cluster: Cluster, same: Same, tmp_path: Path) -> None:
    cluster.add_workers(1, nanny=True)
    with cluster.client() as client, cluster.client() as other:
        restarting = threading.Thread(target=other.restart, daemon=True)
        acting = Acting(restarting.start)

        def listener(event: Event) -> None:
            acting(event)
            if isinstance(event, LayerFinished) and event.depth == 20:
                restarting.join()  # the run does not end before

        run_puzzle(EIGHT, tmp_path / "t.zarr", EVERY_LAYER, listener, scheduler=client)
    losses = [event.reason for event in acting.events if isinstance(event, WorkersLost)]
    # the run notices that the worker is gone, that the scheduler has forgotten the tasks, or one after the other
    noticed = ("the cluster was restarted and has lost", "the dask scheduler has lost the tasks", "worker tcp://")
    assert losses
    assert [loss for loss in losses if not loss.startswith(noticed)] == []
    same("eight-puzzle")


def test_late_events_are_ignored_after_a_run(shared: Cluster, caplog: pytest.LogCaptureFixture) -> None:
    """Dask would log an error for events that were sent before the run unsubscribed."""
    with shared.client() as client:
        for _ in range(2):
            with Workers(client) as scheduler:
                assert scheduler.wait_for_workers(silence, lambda: False)
                topics = set(scheduler._membership.watch._subscriptions.topics)
            with caplog.at_level(logging.ERROR):
                client.sync(tell, client, topics)
    assert not caplog.records


async def tell(client: Client, topics: set[str]) -> None:
    assert topics
    for topic in topics:
        await client._handle_event(topic, (0.0, {"action": "add-worker", "worker": "tcp://127.0.0.1:1"}))


def test_performance_reports_that_cannot_be_written_are_refused(idle: Cluster, tmp_path: Path) -> None:
    """They are refused before anything runs; a pipe that nothing reads from would block the run forever."""
    pytest.importorskip("bokeh")
    os.mkfifo(tmp_path / "pipe")
    with idle.client() as client:
        for page in (tmp_path / "pipe", tmp_path, tmp_path / ("x" * 300), tmp_path / "none" / "x.html"):
            options = RunOptions(performance_report=str(page))
            with pytest.raises(InputError, match=re.escape(f"performance_report: cannot write {page}; name a file")):
                run_puzzle(EIGHT, tmp_path / "t.zarr", options, scheduler=client)
    assert not (tmp_path / "t.zarr").exists()


@pytest.mark.parametrize(("limits", "least"), [((600, 0), 600), ((0, 0), None), ((600, 400), 400)])
def test_the_smallest_memory_limit_counts_for_all_workers(
    limits: tuple[int, ...], least: int | None, idle: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A worker without a limit does not change that."""
    members = {str(number): {"memory_limit": limit, "nthreads": 1} for number, limit in enumerate(limits)}
    monkeypatch.setattr(Workers, "members", members)
    with idle.client() as client, Workers(client) as scheduler:
        assert scheduler.memory == (None if least is None else int(0.6 * 2 * least))


def test_a_run_is_stopped_while_a_task_builds_the_move_tables(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The run does not wait for the task, which is cancelled and fills no more blocks."""
    begun, go_on, filled = threading.Event(), threading.Event(), list[int]()

    def waiting(swaps: SwapTables, tables: MoveTables) -> list[Fill]:
        def fill() -> None:
            filled.append(1)
            begun.set()
            go_on.wait(PATIENCE)

        return [fill, fill]

    monkeypatch.setattr(SwapTables, "fills", waiting)
    with LocalCluster(n_workers=1, processes=False, protocol="tcp://", dashboard_address=None) as cluster:
        (worker,) = cluster.workers.values()
        with Client(cluster, set_as_default=False) as client:
            with pytest.raises(
                InterruptedRunError, match=r"interrupted .* nothing is committed yet; the same call resumes"
            ):
                run_puzzle(EIGHT, tmp_path / "t.zarr", interrupted=begun.is_set, scheduler=client)
            gc.collect()  # else the frames of the error may be freed while Python 3.11 parses, which then fails
            (building,) = worker.state.all_running_tasks
            wait_until(lambda: building.state == "cancelled", "the worker knows that nobody waits for the task")
            go_on.set()
            wait_until(lambda: not worker.state.all_running_tasks, "the worker is free again")
    assert len(filled) == 1


def test_a_client_serves_one_run_at_a_time(idle: Cluster, tmp_path: Path) -> None:
    with idle.client() as client:
        with Workers(client):
            with pytest.raises(InputError, match="in use") as caught:
                run_puzzle(EIGHT, tmp_path / "t.zarr", interrupted=lambda: True, scheduler=client)
            assert len(str(caught.value).splitlines()) == 1
            assert not (tmp_path / "t.zarr").exists()
        with Workers(client) as again:
            assert again.client is client
