"""Tasks that do not depend on each other, on a cluster that loses its scheduler or its workers at chosen moments."""

from collections import Counter
from collections.abc import Iterable, Mapping
from types import SimpleNamespace
from typing import Any, cast

import pytest

from antipodes.executors.api import Call, Key, OnResult, Stop, never_stop
from antipodes.executors.distributed.membership import Membership
from antipodes.executors.distributed.tasks import TaskQueue, Tasks
from antipodes.system.events import Event, Listener, WorkersLost
from antipodes_tasks.base.errors import SchedulerLostError, WorkersLostError

CALLS: dict[Key, Call] = {("double", number): (lambda one: 2 * one, number) for number in range(12)}


class Breaking:
    """Members and tasks of one worker, whose tasks are done when asked for; the second call ``at`` raises an error."""

    threads = 1
    remaining: frozenset[str] = frozenset()

    def __init__(self, at: str, error: Exception, comes_back: bool = True) -> None:
        self.at, self.error, self.comes_back = at, error, comes_back
        self.members: dict[str, Any] = {"tcp://one:1": {}}
        self.watch = SimpleNamespace(changed=False, lost=[], all_lost=[])
        self.told: list[Event] = []
        self.submitted: list[int] = []
        self.asked: Counter[str] = Counter()

    def listener(self, event: Event) -> None:
        self.told.append(event)

    @property
    def changed(self) -> bool:
        return bool(self.watch.changed)

    def wait_for_workers(self, listener: Listener, stop: Stop) -> bool:
        self.watch.changed = False
        self.members = {f"tcp://one:{self.asked['wait_for_workers'] + 2}": {}}
        self.asked["wait_for_workers"] += 1
        return self.comes_back

    def submit(self, calls: Mapping[Key, Call]) -> list[Any]:
        self._call("submit")
        self.submitted.append(len(calls))
        return [(key, calls[key][0](*calls[key][1:])) for key in calls]

    def first_done(self, futures: Iterable[Any]) -> list[Any]:
        self._call("first_done")
        return list(futures)[:1]

    def gather(self, futures: list[Any]) -> list[Any]:
        self._call("gather")
        return [result for _, result in futures]

    def _call(self, name: str) -> None:
        self.asked[name] += 1
        if name == self.at and self.asked[name] == 2:
            self.watch.changed = isinstance(self.error, WorkersLostError)
            raise self.error


class Crowded(Breaking):
    """Another worker joins each time that a task is done; the first stays."""

    remaining = frozenset({"tcp://one:1"})

    def __init__(self) -> None:
        super().__init__("nothing", ValueError())

    def wait_for_workers(self, listener: Listener, stop: Stop) -> bool:
        self.watch.changed = False
        return not stop()

    def first_done(self, futures: Iterable[Any]) -> list[Any]:
        self.watch.changed = True
        return super().first_done(futures)


def run_queue(cluster: Breaking, on_result: OnResult, stop: Stop = never_stop) -> int:
    """Run all tasks; return the number of losses."""
    queue = TaskQueue(cast(Membership, cluster), cast(Tasks, cluster), CALLS, on_result, stop)
    queue.run()
    return queue.losses


def results_on(cluster: Breaking) -> list[tuple[Key, int]]:
    results: list[tuple[Key, int]] = []
    run_queue(cluster, lambda key, result: results.append((key, result)))
    return sorted(results)


@pytest.mark.parametrize("at", ["submit", "first_done", "gather"])
def test_all_tasks_run_after_a_lost_connection(at: str) -> None:
    cluster = Breaking(at, SchedulerLostError("gone"))
    assert results_on(cluster) == [(key, 2 * key[1]) for key in CALLS]
    assert cluster.asked["wait_for_workers"] == 1


def test_all_tasks_run_after_all_workers_retired() -> None:
    cluster = Breaking("gather", WorkersLostError("worker tcp://one:1"))
    assert results_on(cluster) == [(key, 2 * key[1]) for key in CALLS]
    assert cluster.asked["wait_for_workers"] == 1


def test_a_stop_ends_the_wait_for_a_lost_scheduler() -> None:
    cluster = Breaking("gather", SchedulerLostError("gone"), comes_back=False)
    assert results_on(cluster) == [(("double", 0), 0)]


def test_tasks_under_way_at_a_stop_are_collected_although_workers_join() -> None:
    told: list[Key] = []
    cluster = Crowded()
    run_queue(cluster, lambda key, _: told.append(key), lambda: bool(told))
    assert len(told) == sum(cluster.submitted) > 1


class Losing(Breaking):
    """A second member is lost when the third result arrives, and just before the present workers become members."""

    def gather(self, futures: list[Any]) -> list[Any]:
        if len(self.watch.all_lost) == 0 and self.asked["gather"] == 2:
            self.watch.changed = True
        return super().gather(futures)

    def wait_for_workers(self, listener: Listener, stop: Stop) -> bool:
        self.watch.all_lost.append("tcp://two:1")
        return super().wait_for_workers(listener, stop)


def test_each_lost_worker_is_named_once() -> None:
    """Even if it is lost while the queue is changing its workers, after which only later losses count as such."""
    cluster = Losing("nothing", ValueError())
    assert run_queue(cluster, lambda *_: None) == 1
    assert cluster.told == [WorkersLost("worker tcp://two:1")]


def test_tasks_that_start_together_are_submitted_together() -> None:
    cluster = Breaking("nothing", ValueError())
    cluster.threads = 6
    results_on(cluster)
    assert cluster.submitted[0] == sum(cluster.submitted) == len(CALLS)
