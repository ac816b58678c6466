"""The shortest ways between two sets of positions: how many there are, and which."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from antipodes.puzzles.puzzle import Labels
from antipodes.searches.packing import Packing, Words
from antipodes.searches.steps import Steps

Edges = NDArray[np.int64]


class NoWayDownError(LookupError):
    """Distances that cannot be right: no move from a position leads to one that is one nearer."""

    def __init__(self, position: Labels) -> None:
        super().__init__("no move leads nearer")
        self.position = position
        """``(places,)``"""


class Distances(Protocol):
    """What knows how far positions are from the seeds: the memory of a search, or a table."""

    @property
    def packing(self) -> Packing:
        """How the positions are packed."""

    def depths(self, keys: Words) -> NDArray[np.int64]:
        """The distance of each of ``(n, words)`` packed positions; negative where it is not known."""


@dataclass(frozen=True, eq=False, slots=True)
class Ways:
    """Positions in layers, every one on a shortest way from the first layer to the last."""

    layers: tuple[Labels, ...]
    edges: tuple[Edges, ...]
    """``(n, 2)`` for each two neighbouring layers: which position leads to which, in ascending order."""

    def reversed(self) -> "Ways":
        """The same ways from their ends to their beginnings."""
        backwards = [np.unique(edges[:, ::-1], axis=0) for edges in reversed(self.edges)]
        return Ways(self.layers[::-1], tuple(backwards))

    def then(self, others: "Ways") -> "Ways":
        """These ways continued by others, whose first layer is the last of these."""
        return Ways(self.layers + others.layers[1:], self.edges + others.edges)

    def count(self) -> int:
        """How many ways there are, exactly."""
        counts = [1] * len(self.layers[0])
        for i, edges in enumerate(self.edges):
            following = [0] * len(self.layers[i + 1])
            for a, b in edges.tolist():
                following[b] += counts[a]
            counts = following
        return sum(counts)

    def __iter__(self) -> Iterator[Labels]:
        """The ways, each ``(length + 1, places)``."""
        ends = [np.searchsorted(edges[:, 0], range(len(edges) + 2)) for edges in self.edges]
        for first in range(len(self.layers[0])):
            waiting: list[tuple[int, ...]] = [(first,)]
            while waiting:
                way = waiting.pop()
                depth = len(way) - 1
                if depth == len(self.edges):
                    yield np.array([layer[i] for layer, i in zip(self.layers, way, strict=True)], dtype=np.uint8)
                    continue
                begin, end = ends[depth][way[-1] : way[-1] + 2]
                waiting += [(*way, after) for after in self.edges[depth][begin:end, 1][::-1].tolist()]


def ways_down(known: Distances, keys: Words, steps_down: Steps, every: bool) -> Ways:
    """The shortest ways from positions ``(n, words)`` at one distance to the seeds; one way unless ``every``.

    ``steps_down`` are the moves that lead towards the seeds. Raises NoWayDownError where the distances are wrong.
    """
    from antipodes.searches.step_kernels import successors

    keys = np.unique(keys, axis=0) if every else keys[:1]
    layers, edges = [known.packing.unpack(keys)], []
    for depth in range(int(known.depths(keys)[0]) - 1, -1, -1):
        after, before = successors(layers[-1], steps_down)
        after_keys = known.packing.pack(after)
        down = np.flatnonzero(known.depths(after_keys) == depth)
        stranded = np.setdiff1d(np.arange(len(layers[-1])), before[down])
        if len(stranded):
            raise NoWayDownError(layers[-1][stranded[0]])
        down = down if every else down[:1]
        keys, number = np.unique(after_keys[down], axis=0, return_inverse=True)
        edges.append(np.unique(np.stack((before[down], number.reshape(-1)), axis=1), axis=0))
        layers.append(known.packing.unpack(keys))
    return Ways(tuple(layers), tuple(edges))
