"""Work of a minute before a plan is known: in all threads, with progress, and ended where that is asked."""

import time
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import closing, contextmanager
from contextvars import ContextVar
from threading import Event
from typing import NamedTuple, TypeVar

from antipodes_tasks.errors import InterruptedRunError

R = TypeVar("R")
TELL_SECONDS = 1.0
"""Seconds of work before it is told."""
Tell = Callable[[str, int, int], None]
"""Told what is done, how many parts of it are done, and how many there are."""


class _Watcher(NamedTuple):
    tell: Tell
    stop: Callable[[], bool]
    threads: int


_NOBODY = _Watcher(lambda what, done, of: None, lambda: False, 1)
_watcher: ContextVar[_Watcher] = ContextVar("_watcher")
_ended: ContextVar[Event] = ContextVar("_ended")
"""Set when nobody waits any more for the calls that run in threads."""


@contextmanager
def watched(tell: Tell, stop: Callable[[], bool], threads: int) -> Iterator[None]:
    """In the block, so many threads work on what takes long, which is told, and ends where ``stop`` returns True."""
    before = _watcher.set(_Watcher(tell, stop, threads))
    try:
        yield
    finally:
        _watcher.reset(before)


def in_threads(what: str, calls: Sequence[Callable[[], R]]) -> list[R]:
    """The results of the calls, which release the GIL, in their order; in this thread, where nothing is `watched`.

    The first error of a call ends the others. InterruptedRunError where the watcher wants no more.
    """
    watcher, began = _watcher.get(_NOBODY), time.monotonic()
    results: dict[int, R] = {}
    with closing(_results(calls, watcher.threads)) as found:
        for number, result in found:
            results[number] = result
            if time.monotonic() - began >= TELL_SECONDS:
                watcher.tell(what, len(results), len(calls))
            if watcher.stop():
                raise InterruptedRunError(f"interrupted while {what}")
    return [results[number] for number in range(len(calls))]


def check_wanted() -> None:
    """Raise InterruptedRunError if the result of the call of `in_threads` that runs this is no longer wanted.

    Long calls call this now and then, so that an error or an interruption need not wait for their end.
    """
    ended = _ended.get(None)
    if ended is not None and ended.is_set():
        raise InterruptedRunError("interrupted")


def _run(call: Callable[[], R], ended: Event) -> R:
    _ended.set(ended)
    return call()


def _results(calls: Sequence[Callable[[], R]], threads: int) -> Generator[tuple[int, R], None, None]:
    """The number and the result of each call, as they end; calls that have not begun when it is closed are dropped."""
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
