"""Workers that join, leave or pause, as the scheduler reports it."""

import asyncio
import time
from collections import Counter
from collections.abc import Iterable, Set
from functools import partial
from typing import Any

from antipodes.executors.distributed.subscriptions import Subscriptions

WORKER_EVENTS = "all"
"""The topic under which a dask scheduler reports workers that join and leave."""
OUT_OF_MEMORY = "worker-restart-memory"
"""The topic under which the nanny of a worker reports that it stopped the worker."""


class WorkerWatch:
    """Knows which members were lost, retired or paused, and whether others joined; it runs in the client's loop."""

    def __init__(self, client: Any) -> None:
        self.members: frozenset[str] = frozenset()
        self.lost: list[str] = []
        """Members that are gone together with tasks or results."""
        self.retired: set[str] = set()
        """Members that left without tasks or results, or are about to leave: these start no tasks any more."""
        self.given_up: set[str] = set()
        """Workers that answer but were lost because they made no progress."""
        self.out_of_memory: set[str] = set()
        """Workers that were stopped because they exceeded their memory limit."""
        self.paused: dict[str, float] = {}
        """Members that start no task because their memory is nearly full, and since when, on the monotonic clock."""
        self.changed = False
        """Whether a worker joined, or a member retired."""
        self.departures: Counter[str] = Counter()
        """How often a worker left, by its address, which another worker may have afterwards."""
        self._client = client
        self._connection: Any = None
        """The client's connection to the scheduler that knows the members; a client replaces a broken one."""
        self._subscriptions = Subscriptions(client)
        self._loss: asyncio.Event = client.sync(_new_event)

    @property
    def reconnected(self) -> bool:
        """Whether the client reconnected, perhaps to a new scheduler, which knows neither members nor tasks."""
        return self._client.scheduler_comm is not self._connection

    def begin(self, members: Set[str], paused: Set[str]) -> None:
        """Watch these members from now on, none of which is lost; some of them are ``paused`` already."""
        self._client.sync(self._begin, members, paused)
        self._subscriptions.confirm()  # else members that leave before the scheduler knows the topics are missed

    def close(self) -> None:
        """Stop listening."""
        self._client.sync(self._end)

    def note_change(self) -> None:
        """Treat a worker that answers at last as one that joined."""
        self.changed = True

    def give_up(self, workers: Iterable[str]) -> None:
        """Treat these workers as lost although they answer: the results that they have do not count any more."""
        for worker in workers:
            self.departures[worker] += 1
            self.given_up.add(worker)
            self.lost.append(worker)

    async def wait_for_loss(self) -> None:
        """Return once a member is lost."""
        await self._loss.wait()

    async def _begin(self, members: Set[str], paused: Set[str]) -> None:
        before, self.members = self.members, frozenset(members)
        self._connection = self._client.scheduler_comm
        self._subscriptions.forget(before - self.members)
        self.lost.clear()
        self.retired.clear()
        self.paused = {worker: self.paused.get(worker, time.monotonic()) for worker in paused}
        self.changed = False
        self._loss.clear()
        # a new scheduler does not know the topics of the last one
        self._subscriptions.listen(WORKER_EVENTS, self._on_worker_event)
        self._subscriptions.listen(OUT_OF_MEMORY, self._on_out_of_memory)
        for member in self.members:
            self._subscriptions.listen(member, partial(self._on_status, member))

    async def _end(self) -> None:
        self._subscriptions.forget(self._subscriptions.topics)

    def _on_worker_event(self, event: tuple[float, Any]) -> None:
        match event[1]:
            case {"action": "remove-worker", "worker": worker}:
                self.departures[worker] += 1
                if worker in self.members - self.retired:
                    self._on_removal(worker, event[1])
            case {"action": "add-worker"}:
                self.given_up.discard(event[1].get("worker", ""))
                self.changed = True

    def _on_removal(self, worker: str, message: dict[str, Any]) -> None:
        had_tasks = message["lost-computed-tasks"] or message["lost-scattered-tasks"] or message["processing-tasks"]
        if message["expected"] and not had_tasks:
            self._retire(worker)
            return
        self.lost.append(worker)
        self._loss.set()

    def _retire(self, worker: str) -> None:
        self.changed = True
        self.retired.add(worker)

    def _on_out_of_memory(self, event: tuple[float, Any]) -> None:
        self.out_of_memory.add(event[1]["worker"])

    def _on_status(self, member: str, event: tuple[float, Any]) -> None:
        match event[1]:
            case {"action": "worker-status-change", "status": "paused"}:
                self.paused.setdefault(member, time.monotonic())
            case {"action": "worker-status-change", "status": "closing_gracefully"}:
                self._retire(member)
            case {"action": "worker-status-change"}:
                self.paused.pop(member, None)


async def _new_event() -> asyncio.Event:
    return asyncio.Event()
