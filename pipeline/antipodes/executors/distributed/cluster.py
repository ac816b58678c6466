"""The executor that runs tasks on the workers of a dask.distributed cluster, which may join and leave at any time."""

import stat
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from heapq import heapify, heapreplace
from importlib.util import find_spec
from itertools import accumulate
from pathlib import Path
from types import TracebackType
from typing import Any
from weakref import WeakKeyDictionary

from distributed import Client, performance_report

from antipodes.executors.api import Call, Channel, DescribeMisfit, Fits, Handle, Key, OnDone, OnResult, Stop, never_stop
from antipodes.executors.distributed.choice import capacity_of
from antipodes.executors.distributed.connection import announced, ask, one_line, timeouts
from antipodes.executors.distributed.membership import Membership
from antipodes.executors.distributed.peers import WorkerChannel
from antipodes.executors.distributed.storage_waits import WaitRelay
from antipodes.executors.distributed.tasks import TaskQueue, Tasks
from antipodes.system.events import Listener
from antipodes_tasks.base import arguments
from antipodes_tasks.base.errors import (
    ArgumentTypeError,
    InputError,
    SchedulerError,
    SchedulerSilentError,
    missing_package,
)
from antipodes_tasks.base.option_names import option

DRAW_SECONDS = 60.0
"""Seconds that a scheduler has to draw the page of dask's performance report."""


class Cluster:
    """The workers of a client, which its owner opens and closes. Handles are futures; results stay on the workers.

    A client serves one run and its listener at a time.
    """

    channel: Channel | None = WorkerChannel()
    shares_memory = False

    def __init__(self, client: Any, timeout: float | None = None) -> None:
        """Use the client; ``timeout`` is the number of seconds to wait for the scheduler, None means the default."""
        _check_client(client)
        timeouts[client] = timeout
        self.client = client
        self._membership = Membership(client)
        self._tasks = Tasks(client, self._membership)
        self._places: WeakKeyDictionary[Handle, tuple[str, int]] = WeakKeyDictionary()
        """The worker of each result with a place, and the number of workers that had left its address by then."""

    def __enter__(self) -> "Cluster":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        timeouts.pop(self.client, None)
        if self.client.status == "running":
            self._membership.close(tell_members=not isinstance(error, SchedulerSilentError))

    @property
    def members(self) -> dict[str, Any]:
        """Dask's description of each worker that gets tasks, by address."""
        return self._membership.members

    @property
    def workers(self) -> int:
        return self._membership.threads

    @property
    def processes(self) -> int:
        """Number of members; 1 before there are any."""
        return max(1, len(self.members))

    @property
    def memory(self) -> int | None:
        """Bytes that a run may take: a share of the smallest memory limit, times the number of members."""
        return capacity_of(self.members.values()).memory

    @property
    def workers_changed(self) -> bool:
        return self._membership.changed

    def wait_for_workers(self, listener: Listener, stop: Stop) -> bool:
        return self._membership.wait_for_workers(listener, stop)

    def relay_waits(self, run: str, tell: Callable[[str], None]) -> None:
        self._membership.watch.waits = WaitRelay(run, tell)

    def choose_workers(self, fits: Fits, describe_misfit: DescribeMisfit) -> None:
        self._membership.choose(fits, describe_misfit)

    def on_worker_start(self, call: Call) -> None:
        self._membership.first_call = call
        self._membership.warm_up()

    def run_on_all_workers(self, call: Call) -> None:
        name = f"on-all-workers-{uuid.uuid4().hex}"
        handles: list[Handle] = []
        for number, worker in enumerate(self.members):
            handles += self._tasks.submit_to(worker, {(name, number): call})
        self.gather(handles)

    def divide(self, items: Sequence[int], held: Mapping[str, int]) -> Mapping[str, Sequence[int]]:
        sizes = [(held.get(worker, 0), place) for place, worker in enumerate(self.members)]
        shares = [0] * len(sizes)
        heapify(sizes)
        for _ in items:
            size, place = sizes[0]
            heapreplace(sizes, (size + 1, place))
            shares[place] += 1
        ends = accumulate(shares)
        return {
            worker: items[end - share : end]
            for worker, share, end in zip(self.members, shares, ends, strict=True)
            if share
        }

    def threads_of(self, process: str) -> int:
        return int(self.members.get(process, {}).get("nthreads", 1))

    def holds(self, handle: Handle) -> bool:
        worker, departures = self._places[handle]
        return worker in self._membership.remaining and self._membership.watch.departures[worker] == departures

    def persist(
        self,
        calls: Mapping[Key, Call],
        on_done: OnDone | None = None,
        places: Mapping[Key, str] | None = None,
    ) -> dict[Key, Handle]:
        handles = dict(zip(calls, self._tasks.submit(calls, places), strict=True))
        for key, worker in (places or {}).items():
            self._places[handles[key]] = worker, self._membership.watch.departures[worker]
        for handle in handles.values() if on_done else ():
            handle.add_done_callback(lambda done: on_done(done.key) if on_done and done.status == "finished" else None)
        return handles

    def gather(self, handles: Sequence[Handle], stop: Stop = never_stop) -> list[Any]:
        return self._tasks.gather(handles, stop)

    def run_unordered(self, calls: Mapping[Key, Call], on_result: OnResult, stop: Stop) -> int:
        queue = TaskQueue(self._membership, self._tasks, calls, on_result, stop)
        queue.run()
        return queue.losses

    @contextmanager
    def performance_report(self, page: str | None) -> Iterator[None]:
        if page is None:
            yield
            return
        _check_page(Path(page))
        report: Any = performance_report(filename=page)
        with self.client.as_current():
            ask(self.client, report.__aenter__)
            try:
                yield
            except SchedulerSilentError:
                raise
            except Exception:  # this error matters more than an error of the page
                with suppress(Exception):
                    self._write(report)
                raise
            try:
                self._write(report)
            except OSError as error:
                reason = error.strerror or one_line(error) or "no answer"
                raise SchedulerError(f"cannot write {page}: {reason}") from error

    def _write(self, report: Any) -> None:
        with announced(self._membership.listener, "dask's report"):
            self.client.sync(report.__aexit__, None, None, None, code="", callback_timeout=DRAW_SECONDS)


def _check_client(client: Any) -> None:
    """Raise InputError unless a run can use the client."""
    if not isinstance(client, Client):
        expected = "a scheduler, such as Threads(2), or a client of dask.distributed"
        raise ArgumentTypeError(f"expected {expected}, found {arguments.found(client)}")
    if client.asynchronous:
        raise InputError(f"the client {client!r} is asynchronous; open it with asynchronous=False")
    if client.status in ("closing", "closed"):
        raise InputError(f"the client {client!r} is closed")
    if client in timeouts:
        raise InputError(f"the client {client!r} is in use by another run; open a client for each run")


def _check_page(page: Path) -> None:
    """Raise InputError unless dask's report can be drawn and written to this page."""
    if find_spec("bokeh") is None:  # dask uses bokeh to draw the report
        raise missing_package(option("performance_report"), "bokeh", "dashboard")
    if not _is_place(page):
        raise InputError(f"{option('performance_report')}: cannot write {page}; name a file in an existing folder")


def _is_place(page: Path) -> bool:
    """Return whether a file can be written here; a pipe is refused because it blocks if nothing reads from it."""
    try:
        mode = page.stat().st_mode
    except FileNotFoundError:
        return page.parent.is_dir()
    except OSError:  # the system does not accept the name
        return False
    return not (stat.S_ISDIR(mode) or stat.S_ISFIFO(mode))
