"""The service of a store, as a program: each answer about its layers waits for ever, and says so before.

Clients may send their requests late.
"""

import sys
import threading
from typing import Any

from waiting import PATIENCE

from antipodes.cli.program import main
from antipodes.service import overview, server


def block(opened: Any) -> None:
    print("blocked", flush=True)
    threading.Event().wait()


server.REQUEST_SECONDS = PATIENCE  # type: ignore[assignment]
overview.layers_view = block  # type: ignore[assignment]
sys.argv = ["antipodes", "serve", sys.argv[1], "--port", "0"]
main()
