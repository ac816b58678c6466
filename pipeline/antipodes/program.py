"""The program ``antipodes``: what Ctrl-C does before its libraries are loaded, and after its command has ended."""

import os
import signal
import sys
from types import FrameType

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
        signal.signal(number, handler)
    try:
        run()
    except KeyboardInterrupt:
        _leave()
    finally:
        if before[signal.SIGINT] is not signal.SIG_IGN:
            signal.signal(signal.SIGINT, signal.SIG_DFL)  # while Python clears up


def _leave(number: int = signal.SIGINT, frame: FrameType | None = None) -> None:
    """End the process here: what is raised while modules load may be lost in them, or shown whole."""
    if sys.stderr is not None:
        os.write(2, b"antipodes: stopped\n")
    os._exit(INTERRUPTED)
