"""The executor that runs tasks in threads of this process."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import dask.threaded
from dask.callbacks import Callback
from dask.task_spec import Task

from antipodes.executors.api import (
    Call,
    Channel,
    DescribeMisfit,
    Fits,
    Handle,
    Key,
    OnDone,
    OnResult,
    Stop,
    graph_of,
    never_stop,
)
from antipodes.system.events import Listener
from antipodes.system.machine import available_memory
from antipodes_tasks.base.errors import InputError
from antipodes_tasks.base.option_names import option

NOT_STARTED = object()
"""Result of a task that was not started because the run was asked to stop."""


class Threads:
    """The scheduler that uses threads of this process; handles are the results themselves."""

    channel: Channel | None = None
    shares_memory = True
    processes = 0
    workers_changed = False

    def __init__(self, workers: int) -> None:
        self.workers = workers
        self.memory = available_memory()
        self._first_call: Call | None = None
        """The call that the next `run_unordered` starts with."""

    def wait_for_workers(self, listener: Listener, stop: Stop) -> bool:
        """Return True, because threads are available immediately."""
        return True

    def relay_waits(self, run: str, tell: Callable[[str], None]) -> None:
        """Do nothing, because the storage of this process reports its waits itself."""

    def choose_workers(self, fits: Fits, describe_misfit: DescribeMisfit) -> None:
        """Do nothing, because threads share the memory of this process."""

    def on_worker_start(self, call: Call) -> None:
        self._first_call = call

    def run_on_all_workers(self, call: Call) -> None:
        """Do nothing, because there is no other process."""

    def divide(self, items: Sequence[int], held: Mapping[str, int]) -> Mapping[str, Sequence[int]]:
        """Return all items, because there is only this process."""
        return {"": items}

    def threads_of(self, process: str) -> int:
        """Return the number of threads, since there is only this process."""
        return self.workers

    def holds(self, handle: Handle) -> bool:
        """Return True, because results stay in this process."""
        return True

    def persist(
        self,
        calls: Mapping[Key, Call],
        on_done: OnDone | None = None,
        places: Mapping[Key, str] | None = None,
    ) -> dict[Key, Handle]:
        ended = Callback(posttask=lambda key, *_: on_done(key)) if on_done else Callback()
        with ended:
            results = dask.threaded.get(graph_of(calls), list(calls), num_workers=self.workers)
        return dict(zip(calls, results, strict=True))

    def gather(self, handles: Sequence[Handle], stop: Stop = never_stop) -> list[Any]:
        """Return the handles, which are the results."""
        return list(handles)

    def run_unordered(self, calls: Mapping[Key, Call], on_result: OnResult, stop: Stop) -> int:
        def run(function: Callable[..., Any], *arguments: Any) -> Any:
            return NOT_STARTED if stop() else function(*arguments)

        def report_result(name: str, result: Any, *_: Any) -> None:
            if result is not NOT_STARTED and name in keys:
                on_result(keys[name], result)

        # dask starts independent tasks in descending order of their names
        keys = {f"{len(calls) - place:09}": key for place, key in enumerate(calls)}
        graph = {name: Task(name, run, *calls[key]) for name, key in keys.items()}
        if self._first_call:
            graph["first"] = Task("first", run, *self._first_call)
            self._first_call = None
        with Callback(posttask=report_result):
            dask.threaded.get(graph, list(graph), num_workers=self.workers)
        return 0

    def performance_report(self, page: str | None) -> AbstractContextManager[None]:
        if page is not None:
            raise InputError(f"{option('performance_report')} needs a cluster; choose one with {option('scheduler')}")
        return nullcontext()
