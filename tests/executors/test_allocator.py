"""The memory of freed arrays, kept or given back to the system."""

import subprocess
import sys

import pytest

from antipodes.executors.distributed import worker

FAULTS = """
import resource
import numpy as np
from antipodes.executors.distributed.worker import give_back_freed_memory, keep_freed_memory

def faults():
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    for _ in range(50):
        np.ones(1 << 18)
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before

give_back_freed_memory()
given_back = faults()
keep_freed_memory()
faults()
kept = faults()
give_back_freed_memory()
print(given_back, kept, faults())
"""


@pytest.mark.skipif(worker._glibc() is None, reason="the C library is not glibc")
def test_freed_memory_is_kept_and_given_back() -> None:
    environment = {"MALLOC_TRIM_THRESHOLD_": "65536"}  # as dask starts its workers
    done = subprocess.run(
        [sys.executable, "-c", FAULTS], capture_output=True, text=True, check=True, env=environment, timeout=60
    )
    given_back, kept, given_back_again = map(int, done.stdout.split())
    assert given_back > 50 * 256  # half of the pages of two megabytes, each time
    assert kept < given_back / 10
    assert given_back_again > 50 * 256


def test_kept_memory_is_in_proportion_to_the_memory_limit() -> None:
    assert worker.kept_memory(None) == worker.kept_memory(64 << 30) == 256 << 20
    assert worker.kept_memory(512 << 20) == 32 << 20
