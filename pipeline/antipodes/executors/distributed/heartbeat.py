"""The check, while a run waits for results, that the scheduler answers, and of what it reports about the workers."""

import asyncio
import time
from collections.abc import Set
from typing import Any

from antipodes.events import Listener, Waiting
from antipodes.executors.distributed.announce import ANNOUNCE_SECONDS
from antipodes.executors.distributed.connection import CONNECT_SECONDS, silent
from antipodes.executors.distributed.progress import Progress, Still, still_workers

HEARTBEAT_SECONDS = 1.0
"""Seconds between two requests to the scheduler."""
UNHEARD_SECONDS = 15.0
"""Seconds without a heartbeat of a worker, which sends one every second or so, until the listener is told."""


class Heartbeat:
    """Asks the scheduler of a client about its workers, one request at a time; used in the client's loop."""

    def __init__(self, client: Any) -> None:
        self._client = client
        self._request: asyncio.Future[None] | None = None
        self._last = 0.0
        self._missed = 0
        """Heartbeats without an answer; a count of them, unlike a time, leaves out the seconds in which this process
        sleeps."""
        self._unheard: set[str] = set()
        self._progress = Progress(client)

    @property
    def stuck(self) -> dict[str, str]:
        """The workers that answer but make no progress, and why."""
        return self._progress.stuck(HEARTBEAT_SECONDS)

    def beat(self, members: Set[str], listener: Listener) -> None:
        """Look for the last answer and send the next request, at most once in `HEARTBEAT_SECONDS`.

        Raises
        ------
        SchedulerSilentError
            The scheduler has not answered for too long.
        """
        if time.monotonic() - self._last < 0.9 * HEARTBEAT_SECONDS:
            return
        self._last = time.monotonic()
        if self._request is None or self._request.done():
            self._missed = 0
            self._request = asyncio.ensure_future(self._ask(members, listener))
            return
        self._missed += 1
        if self._missed == int(ANNOUNCE_SECONDS / HEARTBEAT_SECONDS):
            listener(Waiting("the dask scheduler to answer"))
        if self._missed >= CONNECT_SECONDS / HEARTBEAT_SECONDS:
            self.stop()
            raise silent(CONNECT_SECONDS)

    def stop(self) -> None:
        """Stop waiting for an answer."""
        self._progress.stop()
        if self._request is not None:
            self._request.cancel()
        self._request, self._missed = None, 0

    async def _ask(self, members: Set[str], listener: Listener) -> None:
        try:
            silent_workers, still = await self._client.run_on_scheduler(_report, UNHEARD_SECONDS)
        except Exception:  # the connection broke, which the client itself finds out and mends
            return
        self._progress.note({worker: one for worker, one in still.items() if worker in members})
        unheard = silent_workers & members
        for worker in sorted(unheard - self._unheard):
            listener(Waiting(f"worker {worker}, which has not been heard of for {UNHEARD_SECONDS:.0f} seconds"))
        self._unheard = unheard


def _report(seconds: float, dask_scheduler: Any) -> tuple[set[str], dict[str, Still]]:
    """On a scheduler: the workers that have sent nothing for these seconds, and which others run nothing."""
    now = time.time()
    unheard = {worker.address for worker in dask_scheduler.workers.values() if now - worker.last_seen > seconds}
    return unheard, still_workers(dask_scheduler, unheard)
