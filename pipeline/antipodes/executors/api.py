"""Where tasks run: threads of this process, a local cluster of processes, or a cluster at an address.

The rest of the program knows no more than this: `persist` runs tasks and leaves their results where they are,
`gather` fetches them; `run_unordered` passes on each result as its task ends; `run_on_all_workers` asks all workers.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any, Protocol

import dask.threaded
from dask.callbacks import Callback
from dask.task_spec import List, Task, TaskRef

from antipodes.errors import AntipodesError, InputError, InterruptedRunError
from antipodes.events import Listener, silence
from antipodes.machine import available_memory
from antipodes.quoting import quote

Key = tuple[str, int]
Handle = Any
"""A result, or what stands for it on a cluster; tasks take it as an argument and get the result."""
Ended = Callable[[Key, Any], None]
"""Told each result as its task ends."""
Done = Callable[[Key], None]
"""Told the key of each result that is there."""
Call = tuple[Any, ...]
"""A function and its arguments; handles and `result_of` among them, also in lists, stand for results."""
Stop = Callable[[], bool]
"""Asked whether to begin nothing more."""

ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://([\w.-]+|\[[0-9A-Fa-f:.]+(%\w+)?\]):(?P<port>[0-9]{1,5})/?")
LARGEST_PORT = 65535
NOT_BEGUN = object()
"""The result of a task that a stop came before."""


def never() -> bool:
    """Ask for no stop."""
    return False


class SchedulerError(AntipodesError, RuntimeError):
    """The scheduler cannot be reached, or lost what the run cannot do without."""


class SchedulerLostError(InterruptedRunError, SchedulerError):
    """The scheduler is lost; the run can resume on another one."""


class SchedulerSilentError(InterruptedRunError, SchedulerError):
    """The scheduler no longer answers, though the connection is there: to ask it again would take as long."""


class WorkersLostError(SchedulerError):
    """Workers are gone, and results with them: what was not committed has to be computed again."""


class Scheduler(Protocol):
    """Runs tasks."""

    shares_memory: bool
    """Whether all tasks see the same arrays, so that nothing is gained by handing on less than the whole."""
    layers_at_once: int
    """How many layers are worth being handed over before the first of them is asked for."""
    keeps_history: bool
    """Whether it remembers how each result came about, as long as another one comes from it."""

    @property
    def workers(self) -> int:
        """How many tasks run at once."""

    @property
    def processes(self) -> int:
        """In how many processes they run, each with tables of its own; 0: in this one."""

    @property
    def memory(self) -> int | None:
        """Bytes that the workers may take for a run all together; None: nobody knows."""

    def ready(self, listener: Listener, stop: Stop) -> bool:
        """Wait for workers, and have all that there are take part; False if told to stop before there were any."""

    @property
    def changed(self) -> bool:
        """Whether there are other workers than `ready` found."""

    def on_worker_start(self, call: Call) -> None:
        """Have the call done in each process of the workers but this one before its tasks; also in those that join."""

    def run_on_all_workers(self, call: Call) -> None:
        """Do the call once in every process of the workers but this one; an error names the worker."""

    def submit(self, calls: Mapping[Key, Call]) -> dict[Key, Handle]:
        """Run the calls, which do not depend on each other, neighbours on the same worker."""

    def persist(
        self, calls: Mapping[Key, Call], wanted: Sequence[Key] | None = None, done: Done | None = None
    ) -> dict[Key, Handle]:
        """Run the calls, and keep the wanted results, by default all; ``done`` is called as each of them is there."""

    def map(self, part: Callable[[Any], Any], handles: Sequence[Handle]) -> list[Handle]:
        """A small part of each result, so that those who need no more need not fetch it all."""

    def gather(self, handles: Sequence[Handle], stop: Stop = never) -> list[Any]:
        """The results themselves; WorkersLostError as soon as workers are, InterruptedRunError soon after a stop."""

    def reporting(self, page: str | None) -> AbstractContextManager[None]:
        """Have dask's own report of what runs meanwhile written to a web page, if one is named."""

    def run_unordered(self, calls: Mapping[Key, Call], ended: Ended, stopped: Stop) -> None:
        """Run the calls in their order, as they do not depend on each other; once ``stopped`` says so, begin no more.

        ``ended`` is called in the thread that waits, with the results of all that were begun.
        """


class Threads:
    """Threads of this process; results are values in memory."""

    shares_memory = True
    layers_at_once = 1
    keeps_history = False
    processes = 0
    changed = False

    def __init__(self, workers: int) -> None:
        self.workers = workers
        self.memory = available_memory()

    def ready(self, listener: Listener, stop: Stop) -> bool:
        return True

    def on_worker_start(self, call: Call) -> None:
        pass

    def run_on_all_workers(self, call: Call) -> None:
        pass

    def submit(self, calls: Mapping[Key, Call]) -> dict[Key, Handle]:
        return self.persist(calls)

    def persist(
        self, calls: Mapping[Key, Call], wanted: Sequence[Key] | None = None, done: Done | None = None
    ) -> dict[Key, Handle]:
        keys = list(calls if wanted is None else wanted)
        ended = Callback(posttask=lambda key, *_: done(key)) if done else Callback()
        with ended:
            results = dask.threaded.get(graph_of(calls), keys, num_workers=self.workers)
        return dict(zip(keys, results, strict=True))

    def map(self, part: Callable[[Any], Any], handles: Sequence[Handle]) -> list[Handle]:
        return [part(result) for result in handles]

    def gather(self, handles: Sequence[Handle], stop: Stop = never) -> list[Any]:
        return list(handles)

    def reporting(self, page: str | None) -> AbstractContextManager[None]:
        if page is not None:
            raise InputError("--performance-report: expected a cluster to report on, found the scheduler threads")
        return nullcontext()

    def run_unordered(self, calls: Mapping[Key, Call], ended: Ended, stopped: Stop) -> None:
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


def result_of(key: Key) -> Any:
    """What stands, as an argument of a call, for the result of another call that is handed over with it."""
    return TaskRef(key)


def is_result(argument: Any) -> bool:
    """Whether the argument of a call is a `result_of`."""
    return isinstance(argument, TaskRef)


def graph_of(calls: Mapping[Key, Call], around: Sequence[Any] = ()) -> dict[Key, Task]:
    """The calls as dask's tasks, each the last arguments of the function ``around`` it if there is one."""
    return {
        key: Task(key, *around, *(List(*one) if isinstance(one, list) else one for one in call))
        for key, call in calls.items()
    }


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


def check_scheduler_name(name: str) -> None:
    """Raise InputError unless it is the name of a scheduler, or can be the address of one."""
    if name not in ("threads", "local"):
        check_address(name, "--scheduler", "threads, local or ")


def check_address(address: str, where: str, others: str = "") -> None:
    """Raise InputError, which begins with ``where``, unless a text can be the address of a dask scheduler."""
    found = ADDRESS.fullmatch(address)
    if found is None or not 0 < int(found["port"]) <= LARGEST_PORT:
        raise InputError(f"{where}: expected {others}an address such as tcp://host:8786, found {quote(address)}")
