"""The events of a scheduler that a run listens to, without disturbing the handlers of the client's user."""

from collections.abc import Callable, Iterable, Set
from functools import partial
from inspect import isawaitable
from typing import Any

from antipodes.executors.distributed.requests import ask

Handler = Callable[[tuple[float, Any]], Any]
"""Called with the time of an event and the event; its result may have to be awaited."""


class Subscriptions:
    """The topics that a run listens to; all but `confirm` is used in the client's loop."""

    def __init__(self, client: Any) -> None:
        self._client = client
        self._theirs: dict[str, Handler | None] = {}
        """By topic, the handler of the client's user: a client has one handler for each topic."""

    @property
    def topics(self) -> Set[str]:
        """The topics that the run listens to."""
        return self._theirs.keys()

    def listen(self, topic: str, handler: Handler) -> None:
        """Call the handler, and that of the client's user, for each event of the topic."""
        if topic not in self._theirs:
            theirs = self._client._event_handlers.get(topic)
            self._theirs[topic] = None if theirs is _ignore else theirs
        theirs = self._theirs[topic]
        self._client.subscribe_topic(topic, partial(_call_both, handler, theirs) if theirs else handler)

    def forget(self, topics: Iterable[str]) -> None:
        """Stop listening to the topics, and give them back to the client's user."""
        for topic in set(topics) & self.topics:
            if theirs := self._theirs.pop(topic):
                self._client.subscribe_topic(topic, theirs)
            else:
                self._client.unsubscribe_topic(topic)
                self._client._event_handlers[topic] = _ignore

    def confirm(self) -> None:
        """Return once the scheduler knows of the topics: dask sends subscriptions in batches, with a delay."""
        ask(self._client, self._client.run_on_scheduler, _subscribe, sorted(self.topics), self._client.id)


def _subscribe(topics: Iterable[str], client: str, dask_scheduler: Any) -> None:
    """On a scheduler: subscribe a client to these topics."""
    for topic in topics:
        dask_scheduler.subscribe_topic(topic, client)


def _ignore(event: tuple[float, Any]) -> None:
    """Ignore an event that was on its way when the run stopped listening; dask would log that it has no handler."""


async def _call_both(ours: Handler, theirs: Handler, event: tuple[float, Any]) -> None:
    ours(event)
    if isawaitable(answer := theirs(event)):
        await answer
