"""Report that compilation takes long; apart from `compile`, since reporting must not load numba."""

import threading
import time
from collections.abc import Callable

TELL_SECONDS = 2.0
"""Seconds of compilation before it is reported."""


class Watch:
    """Counts the functions being compiled, and calls ``tell`` once if that takes long."""

    def __init__(self, tell: Callable[[], None]) -> None:
        self.tell = tell
        self._begin: float | None = None
        self._under_way = 0
        self._told = False

    def begin(self) -> None:
        """The compilation of a function begins, maybe within that of another."""
        self._under_way += 1
        if self._begin is None:
            self._begin = time.monotonic()
            timer = threading.Timer(TELL_SECONDS, self._look)
            timer.daemon = True
            timer.start()
        elif time.monotonic() - self._begin >= TELL_SECONDS:
            self._look()

    def end(self) -> None:
        """The compilation of a function ends."""
        self._under_way -= 1

    def _look(self) -> None:
        if self._under_way and not self._told:
            self._told = True
            self.tell()


watch = Watch(lambda: None)
"""The watch of this process. Set its ``tell`` to be called, in any thread."""
