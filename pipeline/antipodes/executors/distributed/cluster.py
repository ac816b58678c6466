"""A dask.distributed cluster as a scheduler: tasks for its workers, which come and go."""

import asyncio
import logging
import math
import time
import uuid
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Any
from weakref import WeakSet

from distributed import Client, wait

from antipodes.errors import (
    AntipodesError,
    InputError,
    InterruptedRunError,
    SchedulerLostError,
    SchedulerSilentError,
    WorkerFailedError,
    WorkersLostError,
)
from antipodes.events import Listener, silence
from antipodes.executors.api import WORKER_SHARE, Call, Done, Ended, Handle, Key, Stop, graph_of, never
from antipodes.executors.distributed.allocator import give_back_freed_memory
from antipodes.executors.distributed.connection import NOTICE_SECONDS, one_line, translated
from antipodes.executors.distributed.heartbeat import BEAT_SECONDS, Pulse
from antipodes.executors.distributed.membership import Membership
from antipodes.executors.distributed.performance_page import reporting
from antipodes.executors.distributed.task_queue import Errands
from antipodes.executors.distributed.watch import Watch
from antipodes.executors.distributed.worker import begin_run, end_run, named
from antipodes.sizes import human

REASON_SECONDS = 0.5
"""So long after it is known that a worker is gone, it is known why."""
PAUSED_SECONDS = 60
"""A worker that has no memory left may move results to its disk for so long, until it has."""
logger = logging.getLogger(__name__)
_in_use: WeakSet[Any] = WeakSet()
"""Clients that a run has: each tells one listener what happens."""


class Cluster:
    """The workers of a client that someone else opened, and closes; results stay on the workers as futures."""

    shares_memory = False

    def __init__(self, client: Any) -> None:
        if not isinstance(client, Client) or client.asynchronous:
            raise InputError(f"expected a client of dask.distributed, not an asynchronous one; found {client!r}")
        if client.status in ("closing", "closed"):
            raise InputError(f"expected a client that is open, found {client!r}, which is closed")
        if client in _in_use:
            raise InputError(f"expected a client of its own for each run, found {client!r} in use")
        _in_use.add(client)
        self.client = client
        self.listener: Listener = silence
        self._watch = Watch(client)
        self._membership = Membership(client, self._watch)
        self._pulse = Pulse(client)
        self._run = uuid.uuid4().hex
        self._first_call: Call | None = None
        """What each worker does before its first task."""
        self._relieved: set[str] = set()
        """Paused workers that were asked to give memory back."""
        self._reliefs: set[asyncio.Future[Any]] = set()
        self._awaited: set[str] = set()
        """Workers to which tasks were given that nobody else may do."""

    def __enter__(self) -> "Cluster":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        _in_use.discard(self.client)
        if self.client.status == "running":
            self._membership.close()
            self._watch.close()
            if self._first_call and not isinstance(error, SchedulerSilentError):
                self._tell_members(end_run, self._run)

    @property
    def members(self) -> dict[str, Any]:
        """What dask knows of each worker that tasks are given to, by its address."""
        return self._membership.members

    @property
    def workers(self) -> int:
        return max(1, sum(int(worker["nthreads"]) for worker in self.members.values()))

    @property
    def processes(self) -> int:
        return max(1, len(self.members))

    @property
    def memory(self) -> int | None:
        limits = [worker["memory_limit"] for worker in self.members.values() if worker["memory_limit"]]
        return int(WORKER_SHARE * len(self.members) * min(limits)) if limits else None

    @property
    def changed(self) -> bool:
        return self._watch.changed

    @property
    def lost(self) -> bool:
        """Whether one of the workers that `ready` found is gone, and results or tasks with it."""
        return bool(self._watch.lost)

    @property
    def remaining(self) -> set[str]:
        """The members that `ready` found and that are still there."""
        return self.members.keys() - self._watch.left - set(self._watch.lost)

    def ready(self, listener: Listener, stop: Stop) -> bool:
        self.listener = listener
        if not self._membership.renew(listener, stop):
            return False
        self._tell_beginning()
        return True

    def on_worker_start(self, call: Call) -> None:
        self._first_call = call
        self._tell_beginning()

    def _tell_beginning(self) -> None:
        """Have the members warm up while the run goes on."""
        if self._first_call:
            self._tell_members(begin_run, self._run, self._first_call, wait=False)

    def _tell_members(self, function: Callable[..., Any], *arguments: Any, **named: Any) -> None:
        """Run a function on each member that answers in time; errors are logged, since tasks meet what matters."""
        try:
            with translated(self.client):
                tell: Any = partial(self.client.run, function, *arguments, workers=list(self.members), **named)
                self.client.sync(tell, callback_timeout=NOTICE_SECONDS)
        except Exception as error:
            if self.client.status != "running":
                raise
            logger.info("not every worker could %s: %r", function.__name__, error)

    def run_on_all_workers(self, call: Call) -> None:
        name = f"everywhere-{uuid.uuid4().hex}"
        self._awaited.update(self.members)
        handles = [
            handle
            for number, worker in enumerate(self.members)
            for handle in self._submit({(name, number): call}, [(name, number)], [worker])
        ]
        self.gather(handles)

    def submit(self, calls: Mapping[Key, Call]) -> dict[Key, Handle]:
        keys, handles = list(calls), []
        for place, worker in enumerate(self.members):
            first, end = (len(keys) * edge // len(self.members) for edge in (place, place + 1))
            own = keys[first:end]
            self._awaited.update([worker] if own else [])
            handles += self._submit({key: calls[key] for key in own}, own, [worker])
        return dict(zip(keys, handles, strict=True))

    def persist(
        self, calls: Mapping[Key, Call], wanted: Sequence[Key] | None = None, done: Done | None = None
    ) -> dict[Key, Handle]:
        keys = list(calls if wanted is None else wanted)
        futures = self._submit(calls, keys, list(self.members))
        if done:
            for future in futures:
                future.add_done_callback(lambda ended: done(ended.key) if ended.status == "finished" else None)
        return dict(zip(keys, futures, strict=True))

    def map(self, part: Callable[[Any], Any], handles: Sequence[Handle]) -> list[Handle]:
        name = f"{part.__name__}-{uuid.uuid4().hex}"
        return list(self.persist({(name, number): (part, handle) for number, handle in enumerate(handles)}).values())

    def _submit(self, calls: Mapping[Key, Call], wanted: Sequence[Key], workers: Sequence[str]) -> list[Handle]:
        if not wanted:
            return []
        with translated(self.client):
            futures: list[Handle] = self.client.get(
                graph_of(calls, (named,)), list(wanted), workers=list(workers), sync=False
            )
        return futures

    def gather(self, handles: Sequence[Handle], stop: Stop = never) -> list[Any]:
        try:
            with translated(self.client):
                results: list[Any] = self.client.sync(self._gather, list(handles), stop)
        except AntipodesError:
            raise
        except Exception as error:  # of a task that did not even begin, such as one that a worker cannot unpack
            raise WorkerFailedError(f"a task failed: {type(error).__name__}: {one_line(error)}") from error
        finally:
            self._awaited.clear()
        return results

    async def _gather(self, handles: list[Handle], stop: Stop) -> Any:
        gathering = asyncio.ensure_future(self.client.gather(handles, asynchronous=True))
        loss = asyncio.ensure_future(self._watch.loss())
        try:
            while not gathering.done() and not loss.done():
                await asyncio.wait({gathering, loss}, timeout=BEAT_SECONDS, return_when=asyncio.FIRST_COMPLETED)
                self._check_connection()
                self._check_left()
                self._relieve()
                if not gathering.done():
                    if stop():
                        await self.client.cancel(handles, asynchronous=True)
                        raise InterruptedRunError("interrupted before the workers completed their first tasks")
                    self._check_paused(any)
                    self._pulse.beat(self.members.keys(), self.listener)
            if loss.done():
                await self._tell_loss()
            return await gathering
        finally:
            self._pulse.stop()
            loss.cancel()
            gathering.cancel()

    async def _check_idle(self) -> None:
        """Raise an error if no task may end any more; those that do not depend on each other can do with one worker."""
        self._relieve()
        self._check_paused(all)
        self._pulse.beat(self.members.keys(), self.listener)

    def _relieve(self) -> None:
        """Have workers that were just paused give freed memory back."""
        for worker in self._watch.paused.keys() - self._relieved:
            relief = asyncio.ensure_future(self.client.run(give_back_freed_memory, workers=[worker], on_error="ignore"))
            self._reliefs.add(relief)  # asyncio itself would not keep it
            relief.add_done_callback(self._end_relief)
        self._relieved = set(self._watch.paused)

    def _end_relief(self, relief: asyncio.Future[Any]) -> None:
        self._reliefs.discard(relief)
        if not relief.cancelled() and (error := relief.exception()):  # asyncio would show one that nobody asked for
            logger.info("a paused worker could not be asked to give memory back: %r", error)

    async def _tell_loss(self) -> None:
        await asyncio.sleep(REASON_SECONDS)
        lost = self._watch.lost
        starved = [worker for worker in lost if worker in self._watch.starved]
        if starved:
            raise WorkerFailedError(
                f"worker {starved[0]} exceeded its memory limit of {self._limit_of(starved[0])} and was stopped: "
                "give workers more memory, or add workers"
            )
        raise WorkersLostError(", ".join(f"worker {worker}" for worker in lost))

    def _check_connection(self) -> None:
        """Raise SchedulerLostError if tasks may have gone to a scheduler that knows nothing of those before."""
        if self._watch.connected_anew:
            raise SchedulerLostError("the connection to the dask scheduler was lost")

    def _check_left(self) -> None:
        """Raise WorkersLostError if workers left, without taking anything along, that are waited for all the same."""
        left = self._watch.left
        if left & self._awaited or left >= self.members.keys():
            raise WorkersLostError(", ".join(f"worker {worker}" for worker in sorted(left)))

    def _check_paused(self, quantity: Callable[[Iterable[bool]], bool]) -> None:
        """Raise WorkerFailedError if any, or all, of the members have been paused for too long."""
        since = self._watch.paused
        overdue = [time.monotonic() - since.get(worker, math.inf) > PAUSED_SECONDS for worker in self.members]
        if quantity(overdue):
            worker = list(self.members)[overdue.index(True)]
            raise WorkerFailedError(
                f"worker {worker} has begun no task for {PAUSED_SECONDS} seconds: its memory limit of "
                f"{self._limit_of(worker)} is nearly used up; give workers more memory, or add workers"
            )

    def _limit_of(self, worker: str) -> str:
        return human(self.members[worker]["memory_limit"])

    def reporting(self, page: str | None) -> AbstractContextManager[None]:
        return nullcontext() if page is None else reporting(self.client, Path(page), lambda: self.listener)

    def run_unordered(self, calls: Mapping[Key, Call], ended: Ended, stopped: Stop) -> None:
        Errands(self, calls, ended, stopped).run()

    def done_of(self, futures: Iterable[Handle]) -> list[Handle]:
        """Those of the futures whose tasks have ended, as soon as there is one, or none after a while."""
        with translated(self.client), suppress(TimeoutError):
            wait(list(futures), timeout=BEAT_SECONDS, return_when="FIRST_COMPLETED")
        done = [future for future in futures if future.status in ("finished", "error")]
        if not done:
            with translated(self.client):
                self.client.sync(self._check_idle)
        return done
