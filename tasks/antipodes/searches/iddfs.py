"""Iterative deepening: depth-first searches, each allowed one move more, or two where the parity is known."""

from antipodes import arguments
from antipodes.searches.answer import LISTED, Answer
from antipodes.searches.frontiers import PROOF_MEMORY
from antipodes.searches.heuristics import no_bound
from antipodes.searches.iterative_deepening import deepen
from antipodes.searches.problem import A_PROBLEM, Problem, Request
from antipodes.searches.progress import Listener, silence

METHOD = "iddfs"


def iddfs(
    problem: Problem,
    *,
    every: bool = False,
    bound: int | None = None,
    listed: int = LISTED,
    memory_limit: int = PROOF_MEMORY,
    listener: Listener = silence,
) -> Answer:
    """One shortest way to the nearest goal, or ``every`` one, of which ``listed`` are listed.

    It takes next to no memory to find a way, never takes the last move back, and skips numbers of moves of a parity
    that no way can have. Where it takes long and `solvable` does not know, it proves beside the search that no way
    exists, if ``memory_limit`` bytes are enough for that; else it may not end without a ``bound``.

    Raises
    ------
    InputError
        An argument is of another type, or negative.
    ResourceLimitError
        The ways to be listed take more memory than ``memory_limit``.
    """
    arguments.instance(problem, Problem, A_PROBLEM)
    return deepen(METHOD, problem, no_bound(), Request(every, bound, listed, memory_limit, listener))
