"""A cluster of processes on this machine, which ends with the run, and the folder to which they spill."""

import fcntl
import shutil
import signal
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from multiprocessing import resource_tracker
from pathlib import Path
from typing import Any

import dask.config
from distributed import Client, LocalCluster
from distributed.utils import LoopRunner

from antipodes.events import Listener, silence
from antipodes.executors.distributed.announce import announced
from antipodes.executors.distributed.connection import closing, one_line
from antipodes_tasks.errors import SchedulerError

PREFIX = "antipodes-scratch-"
LOCK = "lock"
"""The file in each folder that its run locks for as long as the run lives."""
STOPPING = (signal.SIGINT, signal.SIGTERM)
"""The signals of a terminal or a batch system, which go to all processes of a run; only this process acts on them."""
LEFTOVERS = "ignore::UserWarning:multiprocessing.resource_tracker"
"""The filter for the warning of Python's resource tracker that it cleans up after a process that stops immediately."""


@contextmanager
def local_cluster(workers: int, listener: Listener = silence) -> Iterator[Any]:
    """Open a client of N new processes, which end with it; SchedulerError if they do not start."""
    with (
        scratch_folder() as folder,
        dask.config.set({"temporary-directory": str(folder)}),  # the scheduler's, too
        _deaf_loop() as loop,
    ):
        try:
            with announced(listener, f"{workers} processes to start"):
                cluster = LocalCluster(
                    n_workers=workers,
                    threads_per_worker=1,
                    dashboard_address=":0",
                    silence_logs="ERROR",
                    preload=["antipodes.executors.distributed.worker"],
                    local_directory=str(folder),
                    loop=loop,
                )
        except Exception as error:  # of a process that ends before it has begun
            raise SchedulerError(f"cannot start {workers} processes: {one_line(error)}") from error
        with cluster, closing(Client(cluster)) as client:
            yield client


@contextmanager
def _deaf_loop() -> Iterator[Any]:
    """Run a loop whose processes never get the signals `STOPPING`, not even while they start.

    A thread inherits the blocked signals of the thread that starts it, and so does a process.
    """
    sys.warnoptions.append(LEFTOVERS)
    try:
        resource_tracker.ensure_running()  # it unblocks signals in the thread that starts it
    finally:
        sys.warnoptions.remove(LEFTOVERS)
    runner = LoopRunner()
    before = signal.pthread_sigmask(signal.SIG_BLOCK, STOPPING)
    try:
        runner.start()
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
    try:
        yield runner.loop
    finally:
        runner.stop()


@contextmanager
def scratch_folder() -> Iterator[Path]:
    """Create an empty folder for temporary files, and remove it in the end; also remove those of killed runs."""
    _remove_leftovers(Path(tempfile.gettempdir()))
    folder = Path(tempfile.mkdtemp(prefix=PREFIX))
    try:
        with (folder / "new").open("wb") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            (folder / "new").rename(folder / LOCK)  # no other run takes the folder for a leftover before it is locked
            yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _remove_leftovers(where: Path) -> None:
    for path in where.glob(f"{PREFIX}*/{LOCK}"):
        with suppress(OSError), path.open("rb") as lock:  # it is another user's, or another run's
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            shutil.rmtree(path.parent, ignore_errors=True)
