"""Tasks that do not depend on each other, on a cluster that loses its scheduler or its workers at chosen moments."""

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any, cast

import pytest

from antipodes.errors import SchedulerLostError, WorkersLostError
from antipodes.events import Listener, silence
from antipodes.executors.api import Call, Key, Stop
from antipodes.executors.distributed.cluster import Cluster
from antipodes.executors.distributed.task_queue import Errands

CALLS: dict[Key, Call] = {("double", number): (lambda one: 2 * one, number) for number in range(12)}


class Breaking:
    """One worker, whose tasks are done when they are asked for; the call ``at`` raises an error the second time."""

    listener: Listener = staticmethod(silence)
    workers = 1
    lost = False

    def __init__(self, at: str, error: Exception, comes_back: bool = True) -> None:
        self.at, self.error, self.comes_back = at, error, comes_back
        self.members: dict[str, Any] = {"tcp://one:1": {}}
        self.changed = False
        self.asked: Counter[str] = Counter()

    def ready(self, listener: Listener, stop: Stop) -> bool:
        self.changed = False
        self.members = {f"tcp://one:{self.asked['ready'] + 2}": {}}
        self.asked["ready"] += 1
        return self.comes_back

    def persist(self, calls: Mapping[Key, Call]) -> dict[Key, Any]:
        self._call("persist")
        return {key: (key, function(*arguments)) for key, (function, *arguments) in calls.items()}

    def done_of(self, futures: Iterable[Any]) -> list[Any]:
        self._call("done_of")
        return list(futures)[:1]

    def gather(self, handles: list[Any]) -> list[Any]:
        self._call("values")
        return [result for _, result in handles]

    def _call(self, name: str) -> None:
        self.asked[name] += 1
        if name == self.at and self.asked[name] == 2:
            self.changed = isinstance(self.error, WorkersLostError)
            raise self.error


class Crowded(Breaking):
    """Another worker joins each time that a task is done; the first stays."""

    remaining = frozenset({"tcp://one:1"})

    def __init__(self) -> None:
        super().__init__("nothing", ValueError())

    def ready(self, listener: Listener, stop: Stop) -> bool:
        self.changed = False
        return not stop()

    def done_of(self, futures: Iterable[Any]) -> list[Any]:
        self.changed = True
        return super().done_of(futures)


def run_on(cluster: Breaking) -> list[tuple[Key, int]]:
    told: list[tuple[Key, int]] = []
    Errands(cast(Cluster, cluster), CALLS, lambda key, result: told.append((key, result)), lambda: False).run()
    return sorted(told)


@pytest.mark.parametrize("at", ["persist", "done_of", "values"])
def test_a_connection_that_is_made_again(at: str) -> None:
    cluster = Breaking(at, SchedulerLostError("gone"))
    assert run_on(cluster) == [(key, 2 * key[1]) for key in CALLS]
    assert cluster.asked["ready"] == 1


def test_all_leave_and_take_nothing_along() -> None:
    cluster = Breaking("values", WorkersLostError("worker tcp://one:1"))
    assert run_on(cluster) == [(key, 2 * key[1]) for key in CALLS]
    assert cluster.asked["ready"] == 1


def test_a_stop_before_there_is_a_connection_again() -> None:
    cluster = Breaking("values", SchedulerLostError("gone"), comes_back=False)
    assert run_on(cluster) == [(("double", 0), 0)]


def test_what_is_under_way_at_a_stop_is_waited_for_though_workers_join() -> None:
    told: list[Key] = []
    cluster = Crowded()
    Errands(cast(Cluster, cluster), CALLS, lambda key, _: told.append(key), lambda: bool(told)).run()
    assert len(told) == cluster.asked["persist"] > 1
