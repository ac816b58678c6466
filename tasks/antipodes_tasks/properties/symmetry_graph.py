"""A graph whose automorphisms are the symmetries of a puzzle."""

from abc import ABC, abstractmethod
from functools import cached_property

import numpy as np

from antipodes_tasks.base.array_types import Numbers
from antipodes_tasks.properties.coloured_graph import ColouredGraph
from antipodes_tasks.properties.symmetry import Symmetry


class SymmetryGraph(ABC):
    """A coloured graph whose automorphisms are the symmetries of a puzzle, as the search for symmetries needs it.

    A *point* is a vertex that matters for a symmetry, such as a place, a label, a start or a move. The *deciding*
    points come first: an automorphism that fixes them leaves every reachable position unchanged.
    """

    graph: ColouredGraph

    @property
    @abstractmethod
    def deciding(self) -> list[int]:
        """The vertices of the deciding points."""

    @property
    @abstractmethod
    def other_vertices(self) -> list[int]:
        """The vertices of the other points, which may include deciding points."""

    @property
    @abstractmethod
    def placed(self) -> list[int]:
        """The vertices of places and of labels of pieces, which come first among the other points."""

    @abstractmethod
    def symmetry(self, permutation: Numbers) -> Symmetry:
        """Return the puzzle's symmetry that a permutation of the points, ``(points,)``, represents."""

    @cached_property
    def points(self) -> Numbers:
        """``(points,)``: the vertex of each point."""
        return np.array(list(dict.fromkeys([*self.deciding, *self.placed, *self.other_vertices])), dtype=np.int64)

    @cached_property
    def decisive(self) -> int:
        """Number of deciding points."""
        return len(set(self.deciding))

    @cached_property
    def shown(self) -> int:
        """Number of points that are deciding, places, or labels of pieces."""
        return len({*self.deciding, *self.placed})

    def generators(self) -> Numbers:
        """Return generators of the symmetries as permutations of points, ``(n, points)``."""
        found = self.graph.automorphisms()
        number = np.zeros(found.shape[1], dtype=np.int64)
        number[self.points] = np.arange(len(self.points))
        return number[found[:, self.points]]

    def images(self, permutation: Numbers) -> dict[int, int]:
        """Return the image of each point, as a map from vertices to vertices."""
        return dict(zip(self.points.tolist(), self.points[permutation].tolist(), strict=True))


def images_of_copies(copies: list[list[int]], images: list[int]) -> Numbers:
    """Return ``(moves,)``: the number of the image of each move.

    Each list of ``copies`` contains the numbers of equal moves, and ``images`` maps lists to lists.
    """
    numbers = np.empty(sum(map(len, copies)), dtype=np.int64)
    for some, image in zip(copies, images, strict=True):
        become = copies[image]
        numbers[some] = [become[min(at, len(become) - 1)] for at in range(len(some))]
    return numbers
