"""Waiting in tests, with a time limit."""

import threading
import time
from collections.abc import Callable
from typing import Any

PATIENCE = 300.0
"""Seconds that a test waits for something before it fails. It only ends a test that hangs: on a machine that is busy
with other work, a run that takes a second has taken a minute."""


def wait_until(condition: Callable[[], Any], what: str, seconds: float = PATIENCE) -> Any:
    """Return the value of a condition as soon as it is true; raise AssertionError with ``what`` after ``seconds``."""
    deadline = time.monotonic() + seconds
    while not (found := condition()):
        assert time.monotonic() < deadline, f"after {seconds} seconds it is not true that {what}"
        time.sleep(0.02)
    return found


def error_of(call: Callable[[], Any], seconds: float = PATIENCE) -> BaseException | None:
    """Return the error that a call raises; raise AssertionError if the call takes longer than ``seconds``."""
    raised: list[BaseException] = []

    def run() -> None:
        try:
            call()
        except BaseException as error:
            raised.append(error)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    thread.join(seconds)
    assert not thread.is_alive(), f"it hangs for {seconds} seconds"
    return raised[0] if raised else None
