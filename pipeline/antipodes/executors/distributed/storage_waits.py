"""Waits of the workers for the storage: they are passed on to the run, and end when it is told to stop."""

import time
from collections.abc import Callable
from typing import Any

REPEAT_SECONDS = 9.0
"""Seconds between two waits that are passed on, whichever workers report them; each repeats its own every 10 s."""


class WaitRelay:
    """Passes on what the workers of a run wait for."""

    def __init__(self, run: str, tell: Callable[[str], None]) -> None:
        self.run = run
        self._tell = tell
        self._told_at = float("-inf")

    @property
    def topic(self) -> str:
        """The topic of the events in which workers report their waits."""
        return topic_of(self.run)

    def on_wait(self, event: tuple[float, Any]) -> None:
        """Pass on a wait unless another was passed on a moment ago; used in the client's loop."""
        now = time.monotonic()
        if now - self._told_at >= REPEAT_SECONDS:
            self._told_at = now
            self._tell(str(event[1]))


def topic_of(run: str) -> str:
    """Return the topic under which workers report what a run waits for."""
    return f"antipodes-waits-{run}"
