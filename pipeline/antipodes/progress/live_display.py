"""The events of a run as a live line on a terminal."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, TextIO

from antipodes.events import (
    Assembling,
    CheckStarted,
    ClusterReady,
    Committing,
    Event,
    JournalDamaged,
    LayerSettled,
    Listener,
    PartitionSearched,
    PartitionSettled,
    PartitionsUnderWay,
    PositionsChecked,
    Restoring,
    SearchStarted,
    TablesBuilt,
    TilingSearchStarted,
    Untried,
    Waiting,
    WaitingForWorkers,
    WorkerRefused,
    WorkersLost,
)
from antipodes.progress.event_lines import describe
from antipodes.progress.live_line import LiveLine
from antipodes.progress.time_left import TimeLeft

if TYPE_CHECKING:
    from rich.console import Console

DRAWN_PER_SECOND = 8
"""How often the line is drawn; events in between only change what it shows, so that they cost a short run nothing."""


@contextmanager
def live_display(stream: TextIO, began: float) -> Iterator[Listener]:
    """A listener that draws a line on a terminal until the block ends; ``began`` is when the user began to wait."""
    from rich.console import Console
    from rich.live import Live
    from rich.spinner import Spinner

    console = Console(file=stream)
    times = TimeLeft()
    line = LiveLine(Spinner("dots"), lambda: time.perf_counter() - began, lambda: times.left(time.perf_counter()))
    with Live(line, console=console, refresh_per_second=DRAWN_PER_SECOND, transient=True):
        yield LiveDisplay(line, times, console)


class LiveDisplay:
    """A listener that keeps a live line up to date."""

    def __init__(self, line: LiveLine, times: TimeLeft, console: "Console") -> None:
        self.line = line
        self._times = times
        self._console = console
        self._positions: int | None = None
        """The positions that a search may find."""

    def __call__(self, event: Event) -> None:
        self._times.told(event, time.perf_counter())
        line = self.line
        match event:
            case TablesBuilt(done, of):
                self._phase("preparing", done, of)
            case Restoring(done, of):
                self._phase("restoring", done, of, positions(done, of), lambda rate: f"{millions(rate)}/s")
            case SearchStarted(name, size, depth, states, reachable=reachable):
                line.name = name
                self._positions = reachable or size
                self._phase(f"layer {depth}", states, self._positions)
            case LayerSettled(depth, _, states, rate):
                line.doing, line.done, line.of = f"layer {depth}", states, self._positions
                line.found, line.rate = positions(states, self._positions), f"{millions(rate)}/s"
            case PartitionSettled(depth, settled, partitions):
                line.doing, line.detail = f"layer {depth}", f"partition {aligned(settled, partitions)} of {partitions}"
            case Committing():
                line.doing, line.detail = "writing", ""
            case Assembling(done, of):
                self._phase("assembling", done, of, positions(done, of), lambda rate: f"{millions(rate)}/s")
            case CheckStarted(name, size):
                line.name = name
                self._phase("checking", 0, size)
            case PositionsChecked(done, of):
                self._phase("checking", done, of, positions(done, of), lambda rate: f"{millions(rate)}/s")
            case TilingSearchStarted(name, partitions, done, tilings):
                line.name = name
                self._phase(f"{done} of {partitions}", done, partitions, f"{tilings:,} tilings" * bool(done))
                line.detail = "partitions"
            case PartitionSearched(done, partitions, tilings, rate):
                self._phase(f"{done} of {partitions}", done, partitions, f"{tilings:,} tilings")
                line.detail = "partitions"
                line.rate = f"{rate / 1e6:,.1f} million placements/s"
            case PartitionsUnderWay(done, partitions, _, _, found, tilings, rate):
                self._phase(f"{done} of {partitions}", done, partitions, f"{tilings:,} tilings, {found:,} under way")
                line.detail = "partitions"
                line.rate = f"{rate / 1e6:,.1f} million placements/s"
            case (
                ClusterReady()
                | WaitingForWorkers()
                | Waiting()
                | Untried()
                | WorkerRefused()
                | WorkersLost()
                | JournalDamaged()
            ):
                self._console.print(describe(event), highlight=False, soft_wrap=True)

    def _phase(
        self, doing: str, done: int, of: int, found: str = "", said: Callable[[float], str] = lambda rate: ""
    ) -> None:
        """Show a phase; ``said`` is how its rate reads."""
        line, rate = self.line, self._times.rate
        line.doing, line.detail, line.done, line.of, line.found = doing, "", done, of, found
        line.rate = said(rate) if rate else ""


def millions(rate: float) -> str:
    """A rate in millions, with a digit after the point where that tells more; of one width up to a billion."""
    return f"{rate / 1e6:4,.{int(rate < 1e8)}f} million"


def positions(count: int, most: int | None) -> str:
    """A number of positions, as wide as the greatest, so that the line does not jump."""
    return f"{aligned(count, most or count)} positions"


def aligned(count: int, most: int) -> str:
    """A number, as wide as the greatest."""
    return f"{count:,}".rjust(len(f"{most:,}"))
