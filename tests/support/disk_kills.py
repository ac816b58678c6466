"""Searches with layers on disk that are killed at calls of the file system; the last one is not.

As a program, ``python tests/support/disk_kills.py PUZZLE STORE NUMBER SEED [--counts-only]`` kills this many runs
on one store. Each run is a fork of this process, which has loaded the libraries.
"""

import os
import random
import sys
import tempfile
import threading
from pathlib import Path

from every_kind import config_of, options_of
from faults import die, fault_at

from antipodes.tables.layers import disk_shard, division
from antipodes.tables.planning import plan as planning
from antipodes.tables.run import run_puzzle
from antipodes.tables.strategies import disk_strategy
from antipodes.tables.strategies.disk_strategy import DiskStrategy


def main(name: str, store: Path, number: int, rng: random.Random, counts_only: bool) -> int:
    """Kill runs of a puzzle at random calls, and then run it to its end; return how many were killed."""
    planning.STRATEGIES = (DiskStrategy(),)
    division.CHUNK_STATES = (8, 64)
    disk_shard.LOG_BYTES, disk_strategy.LOGS_BYTES = 16, 64
    with tempfile.TemporaryDirectory() as folder:
        # Load all kernels once. The threads of dask belong to the thread that uses them, so no fork waits for them.
        arguments = config_of(name), Path(folder) / "t.zarr", options_of(name, workers=2, counts_only=counts_only)
        loading = threading.Thread(target=run_puzzle, args=arguments)
        loading.start()
        loading.join()
    killed = 0
    for at in [*(rng.randint(1, 60) for _ in range(number)), 0]:
        process = os.fork()
        if not process:
            status = 1
            try:
                with fault_at(at, die):
                    run_puzzle(config_of(name), store, options_of(name, workers=2, counts_only=counts_only))
                status = 0
            finally:
                os._exit(status)
        status = os.waitpid(process, 0)[1]
        killed += os.WIFSIGNALED(status)
        assert os.WIFSIGNALED(status) or os.waitstatus_to_exitcode(status) == 0
    return killed


if __name__ == "__main__":
    name, store, number, seed, *more = sys.argv[1:]
    print(main(name, Path(store), int(number), random.Random(int(seed)), bool(more)))
