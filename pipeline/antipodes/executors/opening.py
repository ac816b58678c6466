"""Opens the scheduler for a name, an address, a scheduler file, or a client of dask.distributed."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from antipodes.events import Listener, silence
from antipodes.executors.address import check_scheduler_name
from antipodes.executors.api import Scheduler
from antipodes.executors.threads import Threads


@contextmanager
def open_scheduler(
    name: str, workers: int, scheduler_file: str | None = None, listener: Listener = silence
) -> Iterator[Scheduler]:
    """Open the scheduler ``threads`` or ``local`` with N workers, or the one at an address or in a scheduler file.

    The listener is told what is waited for.

    Raises
    ------
    InputError
        The name is none of these.
    SchedulerError
        No scheduler answers at the address.
    """
    check_scheduler_name(name)
    if name == "threads" and scheduler_file is None:
        yield Threads(workers)
    else:
        from antipodes.executors.distributed.cluster import Cluster
        from antipodes.executors.distributed.connection import connected
        from antipodes.executors.distributed.local import local_cluster

        if scheduler_file is not None:
            opened = connected(scheduler_file=scheduler_file, listener=listener)
        else:
            opened = local_cluster(workers, listener) if name == "local" else connected(name, listener=listener)
        with opened as client, Cluster(client) as cluster:
            yield cluster


@contextmanager
def as_scheduler(given: Any) -> Iterator[Scheduler]:
    """Yield a scheduler that is given as such, or the cluster of a client of dask.distributed, which stays open.

    Raises
    ------
    InputError
        It is neither, or the client is closed, asynchronous, or in use by another run.
    """
    if isinstance(given, Threads):
        yield given
        return
    from antipodes.executors.distributed.cluster import Cluster

    if isinstance(given, Cluster):
        yield given
        return
    with Cluster(given) as cluster:
        yield cluster
