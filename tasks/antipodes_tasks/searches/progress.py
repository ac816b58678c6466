"""The progress that a search reports, and the pace of its calls, between which it can be interrupted."""

import time
from collections.abc import Callable
from dataclasses import dataclass

A_CALL = 0.1
"""Seconds of one call of a kernel: signals and listeners wait until it returns."""
FIRST_BUDGET = 1 << 14
FASTER = 4
"""Factor by which a budget grows from call to call, at most: the first call may include compilation."""


@dataclass(frozen=True, slots=True)
class Progress:
    """The state of a search that is under way."""

    method: str
    least: int | None
    """No path has fewer moves; None if the search does not find that out."""
    expanded: int
    """Positions whose successors were generated so far."""
    held: int
    """Positions in memory."""


Listener = Callable[[Progress], None]


class TimeLimitReached(Exception):  # noqa: N818 - it is an answer, not an error
    """Raised by a `Deadline`; its caller catches it."""


class Deadline:
    """A listener that ends a search when its time is up, at the next progress; it tells another one meanwhile."""

    def __init__(self, seconds: float, listener: Listener) -> None:
        self.last: Progress | None = None
        self._end = time.monotonic() + seconds
        self._listener = listener

    def __call__(self, progress: Progress) -> None:
        self.last = progress
        if time.monotonic() >= self._end:
            raise TimeLimitReached
        self._listener(progress)


def silence(progress: Progress) -> None:
    """Ignore the progress."""


class Pace:
    """The budget of work of the next call of a kernel, learnt from the time of the calls before."""

    def __init__(self, budget: int = FIRST_BUDGET) -> None:
        self.budget = budget
        self._begin = 0.0

    def start(self) -> None:
        """A call begins."""
        self._begin = time.perf_counter()

    def learn(self, used: int) -> None:
        """The call has ended, and has used ``used`` of the budget.

        The time of a call that used little says little about larger ones, so the budget grows with the part used.
        """
        seconds = max(time.perf_counter() - self._begin, 1e-9)
        if used:
            self.budget = max(1, round(min(FASTER * self.budget, A_CALL * used / seconds)))
