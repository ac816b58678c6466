"""Who joins and leaves a cluster, as its scheduler tells."""

import asyncio
import time
from collections.abc import Callable, Iterable, Set
from functools import partial
from inspect import isawaitable
from typing import Any

from antipodes.executors.distributed.connection import ask

EVENTS = "all"
"""The topic under which a dask scheduler tells what happens to its workers."""
OUT_OF_MEMORY = "worker-restart-memory"
"""The topic under which the nanny of a worker tells that it stopped it."""


Handler = Callable[[tuple[float, Any]], Any]
"""Told when something happened and what; what it returns may have to be awaited."""


class Watch:
    """Knows which of the members of a cluster were lost, and who joined; its handlers run in the client's loop."""

    def __init__(self, client: Any) -> None:
        self.client = client
        self.members: frozenset[str] = frozenset()
        self.lost: list[str] = []
        """The members that are gone, and results with them."""
        self.left: set[str] = set()
        """The members that are gone, and took nothing along."""
        self.starved: set[str] = set()
        """Workers that were stopped since they took more memory than they may."""
        self.paused: dict[str, float] = {}
        """Members that begin no task since they have no memory left, and since when, on the monotonic clock."""
        self.changed = False
        """Whether a worker joined, or a member left and took nothing along."""
        self._connection: Any = None
        """That of the client to the scheduler which knows the members; a client makes a new one if it breaks."""
        self._alarm: asyncio.Event = client.sync(_new_event)
        self._theirs: dict[str, Handler | None] = {}
        """What else the client's user has told of a topic that we listen to: a client has one handler a topic."""

    def begin(self, members: Set[str], paused: Set[str]) -> None:
        """From now on these are the members, and none is lost; some of them are ``paused`` already."""
        self.client.sync(self._begin, members, paused)
        # dask sends subscriptions in batches, and would not tell who leaves before they are there
        ask(self.client, self.client.run_on_scheduler, _subscribe, sorted(self._theirs), self.client.id)

    def close(self) -> None:
        """Listen no longer."""
        self.client.sync(self._end)

    @property
    def connected_anew(self) -> bool:
        """Whether the scheduler may be another one by now, which knows neither members nor what is to be told."""
        return self.client.scheduler_comm is not self._connection

    def rejoined(self) -> None:
        """Take note of a worker that can take part from now on, though it was there before."""
        self.changed = True

    async def loss(self) -> None:
        """Return once a member is lost."""
        await self._alarm.wait()

    async def _begin(self, members: Set[str], paused: Set[str]) -> None:
        before, self.members = self.members, frozenset(members)
        self._connection = self.client.scheduler_comm
        self._forget(before - self.members)
        self.lost.clear()
        self.left.clear()
        self.paused = {worker: self.paused.get(worker, time.monotonic()) for worker in paused}
        self.changed = False
        self._alarm.clear()
        # the scheduler may be another one than it was when this was said last
        self._listen(EVENTS, self._told)
        self._listen(OUT_OF_MEMORY, self._told_memory)
        for member in self.members:
            self._listen(member, partial(self._told_status, member))

    async def _end(self) -> None:
        self._forget(set(self._theirs))

    def _listen(self, topic: str, handler: Handler) -> None:
        if topic not in self._theirs:
            theirs = self.client._event_handlers.get(topic)
            self._theirs[topic] = None if theirs is _too_late else theirs
        theirs = self._theirs[topic]
        self.client.subscribe_topic(topic, partial(_tell_both, handler, theirs) if theirs else handler)

    def _forget(self, topics: Set[str]) -> None:
        for topic in topics & self._theirs.keys():
            if theirs := self._theirs.pop(topic):
                self.client.subscribe_topic(topic, theirs)
            else:
                self.client.unsubscribe_topic(topic)
                self.client._event_handlers[topic] = _too_late

    def _told(self, event: tuple[float, Any]) -> None:
        match event[1]:
            case {"action": "remove-worker", "worker": worker} if worker in self.members:
                self._left(worker, event[1])
            case {"action": "add-worker"}:
                self.changed = True

    def _left(self, worker: str, message: dict[str, Any]) -> None:
        took_along = message["lost-computed-tasks"] or message["lost-scattered-tasks"] or message["processing-tasks"]
        if message["expected"] and not took_along:
            self.changed = True
            self.left.add(worker)
            return
        self.lost.append(worker)
        self._alarm.set()

    def _told_memory(self, event: tuple[float, Any]) -> None:
        self.starved.add(event[1]["worker"])

    def _told_status(self, member: str, event: tuple[float, Any]) -> None:
        match event[1]:
            case {"action": "worker-status-change", "status": "paused"}:
                self.paused.setdefault(member, time.monotonic())
            case {"action": "worker-status-change"}:
                self.paused.pop(member, None)


def _subscribe(topics: Iterable[str], client: str, dask_scheduler: Any) -> None:
    """On a scheduler: have a client told what happens under these topics."""
    for topic in topics:
        dask_scheduler.subscribe_topic(topic, client)


def _too_late(event: tuple[float, Any]) -> None:
    """The handler of a topic that we listened to: of what is still on its way, dask would log that there is none."""


async def _tell_both(ours: Handler, theirs: Handler, event: tuple[float, Any]) -> None:
    ours(event)
    if isawaitable(answer := theirs(event)):
        await answer


async def _new_event() -> asyncio.Event:
    return asyncio.Event()
