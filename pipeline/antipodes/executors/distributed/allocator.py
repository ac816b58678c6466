"""What becomes of the memory of freed arrays: kept for the next ones, or given back to the system."""

import ctypes
import os
import sys
from typing import Any

M_TRIM_THRESHOLD, M_MMAP_THRESHOLD = -1, -3
"""Parameters of glibc's ``mallopt``, as its manual page names and numbers them."""
KEPT, KEPT_SHARE = 1 << 28, 16
"""Bytes at the end of a heap that are kept, and the part of a process's limit that they may be at most."""
LARGEST, LARGEST_SHARE = 1 << 25, 64
"""Likewise the bytes of an array beyond which it is given back in any case: glibc takes no greater value."""
BY_DEFAULT = 1 << 17
"""What both parameters are unless the environment sets them."""


def keep_freed_memory(limit: int | None = None) -> None:
    """Keep the memory of freed arrays for the next ones, in proportion to the limit of the process, in bytes, if any.

    dask starts its workers so that they give back all at once (``MALLOC_TRIM_THRESHOLD_``). A layer then gets the
    memory of its arrays from the system page by page: two fifths of the processor time of a large table.
    """
    _set(kept_memory(limit), min(LARGEST, limit // LARGEST_SHARE) if limit else LARGEST)


def kept_memory(limit: int | None) -> int:
    """Bytes of freed memory that a process with such a limit may keep at most."""
    return min(KEPT, limit // KEPT_SHARE) if limit else KEPT


def give_back_freed_memory() -> None:
    """Do as the environment says again, and give back what was kept."""
    trim, largest = (os.environ.get(f"MALLOC_{name}_THRESHOLD_", "") for name in ("TRIM", "MMAP"))
    _set(*(int(value) if value.isdecimal() else BY_DEFAULT for value in (trim, largest)))
    if libc := _glibc():
        libc.malloc_trim(0)


def _set(trim: int, largest: int) -> None:
    if libc := _glibc():
        libc.mallopt(M_TRIM_THRESHOLD, trim)
        libc.mallopt(M_MMAP_THRESHOLD, largest)


def _glibc() -> Any:
    """The C library where it is glibc, else None."""
    if not sys.platform.startswith("linux"):
        return None
    libc = ctypes.CDLL(None)
    return libc if hasattr(libc, "mallopt") and hasattr(libc, "gnu_get_libc_version") else None
