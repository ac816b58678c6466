"""Iterative deepening: depth-first searches, each allowed one move more, or two where the parity is known."""

from antipodes.searches.answer import LISTED, Answer
from antipodes.searches.bounds import no_bound
from antipodes.searches.deepening import deepen
from antipodes.searches.problem import Problem

METHOD = "iddfs"


def iddfs(problem: Problem, *, every: bool = False, bound: int | None = None, listed: int = LISTED) -> Answer:
    """One shortest way to the nearest goal, or ``every`` one, of which ``listed`` are listed.

    It takes next to no memory, never takes the last move back, and skips numbers of moves of a parity that no way
    can have. Without a ``bound`` it may not end where no goal can be reached and `solvable` does not know.
    """
    return deepen(METHOD, problem, no_bound(), every=every, bound=bound, listed=listed)
