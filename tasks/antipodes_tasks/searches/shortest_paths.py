"""The shortest paths between two sets of positions: their number, and a list of them."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from antipodes_tasks.errors import InconsistentDistancesError
from antipodes_tasks.reachability.packing import Packing, Words
from antipodes_tasks.reachability.steps.steps import Numbers
from antipodes_tasks.rules.moves import Labels

Edges = NDArray[np.int64]


class Distances(Protocol):
    """The distances of positions from the seeds: those that a search has reached, or a table."""

    @property
    def packing(self) -> Packing:
        """How the positions are packed."""

    def depths(self, keys: Words) -> NDArray[np.int64]:
        """The distance of each of ``(n, words)`` packed positions; negative if it is unknown."""


class Downwards(Protocol):
    """The moves towards the seeds."""

    def successors(self, labels: Labels) -> tuple[Labels, Numbers]:
        """The positions one move nearer or farther, and for each the row that it comes after; see `Steps`."""


@dataclass(frozen=True, eq=False, slots=True)
class ShortestPaths:
    """Positions in layers, each on a shortest path from the first layer to the last."""

    layers: tuple[Labels, ...]
    edges: tuple[Edges, ...]
    """``(n, 2)`` for each two neighbouring layers: which position leads to which, in ascending order."""

    def reversed(self) -> "ShortestPaths":
        """The same paths backwards."""
        backwards = [np.unique(edges[:, ::-1], axis=0) for edges in reversed(self.edges)]
        return ShortestPaths(self.layers[::-1], tuple(backwards))

    def then(self, others: "ShortestPaths") -> "ShortestPaths":
        """These paths continued by others, whose first layer is the last of these."""
        return ShortestPaths(self.layers + others.layers[1:], self.edges + others.edges)

    def count(self) -> int:
        """The exact number of paths."""
        counts = [1] * len(self.layers[0])
        for i, edges in enumerate(self.edges):
            following = [0] * len(self.layers[i + 1])
            for a, b in edges.tolist():
                following[b] += counts[a]
            counts = following
        return sum(counts)

    def __iter__(self) -> Iterator[Labels]:
        """The paths, each ``(length + 1, places)``."""
        ends = [np.searchsorted(edges[:, 0], range(len(edges) + 2)) for edges in self.edges]
        for first in range(len(self.layers[0])):
            waiting: list[tuple[int, ...]] = [(first,)]
            while waiting:
                path = waiting.pop()
                depth = len(path) - 1
                if depth == len(self.edges):
                    yield np.array([layer[i] for layer, i in zip(self.layers, path, strict=True)], dtype=np.uint8)
                    continue
                begin, end = ends[depth][path[-1] : path[-1] + 2]
                waiting += [(*path, after) for after in self.edges[depth][begin:end, 1][::-1].tolist()]


def shortest_paths(known: Distances, keys: Words, steps_down: Downwards, every: bool) -> ShortestPaths:
    """The shortest paths from positions ``(n, words)`` at one distance to the seeds; one path unless ``every``.

    ``steps_down`` are the moves towards the seeds. Raises InconsistentDistancesError if the distances are wrong.
    """
    keys = np.unique(keys, axis=0) if every else keys[:1]
    layers, edges = [known.packing.unpack(keys)], []
    for depth in range(int(known.depths(keys)[0]) - 1, -1, -1):
        after, before = steps_down.successors(layers[-1])
        after_keys = known.packing.pack(after)
        down = np.flatnonzero(known.depths(after_keys) == depth)
        stranded = np.setdiff1d(np.arange(len(layers[-1])), before[down])
        if len(stranded):
            raise InconsistentDistancesError(layers[-1][stranded[0]])
        down = down if every else down[:1]
        keys, number = np.unique(after_keys[down], axis=0, return_inverse=True)
        edges.append(np.unique(np.stack((before[down], number.reshape(-1)), axis=1), axis=0))
        layers.append(known.packing.unpack(keys))
    return ShortestPaths(tuple(layers), tuple(edges))
