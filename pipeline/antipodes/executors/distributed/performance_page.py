"""Dask's performance report of a cluster, as a web page."""

import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from antipodes.events import Listener
from antipodes.executors.distributed.announce import announced
from antipodes.executors.distributed.connection import one_line
from antipodes.executors.distributed.requests import ask
from antipodes_tasks.errors import InputError, SchedulerError, SchedulerSilentError, missing_package

DRAW_SECONDS = 60.0
"""Seconds that a scheduler has to draw the page."""


@contextmanager
def reporting(client: Any, page: Path, listener: Callable[[], Listener]) -> Iterator[None]:
    """Write a report of the tasks that run meanwhile on the cluster of a client.

    Raises
    ------
    InputError
        The page cannot be drawn, or there is no folder for it.
    SchedulerError
        The page was not drawn, or cannot be written.
    """
    _check_page(page)
    from distributed import performance_report

    report: Any = performance_report(filename=str(page))
    with client.as_current():
        ask(client, report.__aenter__)
        try:
            yield
        except SchedulerSilentError:
            raise
        except Exception:  # this error matters more than those of the page; an immediate stop is no Exception
            with suppress(Exception):
                _write(client, report, listener())
            raise
        try:
            _write(client, report, listener())
        except OSError as error:
            raise SchedulerError(f"cannot write {page}: {error.strerror or one_line(error) or 'no answer'}") from error


def _write(client: Any, report: Any, listener: Listener) -> None:
    with announced(listener, "dask's report"):
        client.sync(report.__aexit__, None, None, None, code="", callback_timeout=DRAW_SECONDS)


def _is_place(page: Path) -> bool:
    """Whether a file can be written there; a pipe would block the run if nothing reads from it."""
    try:
        mode = page.stat().st_mode
    except FileNotFoundError:
        return page.parent.is_dir()
    except OSError:  # the system does not accept the name
        return False
    return not (stat.S_ISDIR(mode) or stat.S_ISFIFO(mode))


def _check_page(page: Path) -> None:
    """Raise InputError unless dask's report can be drawn and written there."""
    try:
        import bokeh  # noqa: F401  (dask draws its report with it)
    except ImportError as error:
        raise missing_package("--performance-report", "bokeh", "dashboard") from error
    if not _is_place(page):
        raise InputError(f"--performance-report: expected the name of a file in a folder that exists, found {page}")
