"""How much the service does for one request, and for several at a time."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from antipodes_tasks.errors import InputError

MOST_SHOWN = 200
"""Positions or tilings of one answer."""
MOST_BATCH = 10_000
"""Positions whose distances one request asks for."""
MOST_SKIPPED = 1_000_000
"""Positions at a depth that an answer passes over."""
MOST_SCANNED = 1_000_000
"""Positions of a table whose paths are found by moving all positions of each layer, as moves have no inverses."""
MOST_MATCHES = 500_000
"""Positions that fit a pattern."""
MOST_HEAVY = 8
"""Graphs and patterns at a time: they take up to some seconds, and tens of megabytes."""


class TooMuchError(InputError):
    """A question whose answer takes more work than the service does for one."""


class TooManyError(InputError):
    """A question that comes while as many of its kind are answered as the service answers at a time."""


class Heavy:
    """A bound on the number of heavy requests that are answered at a time; others are refused, and do not wait."""

    def __init__(self, most: int = MOST_HEAVY) -> None:
        self._most = most
        self._free = threading.BoundedSemaphore(most)

    @contextmanager
    def one(self, heavy: bool) -> Iterator[None]:
        """Answer a request in the block; TooManyError if it is ``heavy``, and there are too many of them."""
        if not heavy:
            yield
            return
        if not self._free.acquire(blocking=False):
            raise TooManyError(f"expected at most {self._most} graphs and patterns at a time: try again")
        try:
            yield
        finally:
            self._free.release()
