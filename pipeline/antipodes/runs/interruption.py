"""Handling of signals that stop a run: the first one lets it commit, the second stops it immediately."""

import signal
import sys
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from types import FrameType
from typing import Any, NoReturn, Self

from antipodes.storage.retry import StorageWatch, watch
from antipodes_tasks.base import arguments


class StopSignals(ABC):
    """A context manager. Within its block, the first signal is recorded, and the second raises an exception.

    Signals also end waits for the storage, even before the run begins.
    """

    def __init__(self) -> None:
        self.noted = False
        """Whether a signal has arrived."""
        self._handlers: dict[signal.Signals, Any] = {}
        """The handlers that are restored at the end of the block."""

    def requested(self) -> bool:
        """Return whether the run should commit and stop."""
        return self.noted

    @abstractmethod
    def signals(self) -> Sequence[signal.Signals]:
        """Return the signals that are handled, at the beginning of the block."""

    @abstractmethod
    def announce(self) -> None:
        """Print what the run does before it stops."""

    @abstractmethod
    def stop_immediately(self) -> NoReturn:
        """Raise the exception of the second signal."""

    def __enter__(self) -> Self:
        self._handlers = {number: signal.signal(number, self._note) for number in self.signals()}
        if self._handlers:
            watch.stop = self.requested
        return self

    def __exit__(self, *_: object) -> None:
        for number, handler in self._handlers.items():
            signal.signal(number, handler)
        if self._handlers:
            watch.ending, watch.stop = False, StorageWatch().stop

    def _note(self, number: int, frame: FrameType | None) -> None:
        if self.noted:
            watch.ending = True
            self.stop_immediately()
        self.noted = True
        self.announce()


class Interruption(StopSignals):
    """Handles Ctrl-C, or an interrupted notebook kernel, while a Python program waits for a run.

    This only applies in the main thread of a program without a handler of its own for the signal.
    """

    def __init__(self, asked: Callable[[], bool]) -> None:
        """Stop on the signal or if ``asked`` returns True; raise InputError if ``asked`` is not a function."""
        super().__init__()
        self._asked = arguments.function(asked, "interrupted")

    def requested(self) -> bool:
        """Return whether the run should commit and stop."""
        return self.noted or self._asked()

    def check(self, complete: bool, saved: str, store: str, overwrite: bool = False) -> None:
        """Raise KeyboardInterrupt if Ctrl-C stopped the run before it was complete.

        The message contains ``saved``, such as "depths 0 to 7 are", and how to resume.
        """
        if self.noted and not complete:
            again = "the same call without overwrite" if overwrite else "the same call"
            raise KeyboardInterrupt(f"interrupted: {saved} kept in {store}; {again} resumes")

    def signals(self) -> Sequence[signal.Signals]:
        """Return SIGINT, or nothing if the program handles it or this is another thread."""
        main = threading.current_thread() is threading.main_thread()
        return [signal.SIGINT] if main and signal.getsignal(signal.SIGINT) is signal.default_int_handler else []

    def announce(self) -> None:
        """Print that the run stops, in words that are true before and after the search begins."""
        print(
            "interrupted: stopping after the work in progress, and committing what was found; "
            "interrupt again to stop immediately",
            file=sys.stderr,
        )

    def stop_immediately(self) -> NoReturn:
        """Raise KeyboardInterrupt."""
        raise KeyboardInterrupt("stopped immediately; committed work is kept, and the same call resumes")
