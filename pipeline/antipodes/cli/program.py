"""The program ``antipodes``; a signal never ends it with a traceback, not even while its libraries load."""

import os
import signal
import sys
from importlib.util import find_spec

from antipodes.cli.loading import SIGNALS, importing_libraries, leave

UNIX = ("fcntl", "resource")
"""Python modules that only exist on Unix; every command needs their locks and memory figures."""


def main() -> None:
    """Load the command line and run it."""
    if not all(map(find_spec, UNIX)):
        sys.exit("antipodes: this program needs Linux or another Unix; on Windows install it in WSL")
    limited = _has_limited_address_space()
    if limited:
        os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # numpy's library spins if it cannot create its threads
    before = {number: signal.getsignal(number) for number in SIGNALS}
    try:
        if before[signal.SIGTERM] == signal.SIG_DFL:  # unless the caller has set another handler
            signal.signal(signal.SIGTERM, signal.default_int_handler)
        with importing_libraries():
            from antipodes.cli.main import main as run
        run()
    except (ImportError, MemoryError) as error:
        if not limited or isinstance(error, ModuleNotFoundError):
            raise
        sys.exit("antipodes: out of memory: the address space of processes is limited; raise it with: ulimit -v")
    except KeyboardInterrupt:
        leave()
    finally:
        for number, handler in before.items():
            if handler is not signal.SIG_IGN:
                signal.signal(number, signal.SIG_DFL)  # a signal while Python shuts down ends it at once


def _has_limited_address_space() -> bool:
    import resource

    return resource.getrlimit(resource.RLIMIT_AS)[0] != resource.RLIM_INFINITY
