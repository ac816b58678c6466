"""Schedulers and workers that do not answer: the run says what it waits for, and does not wait forever."""

import asyncio
import gc
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from functools import partial
from pathlib import Path
from typing import Any

import dask.config
import pytest
from clusters import Cluster
from distributed import Client, LocalCluster, Scheduler, SchedulerPlugin
from program_runs import Same
from waiting import PATIENCE, wait_until

from antipodes.executors.api import never_stop
from antipodes.executors.distributed import connection, health, version_check
from antipodes.executors.distributed.cluster import Cluster as Workers
from antipodes.puzzles.config import load_config
from antipodes.system.events import (
    ClusterReady,
    Event,
    LayerFinished,
    Waiting,
    WaitingForWorkers,
    WorkerRefused,
    silence,
)
from antipodes.tables.run import RunOptions, run_puzzle
from antipodes_tasks.base.errors import InterruptedRunError, SchedulerError, SchedulerSilentError

EIGHT = load_config("eight-puzzle")


@pytest.fixture
def lose_patience(monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """Makes the limits for answers of schedulers short; for a test that calls it when none answers any more."""

    def shorten() -> None:
        for module, name, seconds in (
            (connection, "SCHEDULER_TIMEOUT", 2.0),
            (connection, "ANNOUNCE_SECONDS", 1.0),
            (connection, "NOTICE_SECONDS", 0.5),
            (health, "HEARTBEAT_SECONDS", 0.2),
        ):
            monkeypatch.setattr(module, name, seconds)

    return shorten


def test_an_error_of_the_listener_is_raised_after_the_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    def stop(event: Event) -> None:
        told.set()
        raise KeyError(event)

    told = threading.Event()
    monkeypatch.setattr(connection, "ANNOUNCE_SECONDS", 0.01)
    with pytest.raises(KeyError, match="an answer"), connection.announced(stop, "an answer"):
        told.wait(PATIENCE)


@pytest.fixture
def listening() -> Iterator[Callable[[bytes], str]]:
    """Returns the address of a server that accepts connections, and sends nothing but this greeting."""
    bound: list[socket.socket] = []

    def listen(greeting: bytes) -> str:
        here = socket.create_server(("127.0.0.1", 0))
        bound.append(here)

        def accept() -> None:
            while True:
                try:
                    there, _ = here.accept()
                except OSError:
                    return
                bound.append(there)
                there.sendall(greeting)

        threading.Thread(target=accept, daemon=True).start()
        return f"tcp://127.0.0.1:{here.getsockname()[1]}"

    yield listen
    for one in bound:
        one.close()


@pytest.mark.parametrize("greeting", [b"", bytes(4), b"HTTP/1.1 400 Bad Request\r\n\r\n"])
def test_other_servers_are_no_schedulers(
    greeting: bytes,
    listening: Callable[[bytes], str],
    lose_patience: Callable[[], None],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    lose_patience()
    monkeypatch.setattr(connection, "ANNOUNCE_SECONDS", 0.0)  # long before the timeout, even if this process is slow
    address, events, begin = listening(greeting), list[Event](), time.monotonic()
    refused = pytest.raises(SchedulerError, match=f"no dask scheduler answers at {address}")
    with dask.config.set({"distributed.comm.timeouts.connect": f"{2 * PATIENCE} s"}), refused:
        run_puzzle(EIGHT, tmp_path / "t.zarr", RunOptions(scheduler=address), events.append)
    assert time.monotonic() - begin < PATIENCE, "that was dask's own limit"
    gc.collect()
    assert not [one for one in gc.get_objects() if isinstance(one, Client) and one.status == "connecting"]
    if not greeting:
        assert events == [Waiting(f"the dask scheduler at {address} to answer")]


class Broadcast(SchedulerPlugin):
    """Sends a message to all clients right after it has registered each of the first ``count`` clients."""

    def __init__(self, scheduler: Scheduler, count: int) -> None:
        self.scheduler = scheduler
        self.count = count

    def add_client(self, scheduler: Scheduler, client: str) -> None:
        if self.count:
            self.count -= 1
            asyncio.get_running_loop().call_soon(self.scheduler.report, {"op": "key-in-memory", "key": "unknown"})


@pytest.mark.parametrize("count", [1, connection.MAX_REGISTRATIONS])
def test_a_scheduler_sends_a_message_to_all_clients_while_one_connects(count: int) -> None:
    """As it does when another run on the cluster asks for a task that the scheduler does not have."""
    with LocalCluster(n_workers=0, processes=False, dashboard_address=None) as cluster:
        scheduler = cluster.scheduler
        cluster.sync(add_plugin, scheduler, Broadcast(scheduler, count))
        expected = (
            pytest.raises(SchedulerError, match="other messages arrived with the first answer")
            if count > 1
            else nullcontext()
        )
        with expected, connection.connected(cluster.scheduler_address) as client:
            assert connection.identity(client, -1)["workers"] == {}
        assert not scheduler.plugins["broadcast"].count


async def add_plugin(scheduler: Scheduler, plugin: SchedulerPlugin) -> None:
    """Add a plugin in the scheduler's loop."""
    scheduler.add_plugin(plugin, name="broadcast")


def modules_on(scheduler: Cluster) -> set[str]:
    """Return the modules of the program, and of the libraries that take long to import, on a scheduler."""
    with scheduler.client() as client:
        names = set(client.run_on_scheduler(lambda dask_scheduler: [*__import__("sys").modules]))
    return {name for name in names if name.startswith(("antipodes", "numba", "numcodecs", "numpy", "zarr"))}


@pytest.mark.slow
def test_the_scheduler_loads_the_program_before_it_gets_tasks(tmp_path: Path) -> None:
    """While it unpacked the tasks, it would answer nobody, which a run takes for the loss of the scheduler."""
    before = list[set[str]]()

    def ask(event: Event) -> None:
        if isinstance(event, ClusterReady):
            before.append(modules_on(cluster))

    with Cluster(tmp_path, {"PYTHONPATH": str(tmp_path)}) as cluster:  # not a fork, which has loaded everything
        cluster.start_scheduler()
        cluster.add_worker()
        run_puzzle(EIGHT, tmp_path / "t.zarr", RunOptions(scheduler=cluster.address), ask)
        assert "antipodes.tables.store.search_stores" in before[0]
        assert modules_on(cluster) == before[0]


def test_a_run_that_waits_longer_also_waits_longer_for_imports(
    shared: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(version_check, "LOAD_SECONDS", 0.0001)
    with shared.client() as client, Workers(client, PATIENCE) as scheduler:
        assert scheduler.wait_for_workers(silence, never_stop)


def test_each_run_chooses_how_long_it_waits(idle: Cluster) -> None:
    with idle.client() as client:
        for timeout, silent in ((0.01, "0.01 seconds"), (0.02, "0.02 seconds")):
            with Workers(client, timeout), pytest.raises(SchedulerSilentError, match=f"has not answered for {silent}"):
                connection.ask(client, asyncio.Event().wait)
        assert connection.timeout_of(client) == connection.SCHEDULER_TIMEOUT


class FreezingScheduler:
    """A listener that freezes the scheduler at an event, and then waits no longer."""

    def __init__(self, cluster: Cluster, at: type, lose_patience: Callable[[], None]) -> None:
        self.cluster, self.at, self.lose_patience = cluster, at, lose_patience
        self.events: list[Event] = []

    def __call__(self, event: Event) -> None:
        self.events.append(event)
        if isinstance(event, self.at) and self.cluster.scheduler is not None:
            self.cluster.scheduler.stop()
            self.lose_patience()


@pytest.mark.parametrize("command", ["run", "tile"])
def test_a_scheduler_freezes_during_a_run(
    command: str, cluster: Cluster, lose_patience: Callable[[], None], tmp_path: Path
) -> None:
    """The run ends soon, says what is kept, and how it resumes."""
    from antipodes.system.events import PartitionSearched
    from antipodes.tilings.board_config import load_board
    from antipodes.tilings.run import tile_board

    cluster.add_workers(1)
    options = RunOptions(scheduler=cluster.address, checkpoint_every=0)
    freezing = FreezingScheduler(cluster, LayerFinished if command == "run" else PartitionSearched, lose_patience)
    begin = partial(run_puzzle, EIGHT) if command == "run" else partial(tile_board, load_board("4x15"))
    with pytest.raises(InterruptedRunError, match=r"has not answered for 2 seconds; .* kept; the same call resumes"):
        begin(tmp_path / "t.zarr", options=options, listener=freezing)
    assert Waiting("the dask scheduler to answer") in freezing.events


@pytest.mark.slow
def test_a_scheduler_freezes_before_workers_are_examined(
    cluster: Cluster, lose_patience: Callable[[], None], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """There is no store yet, so the message names the command that started the run."""
    cluster.add_workers(1)
    examine = version_check.VersionCheck.examine

    def stopped(*arguments: Any) -> Any:
        assert cluster.scheduler is not None
        cluster.scheduler.stop()
        lose_patience()
        monkeypatch.setattr(version_check, "VERSIONS_SECONDS", 3.0)
        return examine(*arguments)

    monkeypatch.setattr(version_check.VersionCheck, "examine", stopped)
    options = RunOptions(scheduler=cluster.address, started_by=("run", "eight-puzzle"))
    again = f"start over with: antipodes run eight-puzzle --store {tmp_path}/t.zarr --scheduler {cluster.address}"
    with pytest.raises(InterruptedRunError, match=f"has not answered.*; nothing is stored yet; {again}"):
        run_puzzle(EIGHT, tmp_path / "t.zarr", options)


def test_a_worker_is_frozen_when_a_run_starts(
    shared: Cluster, same: Same, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The run says that it excludes the worker, and makes it a member once it answers."""
    with shared.client() as client:
        with Workers(
            client
        ) as earlier:  # so that both have loaded the program, and one that is not frozen answers soon
            assert earlier.wait_for_workers(silence, never_stop)
        with Workers(client) as scheduler:
            events: list[Event] = []
            with shared.groups[-1].frozen():
                with monkeypatch.context() as patch:
                    patch.setattr(version_check, "VERSIONS_SECONDS", 3.0)
                    patch.setattr(connection, "ANNOUNCE_SECONDS", 0.0)
                    assert scheduler.wait_for_workers(events.append, never_stop)
                assert len(scheduler.members) == 1
                (silent,) = shared.workers().keys() - scheduler.members.keys()
                assert Waiting("the versions of 2 workers") in events
                # on a busy machine the other worker answers late, too: then the run has no member at first
                (named,) = [event for event in events if str(silent) in str(event)]
                assert named in (WorkerRefused(why := f"worker {silent} does not answer"), WaitingForWorkers(why))
                run_puzzle(EIGHT, tmp_path / "t.zarr", RunOptions(checkpoint_every=0), scheduler=scheduler)
            wait_until(lambda: scheduler.workers_changed, "the run knows that the worker answers")
            assert scheduler.wait_for_workers(events.append, never_stop)
            assert len(scheduler.members) == 2
    same("eight-puzzle")


def test_the_run_names_a_member_that_freezes(shared: Cluster, monkeypatch: pytest.MonkeyPatch) -> None:
    events: list[Event] = []
    with shared.client() as client, Workers(client) as scheduler:

        def both_are_members() -> bool:  # on a busy machine, one may answer too late to be a member at once
            return scheduler.wait_for_workers(events.append, never_stop) and len(scheduler.members) == 2

        wait_until(both_are_members, "both workers are members")
        monkeypatch.setattr(health, "UNHEARD_SECONDS", 2.0)
        waiting = threading.Thread(target=partial(scheduler.run_on_all_workers, (time.sleep, 0)))
        said = {Waiting(f"worker {one}, which has not been heard of for 2 seconds") for one in scheduler.members}
        with shared.groups[-1].frozen():
            waiting.start()
            wait_until(lambda: said.intersection(events) or not waiting.is_alive(), "the run names a worker, or ends")
            assert said.intersection(events), events
        waiting.join(PATIENCE)
        assert not waiting.is_alive()
