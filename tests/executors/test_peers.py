"""Requests from worker to worker: answers, errors, workers that cannot be reached, and runs that no longer wait.

The scheduler and the workers are threads of this process, and talk over TCP.
"""

import asyncio
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from distributed import Client, LocalCluster, Status
from distributed.comm.core import CommClosedError
from stores import contents
from waiting import PATIENCE

from antipodes.executors.api import Handle, never_stop
from antipodes.executors.distributed import peers, tasks
from antipodes.executors.distributed.cluster import Cluster
from antipodes.executors.distributed.peers import WorkerChannel
from antipodes.puzzles.config import load_config
from antipodes.system.events import Event, WorkersLost, silence
from antipodes.tables.run import run_puzzle
from antipodes_tasks.base.errors import (
    InterruptedRunError,
    WorkerFailedError,
    WorkersStuckError,
    WorkerUnreachableError,
)


class Doubling:
    """A peer that doubles what it is given."""

    made: list["Doubling"] = []  # noqa: RUF012  (the workers are in this process)
    ready = True

    def __init__(self) -> None:
        self.slots = asyncio.Semaphore(1)
        self.asked = threading.Event()
        Doubling.made.append(self)

    def is_ready(self, question: Any) -> bool:
        self.asked.set()
        return self.ready

    def answer(self, question: Any) -> Any:
        if question == "error":
            raise MemoryError("no room for a copy")
        return 2 * np.array(question)


def opened() -> Doubling:
    peer = Doubling()
    WorkerChannel().open("doubling", peer)
    return peer


def asked(address: str, question: Any) -> Any:
    return WorkerChannel().ask("doubling", {address: question}).wait()[0].tolist()


@pytest.fixture
def workers(thread_workers: LocalCluster, monkeypatch: pytest.MonkeyPatch) -> LocalCluster:
    monkeypatch.setattr(Doubling, "made", [])
    monkeypatch.setattr(peers, "UNREADY_SECONDS", 0.01)
    monkeypatch.setattr(peers, "RETRY_SECONDS", 0.01)
    monkeypatch.setattr(tasks, "REASON_SECONDS", 0.01)
    return thread_workers


@pytest.fixture
def cluster(members: Cluster) -> Cluster:
    return members


def ask(cluster: Cluster, question: Any) -> list[Handle]:
    """Start a task on the first worker that asks the second one."""
    first, second = cluster.members
    return cluster._tasks.submit_to(first, {("ask", 0): (asked, second, question)})


def open_second(cluster: Cluster) -> list[Handle]:
    """Let the second worker answer."""
    _, second = cluster.members
    return cluster._tasks.submit_to(second, {("open", 0): (opened,)})


def test_an_answer_is_awaited(cluster: Cluster, monkeypatch: pytest.MonkeyPatch) -> None:
    """Before the other worker has a peer, and before the peer is ready."""
    monkeypatch.setattr(Doubling, "ready", False)
    answers = ask(cluster, [1, 2])
    peer = open_second(cluster)
    cluster.client.sync(peer[0]._state.wait)
    assert Doubling.made[0].asked.wait(PATIENCE)
    Doubling.made[0].ready = True
    assert cluster.gather(answers) == [[2, 4]]


def test_an_error_names_the_worker_that_was_asked(cluster: Cluster) -> None:
    kept = open_second(cluster)
    with pytest.raises(WorkerFailedError, match=f"worker {list(cluster.members)[1]} ran out of memory: no room"):
        cluster.gather(ask(cluster, "error"))
    assert kept


class ClosedConnection:
    """A connection to a worker that no longer waits."""

    async def write(self, answer: Any) -> None:
        raise CommClosedError("closed")


def test_an_answer_for_which_nobody_waits_is_dropped(monkeypatch: pytest.MonkeyPatch) -> None:
    """Such as one of a worker that was frozen meanwhile; dask would log the error with a traceback."""
    monkeypatch.setattr(Doubling, "made", [])
    peer = Doubling()
    monkeypatch.setitem(peers._peers, ("worker", "doubling"), peer)
    answering = peers._handler_of("worker")(ClosedConnection(), "doubling", [1])
    assert asyncio.run(answering) is Status.dont_reply
    assert peer.asked.is_set()


def test_a_question_of_a_closing_worker_is_no_error_of_the_program(
    cluster: Cluster, workers: LocalCluster, caplog: pytest.LogCaptureFixture
) -> None:
    """Dask closes the connections of a worker before the tasks end."""
    first, _ = cluster.members
    closing: Any = next(one for one in workers.workers.values() if one.address == first)
    closing.loop.add_callback(setattr, closing.rpc, "status", Status.closed)
    with pytest.raises(WorkerFailedError, match="the worker is closing"):
        cluster.gather(ask(cluster, [1]))
    assert "a task failed" not in caplog.text
    closing.loop.add_callback(setattr, closing.rpc, "status", Status.running)


class Separated:
    """The connections of a worker, none of which leads to peers at an address; dask's own transfers succeed."""

    def __init__(self, connections: Any, address: str) -> None:
        self._connections = connections
        self._address = address

    def __call__(self, address: str) -> Any:
        return self if address == self._address else self._connections(address)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._connections, name)

    async def antipodes_ask(self, **_: Any) -> Any:
        raise OSError(f"no route to {self._address}")


def separate(workers: LocalCluster, first: str, second: str) -> None:
    """Let no request of the first worker reach the second."""
    worker: Any = next(one for one in workers.workers.values() if one.address == first)
    worker.rpc = Separated(worker.rpc, second)


def test_a_worker_that_another_cannot_reach_counts_as_lost(
    cluster: Cluster, workers: LocalCluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(peers, "UNREACHABLE_SECONDS", 0.05)
    first, second = cluster.members
    separate(workers, first, second)
    with pytest.raises(WorkersStuckError, match=f"^worker {second}, which cannot be reached by another worker"):
        cluster.gather(ask(cluster, [1]))
    assert cluster.wait_for_workers(silence, never_stop)
    assert list(cluster.members) == [first]


@pytest.mark.slow
def test_a_search_goes_on_without_a_worker_that_cannot_be_reached(
    workers: LocalCluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(peers, "UNREACHABLE_SECONDS", 0.05)
    monkeypatch.setattr("antipodes.tables.layers.division.CHUNK_STATES", (1024, 2048))
    monkeypatch.setattr("antipodes.tables.layers.division.PARTITION_STATES", 1024)
    monkeypatch.setattr("antipodes.tables.layers.division.SHARD_STATES", (1, 1 << 20))
    puzzle = load_config("knights-coloured")
    run_puzzle(puzzle, tmp_path / "threads.zarr")
    first, second = (worker.address for worker in workers.workers.values())
    separate(workers, first, second)
    events: list[Event] = []
    with Client(workers, set_as_default=False) as client:
        report = run_puzzle(puzzle, tmp_path / "t.zarr", listener=events.append, scheduler=client)
    assert report.complete
    assert [event.reason for event in events if isinstance(event, WorkersLost)] == [
        f"worker {second}, which cannot be reached by another worker"
    ]
    assert contents(tmp_path / "t.zarr") == contents(tmp_path / "threads.zarr")


def test_other_tasks_run_while_one_waits(cluster: Cluster, monkeypatch: pytest.MonkeyPatch) -> None:
    """Otherwise two runs that share a cluster could wait for each other: each has a thread that the other needs."""
    monkeypatch.setattr(Doubling, "ready", False)
    kept, answers = open_second(cluster), ask(cluster, [3])
    cluster.client.sync(kept[0]._state.wait)
    assert Doubling.made[0].asked.wait(PATIENCE)
    first, _ = cluster.members
    assert cluster.gather(cluster._tasks.submit_to(first, {("other", 0): (len, "abc")})) == [3]
    Doubling.made[0].ready = True
    assert cluster.gather(answers) == [[6]]


def wait_and_note(address: str) -> None:
    """Ask, and note how the wait ends."""
    try:
        asked(address, [1])
    except InterruptedRunError as error:
        ENDED.append(error)
    finally:
        HAS_ENDED.set()


ENDED: list[BaseException] = []
HAS_ENDED = threading.Event()


@pytest.fixture
def nothing_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    """No wait has ended yet, and none ends because there is an answer."""
    monkeypatch.setattr(Doubling, "ready", False)
    ENDED.clear()
    HAS_ENDED.clear()


def raise_unreachable(address: str) -> None:
    """Fail like a task to which another worker does not answer, once the other task waits."""
    assert Doubling.made[0].asked.wait(PATIENCE)
    raise WorkerUnreachableError(address)


@pytest.mark.usefixtures("nothing_ended")
def test_a_task_that_waits_is_cancelled_if_another_task_finds_its_worker_unreachable(cluster: Cluster) -> None:
    first, second = cluster.members
    kept = open_second(cluster)
    cluster.client.sync(kept[0]._state.wait)
    handles = cluster._tasks.submit_to(first, {("wait", 0): (wait_and_note, second)})
    handles += cluster._tasks.submit_to(second, {("fail", 0): (raise_unreachable, second)})
    with pytest.raises(WorkersStuckError, match=f"^worker {second}, which cannot be reached by another worker"):
        cluster.gather(handles)
    assert HAS_ENDED.wait(PATIENCE)
    assert len(ENDED) == 1


@pytest.mark.usefixtures("nothing_ended")
def test_a_wait_ends_when_nothing_waits_for_it(cluster: Cluster) -> None:
    first, second = cluster.members
    kept = open_second(cluster)
    (answer,) = cluster.client.get({"wait": (wait_and_note, second)}, ["wait"], workers=[first], sync=False)
    cluster.client.sync(kept[0]._state.wait)
    assert Doubling.made[0].asked.wait(PATIENCE)
    answer.cancel()
    assert HAS_ENDED.wait(PATIENCE)
    assert len(ENDED) == 1
