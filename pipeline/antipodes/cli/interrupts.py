"""Ctrl-C and SIGTERM: the first asks the run to commit and stop, the second stops it immediately."""

import signal
from collections.abc import Callable
from types import FrameType, TracebackType
from typing import Any

from antipodes.cli.output import say

SIGNALS = (signal.SIGINT, signal.SIGTERM)


class Stopped(BaseException):
    """Raised wherever the program is when a stop at once is asked for; no handler of errors is to swallow it."""


class Interrupts:
    """While it is entered, signals are noted rather than obeyed."""

    def __init__(self) -> None:
        self.next_command: Callable[[], str] = lambda: "the same command"
        """The command that resumes, shown when the run is stopped."""
        self.under_way = "the layer"
        """What the first signal lets the run finish."""
        self._requested = False
        self._before: dict[signal.Signals, Any] = {}

    def requested(self) -> bool:
        """Whether a stop was asked for."""
        return self._requested

    def __enter__(self) -> "Interrupts":
        self._before = {number: signal.signal(number, self._note) for number in SIGNALS}
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def _note(self, number: int, frame: FrameType | None) -> None:
        if self._requested:
            raise Stopped(f"stopped immediately; resume with: {self.next_command()}")
        self._requested = True
        say(f"finishing and committing {self.under_way}; interrupt again to stop immediately")
