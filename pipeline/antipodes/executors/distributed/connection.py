"""Connections to dask schedulers: made, lost and made again, and what dask raises about it in our words.

Every wait for a scheduler has an end here, and what takes longer than a moment is said to a listener.
"""

import asyncio
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import dask.config
from distributed import Client, KilledWorker, LocalCluster
from distributed.client import FutureCancelledError, FuturesCancelledError

from antipodes.errors import AntipodesError, SchedulerError, SchedulerLostError, SchedulerSilentError, WorkersLostError
from antipodes.events import Listener, Waiting, silence
from antipodes.executors.distributed.local import scratch_folder
from antipodes.executors.distributed.scheduler_file import address_in

CONNECT_SECONDS = 10.0
"""After so many seconds without an answer from the address of a scheduler, there is none; also where one was."""
ANSWER_SECONDS, LOAD_SECONDS = 10.0, 20.0
"""Seconds in which a scheduler has to answer a question, and the first one, for which it loads our modules."""
TELL_SECONDS = 3.0
"""A wait that takes longer than this is said."""
NOTICE_SECONDS = 2.0
"""Seconds in which scheduler and workers have to take note that a run begins or ends."""
POLL_SECONDS = 0.1
RESTARTED = "scheduler-restart"
"""The reason that dask gives for a task which `Client.restart` ended."""


@contextmanager
def telling(listener: Listener, what: str) -> Iterator[None]:
    """Say what is waited for if that takes longer than a moment. What the listener raises is raised after the wait."""
    raised: list[BaseException] = []

    def tell() -> None:
        try:
            listener(Waiting(what))
        except BaseException as error:  # in this thread it would stop nobody, and Python would show a traceback
            raised.append(error)

    timer = threading.Timer(TELL_SECONDS, tell)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        timer.join()  # a listener that has begun says nothing more once the wait is over
    if raised:
        raise raised[0]


@contextmanager
def local_cluster(workers: int, listener: Listener = silence) -> Iterator[Any]:
    """A client of this many processes on this machine, which end with it; SchedulerError where they do not start."""
    with scratch_folder() as folder, dask.config.set({"temporary-directory": str(folder)}):  # the scheduler's, too
        try:
            with telling(listener, f"{workers} processes to start"):
                cluster = LocalCluster(
                    n_workers=workers,
                    threads_per_worker=1,
                    dashboard_address=":0",
                    silence_logs="ERROR",
                    preload=["antipodes.executors.distributed.worker"],
                    local_directory=str(folder),
                )
        except Exception as error:  # of a process that ends before it has begun
            raise SchedulerError(f"cannot start {workers} processes: {one_line(error)}") from error
        with cluster, _closing(Client(cluster)) as client:
            yield client


@contextmanager
def connected(
    address: str | None = None, scheduler_file: str | None = None, listener: Listener = silence
) -> Iterator[Any]:
    """A client of the scheduler at an address, or the one that wrote a file.

    Raises
    ------
    InputError
        The file is not one that a scheduler writes.
    SchedulerError
        There is no file, or no scheduler answers.
    """
    place = address or f"the address in {scheduler_file}"
    if scheduler_file is not None:
        with telling(listener, f"a dask scheduler to write {scheduler_file}"):
            address = address_in(scheduler_file, CONNECT_SECONDS)
    try:
        with telling(listener, f"the dask scheduler at {address} to answer"):
            client = _Client(address, timeout=f"{CONNECT_SECONDS}s")
    except Exception as error:  # also what dask makes of the answers of something that is no scheduler, or of our TLS
        raise SchedulerError(f"no dask scheduler answers at {place}: {one_line(error) or 'no answer'}") from error
    with _closing(client):
        yield client


class _Client(Client):
    """A client that gives up connecting in time: dask waits for the other side's greeting without an end."""

    async def _ensure_connected(self, timeout: Any = None) -> None:
        await asyncio.wait_for(super()._ensure_connected(timeout), timeout)


_abandoned: list[Any] = []
"""Clients that could not be closed in time. dask closes a client again when it is garbage-collected, and hangs for ever
if that happens while another client starts: these are never collected."""


@contextmanager
def _closing(client: Any) -> Iterator[Any]:
    """Close the client in the end; a scheduler that does not answer is not waited for."""
    try:
        yield client
    finally:
        try:
            client.close(timeout=NOTICE_SECONDS)
        except TimeoutError:
            _abandoned.append(client)


def ask(client: Any, question: Callable[..., Any], *arguments: Any, seconds: float | None = None, **named: Any) -> Any:
    """The answer to a question that a client, or what it knows of its scheduler, asks in a coroutine.

    Raises
    ------
    SchedulerSilentError
        No answer came in time: within `ANSWER_SECONDS` unless told otherwise.
    """
    seconds = ANSWER_SECONDS if seconds is None else seconds
    with translated(client):
        try:
            return client.sync(question, *arguments, callback_timeout=seconds, **named)
        except TimeoutError as error:
            raise silent(seconds) from error


def silent(seconds: float) -> SchedulerSilentError:
    """The error for a scheduler that has not answered for this long."""
    return SchedulerSilentError(f"the dask scheduler has not answered for {seconds:.0f} seconds")


def identity(client: Any, workers: int, listener: Listener = silence) -> dict[str, Any]:
    """What the scheduler says of itself and this many workers, -1 for all; if the connection is lost, once it is back.

    `Client.scheduler_info` would repeat what the scheduler once said.
    """
    begin = time.monotonic()
    with telling(listener, "the dask scheduler to answer"):
        while client.status == "connecting" and time.monotonic() - begin < 2 * CONNECT_SECONDS:
            time.sleep(POLL_SECONDS)
        scheduler = client.scheduler
        if client.status != "running" or scheduler is None:
            raise lost(client)
        said: dict[str, Any] = ask(client, scheduler.identity, n_workers=workers)
    return said


@contextmanager
def translated(client: Any) -> Iterator[None]:
    """Turn what a client raises when it loses a scheduler or a worker, or gives up on a task, into our errors."""
    try:
        yield
    except KilledWorker as error:
        worker = error.last_worker.address
        raise WorkersLostError(f"worker {worker} died during a task that others had died of, too") from error
    except AntipodesError:
        raise
    except (FutureCancelledError, FuturesCancelledError, OSError) as error:
        if RESTARTED in str(error):
            raise SchedulerLostError("the cluster was restarted, and has forgotten the tasks") from error
        system = getattr(error, "strerror", None)  # what dask itself says names its own objects
        because = f": {system}" if system else ""
        raise SchedulerLostError(f"the connection to the dask scheduler was lost{because}") from error
    except Exception as error:
        if client.status in ("closing", "closed"):  # it gave up, and half of it is gone: what it raises is arbitrary
            raise lost(client) from error
        raise


def lost(client: Any) -> SchedulerLostError:
    """The error for a client that is closed, by its user or since it found no scheduler any more."""
    closed = client.status in ("closing", "closed") and not isinstance(client, _Client)
    return SchedulerLostError(f"the dask scheduler was lost{', or the client was closed' if closed else ''}")


def one_line(error: BaseException) -> str:
    """What an error says."""
    return " ".join(str(error).split())


def dashboard_of(client: Any) -> str | None:
    """The address of dask's dashboard, None where it has none."""
    return str(client.dashboard_link) if ask(client, client.run_on_scheduler, _draws_dashboard) else None


def _draws_dashboard(dask_scheduler: Any) -> bool:
    """Whether there is a dashboard at the address that a scheduler gives for it even without one, or without bokeh."""
    return bool(dask_scheduler.http_application.applications)
