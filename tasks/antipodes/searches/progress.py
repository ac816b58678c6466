"""What a search says while it works, and how it stays open to interruptions."""

import time
from collections.abc import Callable
from dataclasses import dataclass

A_CALL = 0.1
"""Seconds that one call of a kernel is to take: signals and listeners wait until it returns."""
FIRST_BUDGET = 1 << 14
FASTER = 4
"""The most by which a budget grows from call to call; the first call may include the compilation."""


@dataclass(frozen=True, slots=True)
class Standing:
    """How far a search is."""

    method: str
    least: int | None
    """No way of fewer moves exists; None where the search does not find that out."""
    expanded: int
    """Positions whose successors were generated so far."""
    held: int
    """Positions in memory."""


Listener = Callable[[Standing], None]


def silence(standing: Standing) -> None:
    """Tell nobody."""


class Pace:
    """How much work to ask of one call of a kernel, learnt from how long the calls before took."""

    def __init__(self, budget: int = FIRST_BUDGET) -> None:
        self.budget = budget
        self._begin = 0.0

    def start(self) -> None:
        """A call begins."""
        self._begin = time.perf_counter()

    def learn(self, used: int) -> None:
        """The call has ended, and has used so much of the budget.

        A call that used little says little of how long more would take, so that the budget grows with what is used.
        """
        seconds = max(time.perf_counter() - self._begin, 1e-9)
        if used:
            self.budget = max(1, round(min(FASTER * self.budget, A_CALL * used / seconds)))
