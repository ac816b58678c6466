"""Limits on the work for one request, and on the work for all requests at a time."""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from antipodes_tasks.base.errors import InputError

Answer = TypeVar("Answer")
MAX_SHOWN = 200
"""Maximum number of positions or tilings in an answer."""
MAX_BATCH = 10_000
"""Maximum number of positions in a request for distances."""
MAX_SKIPPED = 1_000_000
"""Maximum number of positions at a depth that an answer skips."""
MAX_SCANNED = 1_000_000
"""Maximum size of a table in which paths are found by applying the moves to all positions of each layer."""
MAX_MATCHES = 500_000
"""Maximum number of positions that match a pattern."""
HEAVY_THREADS = 2
"""Number of threads for graphs, patterns and sequences of moves, which take seconds and tens of megabytes."""
MAX_HEAVY = 16
"""Maximum number of graphs, patterns and sequences of moves that are being computed or wait for a thread."""


class TooMuchError(InputError):
    """The answer would take more work than the service spends on one request."""


class TooManyError(InputError):
    """The service is already answering the maximum number of requests of this kind."""


class Heavy:
    """Separate threads for long computations, so that other requests do not wait for them."""

    def __init__(self, max_running: int = MAX_HEAVY) -> None:
        self._max_running = max_running
        self._asked = 0
        self._threads = ThreadPoolExecutor(HEAVY_THREADS)

    async def run(self, work: Callable[[], Answer]) -> Answer:
        """Return the result of the work; raise TooManyError if too much work is already under way."""
        if self._asked >= self._max_running:
            what = "graphs, patterns and sequences of moves"
            raise TooManyError(f"{self._max_running} {what} are already being computed; try again later")
        self._asked += 1
        try:
            return await asyncio.get_running_loop().run_in_executor(self._threads, work)
        finally:
            self._asked -= 1
