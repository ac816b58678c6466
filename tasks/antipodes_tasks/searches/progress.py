"""The progress that a search reports, and the pace of its calls, between which it can be interrupted."""

import math
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TypeVar

from antipodes_tasks.jit import working_clock

A_CALL = 0.1
"""Seconds of one call of a kernel: signals and listeners wait until it returns."""
FIRST_BUDGET = 1 << 14
T = TypeVar("T")
R = TypeVar("R")
Pulse = Callable[[], None]
"""Called from time to time by what takes long; it ends that by raising."""
FASTER = 4
"""Factor by which a budget grows from call to call, at most: the first call may include loading machine code."""


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
    """A listener that ends a search when its time is up, at the next progress; it tells another one meanwhile.

    The time to compile machine code does not count, or the first search would end with hardly a position expanded.
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
        """The time that is left, 0 at least; None without end."""
        return None if self._end == math.inf else max(0.0, self._end - working_clock())


def silence(progress: Progress) -> None:
    """Ignore the progress."""


def no_pulse() -> None:
    """Go on."""


def on_threads(call: Callable[[T], R], items: Iterable[T], threads: int, pulse: Pulse = no_pulse) -> Iterator[R]:
    """The results of short calls on some threads, in their order; after each the pulse may end them all."""
    with ThreadPoolExecutor(threads) as pool:
        waiting = [pool.submit(call, item) for item in items]
        try:
            for one in waiting:
                yield one.result()
                pulse()
        finally:
            for one in waiting:
                one.cancel()


class Pace:
    """The budget of work of the next call of a kernel, learnt from the time of the calls before."""

    def __init__(self, budget: int = FIRST_BUDGET) -> None:
        self.budget = budget
        self._begin = 0.0

    def start(self) -> None:
        """A call begins."""
        self._begin = working_clock()

    def learn(self, used: int) -> None:
        """The call has ended, and has used ``used`` of the budget.

        The time of a call that used little says little about larger ones, so the budget grows with the part used.
        """
        seconds = max(working_clock() - self._begin, 1e-9)
        if used:
            self.budget = max(1, round(min(FASTER * self.budget, A_CALL * used / seconds)))
