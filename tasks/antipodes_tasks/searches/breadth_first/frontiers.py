"""Breadth-first searches from a position and from its goals, which expand the smaller frontier until they meet."""

from collections.abc import Callable

from antipodes_tasks.reachability.packing import Words
from antipodes_tasks.searches.breadth_first.layers_back import LayersBack
from antipodes_tasks.searches.breadth_first.reached import Reached
from antipodes_tasks.searches.problem import Problem
from antipodes_tasks.searches.shortest_paths import ShortestPaths, shortest_paths


class Frontiers:
    """The positions within some distance of a position, and the positions within some distance before a goal.

    Where a move has no known inverse, the latter are the goals alone.
    """

    def __init__(
        self, problem: Problem, memory_limit: int, pulse: Callable[[], None] = lambda: None, advice: str = ""
    ) -> None:
        half = memory_limit // 2
        self.forward = Reached(problem.position[None], problem.steps, problem.packing, half, pulse, advice)
        self._problem = problem
        steps_back = problem.steps_back if problem.undoable else problem.steps
        self.backward = Reached(problem.goals, steps_back, problem.packing, half, pulse, advice)
        self.common = self._common()
        """The positions ``(n, words)`` at which the frontiers meet, one on each shortest path; none until they meet."""

    @property
    def distance(self) -> int:
        """The length of the paths searched so far."""
        return self.forward.depth + self.backward.depth

    @property
    def expanded(self) -> int:
        """Positions expanded on both sides."""
        return self.forward.expanded + self.backward.expanded

    @property
    def held(self) -> int:
        """Positions in memory."""
        return len(self.forward) + len(self.backward)

    @property
    def next_size(self) -> int:
        """The number of positions that the next call of `expand` expands."""
        return self._smaller().last_layer_size

    def expand(self) -> bool:
        """Expand the smaller frontier, if possible; False if it has no successors: no goal can be reached."""
        if not self._smaller().expand():
            return False
        self.common = self._common()
        return True

    def paths(self, every: bool) -> ShortestPaths:
        """One path, or ``every`` one, through the common positions, once the frontiers have met."""
        # Both halves begin at the same sorted positions, so that they join.
        back = self._problem.steps_back if self._problem.undoable else LayersBack(self.forward)
        before = shortest_paths(self.forward, self.common, back, every).reversed()
        return before.then(shortest_paths(self.backward, self.common, self._problem.steps, every))

    def _smaller(self) -> Reached:
        backward = self._problem.undoable and self.backward.last_layer_size < self.forward.last_layer_size
        return self.backward if backward else self.forward

    def _common(self) -> Words:
        """The positions in both last layers; no earlier layers meet before these do."""
        layer, other = self.forward.layer(self.forward.depth), self.backward
        if self.forward.last_layer_size > self.backward.last_layer_size:
            layer, other = self.backward.layer(self.backward.depth), self.forward
        common: Words = layer[other.depths(layer) == other.depth]
        return common
