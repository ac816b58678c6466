"""A plugin of pytest that records the CPU time of each test, apart from what the test only happens to pay for."""

import threading
from collections import Counter
from collections.abc import Generator, Iterator
from contextlib import ExitStack, contextmanager
from resource import RUSAGE_CHILDREN, RUSAGE_SELF, getrusage
from time import thread_time
from typing import Any

import pytest

CHARGED = Counter[str]()
"""CPU seconds that no test pays for: ``compilation``, ``fixtures`` of more than one test, and ``ended_browser``."""
BEGAN = pytest.StashKey[tuple[float, Counter[str]]]()
"""The CPU time that had passed when a test began, and what no test pays for of it."""
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


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    item.stash[BEGAN] = cpu_seconds(), CHARGED.copy()


@pytest.hookimpl(wrapper=True)
def pytest_fixture_setup(fixturedef: pytest.FixtureDef[Any]) -> Generator[None, Any, Any]:
    """Charge the beginning and the end of a fixture of more than one test to fixtures."""
    if fixturedef.scope == "function":
        return (yield)
    end = ExitStack()
    fixturedef.addfinalizer(end.close)  # finalizers run in reverse, so this is the last one
    with charged("fixtures"):
        made = yield
    fixturedef.addfinalizer(lambda: end.enter_context(charged("fixtures")))
    return made


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> None:
    """Add the CPU time of a test with its child processes to the junit file, and apart from it what it paid for."""
    if call.when == "teardown":
        began, before = item.stash[BEGAN]
        others = CHARGED - before
        own = cpu_seconds() - began - others.total()
        for kind, seconds in {"cpu": own, **others}.items():
            item.user_properties.append((f"{kind}_seconds", f"{seconds:.2f}"))
