"""Breadth-first search from both ends, the smaller frontier first, until the frontiers meet."""

from antipodes.searches.answer import LISTED, Answer, Outcome, unsolved
from antipodes.searches.bfs import solved
from antipodes.searches.packing import Words
from antipodes.searches.problem import Problem
from antipodes.searches.reached import MEMORY_LIMIT, Reached
from antipodes.searches.ways import ways_down

METHOD = "bidirectional"


def bidirectional(
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
        The positions reached from one end would take more memory than half of ``memory_limit``, bytes.
    """
    if problem.hopeless:
        return unsolved(METHOD, Outcome.UNREACHABLE)
    near = Reached(problem.position[None], problem.steps, problem.packing, memory_limit // 2)
    far = Reached(problem.goals, problem.steps_back, problem.packing, memory_limit // 2)
    meetings = _common(near, far)
    while not len(meetings):
        if bound is not None and near.depth + far.depth >= bound:
            return unsolved(METHOD, Outcome.BOUND, near.expanded + far.expanded)
        side = near if near.last_layer_size <= far.last_layer_size else far
        if not side.expand():
            return unsolved(METHOD, Outcome.UNREACHABLE, near.expanded + far.expanded)
        meetings = _common(near, far)
    # Both halves begin at the same sorted meetings, so that they join.
    there = ways_down(near, meetings, problem.steps_back, every).reversed()
    onwards = ways_down(far, meetings, problem.steps, every)
    return solved(METHOD, there.then(onwards), every, listed, near.expanded + far.expanded)


def _common(near: Reached, far: Reached) -> Words:
    """The positions in both last layers; no earlier layer can hold one before these do."""
    layer, other = near.layer(near.depth), far
    if near.last_layer_size > far.last_layer_size:
        layer, other = far.layer(far.depth), near
    common: Words = layer[other.depths(layer) == other.depth]
    return common
