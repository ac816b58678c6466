"""The workers that take part in a run: all that can, from one moment to the next that is chosen for it."""

import asyncio
import time
from collections.abc import Mapping, Set
from typing import Any

from antipodes.errors import SchedulerError
from antipodes.events import ClusterReady, Listener, WaitingForWorkers, WorkerRefused
from antipodes.executors.api import Stop
from antipodes.executors.distributed.connection import (
    LOAD_SECONDS,
    POLL_SECONDS,
    ask,
    dashboard_of,
    identity,
    one_line,
    telling,
    translated,
)
from antipodes.executors.distributed.watch import Watch
from antipodes.executors.distributed.worker import versions

SILENT_SECONDS = 10.0
"""Seconds in which a worker has to say what it runs; one that does not is left out until it does."""
STILL_SILENT_SECONDS = 1.0
"""Likewise where there are none but workers that have not answered before, until the run looks for others again."""
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
        self._asked: dict[str, asyncio.Task[Any]] = {}
        """What each worker was asked last; it may still be about to answer."""
        self._late: set[str] = set()
        """The workers that had not answered when they were last waited for."""
        self._told_silent: set[str] = set()

    def close(self) -> None:
        """Wait for no answers any more."""
        for task in self._asked.values():
            self._client.loop.add_callback(task.cancel)

    def renew(self, listener: Listener, stop: Stop) -> bool:
        """Wait for workers, and have all take part that can; False if told to stop before there were any.

        Raises
        ------
        SchedulerError
            The scheduler has other versions than we have, or one of the first workers.
        SchedulerLostError
            The scheduler does not answer.
        """
        before = self.members.keys()
        with telling(listener, "the dask scheduler to load antipodes"):
            self._check_scheduler()
        while workers := self._await_workers(listener, stop):
            if self._admit(workers, listener, first=not before):
                if self.members.keys() != before:
                    threads = sum(int(worker["nthreads"]) for worker in self.members.values())
                    listener(ClusterReady(len(self.members), threads, dashboard_of(self._client)))
                return True
            time.sleep(POLL_SECONDS)
        return False

    def _check_scheduler(self) -> None:
        """Raise SchedulerError unless the scheduler has what we have: it unpacks the tasks that it hands on."""
        name = f"the dask scheduler at {identity(self._client, 0)['address']}"
        try:
            there = ask(self._client, self._client.run_on_scheduler, versions, seconds=LOAD_SECONDS)
        except (ImportError, AttributeError) as error:  # there is none, or one that lacks what we ask for
            raise SchedulerError(f"{name} cannot load antipodes: {one_line(error)}") from error
        if there != versions():
            raise SchedulerError(f"{name} {_difference(there, versions())}")

    def _await_workers(self, listener: Listener, stop: Stop) -> dict[str, Any]:
        told = False
        while not stop():
            workers = self._present(listener)
            # who joined may be one that was refused, and began anew with what it lacked
            if workers.keys() - self._refused or (workers and self._watch.changed):
                return workers
            if not told:
                listener(WaitingForWorkers("there are no workers"))
                told = True
            time.sleep(POLL_SECONDS)
        return {}

    def _present(self, listener: Listener) -> dict[str, Any]:
        workers = identity(self._client, -1, listener)["workers"]
        return {address: worker for address, worker in workers.items() if worker["status"] in PRESENT}

    def _admit(self, workers: Mapping[str, Any], listener: Listener, first: bool) -> bool:
        """Have those of the workers take part that can; False if none does, or some came or went meanwhile.

        Raises
        ------
        SchedulerError
            One of the ``first`` workers cannot take part.
        """
        able, skewed = self._examine(workers, listener)
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
        self._client.loop.add_callback(self._watch_for_answers)
        self._tell_silent(silent, listener)
        return bool(self.members) and self._present(listener).keys() - self._refused - silent == self.members.keys()

    def _watch_for_answers(self) -> None:
        """Have a worker that answers at last taken for one that joined."""
        for worker in self._late:
            self._asked[worker].add_done_callback(lambda _: self._watch.rejoined())

    def _tell_silent(self, silent: Set[str], listener: Listener) -> None:
        for worker in sorted(silent - self._told_silent):
            said = f"worker {worker} does not answer"
            listener(WorkerRefused(said) if self.members else WaitingForWorkers(said))
        self._told_silent = set(silent)

    def _examine(self, workers: Mapping[str, Any], listener: Listener) -> tuple[set[str], dict[str, str]]:
        """The workers that can take part, and of those that cannot, why; one that does not answer is neither."""
        whom = f"worker {min(workers)}" if len(workers) == 1 else f"{len(workers)} workers"
        with (
            translated(self._client),
            telling(listener, f"{whom} to say what {'it runs' if len(workers) == 1 else 'they run'}"),
        ):
            found = self._client.sync(self._answers, workers.keys())
        here = versions()
        skewed = {}
        for address, there in found.items():
            if not isinstance(there, Exception) and there != here:
                skewed[address] = f"worker {address} {_difference(there, here)}"
            elif isinstance(there, Exception) and not isinstance(there, OSError):
                skewed[address] = f"worker {address} cannot load antipodes: {one_line(there)}"
        return {address for address, there in found.items() if there == here}, skewed

    async def _answers(self, workers: Set[str]) -> dict[str, Any]:
        """The versions of each worker, or an error, of those that answer; one that did not before is not waited for."""
        fresh = {worker for worker in workers if worker not in self._asked or self._asked[worker].done()}
        self._asked = {worker: task for worker, task in self._asked.items() if not task.done()}
        for worker in fresh:
            self._asked[worker] = asyncio.ensure_future(self._ask_versions(worker))
        seconds = SILENT_SECONDS if fresh else STILL_SILENT_SECONDS
        await asyncio.wait([self._asked[worker] for worker in fresh or workers], timeout=seconds)
        self._late = {worker for worker in workers if not self._asked[worker].done()}
        return {worker: self._asked[worker].result() for worker in workers - self._late}

    async def _ask_versions(self, worker: str) -> Any:
        try:
            return (await self._client.run(versions, workers=[worker], on_error="return"))[worker]
        except Exception as error:  # the scheduler does not know it any more, or is gone itself
            return error if isinstance(error, OSError) else OSError(one_line(error))


def _difference(there: Mapping[str, str], here: Mapping[str, str]) -> str:
    different = [name for name in here if there.get(name) != here[name]]
    have = ", ".join(f"{name} {there.get(name)}" for name in different)
    want = ", ".join(f"{name} {here[name]}" for name in different)
    return f"has {have}; expected {want} as here"
