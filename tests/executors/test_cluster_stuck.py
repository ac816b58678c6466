"""Workers that answer but make no progress: they count as lost, and the run goes on with the others or names them.

The scheduler and the workers are threads of this process, and talk over TCP; a test breaks one of the workers.
"""

import asyncio
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from distributed import LocalCluster, Worker
from distributed.core import Status
from program_runs import Same
from waiting import PATIENCE

from antipodes.executors.api import Key, never_stop
from antipodes.executors.distributed import health, tasks
from antipodes.executors.distributed.cluster import Cluster
from antipodes.puzzles.config import load_config
from antipodes.system.events import Event, LayerFinished, WorkersLost, silence
from antipodes.system.options import RunOptions
from antipodes.tables.layers.residence import Residence
from antipodes.tables.layers.shard_segments import flush
from antipodes.tables.run import run_puzzle
from antipodes.tilings.board_config import load_board
from antipodes.tilings.run import tile_board
from antipodes_tasks.base.errors import SchedulerError, StoreLockedError, WorkerFailedError, WorkersStuckError

EVERY_LAYER = RunOptions(checkpoint_every=0)
STUCK = 2.0
"""Seconds without progress; workers report twice a second what they run."""


@pytest.fixture
def workers(thread_workers: LocalCluster, monkeypatch: pytest.MonkeyPatch) -> LocalCluster:
    """A cluster of two workers, for which the limits that tests wait for are short."""
    for module, name, seconds in (
        (health, "STUCK_SECONDS", STUCK),
        (tasks, "UNSENT_SECONDS", 0.2),
        (tasks, "REASON_SECONDS", 0.05),
        (health, "HEARTBEAT_SECONDS", 0.1),
        (health, "UNHEARD_LIMIT", PATIENCE),  # on a busy machine, a worker may not be heard of for long
    ):
        monkeypatch.setattr(module, name, seconds)
    return thread_workers


@pytest.fixture
def _late_answers(workers: LocalCluster, monkeypatch: pytest.MonkeyPatch) -> None:
    """Lets workers answer the scheduler late, since this process may stand still for longer than `STUCK`."""

    def late(check: Callable[..., Any]) -> Callable[..., Any]:
        async def check_patiently(asked: Any, base: float, dask_scheduler: Any) -> Any:
            return await check(asked, PATIENCE, dask_scheduler)

        return check_patiently

    for check in (health.why_stuck, health.unable_to_send):
        monkeypatch.setattr(health, check.__name__, late(check))


@pytest.fixture
def cluster(members: Cluster) -> Cluster:
    return members


def worker_at(workers: LocalCluster, address: str) -> Worker:
    return next(one for one in workers.workers.values() if one.address == address)


class Unserializable:
    def __reduce__(self) -> Any:
        raise MemoryError("no room for a copy")


async def fails(*_: object, **__: object) -> Any:
    raise MemoryError("no room for a copy")


async def never_answers(*_: object, **__: object) -> None:
    await asyncio.Event().wait()


async def is_busy(*_: object, **__: object) -> dict[str, str]:
    return {"status": "busy"}


@pytest.mark.parametrize(
    ("answer", "why", "to"),
    [
        (fails, "MemoryError", "the run"),
        pytest.param(None, "cannot be serialized", "the run", marks=pytest.mark.slow),
        (fails, "MemoryError", "another worker"),
    ],
)
@pytest.mark.usefixtures("_late_answers")
def test_a_worker_cannot_send_a_result(
    to: str, answer: Callable[..., Any] | None, why: str, cluster: Cluster, workers: LocalCluster
) -> None:
    check_that_the_sender_is_lost(to, answer, why, cluster, workers)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("answer", "why"), [(never_answers, "did not arrive within 2 seconds"), (is_busy, "did not arrive")]
)
def test_a_worker_does_not_send_a_result_in_time(
    answer: Callable[..., Any], why: str, cluster: Cluster, workers: LocalCluster
) -> None:
    check_that_the_sender_is_lost("the run", answer, why, cluster, workers)


def check_that_the_sender_is_lost(
    to: str, answer: Callable[..., Any] | None, why: str, cluster: Cluster, workers: LocalCluster
) -> None:
    """A worker that answers requests for a result in this way is given up, and the other one is used."""
    broken, other = cluster.members
    if answer:
        worker_at(workers, broken).handlers["get_data"] = answer
    handles = cluster._tasks.submit_to(broken, {("make", 0): (bytes, 7) if answer else (Unserializable,)})
    if to == "another worker":
        handles = cluster._tasks.submit_to(other, {("use", 0): (str, handles[0])})
    with pytest.raises(WorkersStuckError, match=f"^worker {broken}, which cannot send its results: .*{why}"):
        cluster.gather(handles)
    assert cluster.wait_for_workers(silence, never_stop)
    assert list(cluster.members) == [other]


@pytest.mark.usefixtures("_late_answers")
def test_a_worker_cannot_receive_results(cluster: Cluster, workers: LocalCluster) -> None:
    """Such as one that a firewall separates from another worker, but not from the scheduler."""
    sender, broken = cluster.members
    rpc = worker_at(workers, broken).rpc
    connect = rpc.connect

    async def connect_unless_sender(address: str) -> Any:
        if address == sender:
            raise OSError(f"no route to {address}")
        return await connect(address)

    rpc.connect = connect_unless_sender
    made = cluster._tasks.submit_to(sender, {("make", 0): (bytes, 7)})
    used = cluster._tasks.submit_to(broken, {("use", 0): (str, made[0])})
    with pytest.raises(WorkersStuckError, match=f"^worker {broken}, which cannot receive"):
        cluster.gather(used)


def ignore_tasks(worker: Worker) -> None:
    worker.stream_handlers["compute-task"] = lambda **_: None


def pause(worker: Worker) -> None:
    worker.loop.add_callback(setattr, worker, "status", Status.paused)


@pytest.mark.parametrize("breaking", [ignore_tasks, pause])
@pytest.mark.usefixtures("_late_answers")
def test_tasks_of_a_worker_that_runs_none_are_run_by_others(
    breaking: Callable[[Worker], None], cluster: Cluster, workers: LocalCluster
) -> None:
    broken, _ = cluster.members
    breaking(worker_at(workers, broken))
    results: dict[Key, int] = {}
    cluster.run_unordered({("add", n): (sum, (n, 1)) for n in range(6)}, results.__setitem__, never_stop)
    assert results == {("add", n): n + 1 for n in range(6)}


def freeze(worker: Worker) -> None:
    """Let a worker start no task and send no heartbeat, as if its process were suspended."""
    ignore_tasks(worker)
    worker.loop.add_callback(worker.periodic_callbacks["heartbeat"].stop)


def test_a_worker_that_is_no_longer_heard_of_counts_as_lost(
    cluster: Cluster, workers: LocalCluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Dask would wait for it for 5 to 10 minutes."""
    monkeypatch.setattr(health, "STUCK_SECONDS", PATIENCE)
    monkeypatch.setattr(health, "UNHEARD_SECONDS", 2.0)
    monkeypatch.setattr(health, "UNHEARD_LIMIT", 1.0)
    frozen, other = cluster.members
    freeze(worker_at(workers, frozen))
    kept = cluster._tasks.submit_to(frozen, {("add", 0): (sum, (1, 2))})
    with pytest.raises(WorkersStuckError, match=f"^worker {frozen}, which has not been heard of for 3 seconds"):
        cluster.gather(kept)
    assert cluster.wait_for_workers(silence, never_stop)
    assert list(cluster.members) == [other]
    assert cluster.gather(cluster.persist({("add", 1): (sum, (1, 2))}).values()) == [3]


@pytest.mark.usefixtures("_late_answers")
def test_a_long_task_is_progress(cluster: Cluster) -> None:
    """Also a task behind it in the queue, and others that wait for its result."""
    worker, other = cluster.members
    long, queued = cluster._tasks.submit_to(
        worker, {("nap", 0): (time.sleep, 1.5 * STUCK), ("queued", 0): (len, "abc")}
    )
    (after,) = cluster._tasks.submit_to(other, {("after", 0): (str, long)})
    assert cluster.gather([long, queued, after]) == [None, 3, "None"]


@pytest.mark.usefixtures("_late_answers")
def test_a_task_that_the_scheduler_has_forgotten_is_progress(cluster: Cluster, workers: LocalCluster) -> None:
    """Such as one of a run that was interrupted: its thread is busy until the task ends."""
    worker, _ = cluster.members
    nap = cluster._tasks.submit_to(worker, {("nap", 0): (time.sleep, 2 * STUCK)})
    while not worker_at(workers, worker).active_keys:
        time.sleep(0.01)
    cluster.client.cancel(nap)
    assert cluster.gather(cluster._tasks.submit_to(worker, {("after", 0): (str, 7)})) == ["7"]


def test_a_large_transfer_has_more_time() -> None:
    assert health.allowed_seconds(60, 0) == 60
    assert health.allowed_seconds(60, 1 << 30) == 60 + 1024


@pytest.mark.slow
@pytest.mark.usefixtures("_late_answers")
def test_results_over_a_slow_connection_have_more_time_again(cluster: Cluster, workers: LocalCluster) -> None:
    handlers = workers.scheduler.handlers
    gather, deadline = handlers["gather"], time.monotonic() + PATIENCE

    async def slow(**named: Any) -> Any:
        await asyncio.sleep(1.5 * STUCK)
        return await gather(**named)

    handlers["gather"] = slow
    handles = list(cluster.persist({("make", 0): (bytes, 7)}).values())
    assert cluster.gather(handles, lambda: time.monotonic() > deadline) == [bytes(7)]


class Unpackable:
    def __reduce__(self) -> Any:
        return divmod, (1, 0)


@pytest.mark.usefixtures("_late_answers")
def test_a_result_that_cannot_be_unpacked_here_is_no_worker_s_fault(cluster: Cluster) -> None:
    handles = list(cluster.persist({("make", 0): (Unpackable,)}).values())
    with pytest.raises(WorkerFailedError, match=r"this process cannot unpack .* ZeroDivisionError"):
        cluster.gather(handles)


def fail_after(worker: Worker, requests: int) -> None:
    """Make a worker send results until the N-th request, and then none any more."""
    send, left = worker.handlers["get_data"], iter(range(requests))

    async def answer(comm: Any, **named: Any) -> Any:
        return await (send if next(left, None) is not None else fails)(comm=comm, **named)

    worker.handlers["get_data"] = answer


@pytest.mark.slow
@pytest.mark.usefixtures("_late_answers")
def test_a_table_is_completed_by_the_other_workers(
    cluster: Cluster, workers: LocalCluster, same: Same, tmp_path: Path
) -> None:
    broken = next(iter(cluster.members))
    fail_after(worker_at(workers, broken), 6)
    events: list[Event] = []
    report = run_puzzle(load_config("eight-puzzle"), tmp_path / "t.zarr", EVERY_LAYER, events.append, scheduler=cluster)
    (lost,) = [event for event in events if isinstance(event, WorkersLost)]
    assert f"worker {broken}, which cannot send its results: MemoryError" in str(lost)
    assert report.workers_lost == 1
    same("eight-puzzle")


@pytest.mark.slow
@pytest.mark.usefixtures("_late_answers")
def test_a_worker_that_counts_as_lost_cannot_write_any_more(
    cluster: Cluster, workers: LocalCluster, same: Same, tmp_path: Path
) -> None:
    """It is only cut off, and still has layers that it has not written."""
    broken, refused = worker_at(workers, next(iter(cluster.members))), list[str]()
    residences: list[Residence] = []

    def files() -> list[Path]:
        return sorted(path for path in tmp_path.rglob("*") if path.is_file())

    def break_the_worker(event: Event) -> None:
        if isinstance(event, LayerFinished) and event.depth >= 5 and not residences:
            residences.extend(one for one in broken.data.values() if isinstance(one, Residence))
            broken.handlers["get_data"] = fails
        elif isinstance(event, WorkersLost):
            (residence,) = residences
            found = [shard.segments for shard in residence.shards.values()]
            before = files()
            assert any(one.covers(5) for one in found), "nothing is left to write"
            with pytest.raises(StoreLockedError) as error:
                flush(found, 5, residence._token)
            refused.append(str(error.value))
            assert files() == before

    run_puzzle(load_config("eight-puzzle"), tmp_path / "t.zarr", listener=break_the_worker, scheduler=cluster)
    assert len(refused) == 1
    same("eight-puzzle")


@pytest.mark.slow
@pytest.mark.usefixtures("_late_answers")
def test_tilings_are_completed_by_the_other_workers(
    cluster: Cluster, workers: LocalCluster, same: Same, tmp_path: Path
) -> None:
    fail_after(worker_at(workers, next(iter(cluster.members))), 1)
    tile_board(load_board("3x20"), tmp_path / "t.zarr", options=EVERY_LAYER, scheduler=cluster)
    same("3x20")


@pytest.mark.slow
@pytest.mark.usefixtures("_late_answers")
def test_a_run_ends_with_the_name_of_the_only_worker(cluster: Cluster, workers: LocalCluster, tmp_path: Path) -> None:
    retired, broken = cluster.members
    cluster.client.retire_workers([retired])
    assert cluster.wait_for_workers(silence, never_stop)
    fail_after(worker_at(workers, broken), 3)
    with pytest.raises(SchedulerError, match=f"worker {broken}, which cannot send its results: MemoryError"):
        tile_board(load_board("3x20"), tmp_path / "t.zarr", scheduler=cluster)
