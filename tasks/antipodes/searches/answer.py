"""What every search returns."""

from dataclasses import dataclass
from enum import StrEnum

from antipodes.errors import ResourceLimitError
from antipodes.puzzles.puzzle import Labels

LISTED = 1000
"""How many solutions a search lists unless told otherwise; it counts all."""
WAY_BYTES = 128
"""What an array takes beside its elements."""


class Outcome(StrEnum):
    """How a search ended."""

    SOLVED = "solved"
    UNREACHABLE = "unreachable"
    """No sequence of moves leads to a goal."""
    BOUND = "bound"
    """No goal is within the bound; whether one lies beyond it is not known."""


@dataclass(frozen=True, eq=False, slots=True)
class Answer:
    """What a search found out about a position."""

    method: str
    outcome: Outcome
    distance: int | None
    """The length of the shortest ways to a goal; None unless solved."""
    solutions: tuple[Labels, ...]
    """Ways to a goal, each ``(distance + 1, places)`` with both ends; no two are the same."""
    solution_count: int
    """How many shortest ways were found, also those beyond the limit of what is listed; 1 unless all were asked for."""
    expanded: int
    """Positions whose successors were generated, counted again each time that a search comes back to one."""


def unsolved(method: str, outcome: Outcome, expanded: int = 0) -> Answer:
    """The answer of a search that found no way."""
    return Answer(method, outcome, None, (), 0, expanded)


def check_listing(solutions: int, moves: int, places: int, memory_limit: int) -> None:
    """Raise ResourceLimitError where so many ways, as arrays, take more than ``memory_limit``, bytes."""
    needed = solutions * (WAY_BYTES + (moves + 1) * max(places, 8))
    if needed > memory_limit:
        raise ResourceLimitError(
            f"{solutions} ways of {moves} moves would take {needed} bytes, and {memory_limit} are allowed; list fewer"
        )
