"""Tasks whose results are passed on one by one, and that a stop prevents from starting."""

import time
from collections.abc import Iterator
from operator import mul, truediv

import pytest

from antipodes.events import silence
from antipodes.executors.api import Key, Scheduler
from antipodes.executors.opening import open_scheduler
from antipodes.executors.threads import Threads
from antipodes_tasks.errors import WorkerFailedError


@pytest.fixture(scope="module", params=["threads", "local"])
def scheduler(request: pytest.FixtureRequest) -> Iterator[Scheduler]:
    with open_scheduler(request.param, 2) as opened:
        assert opened.wait_for_workers(silence, lambda: False)
        yield opened


def test_every_result_is_passed_on_once(scheduler: Scheduler) -> None:
    told: list[tuple[Key, int]] = []
    scheduler.run_unordered(
        {("double", n): (mul, 2, n) for n in range(30)}, lambda *pair: told.append(pair), lambda: False
    )
    assert sorted(told) == [(("double", n), 2 * n) for n in range(30)]


def test_started_tasks_end_after_a_stop(scheduler: Scheduler) -> None:
    told: list[Key] = []
    calls = {("nap", n): (time.sleep, 0.02) for n in range(40)}
    scheduler.run_unordered(calls, lambda key, _: told.append(key), lambda: len(told) >= 5)
    assert 5 <= len(told) <= 5 + 2 * 2 + 2
    assert len(set(told)) == len(told)


def test_no_calls_have_no_results(scheduler: Scheduler) -> None:
    scheduler.run_unordered({}, lambda *_: pytest.fail("there was no task"), lambda: False)


def test_an_error_of_a_task_is_raised(scheduler: Scheduler) -> None:
    with pytest.raises((ArithmeticError, WorkerFailedError), match="division by zero"):
        scheduler.run_unordered({("fail", 3): (truediv, 3, 0)}, lambda *_: None, lambda: False)


def test_threads_run_the_first_call_with_the_next_calls() -> None:
    """It is run once, and its result is not passed on."""
    started: list[int] = []
    results: list[int] = []
    scheduler = Threads(1)
    scheduler.on_worker_start((started.append, 7))
    assert started == []
    for _ in range(2):
        scheduler.run_unordered({("n", 0): (len, "abc")}, lambda _, result: results.append(result), lambda: False)
    assert (started, results) == ([7], [3, 3])


def test_threads_run_no_first_call_after_a_stop() -> None:
    scheduler = Threads(1)
    scheduler.on_worker_start((pytest.fail, "it was run"))
    scheduler.run_unordered({}, lambda *_: None, lambda: True)


def test_one_thread_runs_calls_in_their_order() -> None:
    told: list[int] = []
    Threads(1).run_unordered(
        {("nap", n): (mul, 2, n) for n in range(12)}, lambda key, _: told.append(key[1]), lambda: False
    )
    assert told == list(range(12))
