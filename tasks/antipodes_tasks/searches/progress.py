"""Progress reports of a search, and the pace of its kernel calls. A search can be interrupted between two calls."""

import math
import time
from collections.abc import Callable
from dataclasses import dataclass

from antipodes_tasks.base.jit import working_clock

A_CALL = 0.1
"""Target duration of a kernel call, in seconds; signals and listeners have to wait until the call returns."""
FIRST_BUDGET = 1 << 14
Heartbeat = Callable[[], None]
"""Function that is called from time to time during long work; it stops the work by raising an exception."""
FASTER = 4
"""Maximum factor by which a budget grows from call to call; the first call may include loading machine code."""


@dataclass(frozen=True, slots=True)
class Progress:
    """The state of a running search."""

    method: str
    least: int | None
    """Lower bound of the distance proved so far; None if the search does not prove any."""
    expanded: int
    """Number of positions expanded so far."""
    held: int
    """Number of positions in memory."""


Listener = Callable[[Progress], None]


class TimeLimitReached(Exception):  # noqa: N818 - it is an answer, not an error
    """Raised by a `Deadline`; the code that created the deadline catches it."""


class Deadline:
    """A listener that passes progress on to another listener, and ends the search when the time is up.

    The time for compiling and loading kernels does not count; otherwise the first search would end too early.
    """

    def __init__(self, seconds: float | None, listener: Listener) -> None:
        self.last: Progress | None = None
        self._end = math.inf if seconds is None else working_clock() + seconds
        self._listener = listener

    def __call__(self, progress: Progress) -> None:
        self.last = progress
        self.check()
        self._listener(progress)

    def check(self) -> None:
        """Raise TimeLimitReached if the time is up."""
        if working_clock() >= self._end:
            raise TimeLimitReached

    @property
    def seconds(self) -> float | None:
        """Number of seconds left, at least 0; None without a time limit."""
        return None if self._end == math.inf else max(0.0, self._end - working_clock())


def silence(progress: Progress) -> None:
    """Ignore the progress."""


def no_pulse() -> None:
    """Do nothing."""


class Pace:
    """The budget of work for the next call of a kernel, learnt from the durations of previous calls."""

    def __init__(self, budget: int = FIRST_BUDGET) -> None:
        self.budget = budget
        self._begin = 0.0

    def start(self) -> None:
        """Start timing a call."""
        self._begin = time.monotonic()  # the working clock would stop while another search loads its kernels

    def learn(self, used: int) -> None:
        """Adjust the budget after a call that used ``used`` units of its budget.

        The new budget is the number of units that would take A_CALL seconds at the speed of this call, but at most
        FASTER times the old budget.
        """
        seconds = max(time.monotonic() - self._begin, 1e-9)
        if used:
            self.budget = max(1, round(min(FASTER * self.budget, A_CALL * used / seconds)))
