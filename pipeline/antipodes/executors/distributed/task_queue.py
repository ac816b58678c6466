"""A queue of tasks that do not depend on each other: a few are under way on the members, the others wait here."""

import uuid
from collections import deque
from collections.abc import Mapping

from antipodes.executors.api import Call, Handle, Key, OnResult, Stop
from antipodes.executors.distributed.membership import Membership
from antipodes.executors.distributed.tasks import Tasks
from antipodes_tasks.errors import SchedulerLostError, WorkersLostError, WorkersStuckError

TASKS_PER_THREAD = 2
"""Tasks submitted for each thread of the members, so that no thread waits for the next one."""
STUCK_ALLOWED = 3
"""How often workers may be stuck without a result in between; one more time ends the run."""


class TaskQueue:
    """Runs each task on one of the members at the time of its start; restarts it if all of them are gone."""

    def __init__(
        self, membership: Membership, tasks: Tasks, calls: Mapping[Key, Call], on_result: OnResult, stop: Stop
    ) -> None:
        self._membership = membership
        self._tasks = tasks
        self._calls = calls
        self._on_result = on_result
        self._stop = stop
        self._waiting = deque(calls)
        self._under_way: dict[Handle, tuple[Key, frozenset[str]]] = {}
        """By future, the key of the call, and the workers that may run the task."""
        self._stuck = 0
        """How often workers were stuck since the last result."""

    def run(self) -> None:
        """Run all tasks; after a stop only those that are under way, which are dropped if all their workers are gone.

        Raises
        ------
        WorkersLostError
            One task killed several workers, or workers were stuck too often.
        SchedulerLostError
            The scheduler does not come back.
        """
        while True:
            try:
                if not self._start_some():
                    return
                self._collect_some()
            except WorkersStuckError:
                self._stuck += 1
                if self._stuck > STUCK_ALLOWED:
                    raise
                self._restart_stuck()
            except WorkersLostError:
                if not (self._membership.lost or self._membership.changed):
                    raise
            except SchedulerLostError:
                if not self._restart_all():
                    return
            if (self._membership.changed or self._membership.lost) and not self._change_workers():
                return

    def _start_some(self) -> bool:
        """Start as many tasks as there is room for; whether any are under way."""
        members = frozenset(self._membership.members)
        room = TASKS_PER_THREAD * self._membership.threads - len(self._under_way)
        while self._waiting and room > 0 and not self._stop():
            key = self._waiting[0]
            name = f"{key[0]}-{uuid.uuid4().hex}", key[1]  # a new one each time that the task is started
            (future,) = self._tasks.submit({name: self._calls[key]}, [name])
            self._under_way[future] = self._waiting.popleft(), members
            room -= 1
        return bool(self._under_way)

    def _collect_some(self) -> None:
        if not (done := self._tasks.first_done(self._under_way)):
            return
        for future, result in zip(done, self._tasks.gather(done), strict=True):
            key, _ = self._under_way.pop(future)
            self._stuck = 0
            self._on_result(key, result)

    def _restart_stuck(self) -> None:
        """Queue the tasks again that stuck workers have, or whose results these have."""
        stuck = self._tasks.keys_on_lost_workers()
        for future in [one for one in self._under_way if one.key in stuck]:
            self._waiting.appendleft(self._under_way.pop(future)[0])

    def _restart_all(self) -> bool:
        """Queue all tasks under way again for a scheduler that has come back without them; False after a stop."""
        self._waiting.extendleft(key for key, _ in self._under_way.values())
        self._under_way.clear()
        return self._membership.wait_for_workers(self._membership.listener, self._stop)

    def _change_workers(self) -> bool:
        """Make the present workers members; False after a stop if all members from before are gone."""

        def stop() -> bool:
            return self._stop() and not self._membership.remaining

        if not self._membership.wait_for_workers(self._membership.listener, stop):
            return False
        members = self._membership.members.keys()
        for future, (key, workers) in list(self._under_way.items()):
            if not workers & members:
                del self._under_way[future]
                self._waiting.appendleft(key)
        return True
