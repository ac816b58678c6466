"""The program ``antipodes``: what Ctrl-C does before its libraries are loaded, and after its command has ended."""

import os
import signal
import sys
from types import FrameType
from typing import Any

INTERRUPTED = 75
"""As where a command is interrupted: the same command starts over, or resumes."""
SIGNALS = (signal.SIGINT, signal.SIGTERM)


def main() -> None:
    """Load the command line and run it; no signal ends it with a traceback."""
    before = {number: signal.getsignal(number) for number in SIGNALS}
    for number, handler in before.items():
        if handler is not signal.SIG_IGN:  # as in the background of a script
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
                signal.signal(number, signal.SIG_DFL)  # while Python clears up


def _handler_of_commands(number: signal.Signals, before: Any) -> Any:
    """What commands find: by default SIGTERM is like SIGINT, as it would end the process without a word."""
    return signal.default_int_handler if number == signal.SIGTERM and before == signal.SIG_DFL else before


def _leave(number: int = signal.SIGINT, frame: FrameType | None = None) -> None:
    """End the process here: what is raised while modules load may be lost in them, or shown whole."""
    if sys.stderr is not None:
        os.write(2, b"antipodes: stopped\n")
    os._exit(INTERRUPTED)
