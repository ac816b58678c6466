"""Functions that run on the workers of a cluster: around tasks, and beside them."""

import asyncio
import logging
import os
import socket
import sys
from collections.abc import Callable
from importlib.metadata import version
from typing import Any

from distributed import get_worker

from antipodes.executors.distributed.allocator import give_back_freed_memory, keep_freed_memory
from antipodes.machine import lacks_threads
from antipodes_tasks.errors import AntipodesError, DepthLimitError, StoreError, WorkerFailedError

SAME_EVERYWHERE = ("antipodes", "dask", "distributed", "numpy", "zarr")
"""Packages that a worker must have in the client's version, because they exchange values and share a store."""
LONGEST_MESSAGE = 2000
"""Characters of an error's message that reach the client; dask would replace a longer error by another one."""
logger = logging.getLogger(__name__)


def dask_setup(worker: Any) -> None:
    """Log nothing in a process of a local cluster: the client says what happens.

    dask calls this function in workers that load this module when they start.
    """
    logging.disable()


_runs: set[str] = set()
"""The runs that use this process, for which it keeps freed memory."""


async def begin_run(run: str, call: tuple[Any, ...], dask_worker: Any) -> None:
    """On a worker: keep freed memory for this run, and run the call, which may load kernels, beside the tasks."""
    _runs.add(run)
    keep_freed_memory(dask_worker.memory_manager.memory_limit)
    function, *arguments = call
    try:
        await asyncio.to_thread(function, *arguments)
    except Exception:  # the first task meets the same error
        logger.exception("cannot prepare for a run")


def end_run(run: str) -> None:
    """On a worker: give freed memory back to the system unless another run uses this process."""
    _runs.discard(run)
    if not _runs:
        give_back_freed_memory()


def versions() -> dict[str, str]:
    """Return the versions of Python and of the packages in `SAME_EVERYWHERE` in this process."""
    python = ".".join(map(str, sys.version_info[:2]))
    return {"python": python, **{package: version(package) for package in SAME_EVERYWHERE}}


def named(function: Callable[..., Any], *arguments: Any) -> Any:
    """Return the result of a call; an error names the worker that raised it.

    Every error leaves as one of ours without a context: an error of a library may not survive the way to another
    process, and a BaseException that is no Exception would end the worker or the run.
    """
    try:
        return function(*arguments)
    except BaseException as error:
        failure = _failure(error)
    raise failure


def _failure(error: BaseException) -> AntipodesError:
    """Return the error that the client gets for an error in a task."""
    text = " ".join(str(error).split())[:LONGEST_MESSAGE]
    if isinstance(error, StoreError | DepthLimitError):
        return type(error)(f"{this_worker()}: {text}")
    if isinstance(error, MemoryError):
        return WorkerFailedError(f"{this_worker()} ran out of memory: {text or 'nothing more could be had'}")
    if lacks_threads(error):
        return WorkerFailedError(
            f"{this_worker()} cannot start a thread: the system allows it too little memory, or too few threads"
        )
    if not isinstance(error, AntipodesError | OSError):
        logger.error("a task failed", exc_info=error)
        text = f"{type(error).__name__}: {text}"
    return WorkerFailedError(f"{this_worker()}: {text}")


def is_task_cancelled() -> bool:
    """Return whether the task that calls this is cancelled; see `executors.api.is_cancelled`."""
    try:
        worker = get_worker()
    except ValueError:
        return False
    task = worker.state.tasks.get(worker.get_current_task())
    return task is None or task.state == "cancelled"


def this_worker() -> str:
    """Return the name of this worker in messages."""
    return f"worker {get_worker().address} (process {os.getpid()} on {socket.gethostname()})"
