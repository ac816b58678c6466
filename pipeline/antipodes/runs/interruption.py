"""Handling of Ctrl-C, or of an interrupted notebook kernel, while a Python program waits for a run."""

import signal
import sys
import threading
from collections.abc import Callable
from types import FrameType
from typing import Any

from antipodes.storage.retry import StorageWatch, watch
from antipodes_tasks.base import arguments


class Interruption:
    """A context manager. Within its block, the first Ctrl-C is recorded, and the second raises KeyboardInterrupt.

    This only applies in the main thread of a program without a handler of its own for the signal.
    """

    def __init__(self, asked: Callable[[], bool]) -> None:
        """Stop on the signal or if ``asked`` returns True; raise InputError if ``asked`` is not a function."""
        self._asked = arguments.function(asked, "interrupted")
        self._noted = False
        self._before: Any = None

    def requested(self) -> bool:
        """Return whether the run should commit and stop."""
        return self._noted or self._asked()

    def check(self, complete: bool, saved: str, store: str, overwrite: bool = False) -> None:
        """Raise KeyboardInterrupt if Ctrl-C stopped the run before it was complete.

        The message contains ``saved``, such as "depths 0 to 7 are", and how to resume.
        """
        if self._noted and not complete:
            again = "the same call without overwrite" if overwrite else "the same call"
            raise KeyboardInterrupt(f"interrupted: {saved} kept in {store}; {again} resumes")

    def __enter__(self) -> "Interruption":
        main = threading.current_thread() is threading.main_thread()
        if main and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
            self._before = signal.signal(signal.SIGINT, self._note)
            watch.stop = self.requested
        return self

    def __exit__(self, *_: object) -> None:
        if self._before is not None:
            signal.signal(signal.SIGINT, self._before)
            watch.ending, watch.stop = False, StorageWatch().stop

    def _note(self, number: int, frame: FrameType | None) -> None:
        if self._noted:
            watch.ending = True
            raise KeyboardInterrupt("stopped immediately; committed work is kept, and the same call resumes")
        self._noted = True
        print(
            "interrupted: finishing and committing the work in progress; interrupt again to stop immediately",
            file=sys.stderr,
        )
