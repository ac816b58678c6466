"""Iterative deepening that leaves what a lower bound shows to be too far from the goal (R. E. Korf 1985)."""

from antipodes import arguments
from antipodes.searches.answer import LISTED, Answer
from antipodes.searches.frontiers import PROOF_MEMORY
from antipodes.searches.heuristics import Name, lower_bound
from antipodes.searches.iterative_deepening import deepen
from antipodes.searches.problem import A_PROBLEM, Problem, Request
from antipodes.searches.progress import Listener, silence

METHOD = "ida-star"


def ida_star(
    problem: Problem,
    *,
    every: bool = False,
    bound: int | None = None,
    listed: int = LISTED,
    heuristic: Name | None = None,
    memory_limit: int = PROOF_MEMORY,
    listener: Listener = silence,
) -> Answer:
    """One shortest way to the nearest goal, or ``every`` one, of which ``listed`` are listed.

    The ``heuristic`` is a lower bound that `lower_bound` knows, by default the best for the puzzle. What
    `iddfs` says of memory and of its end holds here, too.

    Raises
    ------
    InputError
        No lower bound, or not this one, is known for the moves of the puzzle; or an argument is of another type, or
        negative.
    ResourceLimitError
        The ways to be listed take more memory than ``memory_limit``.
    """
    arguments.instance(problem, Problem, A_PROBLEM)
    lower = lower_bound(problem, heuristic)
    return deepen(METHOD, problem, lower, Request(every, bound, listed, memory_limit, listener))
