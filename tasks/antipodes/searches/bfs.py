"""Breadth-first search from the position until a goal is reached."""

from itertools import islice

from antipodes.searches.answer import LISTED, Answer, Outcome, unsolved
from antipodes.searches.problem import Problem
from antipodes.searches.reached import MEMORY_LIMIT, Reached
from antipodes.searches.ways import Ways, ways_down

METHOD = "bfs"


def bfs(
    problem: Problem,
    *,
    every: bool = False,
    bound: int | None = None,
    listed: int = LISTED,
    memory_limit: int = MEMORY_LIMIT,
) -> Answer:
    """One shortest way to the nearest goal, or ``every`` one, of which ``listed`` are listed.

    Raises
    ------
    ResourceLimitError
        The positions reached would take more memory than ``memory_limit``, bytes.
    """
    if problem.hopeless:
        return unsolved(METHOD, Outcome.UNREACHABLE)
    reached = Reached(problem.position[None], problem.steps, problem.packing, memory_limit)
    goals = problem.packing.pack(problem.goals)
    found = goals[reached.depths(goals) >= 0]
    while not len(found):
        if reached.depth == bound:
            return unsolved(METHOD, Outcome.BOUND, reached.expanded)
        if not reached.expand():
            return unsolved(METHOD, Outcome.UNREACHABLE, reached.expanded)
        found = goals[reached.depths(goals) >= 0]
    ways = ways_down(reached, found, problem.steps_back, every).reversed()
    return solved(METHOD, ways, every, listed, reached.expanded)


def solved(method: str, ways: Ways, every: bool, listed: int, expanded: int) -> Answer:
    """The answer that consists of these ways."""
    solutions = tuple(islice(ways, listed))
    count = ways.count() if every else 1
    return Answer(method, Outcome.SOLVED, len(ways.edges), solutions, count, expanded)
