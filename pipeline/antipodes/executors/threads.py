"""The executor that runs tasks in threads of this process."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import dask.threaded
from dask.callbacks import Callback
from dask.task_spec import Task

from antipodes.errors import InputError
from antipodes.events import Listener
from antipodes.executors.api import Call, Done, Ended, Handle, Key, Stop, graph_of, never
from antipodes.machine import available_memory

NOT_BEGUN = object()
"""The result of a task that a stop came before."""


class Threads:
    """Threads of this process; results are values in memory."""

    shares_memory = True
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
