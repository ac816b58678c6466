"""What runs on the workers of a cluster beside the tasks themselves."""

import asyncio
import logging
import os
import signal
import socket
import sys
from collections.abc import Callable
from importlib.metadata import version
from typing import Any

from distributed import get_worker

from antipodes.errors import AntipodesError, DepthLimitError, StoreError, WorkerFailedError
from antipodes.executors.distributed.allocator import give_back_freed_memory, keep_freed_memory

SAME_EVERYWHERE = ("antipodes", "dask", "distributed", "numpy", "zarr")
"""What a worker must have in the client's version: they exchange values with each other, and share a store."""
LONGEST_MESSAGE = 2000
"""Characters of an error's message that are passed on; dask would replace a longer one by another error."""
logger = logging.getLogger(__name__)


def dask_setup(worker: Any) -> None:
    """Leave Ctrl-C, which the terminal sends to all processes of a local cluster, to the one that leads, and messages.

    dask calls it in the workers that load this module when they start.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    logging.disable()


_runs: set[str] = set()
"""The runs for which this process keeps freed memory: several may share a worker."""


async def begin_run(run: str, call: tuple[Any, ...], dask_worker: Any) -> None:
    """On a worker: keep freed memory for this run, and do the call, such as loading kernels, beside the tasks."""
    _runs.add(run)
    keep_freed_memory(dask_worker.memory_manager.memory_limit)
    function, *arguments = call
    try:
        await asyncio.to_thread(function, *arguments)
    except Exception:  # the first task meets it again
        logger.exception("cannot prepare for a run")


def end_run(run: str) -> None:
    """On a worker: give freed memory back unless another run goes on."""
    _runs.discard(run)
    if not _runs:
        give_back_freed_memory()


def versions() -> dict[str, str]:
    """What this process runs."""
    python = ".".join(map(str, sys.version_info[:2]))
    return {"python": python, **{package: version(package) for package in SAME_EVERYWHERE}}


def named(function: Callable[..., Any], *arguments: Any) -> Any:
    """The result of the call; an error tells which worker raised it.

    Whatever the call raises leaves here as an error of ours without a context: what libraries raise may not survive the
    way to another process, and what is no Exception would end the worker or the run.
    """
    try:
        return function(*arguments)
    except BaseException as error:
        failure = _failure(error)
    raise failure


def _failure(error: BaseException) -> AntipodesError:
    """What the client is told of an error in a task."""
    text = " ".join(str(error).split())[:LONGEST_MESSAGE]
    if isinstance(error, StoreError | DepthLimitError):
        return type(error)(f"{this_worker()}: {text}")
    if isinstance(error, MemoryError):
        return WorkerFailedError(f"{this_worker()} ran out of memory: {text or 'nothing more could be had'}")
    if not isinstance(error, AntipodesError | OSError):
        logger.error("a task failed", exc_info=error)
        text = f"{type(error).__name__}: {text}"
    return WorkerFailedError(f"{this_worker()}: {text}")


def is_dropped() -> bool:
    """Whether no run waits any more for the task that asks: dask forgets such a task, but cannot stop its thread.

    A task that no worker of a cluster runs is never dropped.
    """
    try:
        worker = get_worker()
    except ValueError:
        return False
    task = worker.state.tasks.get(worker.get_current_task())
    return task is None or task.state == "cancelled"


def this_worker() -> str:
    """How messages call the worker that asks."""
    return f"worker {get_worker().address} (process {os.getpid()} on {socket.gethostname()})"
