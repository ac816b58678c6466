"""Where the time of a run goes."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass


@dataclass
class Clock:
    """Seconds spent in each phase of a run."""

    tables: float = 0.0
    """Building the tables, of moves or of placements, and compiling or loading the kernels."""
    search: float = 0.0
    """From the first task of the search to the last, commits left out."""
    write: float = 0.0
    """Writing chunks and committing, and reading them at the beginning."""

    @contextmanager
    def measure(self, phase: str) -> Iterator[None]:
        """Add the time that the block takes to a phase."""
        begin = time.perf_counter()
        try:
            yield
        finally:
            setattr(self, phase, getattr(self, phase) + time.perf_counter() - begin)
