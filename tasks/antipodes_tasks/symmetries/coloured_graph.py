"""Coloured graphs, and their automorphisms by BLISS (T. Junttila and P. Kaski, 2007), which igraph contains."""

import sys
from collections.abc import Callable, Hashable
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

Automorphisms = NDArray[np.int64]
"""``(generators, vertices)``: the image of each vertex."""


class ColouredGraph:
    """An undirected graph that grows; vertices are numbers from 0, each of a colour, which may be any value."""

    def __init__(self) -> None:
        self._colours: dict[Hashable, int] = {}
        self._colour_of: list[int] = []
        self._edges: list[tuple[int, int]] = []

    def vertex(self, colour: Hashable, *neighbours: int) -> int:
        """A new vertex beside some others."""
        number = len(self._colour_of)
        self._colour_of.append(self._colours.setdefault(colour, len(self._colours)))
        self._edges.extend((number, other) for other in neighbours)
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
        """Generators of the group of all permutations of vertices that keep colours and edges."""
        vertices = len(self._colour_of)
        edges = sorted({(min(edge), max(edge)) for edge in self._edges if edge[0] != edge[1]})
        found = _graph_class()(vertices, edges).automorphism_group(color=self._colour_of)
        return np.array(found, dtype=np.int64).reshape(-1, vertices)


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
