"""Requests to the scheduler of a client, each with a limit to the wait."""

import time
from collections.abc import Callable
from typing import Any

from antipodes.events import Listener, silence
from antipodes.executors.distributed.announce import announced
from antipodes.executors.distributed.connection import CONNECT_SECONDS, lost, silent, translated

ANSWER_SECONDS = 10.0
"""Seconds that a scheduler has for an answer."""
POLL_SECONDS = 0.1
"""Seconds between two looks at the state of a connection."""


def ask(client: Any, request: Callable[..., Any], *arguments: Any, seconds: float | None = None, **named: Any) -> Any:
    """Return the answer to a request, a coroutine function of a client or of its connection to the scheduler.

    Raises
    ------
    SchedulerSilentError
        No answer came in time: within `ANSWER_SECONDS` by default.
    """
    seconds = ANSWER_SECONDS if seconds is None else seconds
    with translated(client):
        try:
            return client.sync(request, *arguments, callback_timeout=seconds, **named)
        except TimeoutError as error:
            raise silent(seconds) from error


def identity(client: Any, workers: int, listener: Listener = silence) -> dict[str, Any]:
    """Return the scheduler's description of itself and of this many workers, -1 for all.

    A lost connection is waited for. `Client.scheduler_info` would repeat an earlier description.
    """
    begin = time.monotonic()
    with announced(listener, "the dask scheduler to answer"):
        while client.status == "connecting" and time.monotonic() - begin < 2 * CONNECT_SECONDS:
            time.sleep(POLL_SECONDS)
        scheduler = client.scheduler
        if client.status != "running" or scheduler is None:
            raise lost(client)
        described: dict[str, Any] = ask(client, scheduler.identity, n_workers=workers)
    return described


def dashboard_of(client: Any) -> str | None:
    """Return the address of dask's dashboard, None if there is none."""
    return str(client.dashboard_link) if ask(client, client.run_on_scheduler, _has_dashboard) else None


def _has_dashboard(dask_scheduler: Any) -> bool:
    """On a scheduler: whether it serves a dashboard; its address is known even without one, or without bokeh."""
    return bool(dask_scheduler.http_application.applications)
