"""The report of a run: what it computed, and what that took."""

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import Any

from antipodes.machine import peak_memory
from antipodes.runs.clock import Clock


@dataclass(frozen=True, kw_only=True)
class Report(ABC):
    """What a run of any kind came to."""

    store: str
    """Its path, or its URL."""
    resumed_from: int | None
    """How much was committed before the run, in what the run counts; None: nothing was."""
    clock: Clock
    """Seconds of each phase."""
    seconds: float
    """Seconds that the user waited: since the command was started, imports included, or the function was called."""
    peak_memory: int = field(default_factory=peak_memory)
    """The most bytes that this process took, or one that it started; workers elsewhere are not seen."""

    @property
    @abstractmethod
    def complete(self) -> bool:
        """Whether there is nothing left to compute."""

    @property
    @abstractmethod
    def saved(self) -> str:
        """How much is committed, as the subject of a sentence with its verb, such as "depths 0 to 7 are"."""

    @abstractmethod
    def to_json(self) -> dict[str, Any]:
        """The report with the keys of the command line's ``--json``."""

    def seconds_to_json(self) -> dict[str, float]:
        """The value of the key ``seconds``."""
        clock = self.clock
        return {"total": self.seconds, "tables": clock.tables, "search": clock.search, "write": clock.write}

    def per_second(self, amount: int) -> float | None:
        """An amount per second of search; None if nothing was searched."""
        return amount / self.clock.search if self.clock.search else None
