"""The interface of executors: a `Scheduler` runs calls, in threads of this process or on the workers of a cluster.

The other rooms know no more than this. A call is a function and its arguments; a handle stands for the result of one.
`persist` and `submit` run calls and leave the results where they are, `gather` fetches them, `run_unordered` passes on
each result as its task ends, and `run_on_all_workers` and `on_worker_start` reach every process.
"""

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, Protocol

from dask.task_spec import List, Task, TaskRef

from antipodes.events import Listener

WORKER_SHARE = 0.6
"""Share of a worker's memory limit that a run plans with. Freed memory that the worker keeps comes on top
(`kept_memory`); dask moves results to disk at 0.7 of the limit, and starts no task at 0.8."""

Key = tuple[str, int]
Handle = Any
"""A result, or a future of one; a call takes it as an argument, also in a list, and its function gets the result."""
Call = tuple[Any, ...]
"""A function and its arguments; handles and `result_of` among them, also in lists, stand for results."""
OnResult = Callable[[Key, Any], None]
"""Called with the key and the result of each task that ends."""
OnDone = Callable[[Key], None]
"""Called with the key of each result that exists."""
Stop = Callable[[], bool]
"""Returns whether to start no more tasks."""


@dataclass(frozen=True)
class Capacity:
    """The size of a set of workers."""

    workers: int
    """Number of tasks that run at the same time."""
    processes: int
    """Number of other processes that run tasks; 0 if tasks run in this process."""
    memory: int | None
    """Bytes that a run may take on all of the workers together; None if unknown."""


Fits = Callable[[Capacity], bool]
"""Returns whether a run fits into the memory of workers."""
DescribeMisfit = Callable[[int | None], str]
"""Returns why a worker with a memory limit in bytes is not used, as the rest of a sentence about it."""


def never_stop() -> bool:
    """Return False: a `Stop` that never stops."""
    return False


class Scheduler(Protocol):
    """Runs calls as tasks."""

    shares_memory: bool
    """Whether all tasks see the same arrays. If not, results travel, each call costs a round trip, and the scheduler
    remembers the lineage of every result."""

    @property
    def workers(self) -> int:
        """The number of tasks that run at the same time."""

    @property
    def processes(self) -> int:
        """The number of other processes that run tasks, each with tables of its own; 0 if tasks run in this process."""

    @property
    def memory(self) -> int | None:
        """Bytes that a run may take on all workers together; None if unknown."""

    def wait_for_workers(self, listener: Listener, stop: Stop) -> bool:
        """Wait until there are workers, and make all that can work members; False if stopped before there were any.

        From then on the listener is told what the run waits for.
        """

    @property
    def workers_changed(self) -> bool:
        """Whether workers that the run can use joined, or workers that it uses left, after `wait_for_workers`."""

    def relay_waits(self, run: str, tell: Callable[[str], None]) -> None:
        """Pass on what the tasks of a run of this name wait for, and end these waits once the run is told to stop.

        To be called before `wait_for_workers`, which knows when the run is told to stop.
        """

    def choose_workers(self, fits: Fits, describe_misfit: DescribeMisfit) -> None:
        """Use the largest set of workers that fits, from now on; all of them if no set fits.

        Workers that join are used, and change anything, only if a larger set fits. The listener is told of the others.
        """

    def on_worker_start(self, call: Call) -> None:
        """Run the call once in each process that runs tasks, also in those that join later, beside its first tasks.

        If tasks run in this process, the next `run_unordered` starts with the call, even if that has no other calls.
        """

    def run_on_all_workers(self, call: Call) -> None:
        """Run the call once in each process of the workers except this one; an error names the worker."""

    def submit(
        self, calls: Mapping[Key, Call], beside: Sequence[Handle] = (), on_done: OnDone | None = None
    ) -> dict[Key, Handle]:
        """Run calls that do not depend on each other, neighbours on the same worker; see `persist`.

        The workers hold equally many results afterwards, those ``beside`` included, which `submit` returned before.
        """

    def side_by_side(self, handles: Sequence[Handle]) -> list[list[int]]:
        """The places of these results of `submit` in groups, one for each task that may run at the same time.

        A task may use all results of a group, since one worker has them.
        """

    def holds(self, handle: Handle) -> bool:
        """Whether the worker that has the result of a `submit` is still a member."""

    def persist(
        self,
        calls: Mapping[Key, Call],
        wanted: Sequence[Key] | None = None,
        on_done: OnDone | None = None,
        places: Mapping[Key, Handle] | None = None,
    ) -> dict[Key, Handle]:
        """Run the calls and keep the wanted results, by default all; ``on_done`` is called for each as it exists.

        Calls that have ``places`` run where these results of `submit` are, which they may change.
        """

    def gather(self, handles: Sequence[Handle], stop: Stop = never_stop) -> list[Any]:
        """Wait for the results and fetch them.

        Raises
        ------
        WorkersLostError
            Workers were lost meanwhile.
        InterruptedRunError
            ``stop`` returned True before all results existed.
        """

    def run_unordered(self, calls: Mapping[Key, Call], on_result: OnResult, stop: Stop) -> None:
        """Run calls that do not depend on each other, and start them in their order until ``stop`` returns True.

        ``on_result`` is called in the waiting thread for every task that was started.
        """

    def performance_report(self, page: str | None) -> AbstractContextManager[None]:
        """Write dask's performance report of the tasks that run meanwhile to a web page, if one is named."""


def capacity(scheduler: Scheduler) -> Capacity:
    """Return the capacity of the workers that a scheduler uses."""
    return Capacity(scheduler.workers, scheduler.processes, scheduler.memory)


def result_of(key: Key) -> Any:
    """Return an argument that stands for the result of another call, which is submitted together with this one."""
    return TaskRef(key)


def is_cancelled() -> bool:
    """Return, in a task, whether its run no longer waits for it; a task outside a cluster is never cancelled.

    A cluster forgets a cancelled task, but cannot stop its thread.
    """
    from distributed import get_worker

    try:
        worker = get_worker()
    except ValueError:
        return False
    task = worker.state.tasks.get(worker.get_current_task())
    return task is None or task.state == "cancelled"


def graph_of(calls: Mapping[Key, Call], around: Sequence[Any] = ()) -> dict[Key, Task]:
    """Return the calls as dask's tasks; with ``around``, a function that gets each call as its last arguments."""
    return {
        key: Task(key, *around, *(List(*one) if isinstance(one, list) else one for one in call))
        for key, call in calls.items()
    }
