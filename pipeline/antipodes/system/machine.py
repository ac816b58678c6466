"""Memory and processors of this machine, memory used by a run, and sizes as text."""

import ctypes
import os
import resource
import sys
import time
from dataclasses import dataclass
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
    """Return the peak memory in bytes of this process or of its largest child, whichever is greater.

    Pages of files that are mapped, such as the code of libraries, count only for children; see `_PrivatePeak`.
    """
    note_memory()
    return KIB * max(_private.peak, _max_rss(resource.RUSAGE_CHILDREN))


def note_memory() -> None:
    """Note the current and the peak memory of this process, so that `peak_memory` is more precise.

    Call this between the phases of a run.
    """
    try:
        fields = dict(line.split(":", 1) for line in STATUS.read_text().splitlines())
        _private.note(*(int(fields[name].split()[0]) for name in ("VmHWM", "VmRSS", "RssFile")))
    except (OSError, KeyError):  # another system; on Linux, `getrusage` would include the memory of the parent
        _private.note(_max_rss(resource.RUSAGE_SELF), 0, 0)


def _max_rss(who: int) -> int:
    """Return the peak memory in KiB that the system reports; macOS reports bytes."""
    return resource.getrusage(who).ru_maxrss // (KIB if sys.platform == "darwin" else 1)


@dataclass
class _PrivatePeak:
    """The peak memory of a process in KiB without mapped pages of files.

    The system can drop these pages when memory is scarce. How many of them it maps depends on how the files were
    written, so that the same run may take 60 MB more after another installation of the libraries.

    Linux records only the peak of all memory. The pages of files are subtracted at the first `note` after each new
    peak, so the result is too small by the pages that were mapped between the peak and this note.
    """

    peak: int = 0
    peak_with_files: int = 0

    def note(self, peak_with_files: int, memory: int, files: int) -> None:
        """Update the peak from the peak memory so far, the current memory, and its part that is pages of files."""
        risen = peak_with_files > self.peak_with_files
        self.peak = max(self.peak, (peak_with_files if risen else memory) - files)
        self.peak_with_files = peak_with_files


_private = _PrivatePeak()


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
