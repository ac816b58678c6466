"""The clock of a run: seconds for each of its phases."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass


@dataclass
class Clock:
    """Seconds spent in each phase of a run."""

    tables: float = 0.0
    """Building the tables of moves or placements, and compiling or loading the kernels."""
    search: float = 0.0
    """From the first task of the search to the last, without commits."""
    write: float = 0.0
    """Reading the last commit, writing chunks and committing."""

    @contextmanager
    def measure(self, phase: str) -> Iterator[None]:
        """Add the seconds that the block takes to a phase."""
        begin = time.perf_counter()
        try:
            yield
        finally:
            setattr(self, phase, getattr(self, phase) + time.perf_counter() - begin)
