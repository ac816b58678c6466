"""The progress of a run: a live line on a terminal or in a notebook, and plain lines on stderr otherwise."""

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TextIO

from antipodes.progress.time_left import TimeLeft, duration
from antipodes.system.events import (
    Assembling,
    CheckStarted,
    ClusterReady,
    Committed,
    Committing,
    DefinitionUnchecked,
    Event,
    JournalCorrupt,
    LayerFinished,
    Listener,
    PartitionFinished,
    PartitionsCommitted,
    PartitionSearched,
    PartitionsInProgress,
    PositionsChecked,
    PositionsSolved,
    Preparing,
    Restoring,
    SearchStarted,
    TablesBuilt,
    TilingSearchStarted,
    Waiting,
    WaitingForWorkers,
    WorkerNotUsed,
    WorkerRefused,
    WorkersLost,
)
from antipodes_tasks.base.quoting import LOG_TIME, counted, printable

REPEATED_SECONDS = 10.0
"""Minimum seconds between plain lines of a phase that has no milestones (such as layers)."""
Steady = Preparing | Restoring | Assembling | PositionsChecked | PositionsSolved
"""The events of steady phases, whose units all cost about the same."""


@contextmanager
def show_progress(quiet: bool, stream: TextIO | None = None, began: float | None = None) -> Iterator[Listener]:
    """Yield a listener that shows events on a stream (by default stderr) or in a notebook.

    If ``quiet``, only a line for each corruption of committed files is printed, since it is no progress.

    ``began`` is the time when the user began to wait, on the clock of `time.perf_counter`; by default now.
    """
    began = time.perf_counter() if began is None else began
    if quiet:
        lines = PlainLines(stream or sys.stderr)
        yield lambda event: lines(event) if isinstance(event, JournalCorrupt) else None
    elif stream is None and in_notebook():
        from antipodes.progress.notebook_bar import notebook_display

        with notebook_display(began, describe) as listener:
            yield listener
    elif (stream := stream or sys.stderr).isatty():
        from antipodes.progress.live import live_display

        with live_display(stream, began, describe) as listener:
            yield listener
    else:
        yield PlainLines(stream)


def in_notebook() -> bool:
    """Return whether this process is a notebook's kernel, which has loaded IPython before it runs any cell."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    return getattr(shell, "kernel", None) is not None


class PlainLines:
    """A listener that prints a line for each milestone, and a line from time to time during a steady phase."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._times = TimeLeft()
        self._kind: type[Event] | None = None
        """Type of the last steady event that was printed."""
        self._told_at = 0.0
        self._printed_at = time.perf_counter()

    def __call__(self, event: Event) -> None:
        now = time.perf_counter()
        if isinstance(event, Steady):
            self._times.note(event, now)
            self._print_now_and_then(event, now)
        elif isinstance(event, PartitionsInProgress) and now - self._printed_at < REPEATED_SECONDS:
            return
        elif line := describe(event):
            self._print(line)

    def _print_now_and_then(self, event: Steady, now: float) -> None:
        """Print the beginning and the end of a phase, and a line from time to time in between."""
        begins = self._kind is not type(event)
        if begins or event.done == event.of or now - self._told_at >= REPEATED_SECONDS:
            self._kind, self._told_at = type(event), now
            left = self._times.seconds_left(now)
            time_left = f", {duration(left)} left" if left and event.done < event.of else ""
            self._print(f"{describe(event)}{time_left}")

    def _print(self, line: str) -> None:
        self._printed_at = time.perf_counter()
        print(f"{time.strftime(LOG_TIME)} {printable(line)}", file=self._stream, flush=True)


def describe(event: Event) -> str | None:
    """Return the event as one line; None for events that only a live line shows."""
    match event:
        case SearchStarted(name, size, depth, states, resumed, reachable, assembles):
            known = f"resumes from depth {depth}, {counted(states, 'position')} known" if resumed else "starting"
            kept = "" if assembles else "; counts only, no table"
            every = "number of positions unknown" if size is None else f"{counted(size, 'position')} in total"
            whether = "" if size is None or size == reachable else ", reachable or not"
            return f"{name}: {known}; {every}{whether}{kept}"
        case ClusterReady(workers, threads, dashboard):
            members = f"{counted(workers, 'worker')} with {counted(threads, 'thread')}"
            return members + (f"; dashboard: {dashboard}" if dashboard else "")
        case WaitingForWorkers(reason):
            return f"{reason}; waiting for workers to join"
        case Waiting(what):
            return f"waiting for {what}"
        case DefinitionUnchecked(reason):
            return f"cannot check whether the definition makes the same moves in another process: {reason}"
        case WorkerRefused(reason):
            return f"{reason}; the worker is excluded until this is fixed"
        case WorkerNotUsed(reason):
            return reason
        case WorkersLost(reason, depth, recomputed):
            if depth is None:
                return f"lost: {reason}; its tasks are repeated"
            committed = "the start" if depth < 0 else f"depth {depth}"
            again = f"{counted(recomputed, 'position')} to recompute" if recomputed else "nothing to recompute"
            return f"lost: {reason}; resuming from {committed}, {again}"
        case LayerFinished(depth, count, states, rate):
            return f"depth {depth}: {counted(count, 'position')}, {states:,} so far, {rate / 1e6:,.1f} million/s"
        case Committed(depth):
            return f"committed up to depth {depth}"
        case JournalCorrupt(damage, depth):
            what = "; ".join(damage) or "files of the journal are missing"
            return f"{what}: resuming from {'the start' if depth < 0 else f'depth {depth}'}"
        case TilingSearchStarted(name, partitions, done, tilings):
            known = f"resumes, {done:,} of them searched, {counted(tilings, 'tiling')} known" if done else "starting"
            return f"{name}: {counted(partitions, 'partition')}; {known}"
        case PartitionSearched(done, partitions, tilings, rate):
            tried = f"{rate / 1e6:,.1f} million placements/s"
            return f"partition {done:,} of {partitions:,}: {counted(tilings, 'tiling')} so far, {tried}"
        case PartitionsInProgress(done, partitions, _, placements, found, tilings, rate):
            so_far = f"{counted(tilings, 'tiling')}, and {found:,} found in partitions under way"
            tried = f"{counted(placements, 'placement')}, {rate / 1e6:,.1f} million/s"
            return f"{done:,} of {partitions:,} partitions searched: {so_far}; {tried}"
        case PartitionsCommitted(done, partitions):
            return f"committed {done:,} of {partitions:,} partitions"
        case Preparing(what, done, of):
            return f"{what}: {done:,} of {of:,} parts"
        case Restoring(done, of):
            return f"restoring: {done:,} of {of:,} positions read"
        case Assembling(done, of):
            return f"assembling: {done:,} of {of:,} positions on disk"
        case CheckStarted(name, positions):
            return f"{name}: checking {counted(positions, 'position')}"
        case PositionsChecked(done, of):
            return f"checking: {done:,} of {of:,} positions compared"
        case PositionsSolved(done, of):
            return f"solving: {done:,} of {of:,} positions solved"
        # These events are listed instead of `_`, so that mypy reports a new event that has no case.
        case TablesBuilt() | PartitionFinished() | Committing():
            return None
