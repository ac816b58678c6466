"""The interface of executors: a `Scheduler` runs calls, in threads of this process or on the workers of a cluster.

Other packages only use this interface. A call is a function and its arguments; a handle represents the result of a
call. `persist` runs calls and leaves the results on the workers, and `gather` fetches results.
`run_unordered` passes each result to a callback as soon as its task ends. `run_on_all_workers` and `on_worker_start`
run a call in every process.
"""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from antipodes.system.events import Listener
from antipodes.system.machine import human

if TYPE_CHECKING:  # loads dask, which a program that runs no tasks does not need
    from dask.task_spec import Task

WORKER_SHARE = 0.6
"""Fraction of a worker's memory limit that a run plans to use.

Freed memory that the worker keeps is not included (`kept_memory`). dask moves results to disk at 0.7 of the limit, and
starts no tasks above 0.8."""

Key = tuple[str, int]
Handle = Any
"""A result or its future. In the arguments of a call, even inside a list, each handle is replaced by its result."""
Call = tuple[Any, ...]
"""A function and its arguments."""
OnResult = Callable[[Key, Any], None]
"""Called with the key and the result of each task that ends."""
OnDone = Callable[[Key], None]
"""Called with the key of each result as soon as it exists."""
Stop = Callable[[], bool]
"""Returns True if no more tasks should be started."""


@dataclass(frozen=True)
class Capacity:
    """The size of a set of workers."""

    workers: int
    """Number of tasks that run at the same time."""
    processes: int
    """Number of other processes that run tasks; 0 if tasks run in this process."""
    memory: int | None
    """Bytes that a run may take on all workers together; None if unknown."""


Fits = Callable[[Capacity], bool]
"""Returns whether a run fits into the memory of a set of workers."""
DescribeMisfit = Callable[[int | None], str]
"""Returns why a worker with this memory limit in bytes is not used, as the predicate of a sentence about the worker."""


def never_stop() -> bool:
    """Return False: a `Stop` that never stops."""
    return False


class Peer(Protocol):
    """An object in one process that answers requests from tasks in other processes."""

    slots: asyncio.Semaphore
    """Limits the number of answers that are computed or sent at the same time, because each takes memory."""

    def is_ready(self, question: Any) -> bool:
        """Return whether there is an answer already."""

    def answer(self, question: Any) -> Any:
        """Return the answer, or None if there is none any more; called in a thread that runs no tasks."""


class Answers(Protocol):
    """The answers to some requests, which may still be under way."""

    def wait(self) -> list[Any]:
        """Return the answers, in the order of the questions; called in the task that asked.

        Raises
        ------
        InterruptedRunError
            The run no longer waits for the task.
        WorkerUnreachableError
            No connection to a worker succeeds.
        """

    def cancel(self) -> None:
        """Stop asking."""


class Channel(Protocol):
    """Requests between the tasks of a run that are in different processes; the scheduler does not see them."""

    def open(self, name: str, peer: Peer) -> None:
        """Let tasks in other processes ask a peer by this name until the peer is deleted; called in a task."""

    def ask(self, name: str, questions: Mapping[str, Any]) -> Answers:
        """Ask the peers of this name in other processes, by address; called in a task.

        A question consists of numbers, strings, lists and dictionaries. An answer may be any object, or an error, which
        `Answers.wait` raises.
        """


class Scheduler(Protocol):
    """An executor of calls as tasks."""

    channel: "Channel | None"
    """The channel between tasks in different processes; None if tasks run in this process."""
    shares_memory: bool
    """Whether all tasks use the same arrays in memory. If not, results are sent between processes, each call costs a
    round trip, and the scheduler remembers how each result was computed."""

    @property
    def workers(self) -> int:
        """Number of tasks that run at the same time."""

    @property
    def processes(self) -> int:
        """Number of other processes that run tasks, each with its own tables; 0 if tasks run in this process."""

    @property
    def memory(self) -> int | None:
        """Bytes that a run may take on all workers together; None if unknown."""

    def wait_for_workers(self, listener: Listener, stop: Stop) -> bool:
        """Wait for workers and make all usable ones members; return False if the run is stopped before there are any.

        From then on, the listener is notified of the run's waits.
        """

    @property
    def workers_changed(self) -> bool:
        """Whether usable workers have joined, or members have left, since `wait_for_workers`."""

    def relay_waits(self, run: str, tell: Callable[[str], None]) -> None:
        """Report waits of the run's tasks to ``tell``, and end these waits when the run is asked to stop.

        Call this before `wait_for_workers`, which receives the function that stops the run.
        """

    def choose_workers(self, fits: Fits, describe_misfit: DescribeMisfit) -> None:
        """From now on, use the largest set of workers that fits, or all workers if no set fits.

        A worker that joins is only used if it makes a larger set possible. The listener is notified of unused workers.
        """

    def on_worker_start(self, call: Call) -> None:
        """Run the call once in each process that runs tasks, concurrently with the first tasks of the process.

        This includes processes that join later. If tasks run in this process, the next `run_unordered` starts with the
        call, even if it has no other calls.
        """

    def run_on_all_workers(self, call: Call) -> None:
        """Run the call once in each other process that runs tasks; an error names the worker."""

    def divide(self, items: Sequence[int], held: Mapping[str, int]) -> Mapping[str, Sequence[int]]:
        """Divide items among the processes, so that all have equally many, with those that they have ``held`` before.

        Adjacent items stay together. Returns the items of each process that gets any, by the address under which a
        `Channel` knows it.
        """

    def threads_of(self, process: str) -> int:
        """Return how many tasks run at the same time in a process, given its address in `divide`."""

    def holds(self, handle: Handle) -> bool:
        """Return whether the worker that holds this result of a call with a place is still a member."""

    def persist(
        self,
        calls: Mapping[Key, Call],
        on_done: OnDone | None = None,
        places: Mapping[Key, str] | None = None,
    ) -> dict[Key, Handle]:
        """Run independent calls and keep their results; ``on_done`` is called for each of them.

        ``places`` contains the addresses of processes: a call with such a place runs there, and may change results
        that are there.
        """

    def gather(self, handles: Sequence[Handle], stop: Stop = never_stop) -> list[Any]:
        """Wait for the results and fetch them.

        Raises
        ------
        WorkersLostError
            Workers were lost during the wait.
        InterruptedRunError
            ``stop`` returned True before all results existed.
        """

    def run_unordered(self, calls: Mapping[Key, Call], on_result: OnResult, stop: Stop) -> int:
        """Run independent calls, starting them in order until ``stop`` returns True.

        ``on_result`` is called, in the thread that waits, for every task that was started. Other workers repeat the
        tasks of lost workers. Return the number of times that workers were lost; the listener is notified of each loss.
        """

    def performance_report(self, page: str | None) -> AbstractContextManager[None]:
        """Write dask's performance report about the tasks inside the block to an HTML page, if ``page`` is given."""


def capacity(scheduler: Scheduler) -> Capacity:
    """Return the capacity of the workers that a scheduler uses."""
    return Capacity(scheduler.workers, scheduler.processes, scheduler.memory)


def describe_misfit(memory_limit: int | None, limit: int | None) -> str:
    """Return why a worker with this ``limit`` in bytes is not used, as the end of a sentence about the worker.

    ``memory_limit`` is the limit of the run, for all workers together.
    """
    if memory_limit is not None or not limit:
        within = "" if memory_limit is None else f" within the memory limit of {human(memory_limit)}"
        return f"is not used: there is too little memory for another worker{within}"
    return f"has too little memory ({human(limit).replace('.0 ', ' ')}) for its share and is not used"


def is_cancelled() -> bool:
    """Return whether the run of the current task no longer waits for it; outside a cluster this is always False.

    A cluster forgets a cancelled task but cannot stop its thread.
    """
    from distributed import get_worker

    try:
        worker = get_worker()
    except ValueError:
        return False
    task = worker.state.tasks.get(worker.get_current_task())
    return task is None or task.state == "cancelled"


def graph_of(calls: Mapping[Key, Call], around: Sequence[Any] = ()) -> "dict[Key, Task]":
    """Return the calls as dask's tasks.

    If ``around`` is given (a function and arguments), the tasks call this function, with the call as last arguments.
    """
    from dask.task_spec import List, Task

    return {
        key: Task(key, *around, *(List(*one) if isinstance(one, list) else one for one in call))
        for key, call in calls.items()
    }
