"""Coloured graphs, and their automorphisms, found with BLISS (T. Junttila and P. Kaski, 2007) as part of igraph."""

import sys
from collections.abc import Callable, Hashable
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from antipodes_tasks.base.errors import ResourceLimitError

MAX_SIZE = 1 << 19
"""Maximum number of vertices and edges of a graph in total. They take about 150 MiB, and the search for generators
takes seconds."""
MAX_IMAGES = 1 << 24
"""Maximum number of images of vertices in the lists of all generators. igraph takes 46 bytes for each image."""
Automorphisms = NDArray[np.int64]
"""``(generators, vertices)``: the image of each vertex."""


class ColouredGraph:
    """A growing undirected graph. Vertices are numbered from 0, and each has a colour, which may be any hashable value.

    Raises ResourceLimitError as soon as it has more than MAX_SIZE vertices and edges.
    """

    def __init__(self) -> None:
        self._colours: dict[Hashable, int] = {}
        self._colour_of: list[int] = []
        self._edges: list[tuple[int, int]] = []

    @property
    def size(self) -> int:
        """Number of vertices and edges."""
        return len(self._colour_of) + len(self._edges)

    def vertex(self, colour: Hashable, *neighbours: int) -> int:
        """Add a vertex that is adjacent to ``neighbours``, and return its number."""
        number = len(self._colour_of)
        self._colour_of.append(self._colours.setdefault(colour, len(self._colours)))
        self._edges.extend((number, other) for other in neighbours)
        if self.size > MAX_SIZE:
            raise ResourceLimitError(
                f"the graph of the puzzle's symmetries has more than {MAX_SIZE:,} vertices and edges: "
                "the puzzle has too many moves or starts"
            )
        return number

    def edge(self, one: int, other: int) -> None:
        """Add an edge between two vertices."""
        self._edges.append((one, other))

    def arc(self, origin: int, destination: int, *neighbours: int) -> None:
        """Connect two vertices in one direction, by two new vertices; the first is also adjacent to ``neighbours``."""
        tail = self.vertex("tail", origin, *neighbours)
        self.vertex("head", tail, destination)

    def cycle(self, vertices: list[int]) -> None:
        """Connect vertices, in their order, to form a cycle."""
        self._edges.extend(zip(vertices, vertices[1:] + vertices[:1], strict=True))

    def automorphisms(self) -> Automorphisms:
        """Return generators of the group of all permutations of vertices that preserve colours and edges.

        Raises ResourceLimitError if the lists of all generators might contain more than MAX_IMAGES images.
        """
        vertices = len(self._colour_of)
        edges = sorted({(min(edge), max(edge)) for edge in self._edges if edge[0] != edge[1]})
        graph = _graph_class()(vertices, edges)
        if vertices * vertices > MAX_IMAGES:  # otherwise there are too few vertices for that many generators
            self._check_order(graph.count_automorphisms(color=self._colour_of))
        found = graph.automorphism_group(color=self._colour_of)
        return np.array(found, dtype=np.int64).reshape(-1, vertices)

    def _check_order(self, order: int) -> None:
        """Raise ResourceLimitError if there may be too many generators. Each generator at least doubles the group."""
        most = MAX_IMAGES // len(self._colour_of)
        if order.bit_length() - 1 > most:
            raise ResourceLimitError(
                f"expected at most 2^{most} symmetries of a graph of {len(self._colour_of):,} vertices, "
                f"found about 2^{order.bit_length() - 1}"
            )


def _graph_class() -> Callable[..., Any]:
    """Return the class of graphs in igraph's compiled module.

    Only the compiled module is loaded. The whole package would import matplotlib if installed, which takes 0.6 s.
    """
    if "igraph" not in sys.modules and "igraph._igraph" not in sys.modules:
        package = find_spec("igraph")
        bare = ModuleType("igraph")
        bare.__path__ = list(package.submodule_search_locations or ()) if package else []
        sys.modules["igraph"] = bare
        try:
            import_module("igraph._igraph")
        finally:
            del sys.modules["igraph"]  # the next import loads the whole package
    compiled: Callable[..., Any] = import_module("igraph._igraph").GraphBase
    return compiled
