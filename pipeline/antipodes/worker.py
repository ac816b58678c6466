"""What runs on the workers of a cluster beside the tasks themselves."""

import os
import signal
import socket
import sys
from collections.abc import Callable
from importlib.metadata import version
from typing import Any

from dask.sizeof import sizeof
from distributed import WorkerPlugin, get_worker

from antipodes.allocator import give_back_freed_memory, keep_freed_memory
from antipodes.errors import StoreError, WorkerFailedError
from antipodes.partition import State

SAME_EVERYWHERE = ("antipodes", "dask", "distributed", "numpy", "zarr")
"""What a worker must have in the client's version: they exchange values with each other, and share a store."""


def dask_setup(worker: Any) -> None:
    """Leave Ctrl-C, which the terminal sends to all processes of a local cluster, to the one that leads.

    dask calls it in the workers that load this module when they start.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)


class WarmUp(WorkerPlugin):
    """Makes a worker ready before its first task, also one that joins late: kernels compiled or loaded, memory kept."""

    idempotent = True
    """To register it again is to have it on the workers of a scheduler that was started anew."""

    def __init__(self, name: str, call: tuple[Any, ...]) -> None:
        self.name = name
        self.call = call
        """A function and its arguments."""

    def setup(self, worker: Any) -> None:
        """Called by dask in every worker."""
        keep_freed_memory()
        function, *arguments = self.call
        function(*arguments)

    def teardown(self, worker: Any) -> None:
        """Called by dask in every worker when the run is over."""
        give_back_freed_memory()


def _size_of_state(state: State) -> int:
    """What dask counts for a state: of its depths the half, as the states before and after a layer share them.

    dask counts both while the task between them runs, and would move one to its disk to make room for nothing.
    """
    visited = 0 if state.visited is None else state.visited.nbytes
    depths = 0 if state.depths is None else state.depths.nbytes // 2
    return state.rows.nbytes + state.frontier.nbytes + visited + depths


sizeof.register(State, _size_of_state)


def versions() -> dict[str, str]:
    """What this process runs."""
    python = ".".join(map(str, sys.version_info[:2]))
    return {"python": python, **{package: version(package) for package in SAME_EVERYWHERE}}


def named(function: Callable[..., Any], *arguments: Any) -> Any:
    """The result of the call; an error of the machine tells which one it is."""
    try:
        return function(*arguments)
    except StoreError as error:
        raise type(error)(f"{this_worker()}: {error}") from error
    except MemoryError as error:
        raise WorkerFailedError(f"{this_worker()} ran out of memory: {error or 'nothing more could be had'}") from error
    except OSError as error:
        raise WorkerFailedError(f"{this_worker()}: {error}") from error


def this_worker() -> str:
    """How messages call the worker that asks."""
    return f"worker {get_worker().address} (process {os.getpid()} on {socket.gethostname()})"
