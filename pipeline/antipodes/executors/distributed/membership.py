"""The members of a run: the workers of a cluster that get its tasks."""

import time
from collections.abc import Mapping, Set
from typing import Any

from antipodes.events import ClusterReady, Listener, WaitingForWorkers, WorkerRefused, silence
from antipodes.executors.api import Stop
from antipodes.executors.distributed.announce import announced
from antipodes.executors.distributed.connection import translated
from antipodes.executors.distributed.requests import POLL_SECONDS, dashboard_of, identity
from antipodes.executors.distributed.versions import VersionCheck
from antipodes.executors.distributed.warm_up import WarmUp
from antipodes.executors.distributed.watch import WorkerWatch
from antipodes_tasks.errors import SchedulerError

PRESENT = ("init", "running", "paused")
"""The states of workers that are present, or will be in a moment; a worker in another state is about to leave."""


class Membership:
    """The workers that were able to join the run when it last waited for workers, and the changes after that."""

    def __init__(self, client: Any, warm_up: WarmUp) -> None:
        self.members: dict[str, Any] = {}
        """dask's description of each member, by address; neighbours are on the same machine."""
        self.listener: Listener = silence
        self.watch = WorkerWatch(client)
        self._client = client
        self._warm_up = warm_up
        self._versions = VersionCheck(client)
        self._excluded: set[str] = set()
        """Workers that are unable to be members."""
        self._told_silent: set[str] = set()

    @property
    def threads(self) -> int:
        """The number of tasks that the members run at the same time, at least 1."""
        return max(1, sum(int(worker["nthreads"]) for worker in self.members.values()))

    @property
    def lost(self) -> bool:
        """Whether a member is gone together with tasks or results."""
        return bool(self.watch.lost)

    @property
    def changed(self) -> bool:
        """Whether workers joined, or members retired."""
        return self.watch.changed

    @property
    def remaining(self) -> set[str]:
        """The members that are still present."""
        return self.members.keys() - self.watch.retired - set(self.watch.lost)

    def departures(self, worker: str) -> int:
        """How often a worker with this address has left."""
        return self.watch.departures[worker]

    def close(self) -> None:
        """Stop listening to the scheduler, and waiting for answers of workers."""
        self._versions.close()
        self.watch.close()

    def wait_for_workers(self, listener: Listener, stop: Stop) -> bool:
        """Wait for workers, make all that are able members, and warm them up; False if stopped before there were any.

        Raises
        ------
        SchedulerError
            The scheduler has other versions than this process, or one of the first workers.
        SchedulerLostError
            The scheduler does not answer.
        """
        self.listener, before = listener, self.members.keys()
        with announced(listener, "the dask scheduler to load antipodes"):
            self._versions.check_scheduler()
        while workers := self._wait_for_candidates(stop):
            if self._admit(workers, first=not before):
                if self.members.keys() != before:
                    listener(ClusterReady(len(self.members), self.threads, dashboard_of(self._client)))
                self._warm_up.begin(self.members)
                return True
            time.sleep(POLL_SECONDS)
        return False

    def _wait_for_candidates(self, stop: Stop) -> dict[str, Any]:
        """Return the workers once there may be able ones among them; none if stopped before."""
        told = False
        while not stop():
            workers = self._present()
            # an excluded worker may have been restarted at the same address with the right versions
            if workers.keys() - self._excluded or (workers and self.watch.changed):
                return workers
            if not told:
                self.listener(WaitingForWorkers("there are no workers"))
                told = True
            time.sleep(POLL_SECONDS)
        return {}

    def _present(self) -> dict[str, Any]:
        workers = identity(self._client, -1, self.listener)["workers"]
        return {address: worker for address, worker in workers.items() if worker["status"] in PRESENT}

    def _admit(self, workers: Mapping[str, Any], first: bool) -> bool:
        """Make the able workers members; False if there are none, or if workers joined or left meanwhile.

        A worker that was given up is a member again only if no other worker is able.

        Raises
        ------
        SchedulerError
            One of the ``first`` workers is unable.
        """
        examined = self._versions.examine(workers.keys(), self.listener)
        able, unable = examined.able, examined.unable
        if unable and first:
            raise SchedulerError(next(iter(unable.values())))
        for worker in unable.keys() - self._excluded:
            self.listener(WorkerRefused(unable[worker]))
        self._excluded = (self._excluded | unable.keys()) - able
        spare = able & self.watch.given_up
        spare = spare if spare < able else frozenset()
        able -= spare
        self.members = {address: workers[address] for address in sorted(able)}
        with translated(self._client):
            self.watch.begin(able, {address for address in able if workers[address]["status"] == "paused"})
        self._versions.on_late_answer(self.watch.note_change)
        silent = workers.keys() - examined.able - unable.keys()
        self._tell_silent(silent)
        return bool(self.members) and self._present().keys() - self._excluded - silent - spare == self.members.keys()

    def _tell_silent(self, silent: Set[str]) -> None:
        for worker in sorted(silent - self._told_silent):
            reason = f"worker {worker} does not answer"
            self.listener(WorkerRefused(reason) if self.members else WaitingForWorkers(reason))
        self._told_silent = set(silent)
