"""The progress of a run on stderr: a live line on a terminal, plain lines elsewhere."""

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TextIO

from antipodes.events import (
    Assembling,
    Event,
    Listener,
    PartitionsUnderWay,
    PositionsChecked,
    Restoring,
    silence,
)
from antipodes.progress.event_lines import describe
from antipodes.progress.live_line import duration
from antipodes.progress.time_left import TimeLeft

REPEATED_SECONDS = 10.0
"""Seconds between two plain lines of a phase that has no events of its own to tell, such as layers."""
TIME = "%Y-%m-%d %H:%M:%S"
"""The local time at the start of each plain line, since such lines go to logs."""


@contextmanager
def show_progress(quiet: bool, stream: TextIO | None = None, began: float | None = None) -> Iterator[Listener]:
    """A listener that prints events to a stream, by default stderr; none of them if ``quiet``.

    ``began`` is when the user began to wait, on the clock of `time.perf_counter`; by default that is now.
    """
    stream = stream or sys.stderr
    if quiet:
        yield silence
    elif stream.isatty():
        from antipodes.progress.live_display import live_display

        with live_display(stream, time.perf_counter() if began is None else began) as listener:
            yield listener
    else:
        yield PlainLines(stream)


class PlainLines:
    """A listener that prints a line for each event that says something new, and steady phases now and then."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._times = TimeLeft()
        self._kind: type[Event] | None = None
        """The event of the steady phase that was last told."""
        self._told_at = 0.0
        self._printed_at = time.perf_counter()

    def __call__(self, event: Event) -> None:
        now = time.perf_counter()
        if isinstance(event, Restoring | Assembling | PositionsChecked):
            self._times.told(event, now)
            self._print_now_and_then(event, now)
        elif isinstance(event, PartitionsUnderWay) and now - self._printed_at < REPEATED_SECONDS:
            return
        elif line := describe(event):
            self._print(line)

    def _print_now_and_then(self, event: Restoring | Assembling | PositionsChecked, now: float) -> None:
        """Print the begin of a phase and its end, and lines in between."""
        begins = self._kind is not type(event)
        if begins or event.done == event.of or now - self._told_at >= REPEATED_SECONDS:
            self._kind, self._told_at = type(event), now
            left = self._times.left(now)
            time_left = f", {duration(left)} left" if left and event.done < event.of else ""
            self._print(f"{describe(event)}{time_left}")

    def _print(self, line: str) -> None:
        self._printed_at = time.perf_counter()
        print(f"{time.strftime(TIME)} {line}", file=self._stream, flush=True)
