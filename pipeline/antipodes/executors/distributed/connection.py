"""Connections to dask schedulers: opened, asked, lost and closed; and the cluster of processes on this machine.

Every wait for a scheduler is bounded, a listener is told of long ones, and dask's errors are translated into ours.
"""

import asyncio
import fcntl
import shutil
import signal
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from multiprocessing import resource_tracker
from pathlib import Path
from typing import Any

import dask.config
from distributed import Client, KilledWorker, LocalCluster
from distributed.client import FutureCancelledError, FuturesCancelledError
from distributed.utils import LoopRunner

from antipodes.events import Listener, Waiting, silence
from antipodes.regular_file import open_file
from antipodes_tasks.errors import (
    AntipodesError,
    SchedulerError,
    SchedulerLostError,
    SchedulerSilentError,
    WorkersLostError,
)

ANNOUNCE_SECONDS = 3.0
"""Seconds that a wait lasts before the listener is told of it."""
CONNECT_SECONDS = 10.0
"""Seconds to wait for an answer from the address of a scheduler, and for a lost scheduler to come back."""
ANSWER_SECONDS = 10.0
"""Seconds that a scheduler has for an answer."""
NOTICE_SECONDS = 2.0
"""Seconds that the scheduler and the workers have to take note of the start or the end of a run."""
POLL_SECONDS = 0.1
"""Seconds between two looks at the state of a connection."""
RESTARTED = "scheduler-restart"
"""The reason that dask gives for a task which `Client.restart` ended."""
PREFIX = "antipodes-scratch-"
LOCK = "lock"
"""The file in each scratch folder that its run locks for as long as the run lives."""
STOPPING = (signal.SIGINT, signal.SIGTERM)
"""The signals of a terminal or a batch system, which go to all processes of a run; only this process acts on them."""
LEFTOVERS = "ignore::UserWarning:multiprocessing.resource_tracker"
"""The filter for the warning of Python's resource tracker that it cleans up after a process that stops immediately."""


@contextmanager
def announced(listener: Listener, what: str) -> Iterator[None]:
    """Tell the listener of a wait that takes long; an error of the listener is raised after the wait."""
    raised: list[BaseException] = []

    def report_result() -> None:
        try:
            listener(Waiting(what))
        except BaseException as error:  # in this thread it would stop nothing, and Python would show a traceback
            raised.append(error)

    timer = threading.Timer(ANNOUNCE_SECONDS, report_result)
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
def connected(address: str, listener: Listener = silence, place: str = "") -> Iterator[Any]:
    """Open a client of the scheduler at an address, which a message calls ``place``; SchedulerError if none answers."""
    try:
        with announced(listener, f"the dask scheduler at {address} to answer"):
            client = _OwnClient(address, timeout=f"{CONNECT_SECONDS}s", set_as_default=False)
    except Exception as error:  # also what dask makes of the answers of other programs, or of our TLS settings
        reason = one_line(error) or "no answer"
        raise SchedulerError(f"no dask scheduler answers at {place or address}: {reason}") from error
    with _closing(client):
        yield client


class _OwnClient(Client):
    """A client that this program opens. It stops connecting in time; dask waits for a greeting without a limit."""

    async def _ensure_connected(self, timeout: Any = None) -> None:
        try:
            await asyncio.wait_for(super()._ensure_connected(timeout), timeout)
        except (OSError, ImportError):
            raise
        except Exception as error:  # dask closes a client that cannot connect only after errors of those kinds
            raise OSError(one_line(error)) from error


_abandoned: list[Any] = []
"""Clients that could not be closed in time. dask closes a client again when it is garbage-collected, and hangs forever
if that happens while another client starts: these are never collected."""


@contextmanager
def _closing(client: Any) -> Iterator[None]:
    """Close the client in the end, without waiting for a scheduler that does not answer."""
    try:
        yield
    finally:
        try:
            client.close(timeout=NOTICE_SECONDS)
        except TimeoutError:
            _abandoned.append(client)


@contextmanager
def translated(client: Any) -> Iterator[None]:
    """Turn the errors of a client that loses its scheduler or a worker, or gives up a task, into ours."""
    try:
        yield
    except KilledWorker as error:
        raise WorkersLostError(f"one task killed several workers, last {error.last_worker.address}") from error
    except AntipodesError:
        raise
    except (FutureCancelledError, FuturesCancelledError, OSError) as error:
        if RESTARTED in str(error):
            raise SchedulerLostError("the cluster was restarted, and has forgotten the tasks") from error
        system = getattr(error, "strerror", None)  # dask's own messages name objects of dask
        because = f": {system}" if system else ""
        raise SchedulerLostError(f"the connection to the dask scheduler was lost{because}") from error
    except Exception as error:
        if client.status in ("closing", "closed"):  # a client that gave up is half closed, and raises anything
            raise _lost(client) from error
        raise


def _lost(client: Any) -> SchedulerLostError:
    """Return the error for a client that is closed, by its user or because it lost its scheduler."""
    closed = client.status in ("closing", "closed") and not isinstance(client, _OwnClient)
    return SchedulerLostError(f"the dask scheduler was lost{', or the client was closed' if closed else ''}")


def silent(seconds: float) -> SchedulerSilentError:
    """Return the error for a scheduler that has not answered for this many seconds."""
    return SchedulerSilentError(f"the dask scheduler has not answered for {seconds:.0f} seconds")


def one_line(error: BaseException) -> str:
    """Return the message of an error in one line."""
    return " ".join(str(error).split())


def ask(client: Any, request: Callable[..., Any], *arguments: Any, seconds: float | None = None, **named: Any) -> Any:
    """Return the answer to a request, a coroutine function of a client or of its connection to the scheduler.

    SchedulerSilentError where no answer came in time: within `ANSWER_SECONDS` by default.
    """
    seconds = ANSWER_SECONDS if seconds is None else seconds
    with translated(client):
        try:
            return client.sync(request, *arguments, callback_timeout=seconds, **named)
        except TimeoutError as error:
            raise silent(seconds) from error


def identity(client: Any, workers: int, listener: Listener = silence) -> dict[str, Any]:
    """Return the scheduler's description of itself and of this many workers, -1 for all.

    A lost connection is waited for. `Client.scheduler_info` would repeat an earlier description.
    """
    begin = time.monotonic()
    with announced(listener, "the dask scheduler to answer"):
        while client.status == "connecting" and time.monotonic() - begin < 2 * CONNECT_SECONDS:
            time.sleep(POLL_SECONDS)
        scheduler = client.scheduler
        if client.status != "running" or scheduler is None:
            raise _lost(client)
        described: dict[str, Any] = ask(client, scheduler.identity, n_workers=workers)
    return described


def dashboard_of(client: Any) -> str | None:
    """Return the address of dask's dashboard, None if there is none."""
    return str(client.dashboard_link) if ask(client, client.run_on_scheduler, _has_dashboard) else None


def _has_dashboard(dask_scheduler: Any) -> bool:
    """On a scheduler: whether it serves a dashboard; its address is known even without one, or without bokeh."""
    return bool(dask_scheduler.http_application.applications)


@contextmanager
def local_cluster(workers: int, listener: Listener = silence) -> Iterator[Any]:
    """Open a client of N new processes on this machine, which end with it; SchedulerError if they do not start."""
    with (
        scratch_folder() as folder,
        dask.config.set({"temporary-directory": str(folder)}),  # the scheduler's, too
        _deaf_loop() as loop,
    ):
        try:
            with announced(listener, f"{workers} processes to start"):
                cluster = LocalCluster(
                    n_workers=workers,
                    threads_per_worker=1,
                    dashboard_address=":0",
                    silence_logs="ERROR",
                    preload=["antipodes.executors.distributed.worker"],
                    local_directory=str(folder),
                    loop=loop,
                )
        except Exception as error:  # of a process that ends before it has begun
            raise SchedulerError(f"cannot start {workers} processes: {one_line(error)}") from error
        with cluster:
            client = Client(cluster, set_as_default=False)
            with _closing(client):
                yield client


@contextmanager
def _deaf_loop() -> Iterator[Any]:
    """Run a loop whose processes never get the signals `STOPPING`, not even while they start.

    A thread inherits the blocked signals of the thread that starts it, and so does a process.
    """
    sys.warnoptions.append(LEFTOVERS)
    try:
        resource_tracker.ensure_running()  # it unblocks signals in the thread that starts it
    finally:
        sys.warnoptions.remove(LEFTOVERS)
    runner = LoopRunner()
    before = signal.pthread_sigmask(signal.SIG_BLOCK, STOPPING)
    try:
        runner.start()
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
    try:
        yield runner.loop
    finally:
        runner.stop()


@contextmanager
def scratch_folder() -> Iterator[Path]:
    """Create an empty folder for temporary files, and remove it in the end; also remove those of killed runs."""
    _remove_leftovers(Path(tempfile.gettempdir()))
    folder = Path(tempfile.mkdtemp(prefix=PREFIX))
    try:
        with (folder / "new").open("wb") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            (folder / "new").rename(folder / LOCK)  # no other run takes the folder for a leftover before it is locked
            yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _remove_leftovers(where: Path) -> None:
    for path in where.glob(f"{PREFIX}*/{LOCK}"):
        with suppress(OSError), open_file(path, links=False) as lock:  # it is another user's, or another run's
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            shutil.rmtree(path.parent, ignore_errors=True)
