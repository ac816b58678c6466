"""Loading libraries: it takes longer than many commands, and signals must not disturb it."""

import gc
import os
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from antipodes_tasks.quoting import LOG_TIME

INTERRUPTED = 75
"""EX_TEMPFAIL, the exit status of interrupted commands: the same command resumes, or starts over."""
SIGNALS = (signal.SIGINT, signal.SIGTERM)


@contextmanager
def importing_libraries() -> Iterator[None]:
    """Load libraries in the block without garbage collection, now or later; a signal ends the process immediately.

    Modules live as long as the process, and collecting garbage while they load takes a quarter of a short run. An
    exception raised by a signal may be lost in a module that loads, or shown as a traceback.
    """
    before = {number: signal.getsignal(number) for number in SIGNALS}
    for number, handler in before.items():
        if handler is not signal.SIG_IGN:  # a script ignores signals for commands in its background
            signal.signal(number, leave)
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()
        for number, handler in before.items():
            signal.signal(number, handler)


def leave(number: int = signal.SIGINT, frame: FrameType | None = None) -> None:
    """End the process here, with one line."""
    if sys.stderr is not None:
        os.write(2, f"{message_start()} stopped\n".encode())
    os._exit(INTERRUPTED)


def message_start() -> str:
    """The start of a message of this process on stderr, with the time unless stderr is a terminal."""
    return "antipodes:" if os.isatty(2) else time.strftime(f"antipodes: {LOG_TIME}")
