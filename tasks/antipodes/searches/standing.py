"""What a search says while it works, and how it stays open to interruptions."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

T = TypeVar("T")
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

    def __init__(self) -> None:
        self.budget = FIRST_BUDGET

    def call(self, kernel: Callable[[int], T]) -> T:
        """What the kernel returns for the budget that suits it."""
        begin = time.perf_counter()
        result = kernel(self.budget)
        seconds = max(time.perf_counter() - begin, 1e-9)
        self.budget = max(1, int(self.budget * min(FASTER, A_CALL / seconds)))
        return result
