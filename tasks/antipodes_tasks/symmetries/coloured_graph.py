"""Coloured graphs, and their automorphisms by BLISS (T. Junttila and P. Kaski, 2007), which igraph contains."""

import sys
from collections.abc import Callable, Hashable
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from antipodes_tasks.errors import ResourceLimitError

MAX_SIZE = 1 << 19
"""Vertices and edges of a graph together, at most: they take some 150 MiB, and the search for generators seconds."""
MAX_IMAGES = 1 << 24
"""Images of vertices that generators list together, at most: igraph takes 46 bytes for each."""
Automorphisms = NDArray[np.int64]
"""``(generators, vertices)``: the image of each vertex."""


class ColouredGraph:
    """An undirected graph that grows; vertices are numbers from 0, each of a colour, which may be any value.

    ResourceLimitError as soon as it has more than MAX_SIZE vertices and edges.
    """

    def __init__(self) -> None:
        self._colours: dict[Hashable, int] = {}
        self._colour_of: list[int] = []
        self._edges: list[tuple[int, int]] = []

    @property
    def size(self) -> int:
        """The number of vertices and edges."""
        return len(self._colour_of) + len(self._edges)

    def vertex(self, colour: Hashable, *neighbours: int) -> int:
        """A new vertex beside some others."""
        number = len(self._colour_of)
        self._colour_of.append(self._colours.setdefault(colour, len(self._colours)))
        self._edges.extend((number, other) for other in neighbours)
        if self.size > MAX_SIZE:
            raise ResourceLimitError(
                f"expected a puzzle whose symmetries are those of a graph of at most {MAX_SIZE:,} vertices and edges, "
                "found more moves and starts"
            )
        return number

    def edge(self, one: int, other: int) -> None:
        """Join two vertices."""
        self._edges.append((one, other))

    def arc(self, origin: int, destination: int, *neighbours: int) -> None:
        """Join two vertices in one direction: by two more, of which the first is beside ``neighbours``, too."""
        tail = self.vertex("tail", origin, *neighbours)
        self.vertex("head", tail, destination)

    def circle(self, vertices: list[int]) -> None:
        """Join each of some vertices to the next, and the last to the first."""
        self._edges.extend(zip(vertices, vertices[1:] + vertices[:1], strict=True))

    def automorphisms(self) -> Automorphisms:
        """Generators of the group of all permutations of vertices that keep colours and edges.

        ResourceLimitError where they may be so many that they take more than MAX_IMAGES.
        """
        vertices = len(self._colour_of)
        edges = sorted({(min(edge), max(edge)) for edge in self._edges if edge[0] != edge[1]})
        graph = _graph_class()(vertices, edges)
        if vertices * vertices > MAX_IMAGES:  # else there are too few vertices for that many generators
            self._check_order(graph.count_automorphisms(color=self._colour_of))
        found = graph.automorphism_group(color=self._colour_of)
        return np.array(found, dtype=np.int64).reshape(-1, vertices)

    def _check_order(self, order: int) -> None:
        """Each generator at least doubles the group of those before it."""
        most = MAX_IMAGES // len(self._colour_of)
        if order.bit_length() - 1 > most:
            raise ResourceLimitError(
                f"expected at most 2^{most} symmetries of a graph of {len(self._colour_of):,} vertices, "
                f"found some 2^{order.bit_length() - 1}"
            )


def _graph_class() -> Callable[..., Any]:
    """The class of graphs in igraph's compiled module.

    That is loaded without the package around it, which imports matplotlib where that is installed: 0.6 s more.
    """
    if "igraph" not in sys.modules and "igraph._igraph" not in sys.modules:
        package = find_spec("igraph")
        bare = ModuleType("igraph")
        bare.__path__ = list(package.submodule_search_locations or ()) if package else []
        sys.modules["igraph"] = bare
        try:
            import_module("igraph._igraph")
        finally:
            del sys.modules["igraph"]  # the next import of it loads the whole package
    compiled: Callable[..., Any] = import_module("igraph._igraph").GraphBase
    return compiled
