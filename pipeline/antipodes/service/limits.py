"""How much the service does for one request, and for several at a time."""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from antipodes_tasks.errors import InputError

Answer = TypeVar("Answer")
MAX_SHOWN = 200
"""Positions or tilings of one answer."""
MAX_BATCH = 10_000
"""Positions whose distances one request asks for."""
MAX_SKIPPED = 1_000_000
"""Positions at a depth that an answer passes over."""
MAX_SCANNED = 1_000_000
"""Positions of a table whose paths are found by moving all positions of each layer, as moves have no inverses."""
MAX_MATCHES = 500_000
"""Positions that fit a pattern."""
HEAVY_THREADS = 2
"""Threads that compute graphs, patterns and sequences of moves, which take seconds, and tens of megabytes."""
MAX_HEAVY = 16
"""Graphs, patterns and sequences of moves that are computed, or wait for one of these threads."""


class TooMuchError(InputError):
    """A question whose answer takes more work than the service does for one."""


class TooManyError(InputError):
    """A question that comes while as many of its kind are answered as the service answers at a time."""


class Heavy:
    """Computes what takes long in threads of its own, so that other requests do not wait for it."""

    def __init__(self, most: int = MAX_HEAVY) -> None:
        self._most = most
        self._asked = 0
        self._threads = ThreadPoolExecutor(HEAVY_THREADS)

    async def run(self, work: Callable[[], Answer]) -> Answer:
        """What the work returns; TooManyError if there is too much of it already."""
        if self._asked >= self._most:
            what = "graphs, patterns and sequences of moves"
            raise TooManyError(f"expected at most {self._most} {what} at a time, found more: try again")
        self._asked += 1
        try:
            return await asyncio.get_running_loop().run_in_executor(self._threads, work)
        finally:
            self._asked -= 1
