"""Faults at a chosen call of the file system: an operating system error, or the end of the process."""

import io
import os
import shutil
import signal
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from threading import Lock
from typing import Any
from unittest.mock import patch

WRITES, SYNCS, NAMES, DELETES = "write", "fsync", "replace", "delete"
EVERY = (WRITES, SYNCS, NAMES, DELETES)


class Calls:
    """A counter of the calls that change the file system, which makes one of them fail."""

    def __init__(self, number: int, fault: Callable[[], None], kinds: tuple[str, ...], lasts: bool) -> None:
        self.count = 0
        self._number = number
        self._fault = fault
        self._kinds = kinds
        self._lasts = lasts
        self._lock = Lock()

    def here(self, kind: str) -> None:
        """Count a call, and run the fault if this is the chosen call, or a later one and the fault lasts."""
        if kind in self._kinds:
            with self._lock:
                self.count += 1
                faulty = self.count == self._number or (self._lasts and 0 < self._number < self.count)
            if faulty:
                self._fault()

    def before(self, kind: str, function: Callable[..., Any]) -> Callable[..., Any]:
        """Return a wrapper of a function that counts each call before it calls the function."""

        def counted(*arguments: Any, **options: Any) -> Any:
            self.here(kind)
            return function(*arguments, **options)

        return counted


@contextmanager
def fault_at(
    number: int, fault: Callable[[], None], kinds: tuple[str, ...] = EVERY, lasts: bool = False
) -> Iterator[Calls]:
    """Run ``fault`` in call ``number``, counted from 1, and in all later calls if it ``lasts``; 0 only counts calls."""
    calls = Calls(number, fault, kinds, lasts)

    class Raw(io.FileIO):
        def write(self, content: Any) -> int:
            """Write half of the content before the fault, because a crash may leave a partial file."""
            view = memoryview(content).cast("B")
            super().write(view[: len(view) // 2])
            calls.here(WRITES)
            return len(view) // 2 + super().write(view[len(view) // 2 :])

    opened = Path.open

    def open_file(path: Path, mode: str = "r", *arguments: Any, **options: Any) -> Any:
        if mode != "wb":
            return opened(path, mode, *arguments, **options)
        return io.BufferedWriter(Raw(path, "wb"))

    with (
        patch.object(Path, "open", open_file),
        patch.object(os, "fsync", calls.before(SYNCS, os.fsync)),
        patch.object(os, "replace", calls.before(NAMES, os.replace)),
        patch.object(os, "unlink", calls.before(DELETES, os.unlink)),
        patch.object(shutil, "rmtree", calls.before(DELETES, shutil.rmtree)),
    ):
        yield calls


def error(number: int) -> Callable[[], None]:
    """Return a fault that raises an operating system error, such as `errno.ENOSPC`."""

    def fail() -> None:
        raise OSError(number, os.strerror(number))

    return fail


def die() -> None:
    """End the process, like ``kill -9``."""
    os.kill(os.getpid(), signal.SIGKILL)


class Killed(BaseException):
    """Ends a run like a kill: no handler of the program catches it."""


def kill() -> None:
    """End the run like a kill."""
    raise Killed


def killed_from(step: int, owner: object, names: Iterable[str], run: Callable[[], object]) -> bool:
    """Run a function in which calls of some functions of a module or class, from ``step`` on, end the run.

    Calls are counted from 0, together. Returns whether the run was ended.
    """
    calls = count()

    def counted(function: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any, **named: Any) -> Any:
            if next(calls) >= step:
                raise Killed
            return function(*arguments, **named)

        return call

    with patch.multiple(owner, **{name: counted(getattr(owner, name)) for name in names}):
        try:
            run()
        except Killed:
            return True
    return False


def killing(function: Callable[..., Any], at: int, before: bool) -> Callable[..., Any]:
    """Return a wrapper of a function in which call ``at``, counted from 0, ends the run before or after its work."""
    calls = iter(range(at + 1))

    def call(*arguments: Any, **named: Any) -> Any:
        last = next(calls, None) == at
        if last and before:
            raise Killed
        result = function(*arguments, **named)
        if last:
            raise Killed
        return result

    return call
