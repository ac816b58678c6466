"""Where tasks run: threads of this process, a local cluster of processes, or a cluster at an address.

The rest of the program knows no more than this: `persist` runs tasks and leaves their results where they are,
`parts` takes something out of them, `values` fetches them; `each` runs tasks and hands over each result as it ends.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import islice
from typing import Any, Protocol

import dask.threaded
from dask.callbacks import Callback
from dask.task_spec import List, Task

from antipodes.errors import AntipodesError, InputError

Key = tuple[str, int]
Handle = Any
"""A result, or what stands for it on a cluster; tasks take it as an argument and get the result."""
Ended = Callable[[Key, Any], None]
"""Told each result as its task ends."""
Call = tuple[Any, ...]
"""A function and its arguments; handles among them, also in lists, stand for results."""


QUEUED = 2
"""Tasks that a worker of a cluster knows of, so that it need not wait for the next."""
NOT_BEGUN = object()
"""The result of a task that a stop came before."""


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

    def each(self, calls: Mapping[Key, Call], ended: Ended, stopped: Callable[[], bool]) -> None:
        """Run the calls in their order, as they do not depend on each other; once ``stopped`` says so, begin no more.

        ``ended`` is called in the thread that waits, with the results of all that were begun.
        """


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

    def each(self, calls: Mapping[Key, Call], ended: Ended, stopped: Callable[[], bool]) -> None:
        def run(function: Callable[..., Any], *arguments: Any) -> Any:
            return NOT_BEGUN if stopped() else function(*arguments)

        def tell(name: str, result: Any, *_: Any) -> None:
            if result is not NOT_BEGUN:
                ended(keys[name], result)

        # of tasks that do not depend on each other dask begins with the last name, and the first call is to be first
        keys = {f"{len(calls) - place:09}": key for place, key in enumerate(calls)}
        graph = {name: Task(name, run, *calls[key]) for name, key in keys.items()}
        with Callback(posttask=tell):
            dask.threaded.get(graph, list(graph), num_workers=self.workers)


class Cluster:
    """The workers of a dask.distributed client; results stay on them as futures."""

    def __init__(self, client: Any) -> None:
        self.client = client
        self.workers = max(1, sum(client.nthreads().values()))

    def persist(self, calls: Mapping[Key, Call], done: Callable[[], None] | None = None) -> dict[Key, Handle]:
        keys = list(calls)
        with _losses():
            futures = self.client.get(_graph(calls), keys, sync=False)
        if done:
            for future in futures:
                future.add_done_callback(lambda _: done())
        return dict(zip(keys, futures, strict=True))

    def parts(self, part: Callable[[Any], Any], handles: Sequence[Handle]) -> list[Handle]:
        futures: list[Handle] = self.client.map(part, handles)
        return futures

    def values(self, handles: Sequence[Handle]) -> list[Any]:
        with _losses():
            results: list[Any] = self.client.gather(list(handles))
        return results

    def each(self, calls: Mapping[Key, Call], ended: Ended, stopped: Callable[[], bool]) -> None:
        from distributed import as_completed

        waiting = iter(calls.items())

        def begin(count: int) -> list[Any]:
            return [self.client.submit(*call, key=key) for key, call in islice(waiting, count)]

        with _losses():
            under_way = as_completed(begin(QUEUED * self.workers))
            for future in under_way:
                ended(future.key, future.result())
                if not stopped():
                    under_way.update(begin(1))


@contextmanager
def _losses() -> Iterator[None]:
    """Turn what distributed raises when it loses a scheduler, or gives up on a task, into SchedulerError."""
    from distributed import KilledWorker
    from distributed.client import FutureCancelledError
    from distributed.comm.core import CommClosedError

    try:
        yield
    except KilledWorker as error:
        raise SchedulerError(f"workers died again and again during {error.task}: out of memory?") from error
    except (FutureCancelledError, CommClosedError, TimeoutError) as error:
        raise SchedulerError(f"the dask scheduler was lost: {' '.join(str(error).split())}") from error


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
    check_scheduler_name(name)
    if name == "threads":
        yield Threads(workers)
    elif name == "local":
        with _local_cluster(workers) as client:
            yield Cluster(client)
    else:
        with _client(name) as client:
            yield Cluster(client)


def check_scheduler_name(name: str) -> None:
    """Raise InputError unless it is the name of a scheduler, or can be the address of one."""
    if name not in ("threads", "local") and "://" not in name:
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
