"""Iterative deepening: depth-first searches to one depth after another, two moves apart where the parity is known."""

from antipodes_tasks import arguments
from antipodes_tasks.searches.answer import LISTED, Answer
from antipodes_tasks.searches.deepening.iterative_deepening import deepen
from antipodes_tasks.searches.heuristics import zero_heuristic
from antipodes_tasks.searches.problem import A_PROBLEM, Problem, Request
from antipodes_tasks.searches.progress import Listener, silence
from antipodes_tasks.searches.unreachability import PROOF_MEMORY

METHOD = "iddfs"


def iddfs(
    problem: Problem,
    *,
    every: bool = False,
    max_depth: int | None = None,
    listed: int = LISTED,
    memory_limit: int = PROOF_MEMORY,
    listener: Listener = silence,
) -> Answer:
    """Find one shortest path to the nearest goal, or ``every`` one; list at most ``listed`` of them.

    The search takes almost no memory, never undoes the last move, and skips depths of a parity that no path can have.
    If it takes long and `solvable` does not know, an `UnreachableProof` runs beside it, within ``memory_limit`` bytes.
    Where that fails and the goal is unreachable, the search does not end without a ``max_depth``.

    Raises
    ------
    InputError
        An argument is of another type, or negative.
    ResourceLimitError
        The listed paths take more memory than ``memory_limit``.
    """
    arguments.instance(problem, Problem, A_PROBLEM)
    return deepen(METHOD, problem, zero_heuristic(), Request(every, max_depth, listed, memory_limit, listener))
