"""The results of runs and of verifications, whatever the store holds, and the time that they took."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from typing import Any

from antipodes.machine import peak_memory
from antipodes_tasks.jit import TELL_SECONDS, watch
from antipodes_tasks.quoting import printable, shorten


@dataclass
class Clock:
    """Seconds spent in each phase of a run."""

    compiling: float = 0.0
    """Compiling machine code at a first use, in this process; no other phase includes it."""
    tables: float = 0.0
    """Building the tables of moves or placements, and loading the kernels."""
    search: float = 0.0
    """From the first task of the search to the last, without commits."""
    write: float = 0.0
    """Reading the last commit, writing chunks and committing."""

    @contextmanager
    def measure(self, phase: str) -> Iterator[None]:
        """Add the seconds that the block takes to a phase."""
        begin, compiled = time.perf_counter(), watch.seconds
        try:
            yield
        finally:
            compiling = watch.seconds - compiled
            self.compiling += compiling
            setattr(self, phase, getattr(self, phase) + max(0.0, time.perf_counter() - begin - compiling))

    @property
    def compiling_line(self) -> str | None:
        """What a report says of compiling, if it took long."""
        if self.compiling < TELL_SECONDS:
            return None
        return f"{self.compiling:.2f} s of it for machine code, only at a first use"


@dataclass(frozen=True, kw_only=True)
class Report:
    """The result of a run of any kind."""

    store: str
    """Its path or URL."""
    resumed_from: int | None
    """How much was committed before the run, in what the run counts; None: nothing was."""
    clock: Clock
    """Seconds of each phase."""
    seconds: float
    """Seconds that the user waited: since the command was started, imports included, or the function was called."""
    peak_memory: int = field(default_factory=peak_memory)
    """The most bytes that this process took, or one that it started; workers elsewhere are not seen."""

    def seconds_to_json(self) -> dict[str, float]:
        """The value of the key ``seconds``."""
        clock = self.clock
        phases = {"compiling": clock.compiling, "tables": clock.tables, "search": clock.search, "write": clock.write}
        return {"total": self.seconds, **phases}

    def per_second(self, amount: int) -> float | None:
        """An amount per second of search; None if nothing was searched."""
        return amount / self.clock.search if self.clock.search else None


@dataclass(frozen=True, kw_only=True, repr=False)
class Verdict:
    """The problems that were found in a store; its text is one line for each."""

    problems: tuple[str, ...] = ()
    complete: bool | None = None
    """Whether the store is finished; None if it is too damaged to tell."""

    @property
    def ok(self) -> bool:
        """Whether no problem was found."""
        return not self.problems

    def __str__(self) -> str:
        return "\n".join(map(printable, self.problems))

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {shorten(str(self), 80)}>"

    def to_json(self) -> dict[str, Any]:
        """The verdict with the keys of ``verify --json``."""
        fields = asdict(self)
        problems = list(fields.pop("problems"))
        return {"ok": self.ok, **fields, "problems": problems}
