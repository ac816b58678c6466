"""The progress of a search for one position, as text and on a terminal."""

from contextlib import suppress
from typing import TextIO

from antipodes_tasks.base.jit import working_clock
from antipodes_tasks.base.quoting import counted, printable
from antipodes_tasks.searches.progress import Progress

FIRST, REDRAWN, REPEATED = 2.0, 0.5, 10.0
"""Seconds before the first line of progress, between updates on a terminal, and between lines elsewhere."""


def describe_search(progress: Progress, seconds: float) -> str:
    """Return the progress of a search as one line."""
    rate = progress.expanded / max(seconds, 1e-9) / 1e6
    excluded = ruled_out(progress)
    parts = [
        *([f"{excluded} so far"] if excluded else []),
        f"{counted(progress.expanded, 'position')} expanded, {rate:,.1f} million/s",
        *([f"{progress.held:,} in memory"] if progress.held else []),
    ]
    return f"{progress.method}: {', '.join(parts)}"


def ruled_out(progress: Progress) -> str | None:
    """Return the path lengths that are ruled out so far, as text; None if there are none."""
    if progress.least is None or progress.least < 2:
        return None
    return f"no path of fewer than {progress.least} moves"


class SearchProgress:
    """A listener that keeps the last event and shows it."""

    def __init__(self, stream: TextIO | None, quiet: bool) -> None:
        self._stream = None if quiet else stream
        self._live = self._stream is not None and self._stream.isatty()
        self._begin: float | None = None
        self._shown_at = 0.0
        self._last: Progress | None = None
        self._drawn = False

    def __call__(self, progress: Progress) -> None:
        self._last = progress
        now = working_clock()
        if self._begin is None:
            self._begin, self._shown_at = now, now + FIRST - self._pause
        if now - self._shown_at >= self._pause:
            self._shown_at = now
            self._show(describe_search(progress, now - self._begin))

    @property
    def ruled_out(self) -> str | None:
        """The path lengths that are ruled out so far, as text; None if there are none."""
        return ruled_out(self._last) if self._last else None

    def clear(self) -> None:
        """Erase the line on the terminal, to make room for the result."""
        if self._drawn:
            self._write("\r\x1b[K")
            self._drawn = False

    @property
    def _pause(self) -> float:
        return REDRAWN if self._live else REPEATED

    def _show(self, line: str) -> None:
        shown = printable(line)
        self._write(f"\r\x1b[K{shown}" if self._live else f"{shown}\n")
        self._drawn = self._live

    def _write(self, text: str) -> None:
        if self._stream is not None:
            with suppress(OSError):  # a search continues even if its progress cannot be shown
                self._stream.write(text)
                self._stream.flush()
