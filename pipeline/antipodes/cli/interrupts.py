"""Ctrl-C and SIGTERM: the first asks the run to commit and stop, the second stops it immediately."""

import os
import signal
import sys
import threading
from collections.abc import Callable
from types import FrameType, TracebackType
from typing import Any

from antipodes.cli.output import say
from antipodes.storage.retry import watch

SIGNALS = (signal.SIGINT, signal.SIGTERM)
AGAIN_AFTER_SECONDS = 0.01


def stop_waits_at_signals() -> None:
    """From now on, a signal that raises KeyboardInterrupt ends the waits of all threads for storage, too."""
    for number in SIGNALS:
        if signal.getsignal(number) is signal.default_int_handler:
            signal.signal(number, _interrupt)


def _interrupt(number: int, frame: FrameType | None) -> None:
    watch.ending = True
    raise KeyboardInterrupt


class Stopped(BaseException):
    """An immediate stop, raised wherever the program is; no ``except Exception`` catches it."""


class Interrupts:
    """Inside the block, the first signal is noted, and a second one raises Stopped."""

    def __init__(self) -> None:
        self.next_command: Callable[[], str] = lambda: "the same command"
        """The command that resumes, shown when the run is stopped."""
        self.next_steps = "finishing and committing the layer"
        """What is done after the first signal."""
        self._requested = False
        self._before: dict[signal.Signals, Any] = {}
        self._unraisable_before = sys.unraisablehook

    def requested(self) -> bool:
        """Whether there was a signal."""
        return self._requested

    def __enter__(self) -> "Interrupts":
        self._before = {number: signal.signal(number, self._note) for number in SIGNALS}
        self._unraisable_before, sys.unraisablehook = sys.unraisablehook, self._stop_again
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)
        watch.ending = False
        sys.unraisablehook = self._unraisable_before

    def _note(self, number: int, frame: FrameType | None) -> None:
        if self._requested:
            watch.ending = True
            raise Stopped(f"stopped immediately; resume with: {self.next_command()}")
        self._requested = True
        say(f"{self.next_steps}; interrupt again to stop immediately")

    def _stop_again(self, unraisable: "sys.UnraisableHookArgs") -> None:
        """Python drops what is raised in a finaliser; a stop that was lost there is raised once more a moment later."""
        if issubclass(unraisable.exc_type, Stopped):
            threading.Timer(AGAIN_AFTER_SECONDS, os.kill, (os.getpid(), signal.SIGINT)).start()
        else:
            self._unraisable_before(unraisable)
