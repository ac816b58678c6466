"""The memory of freed arrays: kept for the next arrays, or given back to the system."""

import ctypes
import os
import sys
from typing import Any

M_TRIM_THRESHOLD, M_MMAP_THRESHOLD = -1, -3
"""Parameters of glibc's ``mallopt``, as its manual page names and numbers them."""
KEPT, KEPT_SHARE = 1 << 28, 16
"""Bytes of freed memory that are kept at the end of a heap: at most 256 MiB and 1/16 of the process's memory limit."""
LARGEST, LARGEST_SHARE = 1 << 25, 64
"""Bytes of the largest freed array that is kept: at most 32 MiB, glibc's greatest value, and 1/64 of the limit."""
BY_DEFAULT = 1 << 17
"""Bytes: the value of both parameters unless the environment sets them."""


def keep_freed_memory(limit: int | None = None) -> None:
    """Keep the memory of freed arrays for the next ones, in proportion to the memory limit of the process, in bytes.

    dask starts its workers so that they give back freed memory immediately (``MALLOC_TRIM_THRESHOLD_``). Each layer
    would then get the memory of its arrays from the system page by page: two fifths of the processor time of a large
    table.
    """
    _set(kept_memory(limit), min(LARGEST, limit // LARGEST_SHARE) if limit else LARGEST)


def kept_memory(limit: int | None) -> int:
    """Return the most bytes of freed memory that a process with this memory limit in bytes keeps."""
    return min(KEPT, limit // KEPT_SHARE) if limit else KEPT


def give_back_freed_memory() -> None:
    """Restore the parameters of the environment, and give back the memory that was kept."""
    trim, largest = (os.environ.get(f"MALLOC_{name}_THRESHOLD_", "") for name in ("TRIM", "MMAP"))
    _set(*(int(value) if value.isdecimal() else BY_DEFAULT for value in (trim, largest)))
    if libc := _glibc():
        libc.malloc_trim(0)


def _set(trim: int, largest: int) -> None:
    if libc := _glibc():
        libc.mallopt(M_TRIM_THRESHOLD, trim)
        libc.mallopt(M_MMAP_THRESHOLD, largest)


def _glibc() -> Any:
    """Return the C library if it is glibc, else None."""
    if not sys.platform.startswith("linux"):
        return None
    libc = ctypes.CDLL(None)
    return libc if hasattr(libc, "mallopt") and hasattr(libc, "gnu_get_libc_version") else None
