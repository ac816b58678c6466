"""Where tasks run: threads of this process, a local cluster of processes, or a cluster at an address.

The rest of the program knows no more than this: `persist` runs tasks and leaves their results where they are,
`parts` takes something out of them, `values` fetches them.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Protocol

import dask.threaded
from dask.callbacks import Callback
from dask.task_spec import List, Task

from antipodes.errors import AntipodesError, InputError

Key = tuple[str, int]
Handle = Any
"""A result, or what stands for it on a cluster; tasks take it as an argument and get the result."""
Call = tuple[Any, ...]
"""A function and its arguments; handles among them, also in lists, stand for results."""


class SchedulerError(AntipodesError, RuntimeError):
    """The scheduler cannot be reached, or lost what the run cannot do without."""


class Scheduler(Protocol):
    """Runs tasks."""

    workers: int
    """How many tasks run at once."""

    def persist(self, calls: Mapping[Key, Call], done: Callable[[], None] | None = None) -> dict[Key, Handle]:
        """Run the calls, which do not depend on each other; ``done`` is called as each ends."""

    def parts(self, part: Callable[[Any], Any], handles: Sequence[Handle]) -> list[Handle]:
        """A small part of each result, so that those who need no more need not fetch it all."""

    def values(self, handles: Sequence[Handle]) -> list[Any]:
        """The results themselves."""


class Threads:
    """Threads of this process; results are values in memory."""

    def __init__(self, workers: int) -> None:
        self.workers = workers

    def persist(self, calls: Mapping[Key, Call], done: Callable[[], None] | None = None) -> dict[Key, Handle]:
        keys = list(calls)
        ended = Callback(posttask=lambda *_: done()) if done else Callback()
        with ended:
            results = dask.threaded.get(_graph(calls), keys, num_workers=self.workers)
        return dict(zip(keys, results, strict=True))

    def parts(self, part: Callable[[Any], Any], handles: Sequence[Handle]) -> list[Handle]:
        return [part(result) for result in handles]

    def values(self, handles: Sequence[Handle]) -> list[Any]:
        return list(handles)


class Cluster:
    """The workers of a dask.distributed client; results stay on them as futures."""

    def __init__(self, client: Any) -> None:
        self.client = client
        self.workers = max(1, sum(client.nthreads().values()))

    def persist(self, calls: Mapping[Key, Call], done: Callable[[], None] | None = None) -> dict[Key, Handle]:
        keys = list(calls)
        futures = self.client.get(_graph(calls), keys, sync=False)
        if done:
            for future in futures:
                future.add_done_callback(lambda _: done())
        return dict(zip(keys, futures, strict=True))

    def parts(self, part: Callable[[Any], Any], handles: Sequence[Handle]) -> list[Handle]:
        futures: list[Handle] = self.client.map(part, handles)
        return futures

    def values(self, handles: Sequence[Handle]) -> list[Any]:
        results: list[Any] = self.client.gather(list(handles))
        return results


@contextmanager
def open_scheduler(name: str, workers: int) -> Iterator[Scheduler]:
    """The scheduler called ``threads`` or ``local``, with so many workers, or the one at an address.

    Raises
    ------
    InputError
        The name is none of these.
    SchedulerError
        No scheduler answers at the address.
    """
    if name == "threads":
        yield Threads(workers)
    elif name == "local":
        with _local_cluster(workers) as client:
            yield Cluster(client)
    elif "://" in name:
        with _client(name) as client:
            yield Cluster(client)
    else:
        raise InputError(f"--scheduler: expected threads, local or an address such as tcp://host:8786, found {name!r}")


@contextmanager
def _local_cluster(workers: int) -> Iterator[Any]:
    from distributed import LocalCluster

    cluster = LocalCluster(
        n_workers=workers,
        threads_per_worker=1,
        dashboard_address=":0",
        silence_logs="ERROR",
        preload=["antipodes.worker"],
    )
    with cluster, _client(cluster) as client:
        yield client


@contextmanager
def _client(address: Any) -> Iterator[Any]:
    from distributed import Client

    try:
        client = Client(address, timeout="10s")
    except (OSError, ValueError) as error:
        raise SchedulerError(f"no dask scheduler answers at {address}: {error}") from error
    with client:
        yield client


def _graph(calls: Mapping[Key, Call]) -> dict[Key, Task]:
    return {
        key: Task(key, function, *(List(*one) if isinstance(one, list) else one for one in arguments))
        for key, (function, *arguments) in calls.items()
    }
