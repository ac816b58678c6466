"""Bidirectional breadth-first search: expand the smaller frontier until the two meet."""

from antipodes_tasks import arguments
from antipodes_tasks.errors import InputError
from antipodes_tasks.searches.answer import LISTED, Answer, Outcome, unsolved
from antipodes_tasks.searches.bfs import solved
from antipodes_tasks.searches.breadth_first.frontiers import Frontiers
from antipodes_tasks.searches.breadth_first.reached import MEMORY_LIMIT
from antipodes_tasks.searches.heuristics import less_memory
from antipodes_tasks.searches.problem import A_PROBLEM, Problem, Request
from antipodes_tasks.searches.progress import Listener, Progress, silence

METHOD = "bidirectional"


def bidirectional(
    problem: Problem,
    *,
    every: bool = False,
    max_depth: int | None = None,
    listed: int = LISTED,
    memory_limit: int = MEMORY_LIMIT,
    listener: Listener = silence,
) -> Answer:
    """Find one shortest path to the nearest goal, or ``every`` one; list at most ``listed`` of them.

    Raises
    ------
    InputError
        A move has no known inverse, or an argument is of another type, or negative.
    ResourceLimitError
        The positions reached from one end would take more memory than half of ``memory_limit``, bytes.
    """
    arguments.instance(problem, Problem, A_PROBLEM)
    request = Request(every, max_depth, listed, memory_limit, listener)
    if problem.known_unreachable:
        return unsolved(METHOD, Outcome.UNREACHABLE)
    if not problem.undoable:
        raise InputError("bidirectional needs an inverse for every move; choose bfs")
    frontiers: Frontiers = Frontiers(
        problem,
        request.memory_limit,
        lambda: listener(Progress(METHOD, frontiers.distance + 1, frontiers.expanded, frontiers.held)),
        less_memory(problem),
    )
    while not len(frontiers.common):
        if request.max_depth is not None and frontiers.distance >= request.max_depth:
            return unsolved(METHOD, Outcome.DEPTH_LIMIT, frontiers.expanded, frontiers.distance + 1)
        if not frontiers.expand():
            return unsolved(METHOD, Outcome.UNREACHABLE, frontiers.expanded)
    return solved(METHOD, frontiers.paths(request.every), request, frontiers.expanded)
