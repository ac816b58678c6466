"""The environment's variables that libraries read unseen, set perhaps for other programs."""

import re
from collections.abc import MutableMapping

NUMBERS = ("NUMBA_NUM_THREADS", "ZARR_ASYNC__CONCURRENCY", "ZARR_THREADING__MAX_WORKERS")
"""These may be set, to numbers from 1."""
OTHERS = re.compile("ZARR_.*|NUMBA_DISABLE_JIT|NUMBA_NUM_THREADS")
"""These change what a store is, or switch off the compiler that the program needs."""


def leave_out_settings(environment: MutableMapping[str, str]) -> None:
    """Remove the settings of libraries that the program does not work with; a store would look damaged with some."""
    for name in filter(OTHERS.fullmatch, list(environment)):
        if name not in NUMBERS or not re.fullmatch("[1-9][0-9]{0,4}", environment[name]):
            del environment[name]
