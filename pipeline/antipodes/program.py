"""The program ``antipodes``; no signal ends it with a traceback, not even while its libraries load."""

import os
import signal
import sys
from types import FrameType
from typing import Any

INTERRUPTED = 75
"""The exit status of interrupted commands, too: the same command resumes, or starts over."""
SIGNALS = (signal.SIGINT, signal.SIGTERM)


def main() -> None:
    """Load the command line and run it."""
    before = {number: signal.getsignal(number) for number in SIGNALS}
    for number, handler in before.items():
        if handler is not signal.SIG_IGN:  # a script ignores signals for commands in its background
            signal.signal(number, _leave)
    from antipodes.cli import main as run

    for number, handler in before.items():
        signal.signal(number, _handler_of_commands(number, handler))
    try:
        run()
    except KeyboardInterrupt:
        _leave()
    finally:
        for number, handler in before.items():
            if handler is not signal.SIG_IGN:
                signal.signal(number, signal.SIG_DFL)  # while Python shuts down


def _handler_of_commands(number: signal.Signals, before: Any) -> Any:
    """The handler that commands start with: SIGTERM is handled like SIGINT, unless the caller has set another."""
    return signal.default_int_handler if number == signal.SIGTERM and before == signal.SIG_DFL else before


def _leave(number: int = signal.SIGINT, frame: FrameType | None = None) -> None:
    """End the process here: an exception raised while modules load may be lost in them, or shown as a traceback."""
    if sys.stderr is not None:
        os.write(2, b"antipodes: stopped\n")
    os._exit(INTERRUPTED)
