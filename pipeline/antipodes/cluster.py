"""A dask.distributed cluster as a scheduler: tasks for its workers, which come and go."""

import asyncio
import logging
import time
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from types import TracebackType
from typing import Any
from weakref import WeakSet

from dask.base import tokenize
from distributed import Client, wait

from antipodes.connection import translated
from antipodes.errands import Errands
from antipodes.errors import InputError, WorkerFailedError
from antipodes.events import Listener, silence
from antipodes.membership import Membership
from antipodes.partition import RECENT
from antipodes.plan import human
from antipodes.scheduler import (
    Call,
    Done,
    Ended,
    Handle,
    Key,
    SchedulerError,
    SchedulerLostError,
    Stop,
    WorkersLostError,
    graph_of,
)
from antipodes.watch import Watch
from antipodes.worker import WarmUp, named

WAIT_SECONDS = 1.0
"""So often it is asked whether all is well, while a result is waited for."""
REASON_SECONDS = 0.5
"""So long after it is known that a worker is gone, it is known why."""
PAUSED_SECONDS = 60
"""A worker that has no memory left may move results to its disk for so long, until it has."""
FAREWELL_SECONDS = 2
"""So long workers have to answer when a run ends."""
MEMORY_SHARE = 0.6
"""Of a worker's memory limit, what a run plans with: dask begins to move results to disk at that."""
logger = logging.getLogger(__name__)
_in_use: WeakSet[Any] = WeakSet()
"""Clients that a run has: each tells one listener what happens."""


class Cluster:
    """The workers of a client that someone else opened, and closes; results stay on the workers as futures."""

    shares_memory = False
    layers_at_once = RECENT
    keeps_history = True

    def __init__(self, client: Any) -> None:
        if not isinstance(client, Client) or client.asynchronous:
            raise InputError(f"expected a client of dask.distributed, not an asynchronous one; found {client!r}")
        if client in _in_use:
            raise InputError(f"expected a client of its own for each run, found {client!r} in use")
        _in_use.add(client)
        self.client = client
        self.listener: Listener = silence
        self._watch = Watch(client)
        self._membership = Membership(client, self._watch)
        self._plugin: WarmUp | None = None
        self._awaited: set[str] = set()
        """Workers to which tasks were given that nobody else may do."""

    def __enter__(self) -> "Cluster":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        _in_use.discard(self.client)
        if self.client.status == "running":
            self._watch.close()
            self._unregister()

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
        limits = [worker["memory_limit"] for worker in self.members.values()]
        return int(MEMORY_SHARE * sum(limits)) if limits and all(limits) else None

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
        self._register()
        return True

    def prepare(self, call: Call) -> None:
        self._unregister()
        self._plugin = WarmUp(f"antipodes-{tokenize(call)}", call)
        self._register()

    def _register(self) -> None:
        """Have the workers, and those to come, warm up; dask asks all there are, also those that do not take part."""
        if self._plugin:
            with translated(self.client), self._some_workers_may_fail("warm up"):
                self.client.register_plugin(self._plugin)

    def _unregister(self) -> None:
        """Have no more workers warm up; one that does not answer is not waited for."""
        if self._plugin:
            with translated(self.client), self._some_workers_may_fail("forget to warm up"):
                scheduler: Any = self.client.scheduler
                forget = scheduler.unregister_worker_plugin
                self.client.sync(forget, name=self._plugin.name, callback_timeout=FAREWELL_SECONDS)

    @contextmanager
    def _some_workers_may_fail(self, what: str) -> Iterator[None]:
        """Log errors: dask passes on what any worker raised, such as one that was refused; the others obeyed."""
        try:
            yield
        except Exception as error:
            if self.client.status != "running":
                raise
            logger.info("not every worker could %s: %r", what, error)

    def everywhere(self, call: Call) -> None:
        name = f"everywhere-{uuid.uuid4().hex}"
        self._awaited.update(self.members)
        handles = [
            handle
            for number, worker in enumerate(self.members)
            for handle in self._submit({(name, number): call}, [(name, number)], [worker])
        ]
        self.values(handles)

    def spread(self, calls: Mapping[Key, Call]) -> dict[Key, Handle]:
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

    def parts(self, part: Callable[[Any], Any], handles: Sequence[Handle]) -> list[Handle]:
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

    def values(self, handles: Sequence[Handle]) -> list[Any]:
        try:
            with translated(self.client):
                results: list[Any] = self.client.sync(self._gather, list(handles))
        finally:
            self._awaited.clear()
        return results

    async def _gather(self, handles: list[Handle]) -> Any:
        gathering = asyncio.ensure_future(self.client.gather(handles, asynchronous=True))
        loss = asyncio.ensure_future(self._watch.loss())
        try:
            while not gathering.done() and not loss.done():
                await asyncio.wait({gathering, loss}, timeout=WAIT_SECONDS, return_when=asyncio.FIRST_COMPLETED)
                self._check_connection()
                self._check_paused()
                self._check_left()
            if loss.done():
                await self._tell_loss()
            return await gathering
        finally:
            loss.cancel()
            gathering.cancel()

    async def _tell_loss(self) -> None:
        await asyncio.sleep(REASON_SECONDS)
        lost = self._watch.lost
        starved = [worker for worker in lost if worker in self._watch.starved]
        if starved:
            raise WorkerFailedError(
                f"worker {starved[0]} was stopped, since it took more memory than the {self._limit_of(starved[0])} "
                "that it may: give workers more, or have more workers"
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

    def _check_paused(self) -> None:
        for worker, since in self._watch.paused.items():
            if time.monotonic() - since > PAUSED_SECONDS:
                raise WorkerFailedError(
                    f"worker {worker} has begun no task for {PAUSED_SECONDS} seconds, since it has too little left "
                    f"of its {self._limit_of(worker)} of memory: give workers more, or have more workers"
                )

    def _limit_of(self, worker: str) -> str:
        return human(self.members[worker]["memory_limit"])

    @contextmanager
    def reporting(self, page: str | None) -> Iterator[None]:
        if page is None:
            yield
            return
        _check_page(Path(page))
        from distributed import performance_report

        own: BaseException | None = None
        try:
            with self.client.as_current(), performance_report(filename=page):
                try:
                    yield
                except BaseException as error:
                    own = error
                    raise
        except Exception as error:  # what the run itself raised matters more than what dask makes of it
            if own is not None and error is not own:
                raise own from None
            if isinstance(error, OSError) and own is None:
                raise SchedulerError(f"cannot write {page}: {error.strerror or error}") from error
            raise

    def each(self, calls: Mapping[Key, Call], ended: Ended, stopped: Stop) -> None:
        Errands(self, calls, ended, stopped).run()

    def done_of(self, futures: Iterable[Handle]) -> list[Handle]:
        """Those of the futures whose tasks have ended, as soon as there is one, or none after a while."""
        with translated(self.client), suppress(TimeoutError):
            wait(list(futures), timeout=WAIT_SECONDS, return_when="FIRST_COMPLETED")
        return [future for future in futures if future.status in ("finished", "error")]


def _check_page(page: Path) -> None:
    """Raise InputError unless dask's report can be drawn and put there."""
    try:
        import bokeh  # noqa: F401  (what dask draws its report with)
    except ImportError as error:
        raise InputError("--performance-report: expected bokeh; try pip install 'antipodes[dashboard]'") from error
    if not page.parent.is_dir() or page.is_dir():
        raise InputError(f"--performance-report: expected the name of a file in a folder that exists, found {page}")
