"""Where tasks run: threads of this process, a local cluster of processes, or a cluster at an address.

The rest of the program knows no more than this: `persist` runs tasks and leaves their results where they are,
`gather` fetches them; `run_unordered` passes on each result as its task ends; `run_on_all_workers` asks all workers.
"""

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any, Protocol

from dask.task_spec import List, Task, TaskRef

from antipodes.events import Listener

WORKER_SHARE = 0.6
"""Of the memory limit of a cluster's worker, what a run plans with: freed memory that it keeps comes on top
(`kept_memory`), and dask moves results to disk at 0.7 of the limit and begins no task at 0.8."""

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


def never() -> bool:
    """Ask for no stop."""
    return False


class Scheduler(Protocol):
    """Runs tasks."""

    shares_memory: bool
    """Whether all tasks see the same arrays. If not, results travel, each call costs a round trip, and the scheduler
    remembers the lineage of every result."""

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
