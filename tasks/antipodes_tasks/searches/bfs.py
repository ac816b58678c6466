"""Breadth-first search from the position until a goal is reached."""

from itertools import islice

from antipodes_tasks import arguments
from antipodes_tasks.searches.answer import LISTED, Answer, Outcome, check_listing, unsolved
from antipodes_tasks.searches.breadth_first.layers_back import LayersBack
from antipodes_tasks.searches.breadth_first.reached import MEMORY_LIMIT, Reached
from antipodes_tasks.searches.heuristics import less_memory
from antipodes_tasks.searches.problem import A_PROBLEM, Problem, Request
from antipodes_tasks.searches.progress import Listener, Progress, silence
from antipodes_tasks.searches.shortest_paths import ShortestPaths, shortest_paths

METHOD = "bfs"


def bfs(
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
        An argument is of another type, or negative.
    ResourceLimitError
        The positions reached would take more memory than ``memory_limit``, bytes.
    """
    arguments.instance(problem, Problem, A_PROBLEM)
    request = Request(every, max_depth, listed, memory_limit, listener)
    if problem.known_unreachable:
        return unsolved(METHOD, Outcome.UNREACHABLE)

    def pulse() -> None:
        listener(Progress(METHOD, reached.depth + 1, reached.expanded, len(reached)))

    reached: Reached = Reached(
        problem.position[None], problem.steps, problem.packing, request.memory_limit, pulse, less_memory(problem)
    )
    goals = problem.packing.pack(problem.goals)
    found = goals[reached.depths(goals) >= 0]
    while not len(found):
        if reached.depth == request.max_depth:
            return unsolved(METHOD, Outcome.DEPTH_LIMIT, reached.expanded, reached.depth + 1)
        if not reached.expand():
            return unsolved(METHOD, Outcome.UNREACHABLE, reached.expanded)
        found = goals[reached.depths(goals) >= 0]
    back = problem.steps_back if problem.undoable else LayersBack(reached)
    paths = shortest_paths(reached, found, back, request.every).reversed()
    return solved(METHOD, paths, request, reached.expanded)


def solved(method: str, paths: ShortestPaths, request: Request, expanded: int) -> Answer:
    """The answer with these paths."""
    count = paths.count() if request.every else 1
    check_listing(min(count, request.listed), len(paths.edges), paths.layers[0].shape[1], request.memory_limit)
    solutions = tuple(islice(paths, request.listed))
    return Answer(method, Outcome.SOLVED, len(paths.edges), solutions, count, expanded)
