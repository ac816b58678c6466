"""Breadth-first search from the position to a goal, and bidirectional search from both ends until they meet."""

from collections.abc import Callable

import numpy as np

from antipodes_tasks.base import arguments
from antipodes_tasks.base.array_types import Labels, Numbers, Words
from antipodes_tasks.base.errors import InputError
from antipodes_tasks.keys.bit_fields import Fields
from antipodes_tasks.keys.position_set import PositionSet
from antipodes_tasks.keys.steps import Steps
from antipodes_tasks.properties.heuristics import has_heuristic
from antipodes_tasks.searches.answer import DEFAULT_LIMIT, Answer, Outcome, unsolved
from antipodes_tasks.searches.problem import A_PROBLEM, Problem, Request
from antipodes_tasks.searches.progress import Listener, Pace, Progress, silence
from antipodes_tasks.searches.shortest_paths import ShortestPaths, Successors, shortest_paths, solved

BFS, BIDIRECTIONAL = "bfs", "bidirectional"
MEMORY_LIMIT = 4 << 30
"""Default maximum number of bytes for the positions of a search and their hash table."""
BLOCK = 1 << 16
"""Number of positions expanded at a time."""
ENOUGH = 1 << 40
"""Memory limit in bytes for the positions on paths. It is never reached, since the search holds them anyway."""


def bfs(
    problem: Problem,
    *,
    every: bool = False,
    max_depth: int | None = None,
    listed: int = DEFAULT_LIMIT,
    memory_limit: int = MEMORY_LIMIT,
    listener: Listener = silence,
) -> Answer:
    """Find one shortest path to the nearest goal, or ``every`` one; list at most ``listed`` paths.

    Raises
    ------
    InputError
        An argument has the wrong type or is negative.
    ResourceLimitError
        The positions reached would take more than ``memory_limit`` bytes.
    """
    arguments.instance(problem, Problem, A_PROBLEM)
    request = Request(every, max_depth, listed, memory_limit, listener)
    if problem.known_unreachable:
        return unsolved(BFS, Outcome.UNREACHABLE)

    def pulse() -> None:
        listener(Progress(BFS, reached.depth + 1, reached.expanded, len(reached)))

    reached: Reached = Reached(
        problem.position[None], problem.steps, problem.packing, request.memory_limit, pulse, _remedies(problem)
    )
    found = reached.goals_of(problem)
    while not len(found):
        if reached.depth == request.max_depth:
            return unsolved(BFS, Outcome.DEPTH_LIMIT, reached.expanded, reached.depth + 1)
        if not reached.expand():
            return unsolved(BFS, Outcome.UNREACHABLE, reached.expanded)
        found = reached.goals_of(problem)
    # All layers are kept, so paths are traced back from the goals only after the search.
    back = _predecessor_function(problem, reached)
    paths = shortest_paths(problem.packing, reached.depths, found, back, request.every).reversed()
    return solved(BFS, paths, request, reached.expanded)


def bidirectional(
    problem: Problem,
    *,
    every: bool = False,
    max_depth: int | None = None,
    listed: int = DEFAULT_LIMIT,
    memory_limit: int = MEMORY_LIMIT,
    listener: Listener = silence,
) -> Answer:
    """Find one shortest path to the nearest goal, or ``every`` one; list at most ``listed`` paths.

    Raises
    ------
    InputError
        A move has no known inverse, or an argument has the wrong type or is negative.
    ResourceLimitError
        The positions reached from one end would take more than half of ``memory_limit``, in bytes.
    """
    arguments.instance(problem, Problem, A_PROBLEM)
    request = Request(every, max_depth, listed, memory_limit, listener)
    problem.check_listed(BIDIRECTIONAL)
    if problem.known_unreachable:
        return unsolved(BIDIRECTIONAL, Outcome.UNREACHABLE)
    if not problem.invertible:
        raise InputError("bidirectional search needs an inverse for every move; choose bfs")
    frontiers: Frontiers = Frontiers(
        problem,
        request.memory_limit,
        lambda: listener(Progress(BIDIRECTIONAL, frontiers.distance + 1, frontiers.expanded, frontiers.held)),
        _remedies(problem),
    )
    # Frontiers grow by whole layers and are compared after each one, so the first common positions are on shortest
    # paths.
    while not len(frontiers.common):
        if request.max_depth is not None and frontiers.distance >= request.max_depth:
            return unsolved(BIDIRECTIONAL, Outcome.DEPTH_LIMIT, frontiers.expanded, frontiers.distance + 1)
        if not frontiers.expand():
            return unsolved(BIDIRECTIONAL, Outcome.UNREACHABLE, frontiers.expanded)
    return solved(BIDIRECTIONAL, frontiers.paths(request.every), request, frontiers.expanded)


class Reached:
    """All positions within a distance of the seeds, in complete layers."""

    def __init__(
        self,
        seeds: Labels,
        steps: Steps,
        packing: Fields,
        memory_limit: int = MEMORY_LIMIT,
        pulse: Callable[[], None] = lambda: None,
        advice: str = "",
    ) -> None:
        self.steps = steps
        self.packing = packing
        self.expanded = 0
        self._pulse = pulse
        self._pace = Pace()
        self._positions = PositionSet(packing, memory_limit, advice)
        self._positions.add(packing.pack(seeds))
        self._ends = [0, len(self._positions)]

    def __len__(self) -> int:
        """Return the number of positions in memory."""
        return len(self._positions)

    @property
    def depth(self) -> int:
        """Maximum distance reached."""
        return len(self._ends) - 2

    @property
    def last_layer_size(self) -> int:
        """Number of positions at the maximum distance."""
        return self._ends[-1] - self._ends[-2]

    def layer(self, depth: int) -> Words:
        """Return the packed positions at a distance, ``(n, words)``."""
        return self._positions.words[self._ends[depth] : self._ends[depth + 1]]

    def depths(self, keys: Words) -> Numbers:
        """Return the distance of each of ``(n, words)`` packed positions; -1 if it has not been reached."""
        numbers = self._positions.numbers(keys)
        depths = np.searchsorted(self._ends, numbers, side="right") - 1
        return np.where(numbers < 0, -1, depths)

    def goals_of(self, problem: Problem) -> Words:
        """Return the packed goals that have been reached; if goals are not listed, only those in the last layer."""
        if problem.matches is None:
            goals = self.packing.pack(problem.goals)
            return goals[self.depths(goals) >= 0]
        layer = self.layer(self.depth)
        blocks = [layer[begin : begin + BLOCK] for begin in range(0, len(layer), BLOCK)]
        return np.concatenate([block[problem.matches(self.packing.unpack(block))] for block in blocks])

    def expand(self) -> int:
        """Add the next layer; return its number of positions.

        Raises
        ------
        ResourceLimitError
            The positions would take more memory than the limit.
        """
        begin, end = self._ends[-2:]
        while begin < end:
            self._pace.start()
            expanded = self.steps.add_successors(self._positions, begin, min(end, begin + self._pace.budget))
            self._pace.learn(expanded)
            self.expanded += expanded
            begin += expanded
            self._pulse()
        self._ends.append(len(self._positions))
        return self.last_layer_size

    def predecessors(self, labels: Labels) -> tuple[Labels, Numbers]:
        """Return the predecessors of distinct positions ``(n, places)`` of one layer.

        The second array contains, for each predecessor, the row of the position that it leads to. If inverse moves are
        unknown, this is how predecessors are found: the previous layer is expanded once more.
        """
        packing = self.packing
        wanted = PositionSet(packing, ENOUGH)
        wanted.add(packing.pack(labels))
        layer = self.layer(int(self.depths(wanted.words[:1])[0]) - 1)
        before, leads_to = [labels[:0]], [np.empty(0, dtype=np.int64)]
        for begin in range(0, len(layer), BLOCK):
            block = packing.unpack(layer[begin : begin + BLOCK])
            after, row = self.steps.successors(block)
            number = wanted.numbers(packing.pack(after))
            before.append(block[row[number >= 0]])
            leads_to.append(number[number >= 0])
        return np.concatenate(before), np.concatenate(leads_to)


class Frontiers:
    """Layers of positions around the position, and layers of positions that lead to the goals.

    If some move has no known inverse, the search runs only forwards, and the backward side contains only the goals.
    """

    def __init__(
        self, problem: Problem, memory_limit: int, pulse: Callable[[], None] = lambda: None, advice: str = ""
    ) -> None:
        half = memory_limit // 2
        self.forward = Reached(problem.position[None], problem.steps, problem.packing, half, pulse, advice)
        self._problem = problem
        steps_back = problem.steps_back if problem.invertible else problem.steps
        self.backward = Reached(problem.goals, steps_back, problem.packing, half, pulse, advice)
        self.common = self._common()
        """``(n, words)``: the positions where the frontiers meet; empty until then. Each shortest path contains exactly
        one of them.
        """

    @property
    def distance(self) -> int:
        """Length of the paths searched so far."""
        return self.forward.depth + self.backward.depth

    @property
    def expanded(self) -> int:
        """Number of positions expanded on both sides."""
        return self.forward.expanded + self.backward.expanded

    @property
    def held(self) -> int:
        """Number of positions in memory."""
        return len(self.forward) + len(self.backward)

    @property
    def next_size(self) -> int:
        """Number of positions that the next call of `expand` expands."""
        return self._smaller().last_layer_size

    def expand(self) -> bool:
        """Expand the smaller frontier; return False if it has no successors, so that no goal is reachable."""
        if not self._smaller().expand():
            return False
        self.common = self._common()
        return True

    def paths(self, every: bool) -> ShortestPaths:
        """Return one shortest path, or ``every`` one, through the common positions, once the frontiers have met."""
        packing = self._problem.packing
        # Both halves begin with the same sorted positions, so they can be joined.
        back = _predecessor_function(self._problem, self.forward)
        before = shortest_paths(packing, self.forward.depths, self.common, back, every).reversed()
        forth = self._problem.steps.successors
        return before.join(shortest_paths(packing, self.backward.depths, self.common, forth, every))

    def _smaller(self) -> Reached:
        backward = self._problem.invertible and self.backward.last_layer_size < self.forward.last_layer_size
        return self.backward if backward else self.forward

    def _common(self) -> Words:
        """Return the positions that are in the last layers of both sides.

        Earlier layers need not be compared: they had no common positions, or the search would have ended.
        """
        layer, other = self.forward.layer(self.forward.depth), self.backward
        if self.forward.last_layer_size > self.backward.last_layer_size:
            layer, other = self.backward.layer(self.backward.depth), self.forward
        common: Words = layer[other.depths(layer) == other.depth]
        return common


def _remedies(problem: Problem) -> str:
    """Return the remedies for too little memory, as the end of a message."""
    if problem.matches is not None:
        return "; allow more memory or limit the depth"
    return (
        "; allow more memory, limit the depth, or choose "
        f"{'ida-star' if has_heuristic(problem.rules) else 'iddfs'}, which takes little memory"
    )


def _predecessor_function(problem: Problem, reached: Reached) -> Successors:
    """Return a function that finds predecessors by inverse moves if these are known, or else among ``reached``."""
    return problem.steps_back.successors if problem.invertible else reached.predecessors
