"""The results of runs of all kinds, and the times of their phases."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Literal

from antipodes.system.machine import note_memory, peak_memory
from antipodes.system.records import optional
from antipodes_tasks.base.jit import REPORT_AFTER_SECONDS, watch

Phase = Literal["tables", "search", "write"]
"""A phase of a run that a `Clock` measures, by the name of its field."""


@dataclass
class Clock:
    """Seconds spent in each phase of a run."""

    compiling: float = 0.0
    """Compiling machine code on first use, in this process; the other phases do not include it."""
    tables: float = 0.0
    """Building the tables of moves or placements, and loading the kernels."""
    search: float = 0.0
    """From the first task of the search to the last, without commits."""
    write: float = 0.0
    """Reading the last commit, writing chunks and committing."""

    @contextmanager
    def measure(self, phase: Phase) -> Iterator[None]:
        """Add the duration of the block to a phase."""
        note_memory()
        begin, compiled = time.perf_counter(), watch.seconds
        try:
            yield
        finally:
            note_memory()
            compiling = watch.seconds - compiled
            self.compiling += compiling
            setattr(self, phase, getattr(self, phase) + max(0.0, time.perf_counter() - begin - compiling))

    @property
    def compiling_line(self) -> str | None:
        """Remark on compilation for the report, or None if it was fast."""
        if self.compiling < REPORT_AFTER_SECONDS:
            return None
        return f"{self.compiling:.2f} s of this time, only on first use"


@dataclass(frozen=True, slots=True)
class Seconds:
    """The seconds of a run, and of its phases as in `Clock`."""

    total: float
    compiling: float
    tables: float
    search: float
    write: float | None = optional()


@dataclass(frozen=True, kw_only=True)
class Report:
    """The result of a run of any kind."""

    store: str
    """Path or URL of the store."""
    resumed_from: int | None
    """Amount committed before the run, in the unit of the run (depth or partitions); None if nothing was committed."""
    clock: Clock
    """Seconds of each phase."""
    seconds: float
    """Seconds that the user waited, since the command was started (including imports) or the function was called."""
    peak_memory: int = field(default_factory=peak_memory)
    """Peak memory in bytes of this process, without the code of libraries, or of a process that it started; workers
    elsewhere are not included."""

    @property
    def phases(self) -> Seconds:
        """The seconds of each phase, and the total."""
        clock = self.clock
        return Seconds(self.seconds, clock.compiling, clock.tables, clock.search, clock.write)

    def per_second(self, amount: int) -> float | None:
        """Return the amount per second of search, or None if there was no search."""
        return amount / self.clock.search if self.clock.search else None
