"""Memory and processors of this machine, memory used by a run, and sizes as text."""

import ctypes
import os
import resource
import sys
import time
from pathlib import Path
from typing import Any

KIB, MIB, GIB = 1 << 10, 1 << 20, 1 << 30
LIMITS = (Path("/sys/fs/cgroup/memory.max"), Path("/sys/fs/cgroup/memory/memory.limit_in_bytes"))
"""Files in which Linux reports the memory limit of the control group."""
STAT = Path("/proc/self/stat")
"""File in which Linux reports when this process was created, in clock ticks since the machine started."""
STATUS = Path("/proc/self/status")
"""File in which Linux reports the memory of this process only."""

M_TRIM_THRESHOLD, M_MMAP_THRESHOLD = -1, -3
"""Parameters of glibc's ``mallopt``, with the names and numbers of its manual page."""


def available_memory() -> int:
    """Return the bytes that a run may use: the free memory, or the limit of the control group if that is smaller."""
    import psutil

    available = int(psutil.virtual_memory().available)
    for path in LIMITS:
        if path.exists():
            limit = path.read_text().strip()
            if limit.isdecimal():
                available = min(available, int(limit))
    return available


def available_workers() -> int:
    """Return the number of processors that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def process_began() -> float:
    """Return when this process was created, on the clock of `time.perf_counter`; may be negative."""
    return time.perf_counter() - _age_of_process()


def _age_of_process() -> float:
    """Return the age of this process in seconds, to a hundredth."""
    try:
        ticks = int(STAT.read_text().rpartition(")")[2].split()[19])  # field 22; the name may contain spaces
        age: float = time.clock_gettime(time.CLOCK_BOOTTIME) - ticks / os.sysconf("SC_CLK_TCK")
    except (OSError, AttributeError):  # another system
        import psutil

        age = time.time() - psutil.Process().create_time()
    return max(0.0, age)


def peak_memory() -> int:
    """Return the peak memory in bytes of this process or of its largest child, whichever is greater."""
    kilobytes = max(_peak_of_this_process(), resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
    return kilobytes * 1024


def _peak_of_this_process() -> int:
    """Return the peak memory of this process in KiB. On Linux, `getrusage` would include its parent's memory."""
    try:
        status = STATUS.read_text()
        return next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmHWM:"))
    except (OSError, StopIteration):  # another system
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def lacks_threads(error: BaseException) -> bool:
    """Return whether the system refused to start a thread, because memory or the number of threads is limited."""
    return isinstance(error, RuntimeError) and "can't start new thread" in str(error)


def human(size: float) -> str:
    """Return a number of bytes as text with a unit."""
    for unit in ("bytes", "KiB", "MiB", "GiB", "TiB"):
        if size < 1024:
            return f"{size:.0f} {unit}" if unit == "bytes" else f"{size:.1f} {unit}"
        size /= 1024
    return f"{size:,.1f} PiB"


def keep_freed(trim: int, largest: int) -> None:
    """Set how much freed memory each heap of the process keeps for later arrays. It has no effect without glibc.

    ``trim`` is the number of bytes that are kept at the end of a heap, and ``largest`` the size in bytes of the largest
    freed array that is kept.
    """
    if libc := glibc():
        libc.mallopt(M_TRIM_THRESHOLD, trim)
        libc.mallopt(M_MMAP_THRESHOLD, largest)


def glibc() -> Any:
    """Return the C library if it is glibc, else None."""
    if not sys.platform.startswith("linux"):
        return None
    libc = ctypes.CDLL(None)
    return libc if hasattr(libc, "mallopt") and hasattr(libc, "gnu_get_libc_version") else None
