"""The CPU time of the tests of this process, apart from what a test only happens to pay for."""

import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from resource import RUSAGE_CHILDREN, RUSAGE_SELF, getrusage
from time import thread_time

CHARGED = Counter[str]()
"""CPU seconds that no test pays for: ``compilation``, ``fixtures`` of more than one test, and ``browsers``."""
_thread = threading.local()


def cpu_seconds() -> float:
    """Return the CPU time of this process and of its children that have ended, in seconds."""
    usages = [getrusage(who) for who in (RUSAGE_SELF, RUSAGE_CHILDREN)]
    return sum(usage.ru_utime + usage.ru_stime for usage in usages)


@contextmanager
def charged(kind: str) -> Iterator[None]:
    """Charge what follows to a kind, except what is charged to another one meanwhile."""
    before = cpu_seconds() - CHARGED.total()
    try:
        yield
    finally:
        CHARGED[kind] += cpu_seconds() - CHARGED.total() - before


@contextmanager
def compiling() -> Iterator[None]:
    """Charge the time of this thread to ``compilation``; kernels compile the kernels that they call."""
    if getattr(_thread, "compiles", False):
        yield
        return
    _thread.compiles, before = True, thread_time()
    try:
        yield
    finally:
        _thread.compiles = False
        CHARGED["compilation"] += thread_time() - before
