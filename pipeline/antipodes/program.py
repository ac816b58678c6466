"""The program ``antipodes``; no signal ends it with a traceback, not even while its libraries load."""

import signal
import sys
from importlib.util import find_spec

from antipodes.cli.loading import SIGNALS, importing_libraries, leave

UNIX = ("fcntl", "resource")
"""Modules that Python has on Unix alone: every command needs the locks or the figures of memory that they give."""


def main() -> None:
    """Load the command line and run it."""
    if not all(map(find_spec, UNIX)):
        sys.exit("antipodes: needs Linux or another Unix, found none; on Windows install it in WSL")
    before = {number: signal.getsignal(number) for number in SIGNALS}
    try:
        if before[signal.SIGTERM] == signal.SIG_DFL:  # unless the caller has set another handler
            signal.signal(signal.SIGTERM, signal.default_int_handler)
        with importing_libraries():
            from antipodes.cli.main import main as run
        run()
    except KeyboardInterrupt:
        leave()
    finally:
        for number, handler in before.items():
            if handler is not signal.SIG_IGN:
                signal.signal(number, signal.SIG_DFL)  # while Python shuts down
