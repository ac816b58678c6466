"""The progress of a run on stderr: a live line on a terminal, plain lines elsewhere."""

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, TextIO

from antipodes.events import (
    ClusterReady,
    Committed,
    Committing,
    Event,
    LayerSettled,
    Listener,
    PartitionsCommitted,
    PartitionSearched,
    PartitionSettled,
    SearchStarted,
    TilingSearchStarted,
    Waiting,
    WaitingForWorkers,
    Widened,
    WorkerRefused,
    WorkersLost,
    silence,
)

if TYPE_CHECKING:
    from rich.progress import Progress

REDRAW_SECONDS = 0.05
"""Seconds between two drawings at least, so that the display does not slow down a short run."""


@contextmanager
def show_progress(quiet: bool, stream: TextIO | None = None) -> Iterator[Listener]:
    """A listener that prints events to a stream, by default stderr; none of them if ``quiet``."""
    stream = stream or sys.stderr
    if quiet:
        yield silence
    elif stream.isatty():
        with _live(stream) as listener:
            yield listener
    else:
        yield lambda event: _print_line(event, stream)


def _print_line(event: Event, stream: TextIO) -> None:
    if line := describe(event):
        print(line, file=stream, flush=True)


def describe(event: Event) -> str | None:
    """The event as one line; None for events that only a live line shows."""
    match event:
        case SearchStarted(name, size, depth, states, resumed, holds_depths):
            known = f"resumes from depth {depth}, {states:,} positions known" if resumed else "begins"
            lean = (
                "" if holds_depths else "; depths exceed the memory limit: each layer is written to disk when complete"
            )
            return f"{name}: {known}; {size:,} positions in all, reachable or not{lean}"
        case ClusterReady(workers, threads, dashboard):
            members = f"{workers} worker{'s' * (workers != 1)} with {threads} thread{'s' * (threads != 1)}"
            return members + (f"; dashboard: {dashboard}" if dashboard else "")
        case WaitingForWorkers(reason):
            return f"{reason}: waiting for some to join"
        case Waiting(what):
            return f"waiting for {what}"
        case WorkerRefused(reason):
            return f"{reason}: excluded until it can take part"
        case WorkersLost(reason, depth, recomputed):
            committed = "the start" if depth < 0 else f"depth {depth}"
            return f"lost: {reason}; resuming from {committed}, {recomputed:,} positions to recompute"
        case LayerSettled(depth, count, states, rate):
            return f"depth {depth}: {count:,} positions, {states:,} so far, {rate / 1e6:,.1f} million/s"
        case Committed(depth):
            return f"committed up to depth {depth}"
        case Widened(depth):
            return f"depths beyond {depth} take 16 bits: the table was widened"
        case TilingSearchStarted(name, partitions, done, tilings):
            known = f"resumes, {done} of them searched, {tilings:,} tilings known" if done else "begins"
            return f"{name}: {partitions} partitions; {known}"
        case PartitionSearched(done, partitions, tilings, rate):
            return (
                f"partition {done} of {partitions}: {tilings:,} tilings so far, {rate / 1e6:,.1f} million placements/s"
            )
        case PartitionsCommitted(done, partitions):
            return f"committed {done} of {partitions} partitions"
        case PartitionSettled() | Committing():
            return None


@contextmanager
def _live(stream: TextIO) -> Iterator[Listener]:
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        Progress,
        SpinnerColumn,
        TextColumn,
        TimeElapsedColumn,
    )

    columns = (
        SpinnerColumn(),
        TextColumn("[bold]{task.fields[name]}[/bold] {task.description}"),
        BarColumn(bar_width=24),
        TextColumn("{task.fields[found]}"),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=Console(file=stream), transient=True) as progress:
        yield _LiveDisplay(progress)


class _LiveDisplay:
    """A listener that draws the last events as a live line."""

    def __init__(self, progress: "Progress") -> None:
        self.progress = progress
        self.task = progress.add_task("", name="preparing", found="", total=None)
        self.drawn = 0.0

    def __call__(self, event: Event) -> None:
        fields = self.progress.tasks[0].fields
        match event:
            case SearchStarted(name, size, _, states):
                self.progress.update(self.task, name=name, total=size, completed=states)
            case LayerSettled(depth, _, states, rate):
                fields.update(found=f"{states:,} positions, {rate / 1e6:,.1f} million/s", completed=states)
                self._draw(f"layer {depth}")
            case PartitionSettled(depth, settled, partitions):
                self._draw(f"layer {depth}, partition {settled} of {partitions}")
            case Committing(depth):
                self._draw(f"writing up to depth {depth}", always=True)
            case TilingSearchStarted(name, partitions, done, tilings):
                self.progress.update(self.task, name=name, total=partitions, completed=done)
                fields.update(found=f"{tilings:,} tilings" if done else "", completed=done)
                self._draw(f"{done} of {partitions} partitions", always=True)
            case ClusterReady() | WaitingForWorkers() | Waiting() | WorkerRefused() | WorkersLost():
                self.progress.console.print(describe(event), highlight=False, soft_wrap=True)
            case PartitionSearched(done, partitions, tilings, rate):
                fields.update(found=f"{tilings:,} tilings, {rate / 1e6:,.1f} million placements/s", completed=done)
                self._draw(f"{done} of {partitions} partitions", always=True)

    def _draw(self, description: str, always: bool = False) -> None:
        if always or time.monotonic() - self.drawn >= REDRAW_SECONDS:
            self.drawn = time.monotonic()
            completed = self.progress.tasks[0].fields.get("completed")
            self.progress.update(self.task, description=description, completed=completed)
