"""What is told where compiling takes long; a module of its own, as telling must not load numba."""

import threading
import time
from collections.abc import Callable

TELL_SECONDS = 2.0
"""Seconds of compiling before it is told of."""


class Watch:
    """Counts what is being compiled, and tells once where it takes long."""

    def __init__(self, tell: Callable[[], None]) -> None:
        self.tell = tell
        self._begin: float | None = None
        self._under_way = 0
        self._told = False

    def begin(self) -> None:
        """A function begins to be compiled, maybe within another."""
        self._under_way += 1
        if self._begin is None:
            self._begin = time.monotonic()
            timer = threading.Timer(TELL_SECONDS, self._look)
            timer.daemon = True
            timer.start()
        elif time.monotonic() - self._begin >= TELL_SECONDS:
            self._look()

    def end(self) -> None:
        """A function is compiled."""
        self._under_way -= 1

    def _look(self) -> None:
        if self._under_way and not self._told:
            self._told = True
            self.tell()


watch = Watch(lambda: None)
"""That of this process; whoever wants to be told sets its ``tell``, which is called in any thread."""
