"""All paths of a known length to the goals, counted by layers: a walk along each would take too long for billions."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from antipodes_tasks.reachability.packing import Words
from antipodes_tasks.reachability.position_set import PositionSet
from antipodes_tasks.rules.moves import Labels, Mask
from antipodes_tasks.searches.heuristics import Heuristic
from antipodes_tasks.searches.problem import Problem
from antipodes_tasks.searches.shortest_paths import Edges, ShortestPaths

BLOCK = 1 << 16
"""Positions expanded at once, after which an interruption is answered."""
MORE_MEMORY = "; allow more memory"
EDGE_BYTES = 24
"""Memory of a move from one layer to the next: two numbers of positions, and one while they are sorted."""


class PathLayers:
    """The positions after each number of moves from which the heuristic lets a path of ``distance`` moves go on.

    ``pulse`` is told the positions expanded, and those of the layer that is made.
    """

    def __init__(
        self,
        problem: Problem,
        heuristic: Heuristic,
        distance: int,
        memory_limit: int,
        pulse: Callable[[int, int], None],
    ) -> None:
        self._problem, self._heuristic, self._distance = problem, heuristic, distance
        self._free, self._pulse = memory_limit, pulse
        self._expanded = 0

    def paths(self) -> ShortestPaths:
        """The paths; ResourceLimitError if their positions take more than the memory limit."""
        problem = self._problem
        layers, edges = [problem.packing.pack(problem.position[np.newaxis])], list[Edges]()
        for left in reversed(range(self._distance)):
            layer, led = self._next(layers[-1], left)
            layers.append(layer)
            edges.append(led)
        goals = problem.packing.pack(problem.goals)
        wanted: Mask = (layers[-1][:, np.newaxis] == goals).all(axis=2).any(axis=1)
        return self._leading_to(wanted, layers, edges)

    def _next(self, layer: Words, left: int) -> tuple[Words, Edges]:
        """The positions one move on that may be ``left`` moves from a goal, and the moves that lead to them."""
        problem = self._problem
        found, edges = PositionSet(problem.packing, self._free, MORE_MEMORY), [np.empty((0, 2), dtype=np.int64)]
        for begin in range(0, len(layer), BLOCK):
            self._pulse(self._expanded + begin, len(found))
            after, before = problem.steps.successors(problem.packing.unpack(layer[begin : begin + BLOCK]))
            near = self._estimates(after) <= left
            keys = problem.packing.pack(after[near])
            found.add(keys)
            edges.append(np.stack((before[near] + begin, found.numbers(keys)), axis=1))
            self._take(EDGE_BYTES * len(keys))
        self._expanded += len(layer)
        words = found.words[: len(found)].copy()
        self._take(words.nbytes)
        return words, np.concatenate(edges)

    def _estimates(self, labels: Labels) -> NDArray[np.int64]:
        """The least moves of the pieces to their goals, ``(n,)``."""
        estimates: NDArray[np.int64] = self._heuristic.costs[labels, np.arange(labels.shape[1])].sum(axis=1)
        return estimates

    def _leading_to(self, wanted: Mask, layers: list[Words], edges: list[Edges]) -> ShortestPaths:
        """The paths to the wanted positions of the last layer."""
        kept = [layers[-1][wanted]]
        for i in reversed(range(len(edges))):
            used = edges[i][wanted[edges[i][:, 1]]]
            reaching = np.zeros(len(layers[i]), dtype=np.bool_)
            reaching[used[:, 0]] = True
            number = np.cumsum(reaching)[used[:, 0]] - 1, np.cumsum(wanted)[used[:, 1]] - 1
            pairs = np.unique(number[0] * len(kept[-1]) + number[1])  # two moves may have the same result
            edges[i] = np.stack(np.divmod(pairs, len(kept[-1])), axis=1)
            kept.append(layers[i][reaching])
            wanted = reaching
        return ShortestPaths(tuple(map(self._problem.packing.unpack, reversed(kept))), tuple(edges))

    def _take(self, size: int) -> None:
        self._free = max(0, self._free - size)
