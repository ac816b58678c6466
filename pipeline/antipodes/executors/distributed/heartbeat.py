"""Whether a scheduler and its workers are still heard of, while a run waits for results."""

import asyncio
import time
from collections.abc import Set
from typing import Any

from antipodes.events import Listener, Waiting
from antipodes.executors.distributed.connection import CONNECT_SECONDS, TELL_SECONDS, silent

BEAT_SECONDS = 1.0
"""Seconds between two questions to the scheduler."""
UNHEARD_SECONDS = 15.0
"""A worker tells the scheduler every second or so that it is there; it is said when it has not for this long."""


class Pulse:
    """Asks the scheduler of a client how its workers are, one question at a time; used in the client's loop."""

    def __init__(self, client: Any) -> None:
        self._client = client
        self._question: asyncio.Future[None] | None = None
        self._last = 0.0
        self._missed = 0
        """Beats without an answer: to count them, rather than seconds, forgives the client its own sleep."""
        self._unheard: set[str] = set()

    def beat(self, members: Set[str], listener: Listener) -> None:
        """Look for the answer to the last question, and ask the next one; at most once in `BEAT_SECONDS`.

        Raises
        ------
        SchedulerSilentError
            The scheduler has not answered for too long.
        """
        if time.monotonic() - self._last < 0.9 * BEAT_SECONDS:
            return
        self._last = time.monotonic()
        if self._question is None or self._question.done():
            self._missed = 0
            self._question = asyncio.ensure_future(self._ask(members, listener))
            return
        self._missed += 1
        if self._missed == int(TELL_SECONDS / BEAT_SECONDS):
            listener(Waiting("the dask scheduler to answer"))
        if self._missed >= CONNECT_SECONDS / BEAT_SECONDS:
            self.stop()
            raise silent(CONNECT_SECONDS)

    def stop(self) -> None:
        """Wait for no answer any more."""
        if self._question is not None:
            self._question.cancel()
        self._question, self._missed = None, 0

    async def _ask(self, members: Set[str], listener: Listener) -> None:
        try:
            unheard = set(await self._client.run_on_scheduler(_unheard, UNHEARD_SECONDS)) & members
        except Exception:  # the connection broke, which the client itself finds out and mends
            return
        for worker in sorted(unheard - self._unheard):
            listener(Waiting(f"worker {worker}, which has not been heard of for {UNHEARD_SECONDS:.0f} seconds"))
        self._unheard = unheard


def _unheard(seconds: float, dask_scheduler: Any) -> list[str]:
    """On a scheduler: the workers that have said nothing for this long."""
    now = time.time()
    return [worker.address for worker in dask_scheduler.workers.values() if now - worker.last_seen > seconds]
