"""Work in all threads: its results, what is told of it, and how it ends."""

import math
import threading
from collections.abc import Generator, Iterator

import pytest

from antipodes_tasks.base import parallel
from antipodes_tasks.base.errors import InterruptedRunError
from antipodes_tasks.base.parallel import check_wanted, in_threads, on_threads, read_ahead, watched


def square(number: int) -> int:
    return number * number


def silence(what: str, done: int, of: int) -> None:
    """Hear nothing."""


@pytest.mark.parametrize("threads", [1, 3])
def test_results_are_in_the_order_of_the_calls(threads: int) -> None:
    with watched(silence, lambda: False, threads):
        found = in_threads("squares", [lambda number=number: square(number) for number in range(50)])
    assert found == [square(number) for number in range(50)]


@pytest.mark.parametrize("threads", [1, 2])
def test_parts_are_told_once_it_takes_long(threads: int, monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[tuple[str, int, int]] = []
    calls = [lambda: square(3)] * 4
    with watched(lambda what, done, of: told.append((what, done, of)), lambda: False, threads):
        monkeypatch.setattr(parallel, "REPORT_AFTER_SECONDS", math.inf)
        in_threads("squares", calls)
        assert told == []
        monkeypatch.setattr(parallel, "REPORT_AFTER_SECONDS", 0.0)
        in_threads("squares", calls)
    in_threads("squares", calls)
    assert told == [("squares", done, 4) for done in (1, 2, 3, 4)]


@pytest.mark.parametrize("threads", [1, 2])
def test_a_stop_ends_it(threads: int) -> None:
    watching = watched(silence, lambda: True, threads)
    with watching, pytest.raises(InterruptedRunError, match="interrupted while squaring"):
        in_threads("squaring", [lambda: square(3)] * 4)


def test_the_first_error_ends_it() -> None:
    begun: list[int] = []

    def divide(number: int) -> int:
        begun.append(number)
        return 1 // 0

    with pytest.raises(ZeroDivisionError):
        in_threads("dividing", [lambda number=number: divide(number) for number in range(3)])
    assert begun == [0]
    with watched(silence, lambda: False, 2), pytest.raises(ZeroDivisionError):
        in_threads("dividing", [lambda: divide(0)] * 3)


def test_a_long_call_ends_when_another_one_fails() -> None:
    begun = threading.Event()

    def wait() -> None:
        begun.set()
        while True:
            check_wanted()

    def fail() -> None:
        begun.wait()
        raise ZeroDivisionError

    with watched(silence, lambda: False, 2), pytest.raises(ZeroDivisionError):
        in_threads("waiting", [wait, fail])
    check_wanted()  # outside of such calls everything is wanted


def test_the_error_of_another_call_keeps_its_cause() -> None:
    begun = threading.Event()

    def call(number: int) -> None:
        if number == 0:
            begun.set()
            while True:
                check_wanted()
        begun.wait()
        raise ValueError("outer") from KeyError("inner")

    with pytest.raises(ValueError, match="outer") as caught:
        list(on_threads(call, range(2), 2))
    assert isinstance(caught.value.__cause__, KeyError)


def test_reading_ahead_closes_its_items_if_the_reader_stops() -> None:
    ended = threading.Event()

    def items() -> Generator[int, None, None]:
        try:
            yield from range(100)
        finally:
            ended.set()

    source = items()
    found = read_ahead(source)
    assert next(found) == 0
    found.close()
    assert ended.is_set()
    assert list(read_ahead(items())) == list(range(100))


def test_nobody_watches_by_default() -> None:
    """As on workers of a cluster, where threads are the scheduler's."""
    names = in_threads("asking", [lambda: threading.current_thread().name] * 3)
    assert set(names) == {threading.current_thread().name}


def test_a_pulse_ends_a_long_call(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also the first one, after which no result has been yielded."""
    monkeypatch.setattr(parallel, "SECONDS_BETWEEN_PULSES", 0.01)
    begun = threading.Event()

    def wait(number: int) -> None:
        begun.set()
        while True:
            check_wanted()

    def pulse() -> None:
        if begun.is_set():
            raise InterruptedRunError("enough")

    with pytest.raises(InterruptedRunError, match="enough"):
        list(on_threads(wait, range(3), 2, pulse))


def test_of_several_errors_the_first_in_order_is_raised() -> None:
    failed = threading.Event()

    def fail(number: int) -> None:
        if number == 0:
            failed.wait()
        failed.set()
        raise ValueError(f"call {number}")

    with pytest.raises(ValueError, match="call 0"):
        list(on_threads(fail, range(2), 2))


@pytest.mark.parametrize(("threads", "ahead"), [(1, 1), (2, 4), (2, 3)])
def test_items_are_taken_when_they_are_needed(threads: int, ahead: int) -> None:
    taken: list[int] = []

    def items() -> Iterator[int]:
        for number in range(20):
            taken.append(number)
            yield number

    found = on_threads(square, items(), threads, ahead=None if ahead == 2 * threads else ahead)
    for number in range(10):
        assert next(found) == square(number)
        assert len(taken) == number + (1 if threads == 1 else 1 + ahead)
    found.close()
    assert len(taken) <= 10 + ahead
