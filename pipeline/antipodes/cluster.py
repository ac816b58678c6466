"""A dask.distributed cluster as a scheduler: its workers come and go, and what is told of them is believed."""

import asyncio
import time
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from types import TracebackType
from typing import Any

from distributed import Client, KilledWorker, LocalCluster, wait
from distributed.client import FutureCancelledError, FuturesCancelledError

from antipodes.errands import Errands
from antipodes.errors import AntipodesError, InputError, WorkerFailedError
from antipodes.events import ClusterReady, Listener, WaitingForWorkers, WorkerRefused, silence
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
from antipodes.worker import WarmUp, named, versions

CONNECT_SECONDS = 10
"""After so long without a scheduler at the address, there is none; also where one was."""
POLL_SECONDS = 0.1
PRESENT = ("init", "running", "paused")
"""What the scheduler says of workers that are there, or are in a moment; the others are about to leave."""
WAIT_SECONDS = 1.0
"""So often it is asked whether all is well, while a result is waited for."""
REASON_SECONDS = 0.5
"""So long after it is known that a worker is gone, it is known why."""
PAUSED_SECONDS = 60
"""A worker that has no memory left may move results to its disk for so long, until it has."""
MEMORY_SHARE = 0.6
"""Of a worker's memory limit, what a run plans with: dask begins to move results to disk at that."""


class Cluster:
    """The workers of a client that someone else opened, and closes; results stay on the workers as futures."""

    shares_memory = False
    layers_at_once = RECENT
    keeps_history = True

    def __init__(self, client: Any) -> None:
        if not isinstance(client, Client) or client.asynchronous:
            raise InputError(f"expected a client of dask.distributed, not an asynchronous one; found {client!r}")
        self.client = client
        self.members: dict[str, Any] = {}
        """What dask knows of each worker that tasks are given to, by its address; neighbours on the same machine."""
        self._watch = Watch(client)
        self.listener: Listener = silence
        self._plugin: WarmUp | None = None
        self._refused: set[str] = set()

    def __enter__(self) -> "Cluster":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.client.status == "running":
            self._watch.close()
            if self._plugin:
                with suppress(OSError):  # of workers that cannot be reached
                    self.client.unregister_worker_plugin(self._plugin.name)

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

    def ready(self, listener: Listener, stop: Stop) -> bool:
        first, before, self.listener = not self.members, self.members.keys(), listener
        self._check_scheduler()
        while workers := self._await_workers(listener, stop):
            self._admit(workers, first)
            if self.members and self._workers_now().keys() - self._refused == self.members.keys():
                if self.members.keys() != before:
                    listener(ClusterReady(len(self.members), self.workers, dashboard_of(self.client)))
                return True
        return False

    def _check_scheduler(self) -> None:
        """Raise SchedulerError unless the scheduler has what we have: it unpacks the tasks that it hands on."""
        self._workers_now()  # which waits for a connection that is made again
        try:
            with translated():
                name = f"the dask scheduler at {self._identity(0)['address']}"
                there = self.client.run_on_scheduler(versions)
        except ImportError as error:
            raise SchedulerError(f"{name} cannot load antipodes: {_line(error)}") from error
        if there != versions():
            raise SchedulerError(f"{name} {_difference(there, versions())}")

    def _admit(self, workers: Mapping[str, Any], first: bool) -> None:
        """Have those of the workers take part that can; SchedulerError if at first there is another one."""
        able, skewed = self._examine(workers)
        if skewed and first:
            raise SchedulerError(next(iter(skewed.values())))
        for worker in skewed.keys() - self._refused:
            self.listener(WorkerRefused(skewed[worker]))
        self._refused |= skewed.keys()
        self.members = {address: workers[address] for address in sorted(able)}
        self._watch.begin(self.members.keys())
        if self._plugin and self.members:
            self._register(self._plugin)

    def prepare(self, call: Call) -> None:
        self._plugin = WarmUp(f"antipodes-{uuid.uuid4().hex}", call)
        self._register(self._plugin)

    def _register(self, plugin: WarmUp) -> None:
        with suppress(OSError):  # who cannot be reached any more is seen to be lost; the others have it
            self.client.register_plugin(plugin)

    def _await_workers(self, listener: Listener, stop: Stop) -> dict[str, Any]:
        told = False
        while not stop():
            workers = self._workers_now()
            if workers.keys() - self._refused:
                return workers
            if not told:
                listener(WaitingForWorkers())
                told = True
            time.sleep(POLL_SECONDS)
        return {}

    def _workers_now(self) -> dict[str, Any]:
        begin = time.monotonic()
        while self.client.status == "connecting" and time.monotonic() - begin < 2 * CONNECT_SECONDS:
            time.sleep(POLL_SECONDS)
        if self.client.status != "running":
            raise SchedulerLostError("the dask scheduler was lost")
        workers = self._identity(-1)["workers"]
        return {address: worker for address, worker in workers.items() if worker["status"] in PRESENT}

    def _identity(self, workers: int) -> dict[str, Any]:
        """What the scheduler says of itself and so many workers; `Client.scheduler_info` repeats what it once said."""
        if (scheduler := self.client.scheduler) is None:
            raise SchedulerLostError("the dask scheduler was lost")
        with translated():
            said: dict[str, Any] = self.client.sync(scheduler.identity, n_workers=workers)
        return said

    def _examine(self, workers: Mapping[str, Any]) -> tuple[list[str], dict[str, str]]:
        """The workers that can take part, and of those that cannot, why; who has left meanwhile is neither."""
        with translated():
            found = self.client.run(versions, workers=list(workers), on_error="return")
        able, skewed, here = [], {}, versions()
        for address, there in found.items():
            if there == here:
                able.append(address)
            elif not isinstance(there, Exception):
                skewed[address] = f"worker {address} {_difference(there, here)}"
            elif not isinstance(there, OSError):
                skewed[address] = f"worker {address} cannot load antipodes: {_line(there)}"
        return able, skewed

    def everywhere(self, call: Call) -> None:
        name = f"everywhere-{uuid.uuid4().hex}"
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
            handles += self._submit({key: calls[key] for key in own}, own, [worker])
        return dict(zip(keys, handles, strict=True))

    def persist(
        self, calls: Mapping[Key, Call], wanted: Sequence[Key] | None = None, done: Done | None = None
    ) -> dict[Key, Handle]:
        keys = list(calls if wanted is None else wanted)
        futures = self._submit(calls, keys, list(self.members))
        if done:
            for future in futures:
                future.add_done_callback(lambda ended: done(ended.key))
        return dict(zip(keys, futures, strict=True))

    def parts(self, part: Callable[[Any], Any], handles: Sequence[Handle]) -> list[Handle]:
        name = f"{part.__name__}-{uuid.uuid4().hex}"
        return list(self.persist({(name, number): (part, handle) for number, handle in enumerate(handles)}).values())

    def _submit(self, calls: Mapping[Key, Call], wanted: Sequence[Key], workers: Sequence[str]) -> list[Handle]:
        if not wanted:
            return []
        with translated():
            futures: list[Handle] = self.client.get(
                graph_of(calls, (named,)), list(wanted), workers=list(workers), sync=False
            )
        return futures

    def values(self, handles: Sequence[Handle]) -> list[Any]:
        with translated():
            results: list[Any] = self.client.sync(self._gather, list(handles))
        return results

    async def _gather(self, handles: list[Handle]) -> Any:
        gathering = asyncio.ensure_future(self.client.gather(handles, asynchronous=True))
        loss = asyncio.ensure_future(self._watch.loss())
        try:
            while not gathering.done() and not loss.done():
                await asyncio.wait({gathering, loss}, timeout=WAIT_SECONDS, return_when=asyncio.FIRST_COMPLETED)
                self._check_paused()
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
        try:
            import bokeh  # noqa: F401  (what dask draws its report with)
        except ImportError as error:
            raise InputError("--performance-report: expected bokeh; try pip install 'antipodes[dashboard]'") from error
        from distributed import performance_report

        with self.client.as_current(), performance_report(filename=page):
            yield

    def each(self, calls: Mapping[Key, Call], ended: Ended, stopped: Stop) -> None:
        Errands(self, calls, ended, stopped).run()

    def done_of(self, futures: Iterable[Handle]) -> list[Handle]:
        """Those of the futures whose tasks have ended, as soon as there is one, or none after a while."""
        with translated(), suppress(TimeoutError):
            wait(list(futures), timeout=WAIT_SECONDS, return_when="FIRST_COMPLETED")
        return [future for future in futures if future.status in ("finished", "error")]


@contextmanager
def translated() -> Iterator[None]:
    """Turn what distributed raises when it loses a scheduler or a worker, or gives up on a task, into our errors."""
    try:
        yield
    except KilledWorker as error:
        worker = error.last_worker.address
        raise WorkersLostError(f"worker {worker} died during a task that others had died of, too") from error
    except AntipodesError:
        raise
    except (FutureCancelledError, FuturesCancelledError, OSError) as error:
        raise SchedulerLostError(f"the connection to the dask scheduler was lost: {_line(error)}") from error


def _line(error: BaseException) -> str:
    return " ".join(str(error).split())


def _difference(there: Mapping[str, str], here: Mapping[str, str]) -> str:
    different = [name for name in here if there.get(name) != here[name]]
    have = ", ".join(f"{name} {there.get(name)}" for name in different)
    want = ", ".join(f"{name} {here[name]}" for name in different)
    return f"has {have}; expected {want} as here"


def dashboard_of(client: Any) -> str | None:
    """The address of dask's dashboard, None where it has none."""
    with translated():
        drawn = client.run_on_scheduler(_draws_dashboard)
    return str(client.dashboard_link) if drawn else None


def _draws_dashboard(dask_scheduler: Any) -> bool:
    """Whether there is a dashboard at the address that a scheduler gives for it even without one, or without bokeh."""
    return bool(dask_scheduler.http_application.applications)


@contextmanager
def local_cluster(workers: int) -> Iterator[Any]:
    """A client of so many processes on this machine, which end with it."""
    cluster = LocalCluster(
        n_workers=workers,
        threads_per_worker=1,
        dashboard_address=":0",
        silence_logs="ERROR",
        preload=["antipodes.worker"],
    )
    with cluster, connected(cluster) as client:
        yield client


@contextmanager
def connected(address: Any = None, scheduler_file: str | None = None) -> Iterator[Any]:
    """A client of the scheduler at an address, or the one that wrote a file; SchedulerError where none answers."""
    try:
        client = Client(address, scheduler_file=scheduler_file, timeout=f"{CONNECT_SECONDS}s")
    except (OSError, ValueError, TypeError) as error:  # the last from TLS that is not configured here
        place = address if scheduler_file is None else f"the address in {scheduler_file}"
        raise SchedulerError(f"no dask scheduler answers at {place}: {_line(error)}") from error
    with client:
        yield client
