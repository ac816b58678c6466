"""The printers of what happens during a run: a live line on a terminal, plain lines elsewhere."""

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, TextIO

from antipodes.events import (
    Begun,
    Committed,
    Event,
    LayerSettled,
    Listener,
    PartitionSettled,
    Widened,
    silence,
)

if TYPE_CHECKING:
    from rich.progress import Progress

REDRAW_SECONDS = 0.05
"""A run of a tenth of a second is not slowed down by its display."""


@contextmanager
def show_progress(quiet: bool, stream: TextIO = sys.stderr) -> Iterator[Listener]:
    """A listener that prints events, in the way that suits the stream."""
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
    """The event as one line; None for those that only a live display shows."""
    match event:
        case Begun(name, size, depth, states, resumed):
            known = f"goes on from depth {depth}, {states:,} positions known" if resumed else "begins"
            return f"{name}: {known}; {size:,} positions in all, reachable or not"
        case LayerSettled(depth, count, states, rate):
            return f"depth {depth}: {count:,} positions, {states:,} so far, {rate / 1e6:,.1f} million/s"
        case Committed(depth):
            return f"committed up to depth {depth}"
        case Widened(depth):
            return f"depths beyond {depth} take 16 bits: the table was widened"
        case PartitionSettled():
            return None


@contextmanager
def _live(stream: TextIO) -> Iterator[Listener]:
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        Progress,
        SpinnerColumn,
        TaskProgressColumn,
        TextColumn,
        TimeElapsedColumn,
    )

    columns = (
        SpinnerColumn(),
        TextColumn("[bold]{task.fields[name]}[/bold] {task.description}"),
        BarColumn(bar_width=24),
        TaskProgressColumn(),
        TextColumn("{task.fields[found]}"),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=Console(file=stream), transient=True) as progress:
        yield _LiveDisplay(progress)


class _LiveDisplay:
    """Draws the last event, not more often than a person can see."""

    def __init__(self, progress: "Progress") -> None:
        self.progress = progress
        self.task = progress.add_task("", name="preparing", found="", total=None)
        self.drawn = 0.0

    def __call__(self, event: Event) -> None:
        if isinstance(event, Begun):
            name = event.name
            self.progress.update(self.task, name=name, total=event.index_size, completed=event.states)
        elif time.monotonic() - self.drawn >= REDRAW_SECONDS:
            self.drawn = time.monotonic()
            self._draw(event)

    def _draw(self, event: Event) -> None:
        match event:
            case PartitionSettled(depth, settled, partitions):
                self.progress.update(self.task, description=f"layer {depth}, partition {settled} of {partitions}")
            case LayerSettled(depth, _, states, rate):
                found = f"{states:,} positions, {rate / 1e6:,.1f} million/s"
                self.progress.update(self.task, description=f"layer {depth}", completed=states, found=found)
            case Committed(depth):
                self.progress.update(self.task, description=f"committed up to depth {depth}")
