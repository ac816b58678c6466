"""Opening of schedulers by name, address, scheduler file or client of dask.distributed, and checks of names."""

import json
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from antipodes.system.addresses import check_scheduler_address, check_scheduler_name
from antipodes.system.events import Listener, silence
from antipodes_tasks.base.errors import InputError, InterruptedRunError, SchedulerError
from antipodes_tasks.base.option_names import option
from antipodes_tasks.base.regular_file import open_file

if TYPE_CHECKING:  # loads dask, which the check of a name does not need
    from antipodes.executors.api import Scheduler

FLUSH_SECONDS = 2.0
"""Seconds that a scheduler has to finish writing its file."""
LARGEST_FILE = 1 << 20
"""Maximum number of bytes that are read from a scheduler file, which usually has a few hundred."""
POLL_SECONDS = 0.05
"""Seconds between two checks of a scheduler file."""


@contextmanager
def open_scheduler(
    name: str,
    workers: int,
    scheduler_file: str | None = None,
    listener: Listener = silence,
    timeout: float | None = None,
    stop: Callable[[], bool] = lambda: False,
) -> "Iterator[Scheduler]":
    """Open a scheduler: ``threads`` or ``local`` with N workers, or the one at an address or in a scheduler file.

    The listener is notified of long waits. ``timeout`` is the number of seconds to wait for a dask scheduler; ``stop``
    ends the wait for its file.

    Raises InputError if the name is invalid or the file was not written by a scheduler, SchedulerError if the file does
    not exist or no scheduler answers at the address, and InterruptedRunError if ``stop`` returned True.
    """
    check_scheduler_name(name)
    if name == "threads" and scheduler_file is None:
        from antipodes.executors.threads import Threads

        yield Threads(workers)
        return
    from antipodes.executors.distributed.connection import SCHEDULER_TIMEOUT, announced, connected, local_cluster

    if scheduler_file is not None:
        with announced(listener, f"a dask scheduler to write {scheduler_file}"):
            address = address_in(scheduler_file, timeout or SCHEDULER_TIMEOUT, stop)
        opened = connected(address, listener, f"the address in {scheduler_file}", timeout)
    else:
        opened = local_cluster(workers, listener) if name == "local" else connected(name, listener, "", timeout)
    with opened as client, as_scheduler(client, timeout) as cluster:
        yield cluster


def cluster_workers(name: str | None, scheduler_file: str | None, listener: Listener = silence) -> dict[str, Any]:
    """Return dask's description of each worker, by address, of a scheduler at an address or in a scheduler file.

    Raises InputError and SchedulerError like `open_scheduler`.
    """
    from antipodes.executors.distributed.connection import SCHEDULER_TIMEOUT, connected, identity

    if scheduler_file is not None:
        address, place = address_in(scheduler_file, SCHEDULER_TIMEOUT), f"the address in {scheduler_file}"
    else:
        address, place = str(name), ""
        check_scheduler_address(address, option("scheduler"))
    with connected(address, listener, place) as client:
        workers: dict[str, Any] = identity(client, -1, listener)["workers"]
    return workers


@contextmanager
def as_scheduler(given: Any, timeout: float | None = None) -> "Iterator[Scheduler]":
    """Yield the given scheduler, or the cluster of the given client of dask.distributed, which stays open.

    ``timeout`` is the number of seconds to wait for an answer from the client's scheduler.

    Raises InputError if it is neither, or if the client is closed, asynchronous, or in use by another run.
    """
    if hasattr(given, "shares_memory"):
        yield given
        return
    from antipodes.executors.distributed.cluster import Cluster

    with Cluster(given, timeout) as cluster:
        yield cluster


def address_in(path: str, seconds: float, stop: Callable[[], bool] = lambda: False) -> str:
    """Return the address in a scheduler file; wait for the file at most ``seconds`` (dask would wait forever).

    Raises InputError if the file was not written by a scheduler, SchedulerError if it does not appear in time, and
    InterruptedRunError if ``stop`` returned True.
    """
    deadline, is_there = time.monotonic() + seconds, False
    while (address := _address_of(text := _text_of(Path(path)))) is None:
        if text is not None and not is_there:
            deadline, is_there = time.monotonic() + FLUSH_SECONDS, True
        if time.monotonic() > deadline:
            if not is_there:
                raise SchedulerError(f"the scheduler file {path} does not exist; check that the scheduler is running")
            what = "contains no JSON object with an address" if text else "is empty"
            raise InputError(f"{option('scheduler_file')}: {path} {what}; name a file that a dask scheduler wrote")
        if stop():
            raise InterruptedRunError(f"interrupted while waiting for a dask scheduler to write {path}")
        time.sleep(POLL_SECONDS)
    check_scheduler_address(address, f"{option('scheduler_file')} {path}")
    return address


def _text_of(path: Path) -> str | None:
    """Return the content of a file, or None if it does not exist; raise InputError if it cannot be read."""
    try:
        with open_file(path) as file:
            return file.read(LARGEST_FILE).decode(errors="replace")
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:  # ValueError: the name contains a zero byte
        reason = getattr(error, "strerror", None) or error
        raise InputError(f"{option('scheduler_file')}: cannot read {path}: {reason}") from error


def _address_of(text: str | None) -> str | None:
    """Return the address in the text of a scheduler file, or None if there is none."""
    try:
        address = json.loads(text or "")["address"]
    except (ValueError, KeyError, TypeError, RecursionError):
        return None
    return address if isinstance(address, str) else None
