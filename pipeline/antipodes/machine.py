"""How much memory there is; a module of its own, since a search needs nothing else of a plan."""

from pathlib import Path

LIMITS = (Path("/sys/fs/cgroup/memory.max"), Path("/sys/fs/cgroup/memory/memory.limit_in_bytes"))
"""Where Linux tells the limit of the control group."""


def available_memory() -> int:
    """Bytes that a run may take here: what is free now, or what the control group of this process allows."""
    import psutil

    available = int(psutil.virtual_memory().available)
    for path in LIMITS:
        if path.exists():
            limit = path.read_text().strip()
            if limit.isdecimal():
                available = min(available, int(limit))
    return available
