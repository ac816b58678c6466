"""The versions of scheduler and workers, compared with those of this process."""

import asyncio
from collections.abc import Callable, Mapping, Set
from dataclasses import dataclass
from typing import Any

from antipodes.events import Listener
from antipodes.executors.distributed.announce import announced
from antipodes.executors.distributed.connection import one_line, translated
from antipodes.executors.distributed.requests import ask, identity
from antipodes.executors.distributed.worker import versions
from antipodes_tasks.errors import SchedulerError

LOAD_SECONDS = 20.0
"""Seconds that a scheduler has for its first answer, for which it loads this program's modules."""
VERSIONS_SECONDS = 10.0
"""Seconds that a worker has to report its versions."""
LATE_SECONDS = 1.0
"""Seconds to wait for workers all of which missed that limit before."""


@dataclass(frozen=True)
class Examination:
    """The workers that answered; a worker in neither field did not answer."""

    able: frozenset[str]
    """Addresses of workers with the right versions."""
    unable: dict[str, str]
    """By address, why a worker cannot be a member."""


class VersionCheck:
    """Asks the scheduler and the workers of a client for their versions."""

    def __init__(self, client: Any) -> None:
        self._client = client
        self._requests: dict[str, asyncio.Task[Any]] = {}
        """The last request to each worker, perhaps still without an answer."""
        self._late: set[str] = set()
        """The workers that did not answer in time in the last examination."""

    def close(self) -> None:
        """Stop waiting for answers."""
        for request in self._requests.values():
            self._client.loop.add_callback(request.cancel)

    def check_scheduler(self) -> None:
        """Raise SchedulerError unless the scheduler has our versions, as it unpacks the tasks that it passes on."""
        name = f"the dask scheduler at {identity(self._client, 0)['address']}"
        try:
            there = ask(self._client, self._client.run_on_scheduler, versions, seconds=LOAD_SECONDS)
        except (ImportError, AttributeError) as error:  # it lacks this program, or a part of it
            raise SchedulerError(f"{name} cannot load antipodes: {one_line(error)}") from error
        if there != versions():
            raise SchedulerError(f"{name} {_difference(there, versions())}")

    def examine(self, workers: Set[str], listener: Listener) -> Examination:
        """Ask the workers for their versions."""
        asked = f"worker {min(workers)}" if len(workers) == 1 else f"{len(workers)} workers"
        with translated(self._client), announced(listener, f"the versions of {asked}"):
            answers = self._client.sync(self._answers, workers)
        here = versions()
        unable = {}
        for address, there in answers.items():
            if not isinstance(there, Exception) and there != here:
                unable[address] = f"worker {address} {_difference(there, here)}"
            elif isinstance(there, Exception) and not isinstance(there, OSError):
                unable[address] = f"worker {address} cannot load antipodes: {one_line(there)}"
        return Examination(frozenset(address for address, there in answers.items() if there == here), unable)

    def on_late_answer(self, call: Callable[[], None]) -> None:
        """Call a function when a worker answers that did not answer in time in the last examination."""
        self._client.loop.add_callback(self._add_callbacks, call)

    def _add_callbacks(self, call: Callable[[], None]) -> None:
        for worker in self._late:
            self._requests[worker].add_done_callback(lambda _: call())

    async def _answers(self, workers: Set[str]) -> dict[str, Any]:
        """By worker, its versions or an error; without the workers that do not answer in time, now or before."""
        new = {worker for worker in workers if worker not in self._requests or self._requests[worker].done()}
        self._requests = {worker: request for worker, request in self._requests.items() if not request.done()}
        for worker in new:
            self._requests[worker] = asyncio.ensure_future(self._request(worker))
        seconds = VERSIONS_SECONDS if new else LATE_SECONDS
        await asyncio.wait([self._requests[worker] for worker in new or workers], timeout=seconds)
        self._late = {worker for worker in workers if not self._requests[worker].done()}
        return {worker: self._requests[worker].result() for worker in workers - self._late}

    async def _request(self, worker: str) -> Any:
        try:
            return (await self._client.run(versions, workers=[worker], on_error="return"))[worker]
        except Exception as error:  # the scheduler no longer knows the worker, or is gone itself
            return error if isinstance(error, OSError) else OSError(one_line(error))


def _difference(there: Mapping[str, str], here: Mapping[str, str]) -> str:
    different = [name for name in here if there.get(name) != here[name]]
    have = ", ".join(f"{name} {there.get(name)}" for name in different)
    want = ", ".join(f"{name} {here[name]}" for name in different)
    return f"has {have}; expected {want} as here"
