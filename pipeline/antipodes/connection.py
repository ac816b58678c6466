"""Connections to dask schedulers: made, lost and made again, and what dask raises about it in our words."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from distributed import Client, KilledWorker, LocalCluster
from distributed.client import FutureCancelledError, FuturesCancelledError

from antipodes.errors import AntipodesError
from antipodes.scheduler import SchedulerError, SchedulerLostError, WorkersLostError

CONNECT_SECONDS = 10
"""After so long without a scheduler at the address, there is none; also where one was."""
POLL_SECONDS = 0.1


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
    place = address
    if scheduler_file is not None:
        place = f"the address in {scheduler_file}"
        _await_file(Path(scheduler_file))
    try:
        client = Client(address, scheduler_file=scheduler_file, timeout=f"{CONNECT_SECONDS}s")
    except (OSError, ValueError, TypeError) as error:  # the last from TLS that is not configured here
        raise SchedulerError(f"no dask scheduler answers at {place}: {one_line(error)}") from error
    with client:
        yield client


def _await_file(path: Path) -> None:
    """Return once a scheduler has written the file; dask would wait for ever."""
    begin = time.monotonic()
    while not path.is_file():
        if time.monotonic() - begin > CONNECT_SECONDS:
            raise SchedulerError(f"expected the file of a dask scheduler at {path}, found none")
        time.sleep(POLL_SECONDS)


def identity(client: Any, workers: int) -> dict[str, Any]:
    """What the scheduler says of itself and so many workers, -1 for all; if the connection is lost, once it is back.

    `Client.scheduler_info` would repeat what the scheduler once said.
    """
    begin = time.monotonic()
    while client.status == "connecting" and time.monotonic() - begin < 2 * CONNECT_SECONDS:
        time.sleep(POLL_SECONDS)
    scheduler = client.scheduler
    if client.status != "running" or scheduler is None:
        raise SchedulerLostError("the dask scheduler was lost")
    with translated(client):
        said: dict[str, Any] = client.sync(scheduler.identity, n_workers=workers)
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
        raise SchedulerLostError(f"the connection to the dask scheduler was lost: {one_line(error)}") from error
    except Exception as error:
        if client.status in ("closing", "closed"):  # it gave up, and half of it is gone: what it raises is arbitrary
            raise SchedulerLostError("the dask scheduler was lost") from error
        raise


def one_line(error: BaseException) -> str:
    """What an error says."""
    return " ".join(str(error).split())


def dashboard_of(client: Any) -> str | None:
    """The address of dask's dashboard, None where it has none."""
    with translated(client):
        drawn = client.run_on_scheduler(_draws_dashboard)
    return str(client.dashboard_link) if drawn else None


def _draws_dashboard(dask_scheduler: Any) -> bool:
    """Whether there is a dashboard at the address that a scheduler gives for it even without one, or without bokeh."""
    return bool(dask_scheduler.http_application.applications)
