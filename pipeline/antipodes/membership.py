"""Who takes part in a run on a cluster: all workers that can, from one moment to the next that is chosen for it."""

import time
from collections.abc import Mapping
from typing import Any

from antipodes.connection import POLL_SECONDS, dashboard_of, identity, one_line, translated
from antipodes.events import ClusterReady, Listener, WaitingForWorkers, WorkerRefused
from antipodes.scheduler import SchedulerError, Stop
from antipodes.watch import Watch
from antipodes.worker import versions

SILENT_SECONDS = 5.0
"""So long workers that joined may give no answer before it is said."""
PRESENT = ("init", "running", "paused")
"""What the scheduler says of workers that are there, or are in a moment; the others are about to leave."""


class Membership:
    """The workers that tasks are given to: those that were examined when it was last renewed."""

    def __init__(self, client: Any, watch: Watch) -> None:
        self.members: dict[str, Any] = {}
        """What dask knows of each, by its address; neighbours on the same machine."""
        self._client = client
        self._watch = watch
        self._refused: set[str] = set()

    def renew(self, listener: Listener, stop: Stop) -> bool:
        """Wait for workers, and have all take part that can; False if told to stop before there were any.

        Raises
        ------
        SchedulerError
            The scheduler has other versions than we have, or one of the first workers.
        SchedulerLostError
            The scheduler does not answer.
        """
        before, begin, told = self.members.keys(), time.monotonic(), False
        self._check_scheduler()
        while workers := self._await_workers(listener, stop):
            if self._admit(workers, listener, first=not before):
                if self.members.keys() != before:
                    threads = sum(int(worker["nthreads"]) for worker in self.members.values())
                    listener(ClusterReady(len(self.members), threads, dashboard_of(self._client)))
                return True
            if not self.members and not told and time.monotonic() - begin > SILENT_SECONDS:
                listener(WaitingForWorkers(f"the scheduler cannot reach worker {min(workers)}"))
                told = True
            time.sleep(POLL_SECONDS)
        return False

    def _check_scheduler(self) -> None:
        """Raise SchedulerError unless the scheduler has what we have: it unpacks the tasks that it hands on."""
        name = f"the dask scheduler at {identity(self._client, 0)['address']}"
        try:
            with translated(self._client):
                there = self._client.run_on_scheduler(versions)
        except (ImportError, AttributeError) as error:  # there is none, or one that lacks what we ask for
            raise SchedulerError(f"{name} cannot load antipodes: {one_line(error)}") from error
        if there != versions():
            raise SchedulerError(f"{name} {_difference(there, versions())}")

    def _await_workers(self, listener: Listener, stop: Stop) -> dict[str, Any]:
        told = False
        while not stop():
            workers = self._present()
            # who joined may be one that was refused, and began anew with what it lacked
            if workers.keys() - self._refused or (workers and self._watch.changed):
                return workers
            if not told:
                listener(WaitingForWorkers("there are no workers"))
                told = True
            time.sleep(POLL_SECONDS)
        return {}

    def _present(self) -> dict[str, Any]:
        workers = identity(self._client, -1)["workers"]
        return {address: worker for address, worker in workers.items() if worker["status"] in PRESENT}

    def _admit(self, workers: Mapping[str, Any], listener: Listener, first: bool) -> bool:
        """Have those of the workers take part that can; False if none does, or some came or went meanwhile.

        Raises
        ------
        SchedulerError
            One of the ``first`` workers cannot take part.
        """
        able, skewed = self._examine(workers)
        if skewed and first:
            raise SchedulerError(next(iter(skewed.values())))
        for worker in skewed.keys() - self._refused:
            listener(WorkerRefused(skewed[worker]))
        self._refused = (self._refused | skewed.keys()) - able
        self.members = {address: workers[address] for address in sorted(able)}
        paused = {address for address in able if workers[address]["status"] == "paused"}
        with translated(self._client):
            self._watch.begin(self.members.keys(), paused)
        silent = workers.keys() - able - skewed.keys()
        return bool(self.members) and self._present().keys() - self._refused - silent == self.members.keys()

    def _examine(self, workers: Mapping[str, Any]) -> tuple[set[str], dict[str, str]]:
        """The workers that can take part, and of those that cannot, why; who does not answer is neither."""
        with translated(self._client):
            found = self._client.run(versions, workers=list(workers), on_error="return")
        here = versions()
        skewed = {}
        for address, there in found.items():
            if not isinstance(there, Exception) and there != here:
                skewed[address] = f"worker {address} {_difference(there, here)}"
            elif isinstance(there, Exception) and not isinstance(there, OSError):
                skewed[address] = f"worker {address} cannot load antipodes: {one_line(there)}"
        return {address for address, there in found.items() if there == here}, skewed


def _difference(there: Mapping[str, str], here: Mapping[str, str]) -> str:
    different = [name for name in here if there.get(name) != here[name]]
    have = ", ".join(f"{name} {there.get(name)}" for name in different)
    want = ", ".join(f"{name} {here[name]}" for name in different)
    return f"has {have}; expected {want} as here"
