"""Connections to dask schedulers: opened, closed and lost, with dask's errors translated into ours.

Every wait for a scheduler is bounded.
"""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from distributed import Client, KilledWorker
from distributed.client import FutureCancelledError, FuturesCancelledError

from antipodes.events import Listener, silence
from antipodes.executors.distributed.announce import announced
from antipodes.executors.distributed.scheduler_file import address_in
from antipodes_tasks.errors import (
    AntipodesError,
    SchedulerError,
    SchedulerLostError,
    SchedulerSilentError,
    WorkersLostError,
)

CONNECT_SECONDS = 10.0
"""Seconds to wait for an answer from the address of a scheduler, and for a lost scheduler to come back."""
NOTICE_SECONDS = 2.0
"""Seconds that the scheduler and the workers have to take note of the start or the end of a run."""
RESTARTED = "scheduler-restart"
"""The reason that dask gives for a task which `Client.restart` ended."""


@contextmanager
def connected(
    address: str | None = None, scheduler_file: str | None = None, listener: Listener = silence
) -> Iterator[Any]:
    """Open a client of the scheduler at an address, or of the one that wrote a scheduler file.

    Raises
    ------
    InputError
        The file is not one that a scheduler writes.
    SchedulerError
        There is no file, or no scheduler answers.
    """
    place = address or f"the address in {scheduler_file}"
    if scheduler_file is not None:
        with announced(listener, f"a dask scheduler to write {scheduler_file}"):
            address = address_in(scheduler_file, CONNECT_SECONDS)
    try:
        with announced(listener, f"the dask scheduler at {address} to answer"):
            client = _OwnClient(address, timeout=f"{CONNECT_SECONDS}s")
    except Exception as error:  # also what dask makes of the answers of other programs, or of our TLS settings
        raise SchedulerError(f"no dask scheduler answers at {place}: {one_line(error) or 'no answer'}") from error
    with closing(client):
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
def closing(client: Any) -> Iterator[Any]:
    """Close the client in the end, without waiting for a scheduler that does not answer."""
    try:
        yield client
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
            raise lost(client) from error
        raise


def lost(client: Any) -> SchedulerLostError:
    """Return the error for a client that is closed, by its user or because it lost its scheduler."""
    closed = client.status in ("closing", "closed") and not isinstance(client, _OwnClient)
    return SchedulerLostError(f"the dask scheduler was lost{', or the client was closed' if closed else ''}")


def silent(seconds: float) -> SchedulerSilentError:
    """Return the error for a scheduler that has not answered for this many seconds."""
    return SchedulerSilentError(f"the dask scheduler has not answered for {seconds:.0f} seconds")


def one_line(error: BaseException) -> str:
    """Return the message of an error in one line."""
    return " ".join(str(error).split())
