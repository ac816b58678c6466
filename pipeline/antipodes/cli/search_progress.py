"""Shows how far a search for one position is: on a terminal one line that changes, elsewhere a line now and then."""

import time
from contextlib import suppress
from typing import TextIO

from antipodes.searches.progress import Progress

FIRST, REDRAWN, REPEATED = 2.0, 0.5, 10.0
"""Seconds before anything is said, between two states of the line on a terminal, and between two lines elsewhere."""


class SearchProgress:
    """A listener that knows the last it was told, and shows it."""

    def __init__(self, stream: TextIO | None, quiet: bool) -> None:
        self._stream = None if quiet else stream
        self._live = self._stream is not None and self._stream.isatty()
        self._begin: float | None = None
        self._shown_at = 0.0
        self._last: Progress | None = None
        self._drawn = False

    def __call__(self, standing: Progress) -> None:
        self._last = standing
        now = time.monotonic()
        if self._begin is None:  # from here on, so that loading machine code does not count
            self._begin, self._shown_at = now, now + FIRST - self._pause
        if now - self._shown_at >= self._pause:
            self._shown_at = now
            self._show(describe(standing, now - self._begin))

    @property
    def proved(self) -> str | None:
        """What is certain by now; None where nothing is."""
        return ruled_out(self._last) if self._last else None

    def clear(self) -> None:
        """Take the line off the terminal, to make room for what was found."""
        if self._drawn:
            self._write("\r\x1b[K")
            self._drawn = False

    @property
    def _pause(self) -> float:
        return REDRAWN if self._live else REPEATED

    def _show(self, line: str) -> None:
        self._write(f"\r\x1b[K{line}" if self._live else f"{line}\n")
        self._drawn = self._live

    def _write(self, text: str) -> None:
        if self._stream is not None:
            with suppress(OSError):  # a search does not end because nobody can see how far it is
                self._stream.write(text)
                self._stream.flush()


def describe(standing: Progress, seconds: float) -> str:
    """How far a search is, as one line."""
    rate = standing.expanded / max(seconds, 1e-9) / 1e6
    proved = ruled_out(standing)
    parts = [
        *([f"{proved} so far"] if proved else []),
        f"{standing.expanded:,} positions expanded, {rate:,.1f} million/s",
        *([f"{standing.held:,} in memory"] if standing.held else []),
    ]
    return f"{standing.method}: {', '.join(parts)}"


def ruled_out(standing: Progress) -> str | None:
    """Which ways are known not to exist."""
    if standing.least is None or standing.least < 2:
        return None
    return f"no way of fewer than {standing.least} moves"
