"""The answer that every search returns."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from antipodes_tasks.base.array_types import Labels
from antipodes_tasks.base.errors import ResourceLimitError
from antipodes_tasks.base.quoting import counted

DEFAULT_LIMIT = 1000
"""Default maximum number of solutions that a search lists; the count includes all solutions."""
PATH_BYTES = 128
"""Memory that a path takes besides its elements, as an array, in bytes."""


class Outcome(StrEnum):
    """How a search ended."""

    SOLVED = "solved"
    UNREACHABLE = "unreachable"
    """No goal is reachable."""
    DEPTH_LIMIT = "depth-limit"
    """No goal is within the depth limit; a goal beyond it may exist."""
    TIME_LIMIT = "time-limit"
    """The time limit was reached before the search ended."""
    NOT_FOUND = "not-found"
    """A search that drops positions has no more positions; a goal may be reachable."""


class Proof(StrEnum):
    """What is proved about the length of a path."""

    SHORTEST = "shortest"
    WITHIN = "within"
    """It is at most `Answer.bound` times the length of a shortest path."""
    PATH = "path"
    """Only that it is a path."""


@dataclass(frozen=True, eq=False, slots=True, repr=False)
class Answer:
    """The result of a search."""

    method: str
    outcome: Outcome
    distance: int | None
    """Length of the shortest paths to a goal; None unless solved."""
    solutions: tuple[Labels, ...]
    """Distinct shortest paths to a goal, ``(distance + 1, places)`` each, including both ends."""
    solution_count: int
    """Number of shortest paths, listed or not; 1 unless the search was for all of them."""
    expanded: int
    """Number of positions whose successors were generated; a position expanded twice counts twice."""
    least: int | None = None
    """Proved lower bound of the distance if a limit ended the search; None otherwise, or if nothing was proved."""

    generated: int | None = None
    """Number of successors generated, if the search counts them."""
    proved: Proof | None = None
    """What is proved about the length of the path; None if the search did not find one, or only finds shortest ones."""
    bound: float | None = None
    """Upper bound on the length of the path divided by the length of a shortest path; None if unknown."""
    violations: int | None = None
    """Number of positions met by a guided search whose estimate is higher than the length of a path to a goal."""
    drops: int | None = None
    """Number of moves met by a guided search on which a user's function falls by more than 1, so that it is not
    consistent. A* needs no consistency: it expands a position again if it finds a shorter path to it."""
    conditional: bool = False
    """Whether the proof assumes that a user's function returns lower bounds."""
    seconds: float = 0.0
    """Duration of the search in seconds, without loading kernels and opening a table."""
    moves: tuple[str, ...] | None = None
    """The names of the moves along `path`; None if there is no path, or moves have no names."""
    obstacle: str | None = None
    """Why no goal is reachable; None if one is, or if only a search shows that none is."""

    @property
    def path(self) -> Labels | None:
        """The first of the ``solutions``, ``(distance + 1, places)``; None if none is listed."""
        return self.solutions[0] if self.solutions else None

    def __repr__(self) -> str:
        found = (
            f"{counted(self.distance or 0, 'move')}, {counted(self.solution_count, 'solution')}"
            if self.solutions
            else str(self.outcome)
        )
        return f"<Answer: {found}, by {self.method}, {counted(self.expanded, 'position')} expanded>"


def unsolved(method: str, outcome: Outcome, expanded: int = 0, least: int | None = None) -> Answer:
    """Return the answer of a search that found no path."""
    return Answer(method, outcome, None, (), 0, expanded, least)


def check_listing(solutions: int, moves: int, places: int, memory_limit: int) -> None:
    """Raise ResourceLimitError if ``solutions`` paths, as arrays, take more than ``memory_limit`` bytes."""
    needed = solutions * (PATH_BYTES + (moves + 1) * max(places, 8))
    if needed > memory_limit:
        raise ResourceLimitError(
            f"{counted(solutions, 'path')} of {counted(moves, 'move')} would take {needed:,} bytes, "
            f"but only {memory_limit:,} are allowed; list fewer"
        )
