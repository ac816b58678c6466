"""The shortest paths between two sets of positions: counting and listing them."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice

import numpy as np

from antipodes_tasks.base.array_types import Labels, Numbers, Words
from antipodes_tasks.base.errors import InconsistentDistancesError
from antipodes_tasks.keys.bit_fields import Fields
from antipodes_tasks.searches.answer import Answer, Outcome, check_listing
from antipodes_tasks.searches.problem import Request

Edges = Numbers
Successors = Callable[[Labels], tuple[Labels, Numbers]]
"""Function that returns the successors of positions ``(n, places)``, and the row of the position that each one follows;
see `Steps.successors`."""


@dataclass(frozen=True, eq=False, slots=True)
class ShortestPaths:
    """Layers of positions, each of which is on a shortest path from the first layer to the last."""

    layers: tuple[Labels, ...]
    edges: tuple[Edges, ...]
    """For each two consecutive layers, ``(n, 2)``: the indices of a position and of one of its successors, ascending.
    """

    def reversed(self) -> "ShortestPaths":
        """Return the same paths reversed."""
        backwards = [_different(edges[:, ::-1]) for edges in reversed(self.edges)]
        return ShortestPaths(self.layers[::-1], tuple(backwards))

    def join(self, others: "ShortestPaths") -> "ShortestPaths":
        """Return these paths, continued by ``others``, which must begin with the last layer of these paths."""
        return ShortestPaths(self.layers + others.layers[1:], self.edges + others.edges)

    def count(self) -> int:
        """Return the exact number of paths."""
        counts = [1] * len(self.layers[0])
        for i, edges in enumerate(self.edges):
            following = [0] * len(self.layers[i + 1])
            for a, b in edges.tolist():
                following[b] += counts[a]
            counts = following
        return sum(counts)

    def __iter__(self) -> Iterator[Labels]:
        """Yield the paths, ``(length + 1, places)`` each."""
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


def shortest_paths(
    packing: Fields, depths: Callable[[Words], Numbers], keys: Words, down: Successors, every: bool
) -> ShortestPaths:
    """Return one shortest path, or ``every`` one, to the seeds from positions ``(n, words)`` at the same distance.

    ``depths`` returns the distances of positions from the seeds, negative if unknown; ``down`` applies the moves that
    can lead towards the seeds.

    Raises InconsistentDistancesError if the distances are wrong.
    """
    keys = np.unique(keys, axis=0) if every else keys[:1]
    layers, edges = [packing.unpack(keys)], []
    for depth in range(int(depths(keys)[0]) - 1, -1, -1):
        after, before = down(layers[-1])
        after_keys = packing.pack(after)
        nearer = np.flatnonzero(depths(after_keys) == depth)
        stranded = np.flatnonzero(np.bincount(before[nearer], minlength=len(layers[-1])) == 0)
        if len(stranded):
            raise InconsistentDistancesError(layers[-1][stranded[0]])
        if every:
            keys, number = np.unique(after_keys[nearer], axis=0, return_inverse=True)
            edges.append(_different(np.stack((before[nearer], number.reshape(-1)), axis=1)))
        else:
            keys = after_keys[nearer[:1]]
            edges.append(np.zeros((1, 2), dtype=np.int64))
        layers.append(packing.unpack(keys))
    return ShortestPaths(tuple(layers), tuple(edges))


def _different(edges: Edges) -> Edges:
    """Return the distinct edges, in ascending order; a single edge is returned at once, since numpy is slow."""
    return np.unique(edges, axis=0) if len(edges) > 1 else edges


def solved(method: str, paths: ShortestPaths, request: Request, expanded: int) -> Answer:
    """Return the answer with these paths."""
    count = paths.count() if request.every else 1
    check_listing(min(count, request.listed), len(paths.edges), paths.layers[0].shape[1], request.memory_limit)
    solutions = tuple(islice(paths, request.listed))
    return Answer(method, Outcome.SOLVED, len(paths.edges), solutions, count, expanded)
