"""Environment variables that libraries read, and that may be set for other programs."""

import re
from collections.abc import MutableMapping

NUMBERS = ("NUMBA_NUM_THREADS", "ZARR_ASYNC__CONCURRENCY", "ZARR_THREADING__MAX_WORKERS")
"""Variables that are kept where they are numbers from 1."""
REMOVED = re.compile("ZARR_.*|NUMBA_DISABLE_JIT|NUMBA_NUM_THREADS")
"""Variables that change the format of stores, or switch off the compiler that the program needs."""


def remove_settings(environment: MutableMapping[str, str]) -> None:
    """Remove the settings of libraries that the program cannot work with; with some, stores would look damaged."""
    for name in filter(REMOVED.fullmatch, list(environment)):
        if name not in NUMBERS or not re.fullmatch("[1-9][0-9]{0,4}", environment[name]):
            del environment[name]
