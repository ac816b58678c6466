"""Tasks of a cluster that do not depend on each other: a few under way, the others kept until there is room."""

import uuid
from collections import deque
from collections.abc import Mapping
from typing import TYPE_CHECKING

from antipodes.errors import SchedulerLostError, WorkersLostError
from antipodes.executors.api import Call, Ended, Handle, Key, Stop

if TYPE_CHECKING:
    from antipodes.executors.distributed.cluster import Cluster

QUEUED = 2
"""Tasks that a worker knows of, so that it need not wait for the next."""


class Errands:
    """Tasks, each at the workers that were there when it was begun; begun again where they are all gone."""

    def __init__(self, cluster: "Cluster", calls: Mapping[Key, Call], ended: Ended, stopped: Stop) -> None:
        self.cluster = cluster
        self.ended = ended
        self.stopped = stopped
        self.waiting = deque(calls)
        self.calls = calls
        self.under_way: dict[Handle, tuple[Key, frozenset[str]]] = {}
        """The keys of the tasks that are begun, and the workers that may do each."""

    def run(self) -> None:
        """Have all done, or those that are begun when there is a stop; they are given up if nobody is left to do them.

        Raises
        ------
        WorkersLostError
            One task was the end of several workers.
        SchedulerLostError
            The scheduler does not come back.
        """
        while True:
            try:
                if not self._begin_some():
                    return
                self._end_some()
            except WorkersLostError:
                if not (self.cluster.lost or self.cluster.changed):
                    raise
            except SchedulerLostError:
                if not self._begin_anew():
                    return
            if (self.cluster.changed or self.cluster.lost) and not self._go_on_with_others():
                return

    def _begin_some(self) -> bool:
        """Begin as many as there is room for; whether there is anything to wait for."""
        members = frozenset(self.cluster.members)
        room = QUEUED * self.cluster.workers - len(self.under_way)
        while self.waiting and room > 0 and not self.stopped():
            key = self.waiting[0]
            name = f"{key[0]}-{uuid.uuid4().hex}", key[1]  # another one each time that it is begun
            (future,) = self.cluster.persist({name: self.calls[key]}).values()
            self.under_way[future] = self.waiting.popleft(), members
            room -= 1
        return bool(self.under_way)

    def _end_some(self) -> None:
        done = self.cluster.done_of(self.under_way)
        for future, result in zip(done, self.cluster.gather(done), strict=True):
            key, _ = self.under_way.pop(future)
            self.ended(key, result)

    def _begin_anew(self) -> bool:
        """Go on where the scheduler is found again, which knows of no task any more; False if there is a stop."""
        self.waiting.extendleft(key for key, _ in self.under_way.values())
        self.under_way.clear()
        return self.cluster.ready(self.cluster.listener, self.stopped)

    def _go_on_with_others(self) -> bool:
        """Have the workers take part that there are now; False if there is a stop and all from before are gone."""
        if not self.cluster.ready(self.cluster.listener, lambda: self.stopped() and not self.cluster.remaining):
            return False
        members = self.cluster.members.keys()
        for future, (key, workers) in list(self.under_way.items()):
            if not workers & members:
                del self.under_way[future]
                self.waiting.appendleft(key)
        return True
