"""Breadth-first search from both ends, the smaller frontier first, until the frontiers meet."""

from antipodes import arguments
from antipodes.searches.answer import LISTED, Answer, Outcome, unsolved
from antipodes.searches.bfs import solved
from antipodes.searches.breadth_first import MEMORY_LIMIT
from antipodes.searches.frontiers import TwoEnds
from antipodes.searches.problem import A_PROBLEM, Problem, Request
from antipodes.searches.progress import Listener, Standing, silence
from antipodes.searches.shortest_paths import ways_down

METHOD = "bidirectional"


def bidirectional(
    problem: Problem,
    *,
    every: bool = False,
    bound: int | None = None,
    listed: int = LISTED,
    memory_limit: int = MEMORY_LIMIT,
    listener: Listener = silence,
) -> Answer:
    """One shortest way to the nearest goal, or ``every`` one, of which ``listed`` are listed.

    Raises
    ------
    InputError
        An argument is of another type, or negative.
    ResourceLimitError
        The positions reached from one end would take more memory than half of ``memory_limit``, bytes.
    """
    arguments.instance(problem, Problem, A_PROBLEM)
    request = Request(every, bound, listed, memory_limit, listener)
    if problem.hopeless:
        return unsolved(METHOD, Outcome.UNREACHABLE)
    ends: TwoEnds = TwoEnds(
        problem, request.memory_limit, lambda: listener(Standing(METHOD, ends.distance + 1, ends.expanded, ends.held))
    )
    while not len(ends.meetings):
        if request.bound is not None and ends.distance >= request.bound:
            return unsolved(METHOD, Outcome.BOUND, ends.expanded)
        if not ends.expand():
            return unsolved(METHOD, Outcome.UNREACHABLE, ends.expanded)
    # Both halves begin at the same sorted meetings, so that they join.
    there = ways_down(ends.near, ends.meetings, problem.steps_back, request.every).reversed()
    onwards = ways_down(ends.far, ends.meetings, problem.steps, request.every)
    return solved(METHOD, there.then(onwards), request, ends.expanded)
