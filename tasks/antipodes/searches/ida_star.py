"""Iterative deepening that leaves what a lower bound shows to be too far from the goal (R. E. Korf 1985)."""

from antipodes.searches.answer import LISTED, Answer
from antipodes.searches.bounds import Name, lower_bound
from antipodes.searches.deepening import deepen
from antipodes.searches.problem import Problem

METHOD = "ida-star"


def ida_star(
    problem: Problem,
    *,
    every: bool = False,
    bound: int | None = None,
    listed: int = LISTED,
    heuristic: Name | None = None,
) -> Answer:
    """One shortest way to the nearest goal, or ``every`` one, of which ``listed`` are listed.

    The ``heuristic`` is a lower bound that `lower_bound` knows, by default the best for the puzzle. Without a
    ``bound`` the search may not end where no goal can be reached and `solvable` does not know.

    Raises
    ------
    InputError
        No lower bound, or not this one, is known for the moves of the puzzle.
    """
    return deepen(METHOD, problem, lower_bound(problem, heuristic), every=every, bound=bound, listed=listed)
