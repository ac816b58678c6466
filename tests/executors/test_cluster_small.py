"""Workers that have too little memory for their share: a run names them, and goes on without them."""

from functools import partial

import pytest
from clusters import Cluster
from distributed import Client
from program_runs import Begin, Same
from waiting import wait_until

from antipodes.executors.api import never_stop
from antipodes.executors.distributed.cluster import Cluster as Workers
from antipodes.puzzles.config import load_config
from antipodes.system.events import ClusterReady, Event, Waiting, WaitingForWorkers, WorkerNotUsed
from antipodes.system.options import RunOptions
from antipodes.tables.planning.fitting import plan_checked

SMALL = ("--memory-limit", "300MiB")
NOT_USED = "has too little memory (300 MiB) for its share and is not used"


def kinds(events: list[Event]) -> list[type[Event]]:
    """The kinds of the events, except for the waits that are only long on a busy machine."""
    return [type(event) for event in events if not isinstance(event, Waiting)]


@pytest.mark.slow
def test_small_workers_change_nothing_until_they_are_enough(cluster: Cluster, client: Client) -> None:
    """One that joins, one that returns, one without a limit, and those that are left when a large one leaves."""
    plan = partial(plan_checked, load_config("eight-puzzle"), RunOptions())
    (large,) = cluster.add_workers(1, "--memory-limit", "1GiB")
    with Workers(client) as scheduler:
        events: list[Event] = []
        assert scheduler.wait_for_workers(events.append, never_stop)
        (first,) = scheduler.members
        plan(scheduler)
        for _ in range(2):
            (small,) = cluster.add_workers(1, *SMALL)
            wait_until(lambda: scheduler.workers_changed or not pending(scheduler), "the worker is judged")
            assert not scheduler.workers_changed
            assert kinds(events) == [ClusterReady, WorkerNotUsed]
            small.kill()
            cluster.wait_for_workers(1)
        (named,) = [event for event in events if isinstance(event, WorkerNotUsed)]
        assert named.reason.endswith(NOT_USED)
        cluster.add_workers(1)
        wait_until(lambda: scheduler.workers_changed, "a worker without a limit is of use")
        assert scheduler.wait_for_workers(events.append, never_stop)
        assert len(scheduler.members) == 2
        cluster.add_workers(1, *SMALL)
        large.kill()
        wait_until(lambda: first in scheduler._membership.watch.lost, "the run knows of the loss")
        assert scheduler.wait_for_workers(events.append, never_stop)
        plan(scheduler)
        assert [worker["memory_limit"] for worker in scheduler.members.values()] == [0]
    assert WaitingForWorkers not in kinds(events)


@pytest.mark.slow
def test_a_worker_that_stays_too_small_is_named_once(cluster: Cluster, client: Client) -> None:
    """Others join meanwhile, and each time the run chooses its workers again."""
    plan = partial(plan_checked, load_config("eight-puzzle"), RunOptions())
    cluster.add_workers(1, "--memory-limit", "1GiB")
    cluster.add_workers(1, *SMALL)
    with Workers(client) as scheduler:
        events: list[Event] = []
        assert scheduler.wait_for_workers(events.append, never_stop)
        plan(scheduler)
        for members in (2, 3):
            cluster.add_workers(1, "--memory-limit", "1GiB")
            wait_until(lambda: scheduler.workers_changed, "a larger worker is of use")
            assert scheduler.wait_for_workers(events.append, never_stop)
            plan(scheduler)
            assert len(scheduler.members) == members
    assert kinds(events).count(WorkerNotUsed) == 1


def pending(scheduler: Workers) -> bool:
    """Whether a worker has joined that was not judged yet."""
    return bool(scheduler._membership._versions._joined) or len(scheduler._membership._unused) != 1


@pytest.mark.slow
def test_a_small_worker_joins_a_healthy_run(cluster: Cluster, begin: Begin, same: Same) -> None:
    """The run neither commits nor restores anything because of it."""
    (first,) = cluster.add_workers(1, "--memory-limit", "1GiB")
    at = ["--scheduler", cluster.address, "--checkpoint-every", 1000]
    run = begin("run", "eight-puzzle", "--store", "t.zarr", *at, "--json")
    run.wait_for("1 worker with 1 thread")
    first.stop()
    cluster.add_workers(1, *SMALL, examined=True)
    first.thaw()
    run.wait_for(NOT_USED)
    assert run.finish()["workers_lost"] == 0
    assert "2 workers" not in run.err
    assert run.err.count("committed up to") == 1
    assert "restoring" not in run.err
    same("eight-puzzle")
