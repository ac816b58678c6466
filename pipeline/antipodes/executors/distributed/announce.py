"""Waits that tell a listener what is waited for."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from antipodes.events import Listener, Waiting

ANNOUNCE_SECONDS = 3.0
"""Seconds that a wait lasts before the listener is told of it."""


@contextmanager
def announced(listener: Listener, what: str) -> Iterator[None]:
    """Tell the listener what is waited for if that takes long; what the listener raises is raised after the wait."""
    raised: list[BaseException] = []

    def tell() -> None:
        try:
            listener(Waiting(what))
        except BaseException as error:  # in this thread it would stop nothing, and Python would show a traceback
            raised.append(error)

    timer = threading.Timer(ANNOUNCE_SECONDS, tell)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        timer.join()  # a listener that has begun says nothing more once the wait is over
    if raised:
        raise raised[0]
