"""Opens the scheduler that a name, an address, a file or a client stands for."""

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
    """The scheduler called ``threads`` or ``local``, with so many workers, or the one at an address or in a file.

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
        from antipodes.executors.distributed.connection import connected, local_cluster

        if scheduler_file is not None:
            opened = connected(scheduler_file=scheduler_file, listener=listener)
        else:
            opened = local_cluster(workers, listener) if name == "local" else connected(name, listener=listener)
        with opened as client, Cluster(client) as cluster:
            yield cluster


@contextmanager
def as_scheduler(given: Any) -> Iterator[Scheduler]:
    """What was given instead of a name: a scheduler, or a client of dask.distributed; it stays open."""
    if isinstance(given, Threads):
        yield given
        return
    from antipodes.executors.distributed.cluster import Cluster

    if isinstance(given, Cluster):
        yield given
        return
    with Cluster(given) as cluster:
        yield cluster
