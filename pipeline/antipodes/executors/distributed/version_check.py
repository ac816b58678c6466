"""The check that scheduler and workers have the same versions as this process.

Workers that join are asked in the background, and the run collects their answers from time to time.
"""

import asyncio
import sys
import time
from collections.abc import Iterable, Mapping, Set
from contextlib import suppress
from importlib import import_module
from typing import Any

from antipodes.executors.distributed.choice import Probation
from antipodes.executors.distributed.connection import announced, ask, identity, one_line, timeout_of, translated
from antipodes.executors.distributed.worker import versions
from antipodes.system.events import Listener
from antipodes_tasks.base.errors import SchedulerError

LOAD_SECONDS = 120.0
"""Minimum number of seconds that a scheduler has to import this program's modules, which takes long from a slow shared
disk; more if the run waits longer for all answers."""
NOT_IN_TASKS = ("antipodes.cli", "antipodes.interface", "antipodes.service", "antipodes.report_page")
"""Packages that no task uses."""
VERSIONS_SECONDS = 10.0
"""Seconds that a worker has to report its versions."""
NO_ANSWER = "does not answer"
"""The reason for not using a worker that does not report its versions."""
LATE_SECONDS = 1.0
"""Seconds to wait for an answer if all remaining workers have already exceeded the limit before."""


class VersionCheck:
    """The check of the versions of a client's scheduler and workers."""

    def __init__(self, client: Any) -> None:
        self._client = client
        self._requests: dict[str, asyncio.Task[Any]] = {}
        """The last request to each worker, which may still be unanswered."""
        self._joined: dict[str, float] = {}
        """The time at which each worker joined or was late, by address, until its answer is collected."""
        self._overdue: set[str] = set()
        """The workers in `_joined` that have not answered in time."""
        self._probation = Probation()

    def close(self) -> None:
        """Stop waiting for answers."""
        for request in self._requests.values():
            self._client.loop.add_callback(request.cancel)

    def begin(self, worker: str) -> None:
        """Ask a worker that has joined for its versions; called in the client's loop."""
        self._requests[worker] = asyncio.ensure_future(self._request(worker))
        self._joined[worker] = time.monotonic()
        self._probation.note_join(worker, self._joined[worker])

    def end(self, worker: str) -> None:
        """Forget a worker that has left; called in the client's loop."""
        self._probation.note_departure(worker, time.monotonic())
        self._joined.pop(worker, None)
        self._overdue.discard(worker)

    def take_answers(self) -> dict[str, Any]:
        """Return the new answers of workers that have joined: versions or an error, OSError if there is no answer."""
        answers: dict[str, Any] = {}
        for worker, since in list(self._joined.items()):
            now, request = time.monotonic(), self._requests[worker]
            if request.done() and self._probation.is_over(worker, now):
                self._joined.pop(worker, None)
                answers[worker] = request.result()
            elif not request.done() and now - since > VERSIONS_SECONDS and worker not in self._overdue:
                self._overdue.add(worker)
                answers[worker] = OSError(NO_ANSWER)
        return answers

    def check_scheduler(self) -> None:
        """Load the program on the scheduler, which unpacks the tasks; raise SchedulerError unless it has our versions.

        Later requests and tasks import nothing there, so the scheduler always answers them soon.
        """
        name = f"the dask scheduler at {identity(self._client, 0)['address']}"
        seconds = max(LOAD_SECONDS, timeout_of(self._client))
        try:
            there = ask(self._client, self._client.run_on_scheduler, versions, seconds=seconds)
        except (ImportError, AttributeError) as error:  # this program, or a part of it, is missing there
            raise SchedulerError(f"{name} cannot load antipodes: {one_line(error)}") from error
        if there != versions():
            raise SchedulerError(f"{name} {_difference(there, versions())}")
        ask(self._client, self._client.run_on_scheduler, load_modules, modules_of_tasks(), seconds=seconds)

    def examine(self, workers: Set[str], listener: Listener) -> tuple[set[str], dict[str, str]]:
        """Return the workers with the right versions, and the reasons why others cannot be members; see `judge`.

        A worker that is in neither result does not answer.
        """
        examined = self._joined.keys() & workers
        for worker in examined:
            self._joined.pop(worker, None)
        asked = f"worker {min(workers)}" if len(workers) == 1 else f"{len(workers)} workers"
        with translated(self._client), announced(listener, f"the versions of {asked}"):
            answers = self._client.sync(self._answers, workers)
        able, unable, _ = judge(answers)
        return able, unable

    async def _answers(self, workers: Set[str]) -> dict[str, Any]:
        """Return the versions or the error of each worker; workers that do not answer in time are left out."""
        new = {worker for worker in workers if worker not in self._requests or self._requests[worker].done()}
        self._requests = {
            worker: request
            for worker, request in self._requests.items()
            if worker in self._joined or not request.done()
        }
        for worker in new:
            self._requests[worker] = asyncio.ensure_future(self._request(worker))
        seconds = VERSIONS_SECONDS if new else LATE_SECONDS
        await asyncio.wait([self._requests[worker] for worker in new or workers], timeout=seconds)
        late = {worker for worker in workers if not self._requests[worker].done()}
        self._joined.update(dict.fromkeys(late, time.monotonic()))
        self._overdue = late
        return {worker: self._requests[worker].result() for worker in workers - late}

    async def _request(self, worker: str) -> Any:
        try:
            return (await self._client.run(versions, workers=[worker], on_error="return"))[worker]
        except Exception as error:  # the scheduler no longer knows the worker, or is gone itself
            return error if isinstance(error, OSError) else OSError(one_line(error))


def modules_of_tasks() -> list[str]:
    """Return the names of the loaded modules of this program to which requests and tasks may refer."""
    loaded = (name for name in sys.modules if name.partition(".")[0] in ("antipodes", "antipodes_tasks"))
    return sorted(name for name in loaded if not name.startswith(NOT_IN_TASKS))


async def load_modules(names: Iterable[str]) -> None:
    """Import modules in a thread, so that the event loop continues to answer; called on the scheduler."""

    def load() -> None:
        for name in names:
            with suppress(ImportError):  # whatever needs the module raises the same error
                import_module(name)

    await asyncio.to_thread(load)


def judge(answers: Mapping[str, Any]) -> tuple[set[str], dict[str, str], set[str]]:
    """Return the workers with our versions, the reasons why others cannot be members, and the silent workers.

    ``answers`` contains the versions or an error of each worker.
    """
    here = versions()
    able, unable, silent = set(), {}, set()
    for address, there in answers.items():
        if there == here:
            able.add(address)
        elif not isinstance(there, Exception):
            unable[address] = _difference(there, here)
        elif isinstance(there, OSError):
            silent.add(address)
        else:
            unable[address] = f"cannot load antipodes: {one_line(there)}"
    return able, unable, silent


def _difference(there: Mapping[str, str], here: Mapping[str, str]) -> str:
    different = [name for name in here if there.get(name) != here[name]]
    have = ", ".join(f"{name} {there.get(name)}" for name in different)
    want = ", ".join(f"{name} {here[name]}" for name in different)
    return f"has {have}; expected {want} as here"
