"""The progress of a search for one position, in words."""

from antipodes_tasks.quoting import counted
from antipodes_tasks.searches.progress import Progress


def describe_search(progress: Progress, seconds: float) -> str:
    """The progress of a search as one line."""
    rate = progress.expanded / max(seconds, 1e-9) / 1e6
    excluded = ruled_out(progress)
    parts = [
        *([f"{excluded} so far"] if excluded else []),
        f"{counted(progress.expanded, 'position')} expanded, {rate:,.1f} million/s",
        *([f"{progress.held:,} in memory"] if progress.held else []),
    ]
    return f"{progress.method}: {', '.join(parts)}"


def ruled_out(progress: Progress) -> str | None:
    """The paths that are known not to exist; None if nothing is known."""
    if progress.least is None or progress.least < 2:
        return None
    return f"no path of fewer than {progress.least} moves"
