"""Which workers a run uses, which it names, and how often."""

from typing import Any

import pytest

from antipodes.executors.api import Capacity
from antipodes.executors.distributed.choice import Probation, Refusals, largest_set_that_fits
from antipodes.system.events import Event, WorkerNotUsed

MIB = 2**20


def workers(*limits: int, threads: int = 1) -> dict[str, Any]:
    """Descriptions of workers with these limits in MiB, by the letters of the alphabet."""
    return {
        chr(ord("A") + number): {"memory_limit": limit * MIB, "nthreads": threads}
        for number, limit in enumerate(limits)
    }


def needing(mib: int, each: int = 220) -> Any:
    """A run that needs so many MiB, and more for each process."""

    def fits(capacity: Capacity) -> bool:
        return capacity.memory is None or capacity.memory >= (mib + each * capacity.processes) * MIB

    return fits


@pytest.mark.parametrize(
    ("limits", "needed", "chosen"),
    [
        ((1024, 300), 100, "A"),
        ((300, 1024), 100, "B"),
        ((1024, 1024, 300), 100, "AB"),
        ((1024, 0, 300), 100, "AB"),  # 0: no limit
        ((0, 300), 100, "A"),
        ((0, 0), 10**6, "AB"),
        ((500, 500, 500, 500), 300, "ABCD"),
        ((500, 500, 500, 500, 100), 300, "ABCD"),
        ((4096, 700, 700), 1000, "A"),
    ],
)
def test_the_largest_set_that_fits(limits: tuple[int, ...], needed: int, chosen: str) -> None:
    assert largest_set_that_fits(workers(*limits), (), needing(needed)) == set(chosen)


@pytest.mark.parametrize("limits", [(300, 300), (300, 350, 360), (100,)])
def test_no_set_fits(limits: tuple[int, ...]) -> None:
    assert largest_set_that_fits(workers(*limits), (), needing(100)) is None


def test_members_stay_if_no_larger_set_fits() -> None:
    able = workers(600, 600, 700)

    def two_fit(capacity: Capacity) -> bool:
        return capacity.processes <= 2

    assert largest_set_that_fits(able, "AB", two_fit) == {"A", "B"}
    assert largest_set_that_fits(able, "C", two_fit) == {"A", "C"}


def test_a_worker_whose_threads_need_too_much_leaves_room_for_others() -> None:
    able = {**workers(800), "M": {"memory_limit": 800 * MIB, "nthreads": 64}}

    def fits(capacity: Capacity) -> bool:
        return capacity.workers <= 4

    assert largest_set_that_fits(able, (), fits) == {"A"}


def test_a_worker_that_returns_is_not_named_again() -> None:
    events: list[Event] = []
    refusals = Refusals()
    for port in range(5):
        here = f"tcp://10.0.0.7:{port}"
        refusals.report(events.append, WorkerNotUsed, {here: "is too small"}, {here})
        refusals.report(events.append, WorkerNotUsed, {here: "is too small"}, {here})
    assert events == [WorkerNotUsed("worker tcp://10.0.0.7:0 is too small")]
    two = {"tcp://10.0.0.7:4", "tcp://10.0.0.7:9"}
    refusals.report(events.append, WorkerNotUsed, dict.fromkeys(two, "is too small"), two)
    refusals.report(events.append, WorkerNotUsed, {"tcp://10.0.0.8:1": "is too small"}, {*two, "tcp://10.0.0.8:1"})
    refusals.report(events.append, WorkerNotUsed, {"tcp://10.0.0.7:9": "is other"}, two)
    assert [event.reason for event in events[1:] if isinstance(event, WorkerNotUsed)] == [
        "worker tcp://10.0.0.7:9 is too small",
        "worker tcp://10.0.0.8:1 is too small",
        "worker tcp://10.0.0.7:9 is other",
    ]


def test_a_worker_that_leaves_again_and_again_has_to_stay_longer() -> None:
    probation, now = Probation(), 0.0
    waits = []
    for port in range(9):
        worker = f"tcp://10.0.0.7:{port}"
        probation.note_join(worker, now)
        waits.append(next(wait for wait in range(100) if probation.is_over(worker, now + wait)))
        probation.note_departure(worker, now := now + 2)
    assert waits == [0, 0, 0, 8, 16, 32, 60, 60, 60]
    probation.note_join("tcp://10.0.0.8:1", now)
    assert probation.is_over("tcp://10.0.0.8:1", now)
