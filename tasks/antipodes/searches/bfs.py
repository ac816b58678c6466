"""Breadth-first search from the position until a goal is reached."""

from itertools import islice

from antipodes import arguments
from antipodes.searches.answer import LISTED, Answer, Outcome, check_listing, unsolved
from antipodes.searches.breadth_first import MEMORY_LIMIT, Reached
from antipodes.searches.problem import A_PROBLEM, Problem, Request
from antipodes.searches.progress import Listener, Standing, silence
from antipodes.searches.shortest_paths import Ways, ways_down

METHOD = "bfs"


def bfs(
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
        The positions reached would take more memory than ``memory_limit``, bytes.
    """
    arguments.instance(problem, Problem, A_PROBLEM)
    request = Request(every, bound, listed, memory_limit, listener)
    if problem.hopeless:
        return unsolved(METHOD, Outcome.UNREACHABLE)

    def pulse() -> None:
        listener(Standing(METHOD, reached.depth + 1, reached.expanded, len(reached)))

    reached: Reached = Reached(problem.position[None], problem.steps, problem.packing, request.memory_limit, pulse)
    goals = problem.packing.pack(problem.goals)
    found = goals[reached.depths(goals) >= 0]
    while not len(found):
        if reached.depth == request.bound:
            return unsolved(METHOD, Outcome.BOUND, reached.expanded)
        if not reached.expand():
            return unsolved(METHOD, Outcome.UNREACHABLE, reached.expanded)
        found = goals[reached.depths(goals) >= 0]
    ways = ways_down(reached, found, problem.steps_back, request.every).reversed()
    return solved(METHOD, ways, request, reached.expanded)


def solved(method: str, ways: Ways, request: Request, expanded: int) -> Answer:
    """The answer that consists of these ways."""
    count = ways.count() if request.every else 1
    check_listing(min(count, request.listed), len(ways.edges), ways.layers[0].shape[1], request.memory_limit)
    solutions = tuple(islice(ways, request.listed))
    return Answer(method, Outcome.SOLVED, len(ways.edges), solutions, count, expanded)
