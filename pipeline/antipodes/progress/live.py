"""The live line that shows the events of a run: the current step, a bar, the results so far, rate and times."""

import math
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Protocol, TextIO

from rich.console import Console
from rich.progress import BarColumn, Progress, ProgressColumn, SpinnerColumn, Task
from rich.table import Column
from rich.text import Text

from antipodes.progress.time_left import TimeLeft, duration
from antipodes.system.events import (
    Assembling,
    CheckStarted,
    ClusterReady,
    Committing,
    DefinitionUnchecked,
    Event,
    JournalCorrupt,
    LayerFinished,
    Listener,
    PartitionFinished,
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
from antipodes_tasks.base.quoting import printable, shorten

DRAWN_PER_SECOND = 8
"""Number of redraws per second. Events only change the content of the line and do not redraw it."""
LEAST_WIDTH = {"name": 130, "doing": 0, "detail": 150, "found": 100, "rate": 0}
"""Minimum width of the terminal, in characters, for each part of the line to be shown."""
LONGEST_NAME = 30
STEADY = {
    TablesBuilt: "preparing",
    Restoring: "restoring",
    Assembling: "assembling",
    PositionsChecked: "checking",
    PositionsSolved: "solving",
}


@contextmanager
def live_display(stream: TextIO, began: float, describe: Callable[[Event], str | None]) -> Iterator[Listener]:
    """Yield a listener that draws a line on a terminal during the block, and prints problems above it.

    ``began`` is the time when the user began to wait; ``describe`` turns events into text.
    """
    times = TimeLeft()
    clock = time.perf_counter
    with live_line(Console(file=stream), lambda: clock() - began, lambda: times.seconds_left(clock())) as line:
        yield LiveDisplay(line, times, describe)


class ProgressLine(Protocol):
    """A line with a bar."""

    def show(self, done: int | None, of: int | None, texts: Mapping[str, Any]) -> None:
        """Change the bar and the given parts of the line."""

    def say(self, text: str) -> None:
        """Print a permanent line, which later progress updates do not overwrite."""


class TerminalLine(Progress):
    """A line on a terminal."""

    def show(self, done: int | None, of: int | None, texts: Mapping[str, Any]) -> None:
        """Change the given parts; the next redraw shows them."""
        self.update(self.task_ids[0], completed=done, total=of, **texts)

    def say(self, text: str) -> None:
        """Print a line above this one."""
        self.console.print(Text(printable(text)), soft_wrap=True)


def live_line(console: Console, elapsed: Callable[[], float], left: Callable[[], float | None]) -> TerminalLine:
    """Return the line; ``elapsed`` and ``left`` return seconds and are called on each redraw."""
    line = TerminalLine(
        SpinnerColumn(),
        Parts(console, ("name", "doing", "detail"), Column(overflow="ellipsis")),
        BarColumn(None, table_column=Column(min_width=8, max_width=24)),
        Parts(console, ("found", "rate"), Column(no_wrap=True)),
        Times(elapsed, left),
        console=console,
        refresh_per_second=DRAWN_PER_SECOND,
        transient=True,
    )
    line.add_task("", total=None)
    return line


class Parts(ProgressColumn):
    """Parts of the line that are shown if the terminal is wide enough."""

    def __init__(self, console: Console, parts: tuple[str, ...], column: Column) -> None:
        super().__init__(column)
        self._console = console
        self._parts = parts

    def render(self, task: Task) -> Text:
        """Return the text of the parts that fit, in order."""
        shown = (task.fields.get(part) for part in self._parts if self._console.width >= LEAST_WIDTH[part])
        return Text(printable(" ".join(filter(None, shown))), no_wrap=True, overflow="ellipsis")


class Times(ProgressColumn):
    """The elapsed time, and the time left if it is known."""

    def __init__(self, elapsed: Callable[[], float], left: Callable[[], float | None]) -> None:
        super().__init__(Column(no_wrap=True))
        self._elapsed = elapsed
        self._left = left

    def render(self, task: Task) -> Text:
        """Return the elapsed time and the time left, in whole seconds."""
        left = self._left()
        return Text(duration(self._elapsed()) + ("" if left is None else f" {duration(math.ceil(left))} left"))


class LiveDisplay:
    """A listener that updates a line with each event."""

    def __init__(self, line: ProgressLine, times: TimeLeft, describe: Callable[[Event], str | None]) -> None:
        self._line = line
        self._describe = describe
        self._times = times
        self._most = 0
        """Maximum number of positions that a search can find; 0 if unknown."""
        self._show("preparing")

    def __call__(self, event: Event) -> None:
        self._times.note(event, time.perf_counter())
        # An event changes only the parts of the line that it passes to `_show`; an empty text clears a part.
        match event:
            case TablesBuilt(done, of):
                self._show(STEADY[type(event)], done, of, detail="", found="", rate="")
            case Preparing(what, done, of):
                self._show(what, done, of, detail="", found="", rate="")
            case Restoring(done, of) | Assembling(done, of) | PositionsChecked(done, of):
                rate = f"{millions(self._times.rate)}/s" if self._times.rate else ""
                self._show(STEADY[type(event)], done, of, detail="", found=positions(done, of), rate=rate)
            case PositionsSolved(done, of):
                rate = f"{self._times.rate:,.1f}/s" if self._times.rate else ""
                self._show(STEADY[PositionsSolved], done, of, detail="", found=positions(done, of), rate=rate)
            case SearchStarted(name, size, depth, states, reachable=reachable):
                self._most = reachable or size or 0
                texts = {"name": shorten(name, LONGEST_NAME), "found": "", "rate": ""}
                self._show(f"layer {depth}", states, self._most or None, **texts)
            case LayerFinished(depth, _, states, rate):
                found = positions(states, self._most)
                self._show(f"layer {depth}", states, self._most or None, found=found, rate=f"{millions(rate)}/s")
            case PartitionFinished(depth, settled, partitions):
                self._show(f"layer {depth}", detail=f"partition {aligned(settled, partitions)} of {partitions}")
            case Committing():
                self._show("writing", detail="")
            case CheckStarted(name, size):
                self._show("checking", 0, size, name=shorten(name, LONGEST_NAME))
            case TilingSearchStarted(name, partitions, done, tilings):
                found = f"{tilings:,} tilings" if done else ""
                self._partitions(done, partitions, name=shorten(name, LONGEST_NAME), found=found)
            case PartitionSearched(done, partitions, tilings, rate):
                self._partitions(done, partitions, found=f"{tilings:,} tilings", rate=placements(rate))
            case PartitionsInProgress(done, partitions, _, _, found, tilings, rate):
                known = f"{tilings:,} tilings, {found:,} under way"
                self._partitions(done, partitions, found=known, rate=placements(rate))
            case (
                ClusterReady()
                | WaitingForWorkers()
                | Waiting()
                | DefinitionUnchecked()
                | WorkerRefused()
                | WorkerNotUsed()
                | WorkersLost()
                | JournalCorrupt()
            ):
                self._line.say(self._describe(event) or "")

    def _partitions(self, done: int, of: int, **texts: Any) -> None:
        self._show(f"{done} of {of} partitions", done, of, **texts)

    def _show(self, doing: str, done: int | None = None, of: int | None = None, **texts: Any) -> None:
        """Change the given parts."""
        self._line.show(done, of, {"doing": doing, **texts})


def placements(rate: float) -> str:
    """Return a rate of placements as text."""
    return f"{rate / 1e6:,.1f} million placements/s"


def millions(rate: float) -> str:
    """Return a rate in millions as text, with a decimal below 100 million; the width is constant below a billion."""
    return f"{rate / 1e6:4,.{int(rate < 1e8)}f} million"


def positions(count: int, maximum: int) -> str:
    """Return a number of positions as text, as wide as the maximum, so that the line does not jump."""
    return f"{aligned(count, maximum)} positions"


def aligned(count: int, maximum: int) -> str:
    """Return a number as text, as wide as the maximum."""
    return f"{count:,}".rjust(len(f"{maximum:,}"))
