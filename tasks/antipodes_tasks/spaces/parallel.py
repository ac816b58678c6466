"""Work of a minute before a plan is known: in all threads, with progress, and ended where that is asked."""

import os
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import contextmanager
from contextvars import ContextVar
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


_NOBODY = _Watcher(lambda what, done, of: None, lambda: False)
_watcher: ContextVar[_Watcher] = ContextVar("_watcher")


@contextmanager
def watched(tell: Tell, stop: Callable[[], bool]) -> Iterator[None]:
    """In the block, what takes long is told, and ends with InterruptedRunError where ``stop`` returns True."""
    before = _watcher.set(_Watcher(tell, stop))
    try:
        yield
    finally:
        _watcher.reset(before)


def in_threads(what: str, calls: Sequence[Callable[[], R]]) -> list[R]:
    """The results of the calls, which release the GIL, in their order.

    InterruptedRunError where the watcher of this thread wants no more.
    """
    if len(calls) == 1:
        return [calls[0]()]
    watcher, began = _watcher.get(_NOBODY), time.monotonic()
    with ThreadPoolExecutor(threads()) as pool:
        futures = [pool.submit(call) for call in calls]
        try:
            for done, _ in enumerate(as_completed(futures), 1):
                if time.monotonic() - began >= TELL_SECONDS:
                    watcher.tell(what, done, len(calls))
                if watcher.stop():
                    raise InterruptedRunError(f"interrupted while {what}")
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise
        return [future.result() for future in futures]


def threads() -> int:
    """The processors that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
