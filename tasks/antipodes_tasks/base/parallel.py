"""Calls on several threads, with results in order, progress and cancellation. A thread can also compute items ahead."""

import time
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import closing, contextmanager
from contextvars import ContextVar
from itertools import islice
from threading import Event
from typing import NamedTuple, TypeVar

from antipodes_tasks.base.errors import InterruptedRunError

T = TypeVar("T")
R = TypeVar("R")
REPORT_AFTER_SECONDS = 1.0
"""Seconds of work after which progress is reported."""
SECONDS_BETWEEN_PULSES = 0.5
"""Maximum number of seconds between two calls of ``pulse`` while a result is awaited."""
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
    results: list[R] = []

    def pulse() -> None:
        if results and time.monotonic() - began >= REPORT_AFTER_SECONDS:
            watcher.tell(what, len(results), len(calls))
        if watcher.stop():
            raise InterruptedRunError(f"interrupted while {what}")

    threads = min(watcher.threads, len(calls))
    for result in on_threads(lambda call: call(), calls, threads, pulse, ahead=len(calls)):
        results.append(result)
    return results


def report(what: str, done: int, of: int) -> None:
    """Report progress to the enclosing `watched` block."""
    _watcher.get(_NOBODY).tell(what, done, of)


def on_threads(
    call: Callable[[T], R],
    items: Iterable[T],
    threads: int,
    pulse: Callable[[], object] = lambda: None,
    ahead: int | None = None,
) -> Iterator[R]:
    """Call a function with each item on several threads, or in this thread if ``threads`` is at most 1.

    Yields the results in the order of the items. At most ``ahead`` calls, by default two per thread, are running, wait
    for a thread, or have results that wait to be yielded. Items are taken from their iterator in this thread.

    ``pulse`` is called after each result, and from time to time while a result is awaited; it may raise an error to
    stop the work. This error, the first error of a call, or closing the iterator cancels the calls that have not begun.
    Running calls end early if they call `check_wanted`.
    """
    if threads <= 1:
        for item in items:
            yield call(item)
            pulse()
        return
    ended, errors = Event(), list[BaseException]()

    def run(item: T) -> R:
        _ended.set(ended)
        try:
            check_wanted()
            return call(item)
        except BaseException as error:
            # The first error is the cause; calls that end because of it append InterruptedRunError after it.
            errors.append(error)
            ended.set()
            raise

    with ThreadPoolExecutor(threads) as pool:
        try:
            left = iter(items)
            waiting = deque(pool.submit(run, item) for item in islice(left, ahead or 2 * threads))
            while waiting:
                result = _result(waiting.popleft(), pulse, errors)
                waiting.extend(pool.submit(run, item) for item in islice(left, 1))
                yield result
                pulse()
        finally:
            ended.set()
            pool.shutdown(cancel_futures=True)


def read_ahead(items: Generator[T, None, None]) -> Iterator[T]:
    """Yield the items, each of which a second thread computes while the caller processes the previous one.

    The generator of the items is closed at the end, even if the caller stops early.
    """
    with closing(items), ThreadPoolExecutor(1) as pool:
        coming = pool.submit(next, items, None)
        while (item := coming.result()) is not None:
            coming = pool.submit(next, items, None)
            yield item


def _result(future: Future[R], pulse: Callable[[], object], errors: Sequence[BaseException]) -> R:
    """Wait for the result of a call. If the error of another call has ended it, raise this error."""
    while not wait((future,), SECONDS_BETWEEN_PULSES).done:
        pulse()
    if isinstance(future.exception(), InterruptedRunError):
        raise errors[0]  # outside of an except clause, and without `from`, so it keeps its place and its own cause
    return future.result()


def check_wanted() -> None:
    """Raise InterruptedRunError if the calling function runs in `on_threads` and its result is no longer wanted.

    Long calls call this repeatedly, so that an error or an interruption takes effect before they end.
    """
    ended = _ended.get(None)
    if ended is not None and ended.is_set():
        raise InterruptedRunError("interrupted")
