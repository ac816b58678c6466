"""Work in all threads: its results, what is told of it, and how it ends."""

import pytest

from antipodes_tasks.errors import InterruptedRunError
from antipodes_tasks.spaces import parallel
from antipodes_tasks.spaces.parallel import in_threads, watched


def square(number: int) -> int:
    return number * number


def test_results_are_in_the_order_of_the_calls() -> None:
    assert in_threads("squares", [lambda number=number: square(number) for number in range(50)]) == [
        square(number) for number in range(50)
    ]


def test_parts_are_told_once_it_takes_long(monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[tuple[str, int, int]] = []
    calls = [lambda: square(3)] * 4
    with watched(lambda what, done, of: told.append((what, done, of)), lambda: False):
        in_threads("squares", calls)
        assert told == []
        monkeypatch.setattr(parallel, "TELL_SECONDS", 0.0)
        in_threads("squares", calls)
    in_threads("squares", calls)
    assert told == [("squares", done, 4) for done in (1, 2, 3, 4)]


def test_a_stop_ends_it() -> None:
    with watched(lambda *_: None, lambda: True), pytest.raises(InterruptedRunError, match="interrupted while squaring"):
        in_threads("squaring", [lambda: square(3)] * 4)


def test_an_error_is_raised_where_the_work_was_asked_for() -> None:
    with pytest.raises(ZeroDivisionError):
        in_threads("dividing", [lambda: 1 // 0] * 3)
