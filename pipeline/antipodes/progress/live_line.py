"""The live line of a run: what it does, a bar, what was found, its rate, the time elapsed and the time left.

The line fits the terminal: what it does, the bar, the rate and the times are always there, the rest where there is
room.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderResult
    from rich.spinner import Spinner

LEAST_BAR, MOST_BAR = 8, 24
"""Columns of the bar."""
BEFORE_BAR = ("name", "doing", "detail")
GAP = 1
"""Columns between the parts of the line."""


@dataclass
class LiveLine:
    """What the line shows; it is drawn again and again, each time with the times of that moment."""

    spinner: "Spinner"
    elapsed: Callable[[], float]
    """Seconds that the user has waited."""
    left: Callable[[], float | None]
    """Seconds left; None if unknown."""
    name: str = ""
    """Of the puzzle or board; empty before it is known."""
    doing: str = "preparing"
    """What the run does, in a word or two."""
    detail: str = ""
    """More about it."""
    found: str = ""
    """What was found or done so far."""
    rate: str = ""
    done: float = 0
    of: float | None = None
    """What the bar shows; None: it is not known how much is to be done."""

    def __rich_console__(self, console: "Console", options: "ConsoleOptions") -> "RenderResult":
        """Draw the line in the width that there is."""
        from rich.progress_bar import ProgressBar
        from rich.table import Table
        from rich.text import Text

        parts = self._parts(options.max_width - LEAST_BAR - GAP - 2)  # the spinner takes two columns, too
        taken = sum(len(part) + GAP for part in parts.values()) + 2
        width = max(1, min(MOST_BAR, options.max_width - taken))
        bar = ProgressBar(self.of, self.done, width, pulse=self.of is None)
        line = Table.grid(padding=(0, GAP, 0, 0), pad_edge=False)
        before = [Text(parts[part], no_wrap=True) for part in BEFORE_BAR if part in parts]
        after = [Text(text, no_wrap=True) for part, text in parts.items() if part not in BEFORE_BAR]
        line.add_row(self.spinner, *before, bar, *after)
        yield line

    def _parts(self, width: int) -> dict[str, str]:
        """The texts of the line in their order; optional ones where they fit into so many columns."""
        left = self.left()
        texts = {
            "name": self.name,
            "doing": self.doing,
            "detail": self.detail,
            "found": self.found,
            "rate": self.rate,
            "elapsed": duration(self.elapsed()),
            "left": "" if left is None else f"{duration(math.ceil(left))} left",
        }
        shown = {"doing", "rate", "elapsed", "left"}
        room = width - sum(len(texts[part]) + GAP for part in shown if texts[part])
        room -= 0 if texts["left"] else len(" 0:00 left")  # which comes later
        for part in ("found", "name", "detail"):
            if len(texts[part]) + GAP <= room:
                shown.add(part)
                room -= len(texts[part]) + GAP
        return {part: text for part, text in texts.items() if part in shown and text}


def duration(seconds: float) -> str:
    """Seconds as a person reads them, such as ``0:07`` or ``1:02:03``."""
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
