"""What a worker process of a local cluster does before its first task; dask loads it as a preload module."""

import signal
from typing import Any

from antipodes.kernels import warm_up


def dask_setup(worker: Any) -> None:
    """Compile the kernels, and leave Ctrl-C, which the terminal sends to all processes, to the one that leads."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    warm_up()
