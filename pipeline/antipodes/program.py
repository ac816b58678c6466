"""The program ``antipodes``; no signal ends it with a traceback, not even while its libraries load."""

import signal

from antipodes.cli.loading import SIGNALS, importing_libraries, leave


def main() -> None:
    """Load the command line and run it."""
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
