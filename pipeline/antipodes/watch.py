"""Who joins and leaves a cluster, as its scheduler tells."""

import asyncio
from collections.abc import Iterable
from typing import Any

EVENTS = "all"
"""The topic under which a dask scheduler tells what happens to its workers."""
OUT_OF_MEMORY = "worker-restart-memory"
"""The topic under which the nanny of a worker tells that it stopped it."""


class Watch:
    """Knows which of the members of a cluster were lost, and who joined; its handlers run in the client's loop."""

    def __init__(self, client: Any) -> None:
        self.client = client
        self.members: frozenset[str] = frozenset()
        self.lost: dict[str, str] = {}
        """The members that are gone, and why as far as it is known."""
        self.changed = False
        """Whether a worker joined, or a member left and took nothing along."""
        self._starved: set[str] = set()
        self._alarm = client.sync(_new_event)
        client.subscribe_topic(EVENTS, self._told)
        client.subscribe_topic(OUT_OF_MEMORY, self._told_memory)

    def close(self) -> None:
        """Listen no longer."""
        for topic in (EVENTS, OUT_OF_MEMORY):
            self.client.unsubscribe_topic(topic)

    def begin(self, members: Iterable[str]) -> None:
        """From now on these are the members, and none is lost."""
        self.members = frozenset(members)
        self.lost.clear()
        self.changed = False
        self.client.loop.add_callback(self._alarm.clear)

    async def loss(self) -> None:
        """Return once a member is lost."""
        await self._alarm.wait()

    def _told(self, event: tuple[float, Any]) -> None:
        message = event[1]
        match message:
            case {"action": "remove-worker", "worker": worker} if worker in self.members:
                self._left(worker, message)
            case {"action": "add-worker"}:
                self.changed = True

    def _left(self, worker: str, message: dict[str, Any]) -> None:
        took_along = message["lost-computed-tasks"] or message["lost-scattered-tasks"] or message["processing-tasks"]
        if message["expected"] and not took_along:
            self.changed = True
            return
        memory = ", which took more memory than it may" if worker in self._starved else ""
        self.lost[worker] = f"worker {worker}{memory}"
        self._alarm.set()

    def _told_memory(self, event: tuple[float, Any]) -> None:
        self._starved.add(event[1]["worker"])


async def _new_event() -> asyncio.Event:
    return asyncio.Event()
