"""IDA*: iterative deepening that prunes by an admissible heuristic (R. E. Korf 1985)."""

from antipodes_tasks import arguments
from antipodes_tasks.searches.answer import LISTED, Answer
from antipodes_tasks.searches.deepening.iterative_deepening import deepen
from antipodes_tasks.searches.heuristics import Name, heuristic_of
from antipodes_tasks.searches.problem import A_PROBLEM, Problem, Request
from antipodes_tasks.searches.progress import Listener, silence
from antipodes_tasks.searches.unreachability import PROOF_MEMORY

METHOD = "ida-star"


def ida_star(
    problem: Problem,
    *,
    every: bool = False,
    max_depth: int | None = None,
    listed: int = LISTED,
    heuristic: Name | None = None,
    memory_limit: int = PROOF_MEMORY,
    listener: Listener = silence,
) -> Answer:
    """Find one shortest path to the nearest goal, or ``every`` one; list at most ``listed`` of them.

    The ``heuristic`` is one of `heuristics.NAMES`, by default the strongest for the puzzle. Memory and termination are
    as in `iddfs`.

    Raises
    ------
    InputError
        No heuristic, or not this one, is known for the moves of the puzzle; or an argument is of another type, or
        negative.
    ResourceLimitError
        The listed paths take more memory than ``memory_limit``.
    """
    arguments.instance(problem, Problem, A_PROBLEM)
    return deepen(
        METHOD, problem, heuristic_of(problem, heuristic), Request(every, max_depth, listed, memory_limit, listener)
    )
