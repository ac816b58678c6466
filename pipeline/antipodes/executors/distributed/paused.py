"""Paused workers: dask starts no task on a worker whose memory is nearly full."""

import asyncio
import logging
import math
import time
from collections.abc import Callable, Iterable
from typing import Any

from antipodes.executors.distributed.allocator import give_back_freed_memory
from antipodes.executors.distributed.membership import Membership
from antipodes.sizes import human
from antipodes_tasks.errors import WorkerFailedError

PAUSED_SECONDS = 60
"""Seconds that a paused worker has to move results to its disk before it counts as failed."""
logger = logging.getLogger(__name__)


class PausedWorkers:
    """Makes paused members free memory, and gives up on those that stay paused; used in the client's loop."""

    def __init__(self, client: Any, membership: Membership) -> None:
        self._client = client
        self._membership = membership
        self._asked: set[str] = set()
        """Members that were asked to free memory since they were paused."""
        self._requests: set[asyncio.Future[Any]] = set()
        """Requests under way, which asyncio itself would not keep alive."""

    def trim(self) -> None:
        """Make members that were just paused give freed memory back to the system."""
        paused = self._membership.watch.paused
        for worker in paused.keys() - self._asked:
            run = self._client.run(give_back_freed_memory, workers=[worker], on_error="ignore")
            request = asyncio.ensure_future(run)
            self._requests.add(request)
            request.add_done_callback(self._end_request)
        self._asked = set(paused)

    def check(self, quantity: Callable[[Iterable[bool]], bool]) -> None:
        """Raise WorkerFailedError if ``any`` or ``all`` of the members have been paused for too long."""
        since, members = self._membership.watch.paused, self._membership.members
        overdue = [time.monotonic() - since.get(worker, math.inf) > PAUSED_SECONDS for worker in members]
        if quantity(overdue):
            worker = list(members)[overdue.index(True)]
            raise WorkerFailedError(
                f"worker {worker} has been paused for {PAUSED_SECONDS} seconds: its memory limit of "
                f"{human(members[worker]['memory_limit'])} is nearly used up; give workers more memory, or add workers"
            )

    def _end_request(self, request: asyncio.Future[Any]) -> None:
        self._requests.discard(request)
        if not request.cancelled() and (error := request.exception()):  # asyncio would show an error that is not read
            logger.info("a paused worker could not be asked to give memory back: %r", error)
