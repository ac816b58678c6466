"""The answer that every search returns."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from antipodes_tasks.errors import ResourceLimitError
from antipodes_tasks.quoting import counted
from antipodes_tasks.rules.moves import Labels

DEFAULT_LIMIT = 1000
"""Solutions that a search lists by default; it counts all."""
PATH_BYTES = 128
"""Memory of an array beside its elements."""


class Outcome(StrEnum):
    """How a search ended."""

    SOLVED = "solved"
    UNREACHABLE = "unreachable"
    """No sequence of moves leads to a goal."""
    DEPTH_LIMIT = "depth-limit"
    """No goal is within the depth limit; whether one is beyond it is unknown."""
    TIME_LIMIT = "time-limit"
    """The time was up before the search ended."""


@dataclass(frozen=True, eq=False, slots=True, repr=False)
class Answer:
    """The result of a search."""

    method: str
    outcome: Outcome
    distance: int | None
    """The length of the shortest paths to a goal; None unless solved."""
    solutions: tuple[Labels, ...]
    """Different shortest paths to a goal, ``(distance + 1, places)`` each: both ends are part of a path."""
    solution_count: int
    """The number of shortest paths, listed or not; 1 unless the search looked for every one."""
    expanded: int
    """Positions whose successors were generated; a position that a search visits again counts again."""
    least: int | None = None
    """What is proved if a limit ended the search: no path has fewer moves. None if nothing is, or it was no limit."""

    generated: int | None = None
    """Successors generated, where the search counts them."""

    def __repr__(self) -> str:
        found = (
            f"{counted(self.distance or 0, 'move')}, {counted(self.solution_count, 'solution')}"
            if self.solutions
            else str(self.outcome)
        )
        return f"<Answer: {found}, by {self.method}, {counted(self.expanded, 'position')} expanded>"


def unsolved(method: str, outcome: Outcome, expanded: int = 0, least: int | None = None) -> Answer:
    """The answer of a search that found no path."""
    return Answer(method, outcome, None, (), 0, expanded, least)


def check_listing(solutions: int, moves: int, places: int, memory_limit: int) -> None:
    """Raise ResourceLimitError if ``solutions`` paths, as arrays, take more than ``memory_limit`` bytes."""
    needed = solutions * (PATH_BYTES + (moves + 1) * max(places, 8))
    if needed > memory_limit:
        raise ResourceLimitError(
            f"{counted(solutions, 'path')} of {counted(moves, 'move')} would take {needed:,} bytes, "
            f"and {memory_limit:,} are allowed; list fewer"
        )
