"""Parallel execution of slow work before a search starts, with progress and cancellation."""

import time
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import closing, contextmanager
from contextvars import ContextVar
from threading import Event
from typing import NamedTuple, TypeVar

from antipodes_tasks.base.errors import InterruptedRunError

R = TypeVar("R")
REPORT_AFTER_SECONDS = 1.0
"""Seconds of work after which progress is reported."""
Tell = Callable[[str, int, int], None]
"""A function that is called with the name of the work, the number of finished calls, and the number of all calls."""


class _Watcher(NamedTuple):
    tell: Tell
    stop: Callable[[], bool]
    threads: int


_NOBODY = _Watcher(lambda what, done, of: None, lambda: False, 1)
_watcher: ContextVar[_Watcher] = ContextVar("_watcher")
_ended: ContextVar[Event] = ContextVar("_ended")
"""Set when the results of the calls that run in threads are no longer wanted."""


@contextmanager
def watched(tell: Tell, stop: Callable[[], bool], threads: int) -> Iterator[None]:
    """Inside the block, let `in_threads` use this many threads, report to ``tell``, and stop if ``stop()`` is true."""
    before = _watcher.set(_Watcher(tell, stop, threads))
    try:
        yield
    finally:
        _watcher.reset(before)


def in_threads(what: str, calls: Sequence[Callable[[], R]]) -> list[R]:
    """Return the results of the calls, in their order. The calls must release the GIL.

    The calls run in threads as specified by the enclosing `watched` block, or in this thread if there is no such block.
    The first error of a call cancels the other calls. Raises InterruptedRunError if the watcher asks to stop.
    """
    watcher, began = _watcher.get(_NOBODY), time.monotonic()
    results: dict[int, R] = {}
    with closing(_results(calls, watcher.threads)) as found:
        for number, result in found:
            results[number] = result
            if time.monotonic() - began >= REPORT_AFTER_SECONDS:
                watcher.tell(what, len(results), len(calls))
            if watcher.stop():
                raise InterruptedRunError(f"interrupted while {what}")
    return [results[number] for number in range(len(calls))]


def check_wanted() -> None:
    """Raise InterruptedRunError if the calling function runs in `in_threads` and its result is no longer wanted.

    Long calls call this repeatedly, so that an error or an interruption takes effect before they end.
    """
    ended = _ended.get(None)
    if ended is not None and ended.is_set():
        raise InterruptedRunError("interrupted")


def _run(call: Callable[[], R], ended: Event) -> R:
    _ended.set(ended)
    return call()


def _results(calls: Sequence[Callable[[], R]], threads: int) -> Generator[tuple[int, R], None, None]:
    """Yield the number and the result of each call as it ends. Closing the generator cancels the other calls."""
    if threads == 1 or len(calls) == 1:
        yield from ((number, call()) for number, call in enumerate(calls))
        return
    ended = Event()
    with ThreadPoolExecutor(threads) as pool:
        numbers = {pool.submit(_run, call, ended): number for number, call in enumerate(calls)}
        try:
            for future in as_completed(numbers):
                yield numbers[future], future.result()
        finally:
            ended.set()
            pool.shutdown(cancel_futures=True)
