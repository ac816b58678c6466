"""The memory and the processors of this machine, the memory that a run has used, and sizes as a person reads them."""

import os
import resource
import time
from pathlib import Path

KIB, MIB, GIB = 1 << 10, 1 << 20, 1 << 30
LIMITS = (Path("/sys/fs/cgroup/memory.max"), Path("/sys/fs/cgroup/memory/memory.limit_in_bytes"))
"""Where Linux tells the limit of the control group."""
STAT = Path("/proc/self/stat")
"""Where Linux tells when this process was created, in clock ticks since the machine started."""
STATUS = Path("/proc/self/status")
"""Where Linux tells the memory of this process alone."""


def available_memory() -> int:
    """Bytes that a run may take here: the free memory, or the limit of this process's control group if that is less."""
    import psutil

    available = int(psutil.virtual_memory().available)
    for path in LIMITS:
        if path.exists():
            limit = path.read_text().strip()
            if limit.isdecimal():
                available = min(available, int(limit))
    return available


def available_workers() -> int:
    """How many processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def process_began() -> float:
    """When this process was created, on the clock of `time.perf_counter`, which may have started later."""
    return time.perf_counter() - _age_of_process()


def _age_of_process() -> float:
    """Seconds, to a hundredth."""
    try:
        ticks = int(STAT.read_text().rpartition(")")[2].split()[19])  # the 22nd field; the name may contain spaces
        age: float = time.clock_gettime(time.CLOCK_BOOTTIME) - ticks / os.sysconf("SC_CLK_TCK")
    except (OSError, AttributeError):  # another system
        import psutil

        age = time.time() - psutil.Process().create_time()
    return max(0.0, age)


def peak_memory() -> int:
    """The most memory, in bytes, that this process, or the largest one that it started, has taken."""
    kilobytes = max(_peak_of_this_process(), resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
    return kilobytes * 1024


def _peak_of_this_process() -> int:
    """KiB. On Linux `getrusage` would count the memory of the process that started this one, too."""
    try:
        status = STATUS.read_text()
        return next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmHWM:"))
    except (OSError, StopIteration):  # another system
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def lacks_threads(error: BaseException) -> bool:
    """Return whether the system refused a thread: memory, or the number of threads, is limited."""
    return isinstance(error, RuntimeError) and "can't start new thread" in str(error)


def human(size: float) -> str:
    """A number of bytes as a person reads it."""
    for unit in ("bytes", "KiB", "MiB", "GiB", "TiB"):
        if size < 1024:
            return f"{size:.0f} {unit}" if unit == "bytes" else f"{size:.1f} {unit}"
        size /= 1024
    return f"{size:,.1f} PiB"
