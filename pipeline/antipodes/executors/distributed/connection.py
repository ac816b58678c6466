"""Connections to dask schedulers, and a local cluster of processes on this machine.

Every wait for a scheduler is bounded, a listener is notified of long waits, and dask's errors are translated into ours.
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
from weakref import WeakKeyDictionary

import dask.config
from distributed import Client, KilledWorker, LocalCluster
from distributed.client import FutureCancelledError, FuturesCancelledError
from distributed.utils import LoopRunner

from antipodes.system.events import Listener, Waiting, silence
from antipodes_tasks.base.errors import (
    AntipodesError,
    SchedulerError,
    SchedulerLostError,
    SchedulerSilentError,
    WorkersLostError,
)
from antipodes_tasks.base.regular_file import open_file

ANNOUNCE_SECONDS = 3.0
"""Seconds after which the listener is notified of a wait."""
SCHEDULER_TIMEOUT = 60.0
"""Default number of seconds to wait for an answer from a scheduler, and for a lost scheduler to return."""
NOTICE_SECONDS = 2.0
"""Seconds that scheduler and workers have to process the start or end of a run."""
MAX_REGISTRATIONS = 5
"""Number of times that a client tries to register with a scheduler that answers with other messages."""
POLL_SECONDS = 0.1
"""Seconds between two checks of the state of a connection."""
RESTARTED = "scheduler-restart"
"""dask's reason for a task that `Client.restart` has ended."""
DISCONNECTED = "scheduler-connection-lost"
"""dask's reason for a task whose state a client no longer learns. All other reasons come from the scheduler."""
PREFIX = "antipodes-scratch-"
LOCK = "lock"
"""The file in each scratch folder that a run locks while it is alive."""
STOPPING = (signal.SIGINT, signal.SIGTERM)
"""Signals of a terminal or batch system, which reach all processes of a run; only this process handles them."""
LEFTOVERS = "ignore::UserWarning:multiprocessing.resource_tracker"
"""Filter for the warning of Python's resource tracker that it cleans up after a process that was stopped."""

timeouts: WeakKeyDictionary[Any, float | None] = WeakKeyDictionary()
"""The clients in use by runs, and the timeout in seconds that each run chose; None means `SCHEDULER_TIMEOUT`."""


def timeout_of(client: Any) -> float:
    """Return the number of seconds to wait for an answer from a client's scheduler."""
    return timeouts.get(client) or SCHEDULER_TIMEOUT


@contextmanager
def announced(listener: Listener, what: str) -> Iterator[None]:
    """Notify the listener if the wait inside the block takes long; errors of the listener are raised after the wait."""
    raised: list[BaseException] = []

    def report_result() -> None:
        try:
            listener(Waiting(what))
        except BaseException as error:  # raised in this thread, it would only print a traceback
            raised.append(error)

    timer = threading.Timer(ANNOUNCE_SECONDS, report_result)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        timer.join()  # the listener must not print anything after the wait
    if raised:
        raise raised[0]


@contextmanager
def connected(
    address: str, listener: Listener = silence, place: str = "", seconds: float | None = None
) -> Iterator[Any]:
    """Open a client of the scheduler at an address; raise SchedulerError if no scheduler answers.

    It has to answer within ``seconds``, by default `SCHEDULER_TIMEOUT`. Messages call the address ``place``, if given.
    """
    try:
        with announced(listener, f"the dask scheduler at {address} to answer"):
            client = _open_client(address, seconds or SCHEDULER_TIMEOUT)
    except Exception as error:  # also dask's errors about answers of other programs or about our TLS settings
        reason = one_line(error) or "no answer"
        raise SchedulerError(f"no dask scheduler answers at {place or address}: {reason}") from error
    with _closing(client):
        yield client


def _open_client(address: str, seconds: float) -> "_OwnClient":
    """Open a client; try again if the scheduler sent other messages with its first answer."""
    for _ in range(MAX_REGISTRATIONS - 1):
        with suppress(_MixedAnswerError):
            return _OwnClient(address, timeout=seconds, set_as_default=False)
    return _OwnClient(address, timeout=seconds, set_as_default=False)


class _MixedAnswerError(OSError):
    """The scheduler sent another message while it registered this client; dask asserts that it never does."""


class _OwnClient(Client):
    """A client that this program opens, and whose connecting is limited in time; dask would wait forever."""

    async def _ensure_connected(self, timeout: Any = None) -> None:
        try:
            await asyncio.wait_for(super()._ensure_connected(timeout), timeout)
        except (OSError, ImportError):
            raise
        except AssertionError as error:
            raise _MixedAnswerError("other messages arrived with the first answer") from error
        except Exception as error:  # dask closes a client that cannot connect only after OSError or ImportError
            raise OSError(one_line(error)) from error


_abandoned: list[Any] = []
"""Clients that could not be closed in time. dask closes a client again when it is garbage-collected and would hang if
another client is starting at that moment, so these clients are kept forever."""


@contextmanager
def _closing(client: Any) -> Iterator[None]:
    """Close the client after the block, without waiting for a scheduler that does not answer."""
    try:
        yield
    finally:
        try:
            client.close(timeout=NOTICE_SECONDS)
        except TimeoutError:
            _abandoned.append(client)


@contextmanager
def translated(client: Any) -> Iterator[None]:
    """Translate a client's errors about a lost scheduler, a lost worker or an abandoned task into errors of ours."""
    try:
        yield
    except KilledWorker as error:
        raise WorkersLostError(f"one task killed several workers, last {error.last_worker.address}") from error
    except AntipodesError:
        raise
    except (FutureCancelledError, FuturesCancelledError, OSError) as error:
        if RESTARTED in str(error):
            raise SchedulerLostError("the cluster was restarted and has lost the tasks") from error
        if not isinstance(error, OSError) and DISCONNECTED not in str(error):
            # a task that is submitted right after a restart needs the results of tasks that are forgotten
            raise SchedulerLostError("the dask scheduler has lost the tasks") from error
        system = getattr(error, "strerror", None)  # dask's own messages name objects of dask
        because = f": {system}" if system else ""
        raise SchedulerLostError(f"the connection to the dask scheduler was lost{because}") from error
    except Exception as error:
        if client.status in ("closing", "closed"):  # a half-closed client may raise any error
            raise _lost(client) from error
        raise


def _lost(client: Any) -> SchedulerLostError:
    """Return the error for a client that was closed by its user or because it lost its scheduler."""
    closed = client.status in ("closing", "closed") and not isinstance(client, _OwnClient)
    return SchedulerLostError(f"the dask scheduler was lost{', or the client was closed' if closed else ''}")


def silent(seconds: float) -> SchedulerSilentError:
    """Return the error for a scheduler that has not answered for this many seconds."""
    return SchedulerSilentError(f"the dask scheduler has not answered for {seconds:g} seconds")


def one_line(error: BaseException) -> str:
    """Return the message of an error in one line."""
    return " ".join(str(error).split())


def ask(client: Any, request: Callable[..., Any], *arguments: Any, seconds: float | None = None, **named: Any) -> Any:
    """Return the answer to a request, which is a coroutine function of a client or of its connection to the scheduler.

    Raises SchedulerSilentError if no answer arrives within ``seconds``, by default the client's timeout.
    """
    seconds = timeout_of(client) if seconds is None else seconds
    with translated(client):
        try:
            return client.sync(request, *arguments, callback_timeout=seconds, **named)
        except TimeoutError as error:
            raise silent(seconds) from error


def identity(client: Any, workers: int, listener: Listener = silence) -> dict[str, Any]:
    """Return the scheduler's description of itself and of this many workers (-1 for all).

    If the connection is lost, wait for it. `Client.scheduler_info` would only repeat an earlier description.
    """
    begin = time.monotonic()
    with announced(listener, "the dask scheduler to answer"):
        while client.status == "connecting" and time.monotonic() - begin < 2 * timeout_of(client):
            time.sleep(POLL_SECONDS)
        scheduler = client.scheduler
        if client.status != "running" or scheduler is None:
            raise _lost(client)
        described: dict[str, Any] = ask(client, scheduler.identity, n_workers=workers)
    return described


def dashboard_of(client: Any) -> str | None:
    """Return the address of dask's dashboard, or None if there is none."""
    return str(client.dashboard_link) if ask(client, client.run_on_scheduler, _has_dashboard) else None


def _has_dashboard(dask_scheduler: Any) -> bool:
    """Return whether the scheduler serves a dashboard; called on the scheduler.

    The address of the dashboard exists even if there is no dashboard or no bokeh.
    """
    return bool(dask_scheduler.http_application.applications)


@contextmanager
def local_cluster(workers: int, listener: Listener = silence) -> Iterator[Any]:
    """Start N processes on this machine for the block, and open a client; raise SchedulerError if they fail."""
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
        except Exception as error:  # raised by a process that ends before it has started
            raise SchedulerError(f"cannot start {workers} processes: {one_line(error)}") from error
        with cluster:
            client = Client(cluster, set_as_default=False)
            with _closing(client):
                yield client


@contextmanager
def _deaf_loop() -> Iterator[Any]:
    """Run an event loop whose processes never receive the signals `STOPPING`, not even while they start.

    Threads and processes inherit the blocked signals of the thread that starts them.
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
    """Create an empty folder for temporary files and remove it after the block; also remove folders of killed runs."""
    _remove_leftovers(Path(tempfile.gettempdir()))
    folder = Path(tempfile.mkdtemp(prefix=PREFIX))
    try:
        with (folder / "new").open("wb") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            (folder / "new").rename(folder / LOCK)  # the file is locked before other runs can see it
            yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _remove_leftovers(where: Path) -> None:
    for path in where.glob(f"{PREFIX}*/{LOCK}"):
        with suppress(OSError), open_file(path, links=False) as lock:  # it may belong to another user or run
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            shutil.rmtree(path.parent, ignore_errors=True)
