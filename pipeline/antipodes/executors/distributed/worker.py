"""Functions that run on the workers of a cluster: around tasks, alongside tasks, and to keep freed memory."""

import asyncio
import logging
import os
import socket
import sys
from collections.abc import Callable
from functools import partial
from importlib.metadata import version
from typing import Any
from weakref import WeakKeyDictionary

from distributed import get_worker

from antipodes.executors.distributed.storage_waits import topic_of
from antipodes.system.machine import glibc, keep_freed, lacks_threads
from antipodes.system.waits import report_to
from antipodes_tasks.base import errors
from antipodes_tasks.base.errors import (
    AntipodesError,
    DepthLimitError,
    StoreError,
    WorkerFailedError,
    WorkerUnreachableError,
)

SAME_EVERYWHERE = ("antipodes", "dask", "distributed", "numpy", "zarr")
"""Packages whose versions must be the same on workers and client, because they exchange values and share a store."""
LONGEST_MESSAGE = 2000
"""Maximum number of characters of an error's message; dask would replace a longer error by a different one."""
KEPT, KEPT_SHARE = 1 << 28, 16
"""Bytes of freed memory kept at the end of a heap: at most 256 MiB and 1/16 of the process's memory limit."""
LARGEST, LARGEST_SHARE = 1 << 25, 64
"""Bytes of the largest freed array that is kept: at most 32 MiB (the maximum of glibc) and 1/64 of the limit."""
BY_DEFAULT = 1 << 17
"""Value of both parameters, in bytes, unless the environment sets them."""
RARE_MS = {"profile": 200.0, "tick": 500.0}
"""Milliseconds between two samples of dask's profiler, and between two measurements of the delay of dask's event loop,
during a run. dask's default values, 10 and 20 ms, take about 3 % of a core, also while the worker waits for others."""

logger = logging.getLogger(__name__)
_usual_ms: WeakKeyDictionary[Any, float] = WeakKeyDictionary()
"""The milliseconds to be restored at the end of the runs, by the periodic call of dask."""


def dask_setup(worker: Any) -> None:
    """Disable logging in a process of a local cluster, because the client reports what happens.

    dask calls this function in workers that load this module when they start.
    """
    logging.disable()


_runs: set[str] = set()
"""The runs that use this process; while there are any, it keeps freed memory."""


async def begin_run(run: str, call: tuple[Any, ...], dask_worker: Any) -> None:
    """Keep freed memory on this worker, and run the call, which may load kernels, concurrently with tasks.

    Until the run ends, dask observes the worker less often, and does not log errors that the run prints.
    """
    _runs.add(run)
    logging.getLogger("distributed.worker").addFilter(_is_news)
    keep_freed_memory(dask_worker.memory_manager.memory_limit)
    for name in RARE_MS.keys() & dask_worker.periodic_callbacks.keys():
        observation = dask_worker.periodic_callbacks[name]
        usual = _usual_ms.setdefault(observation, observation.callback_time)
        observation.callback_time = max(usual, RARE_MS[name])
    function, *arguments = call
    try:
        await asyncio.to_thread(function, *arguments)
    except Exception:  # the first task will raise the same error
        logger.exception("cannot prepare for a run")


def _is_news(record: logging.LogRecord) -> bool:
    """Return whether a worker should log a message of dask: not if the run prints the error of the task."""
    values: Any = record.args
    failure = values[3] if str(record.msg).startswith("Compute Failed") else ""
    return failure.partition("(")[0] not in vars(errors)


def end_run(run: str) -> None:
    """Return freed memory to the system, and let dask observe and log as before, if no other run uses this process."""
    _runs.discard(run)
    if not _runs:
        logging.getLogger("distributed.worker").removeFilter(_is_news)
        give_back_freed_memory()
        for observation, usual in _usual_ms.items():
            observation.callback_time = usual
        _usual_ms.clear()


def versions() -> dict[str, str]:
    """Return the versions of Python and of the packages in `SAME_EVERYWHERE` in this process."""
    python = ".".join(map(str, sys.version_info[:2]))
    return {"python": python, **{package: version(package) for package in SAME_EVERYWHERE}}


def named(function: Callable[..., Any], *arguments: Any) -> Any:
    """Return the result of a call; an error names the worker that raised it.

    Every error is replaced by one of ours without a context: other errors might not survive pickling, and a
    BaseException that is not an Exception would end the worker or the run.
    """
    report_to(partial(_report_wait, get_worker()))
    try:
        return function(*arguments)
    except BaseException as error:
        failure = failure_of(error, this_worker())
    raise failure


def _report_wait(worker: Any, run: str, waited_for: str) -> None:
    """Report a wait of a task to the run; may be called in any thread."""
    worker.log_event(topic_of(run), waited_for)


def failure_of(error: BaseException, worker: str) -> AntipodesError:
    """Return the error that the client gets for an error in a task, or another worker for an error in an answer."""
    if isinstance(error, WorkerUnreachableError):
        return error
    text = " ".join(str(error).split())[:LONGEST_MESSAGE]
    if isinstance(error, StoreError | DepthLimitError):
        return type(error)(f"{worker}: {text}")
    if isinstance(error, MemoryError):
        return WorkerFailedError(f"{worker} ran out of memory{f': {text}' if text else ''}")
    if lacks_threads(error):
        return WorkerFailedError(f"{worker} cannot start a thread: the system's limit on memory or threads is too low")
    if not isinstance(error, AntipodesError | OSError):
        logger.error("a task failed", exc_info=error)
        text = f"{type(error).__name__}: {text}"
    return WorkerFailedError(f"{worker}: {text}")


def this_worker() -> str:
    """Return the name of this worker in messages."""
    return f"worker {get_worker().address} (process {os.getpid()} on {socket.gethostname()})"


def keep_freed_memory(limit: int | None = None) -> None:
    """Keep the memory of freed arrays for later arrays, in proportion to the memory limit of the process in bytes.

    dask starts its workers with ``MALLOC_TRIM_THRESHOLD_`` so that they return freed memory immediately. Each layer
    would then get the memory of its arrays from the system page by page, which takes two fifths of the processor time
    of a large table.
    """
    keep_freed(kept_memory(limit), min(LARGEST, limit // LARGEST_SHARE) if limit else LARGEST)


def kept_memory(limit: int | None) -> int:
    """Return the maximum number of bytes of freed memory that a process with this memory limit in bytes keeps."""
    return min(KEPT, limit // KEPT_SHARE) if limit else KEPT


def give_back_freed_memory() -> None:
    """Restore the parameters of the environment, and return the kept memory to the system."""
    trim, largest = (os.environ.get(f"MALLOC_{name}_THRESHOLD_", "") for name in ("TRIM", "MMAP"))
    keep_freed(*(int(value) if value.isdecimal() else BY_DEFAULT for value in (trim, largest)))
    if libc := glibc():
        libc.malloc_trim(0)
