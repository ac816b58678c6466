"""The progress of runs and searches in a notebook: a bar below the cell, until the work is done.

It imports IPython, which is always available in a notebook.
"""

import math
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from importlib import import_module
from typing import Any

from antipodes.drawing.charts import ACCENT
from antipodes.drawing.markup import Html, element
from antipodes.progress.live import LiveDisplay
from antipodes.progress.search_progress import describe_search
from antipodes.progress.time_left import TimeLeft, duration
from antipodes.system.events import Event, Listener
from antipodes_tasks.base.jit import working_clock
from antipodes_tasks.base.quoting import printable
from antipodes_tasks.searches.progress import Listener as SearchListener
from antipodes_tasks.searches.progress import Progress

FIRST_SECONDS, REDRAWN_SECONDS = 0.4, 0.2
"""Seconds before the bar is first drawn, so that quick work shows no bar; minimum seconds between redraws."""
PARTS = ("name", "doing", "found", "rate")
"""The parts of the text beside the bar, in order."""
STYLE = "font:13px/1.5 system-ui,sans-serif;font-variant-numeric:tabular-nums;padding:4px 2px"
BAR_STYLE = f"width:220px;max-width:40%;margin-right:12px;vertical-align:-2px;accent-color:{ACCENT}"


@contextmanager
def notebook_display(began: float, describe: Callable[[Event], str | None]) -> Iterator[Listener]:
    """Yield a listener that draws a bar below the cell during the block, and prints problems.

    ``began`` is the time when the user began to wait; ``describe`` turns events into text.
    """
    times = TimeLeft()
    with _Output(began) as output:
        yield LiveDisplay(NotebookLine(output, times), times, describe)


@contextmanager
def notebook_search() -> Iterator[SearchListener]:
    """Yield a listener that shows the progress of a search for one position below the cell during the block."""
    began = working_clock()
    with _Output(time.perf_counter()) as output:

        def listener(progress: Progress) -> None:
            seconds = working_clock() - began
            output.draw(lambda: _line(None, None, describe_search(progress, seconds)))

        yield listener


class NotebookLine:
    """The bar of a run and the text beside it."""

    def __init__(self, output: "_Output", times: TimeLeft) -> None:
        self._output = output
        self._times = times
        self._texts: dict[str, Any] = {}
        self._done: int | None = None
        self._of: int | None = None

    def show(self, done: int | None, of: int | None, texts: Mapping[str, Any]) -> None:
        """Change the given parts and draw them."""
        self._texts.update(texts)
        self._done = self._done if done is None else done
        self._of = self._of if of is None else of
        self._output.draw(self._drawn)

    def say(self, text: str) -> None:
        """Print a permanent line, which later progress updates do not overwrite."""
        print(printable(text), file=sys.stderr)

    def _drawn(self) -> Html:
        left = self._times.seconds_left(time.perf_counter())
        time_left = [] if left is None else [f"{duration(math.ceil(left))} left"]
        parts = [str(self._texts[part]) for part in PARTS if self._texts.get(part)]
        return _line(self._done, self._of, " · ".join([*parts, duration(self._output.seconds), *time_left]))


def _line(done: int | None, of: int | None, text: str) -> Html:
    """Return a bar and a text; without numbers, the bar is animated."""
    known = {"value": done, "max": of} if done is not None and of else {}
    bar = element("progress", aria_label="progress", style=BAR_STYLE, **known)
    return element("div", bar, text, style=STYLE)


class _Output:
    """An output area below the cell; it is emptied at the end of the block."""

    def __init__(self, began: float) -> None:
        self._began = began
        self._drawn_at = began + FIRST_SECONDS - REDRAWN_SECONDS
        self._handle: Any = None

    @property
    def seconds(self) -> float:
        """Seconds since the user began to wait."""
        return time.perf_counter() - self._began

    def draw(self, drawing: Callable[[], Html]) -> None:
        """Show a drawing, unless another was shown a moment ago."""
        now = time.perf_counter()
        if now - self._drawn_at >= REDRAWN_SECONDS:
            self._drawn_at = now
            self._show(drawing())

    def _show(self, html: str) -> None:
        shown = {"text/html": html, "text/plain": ""}
        if self._handle is None:
            self._handle = import_module("IPython.display").display(shown, raw=True, display_id=True)
        else:
            self._handle.update(shown, raw=True)

    def __enter__(self) -> "_Output":
        return self

    def __exit__(self, *_: object) -> None:
        if self._handle is not None:
            self._show("")
