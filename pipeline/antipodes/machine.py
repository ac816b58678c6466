"""The memory and the processors of this machine, and the memory that a run has used."""

import os
import resource
from pathlib import Path

LIMITS = (Path("/sys/fs/cgroup/memory.max"), Path("/sys/fs/cgroup/memory/memory.limit_in_bytes"))
"""Where Linux tells the limit of the control group."""


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


def peak_memory() -> int:
    """The most memory, in bytes, that this process, or the largest one that it started, has taken."""
    kilobytes = max(resource.getrusage(who).ru_maxrss for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return kilobytes * 1024
