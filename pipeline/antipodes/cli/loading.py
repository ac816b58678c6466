"""Loading of libraries, which takes longer than many commands and must not be disturbed by signals."""

import gc
import os
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from antipodes_tasks.base.quoting import LOG_TIME

INTERRUPTED = 75
"""EX_TEMPFAIL, the exit status of interrupted commands. The same command resumes, or starts over."""
SIGNALS = (signal.SIGINT, signal.SIGTERM)


@contextmanager
def importing_libraries() -> Iterator[None]:
    """Load libraries in the block without collecting garbage now or later; a signal ends the process immediately.

    Modules live as long as the process, and garbage collection during loading takes a quarter of a short run. An
    exception raised by a signal could be lost in a module that is loading, or be shown as a traceback.
    """
    before = {number: signal.getsignal(number) for number in SIGNALS}
    for number, handler in before.items():
        if handler is not signal.SIG_IGN:  # a shell script ignores signals for its background commands
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
    """Print one line and end the process immediately."""
    if sys.stderr is not None:
        os.write(2, f"{message_start()} stopped\n".encode())
    os._exit(INTERRUPTED)


def message_start() -> str:
    """Return the start of a message on stderr, with the time unless stderr is a terminal."""
    return "antipodes:" if os.isatty(2) else time.strftime(f"antipodes: {LOG_TIME}")
