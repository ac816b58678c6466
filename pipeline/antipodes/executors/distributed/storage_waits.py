"""Workers' waits for the storage, which are reported to the run and end when the run is asked to stop."""

import time
from collections.abc import Callable
from typing import Any

REPEAT_SECONDS = 9.0
"""Minimum number of seconds between two reports that are passed on; each worker repeats its report every 10 s."""


class WaitRelay:
    """A relay that tells a run when one of its workers is waiting for the storage."""

    def __init__(self, run: str, tell: Callable[[str], None]) -> None:
        self.run = run
        self._tell = tell
        self._told_at = float("-inf")

    @property
    def topic(self) -> str:
        """Topic of the events in which workers report their waits."""
        return topic_of(self.run)

    def on_wait(self, event: tuple[float, Any]) -> None:
        """Pass on the report of a wait unless another report was passed on recently; called in the client's loop."""
        now = time.monotonic()
        if now - self._told_at >= REPEAT_SECONDS:
            self._told_at = now
            self._tell(str(event[1]))


def topic_of(run: str) -> str:
    """Return the topic under which workers report the waits of a run."""
    return f"antipodes-waits-{run}"
