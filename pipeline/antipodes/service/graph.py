"""Graphs of tables for drawing: positions in layers by distance, and the moves between them."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from antipodes.service.graph_layout import places_in_layers
from antipodes.system.records import schema_name
from antipodes.tables.table import Table
from antipodes_tasks.base import arguments
from antipodes_tasks.base.array_types import Labels
from antipodes_tasks.rules.moves import Moves

WHOLE = 100_000
"""Maximum number of positions of a table whose whole graph is drawn."""
NEIGHBOURHOOD = 2_000
"""Default number of positions in a neighbourhood, which is drawn for a larger table."""
BATCH = 1 << 12
"""Number of positions to which all moves are applied at a time."""


@dataclass(frozen=True, eq=False, slots=True, repr=False)
class Graph:
    """Positions of a table, sorted by depth and horizontal place, and the moves between them."""

    whole: bool
    """Whether the graph contains all reached positions."""
    directed: bool
    """Whether edges have a direction; if moves are reversible, an edge stands for a move and its inverse."""
    indices: NDArray[np.int64]
    """The index of each position in the table, ``(nodes,)``."""
    depths: NDArray[np.int32]
    """The distance of each position from the start, ``(nodes,)``, ascending."""
    places: NDArray[np.float32]
    """The horizontal place of each position, from 0 to 1, ``(nodes,)``, ascending within a layer."""
    edges: NDArray[np.int64]
    """Pairs of node numbers, ``(edges, 2)``, sorted and distinct; the smaller number is first if undirected."""

    def __repr__(self) -> str:
        extent = "whole" if self.whole else "neighbourhood"
        return f"<Graph: {len(self.indices):,} nodes, {len(self.edges):,} edges, {extent}>"


@dataclass(frozen=True, slots=True)
class Nodes:
    """The nodes of a graph: the index and depth of each node, and its horizontal place from 0 to 1."""

    index: list[int]
    depth: list[int]
    x: list[float]


@schema_name("Graph")
@dataclass(frozen=True, slots=True)
class DrawnGraph:
    """The graph of a table, or the neighbourhood of a position; ``edges`` lists pairs of node numbers."""

    whole: bool
    directed: bool
    layers: list[int]
    nodes: Nodes
    edges: list[int]


def fits_whole(table: Table) -> bool:
    """Return whether the graph of the table contains all its positions."""
    return len(table) <= WHOLE


def graph_of(table: Table, position: str | ArrayLike | None = None, limit: int = NEIGHBOURHOOD) -> Graph:
    """Return the whole graph of a table of up to 100,000 positions, or the neighbourhood of a position in a larger one.

    Parameters
    ----------
    table
        An open table. If it is unfinished, positions that it has not reached yet are left out.
    position
        A string or labels ``(places,)``. The default is the first start.
    limit
        Maximum number of positions of a neighbourhood, which contains the positions closest to ``position``.

    Raises
    ------
    InputError
        The limit is not between 1 and 100,000, or the position is invalid or has no distance (see `Table.distance`).
    """
    limit = arguments.integer(limit, "a limit of nodes", 1, WHOLE)
    if position is not None:
        table.distance(position)
    if fits_whole(table):
        return _graph(table, _all_positions(table), whole=True)
    centre = table.positions_at(0, 1)[0] if position is None else table.space.labels(position)
    return _graph(table, _neighbourhood(table, centre, limit), whole=False)


def graph_view(table: Table, graph: Graph) -> DrawnGraph:
    """Return a graph as plain lists, with places rounded to five digits."""
    places = [round(place, 5) for place in graph.places.tolist()]
    nodes = Nodes(graph.indices.tolist(), graph.depths.tolist(), places)
    return DrawnGraph(graph.whole, graph.directed, table.layers, nodes, graph.edges.ravel().tolist())


def _all_positions(table: Table) -> Labels:
    """Return all reached positions, ``(nodes, places)``."""
    none = np.empty((0, table.puzzle.places), dtype=np.uint8)
    return np.concatenate([none, *(table.positions_at(depth) for depth in range(table.radius + 1))])


def _neighbourhood(table: Table, centre: Labels, limit: int) -> Labels:
    """Return the positions closest to a position, following moves forwards and, if possible, also backwards."""
    found = frontier = centre[np.newaxis]
    known = table.space.rank(found)
    while len(frontier) and len(found) < limit:
        neighbours = _neighbours(table.puzzle.moves, frontier)
        indices, first = np.unique(table.space.unchecked.rank(neighbours), return_index=True)
        new = np.sort(first[(indices >= 0) & ~np.isin(indices, known)])
        new = new[table.distances(neighbours[new]) >= 0][: limit - len(found)]
        frontier = neighbours[new]
        found = np.concatenate([found, frontier])
        known = np.concatenate([known, table.space.unchecked.rank(frontier)])
    return found


def _neighbours(moves: Moves, labels: Labels) -> Labels:
    """Return the successors, and for irreversible moves also the predecessors if they can be computed.

    They are in the order of the moves, from which the layout begins: in the order of the positions, more edges cross.
    """
    back = moves.invertible and not moves.reversible
    _, numbers, positions = zip(*(step(labels) for step in (moves.steps, moves.steps_back)[: 1 + back]), strict=True)
    ordered: Labels = np.concatenate(positions)[np.argsort(np.concatenate(numbers), kind="stable")]
    return ordered


def _graph(table: Table, labels: Labels, whole: bool) -> Graph:
    """Return the graph of distinct positions ``(nodes, places)``."""
    depths = table.distances(labels)
    by_depth = np.argsort(depths, kind="stable")
    labels, depths = labels[by_depth], depths[by_depth]
    indices = table.space.unchecked.rank(labels)
    directed = not table.puzzle.moves.reversible
    edges = _edges(table, labels, indices, directed)
    places = places_in_layers(depths, edges)
    order = np.lexsort((indices, places, depths))
    number = np.empty_like(order)
    number[order] = np.arange(len(order))
    return Graph(
        whole, directed, indices[order], depths[order], places[order], _each_once(number[edges], len(order), directed)
    )


def _edges(table: Table, labels: Labels, indices: NDArray[np.int64], directed: bool) -> NDArray[np.int64]:
    """Return the moves between these positions, as pairs ``(edges, 2)`` of row numbers of ``labels``."""
    order = np.argsort(indices)
    in_order = indices[order]
    found = [np.empty((0, 2), dtype=np.int64)]
    for first in range(0, len(labels), BATCH):
        parents, _, after = table.puzzle.moves.steps(labels[first : first + BATCH])
        reached = table.space.unchecked.rank(after)
        at = np.minimum(np.searchsorted(in_order, reached), len(order) - 1)
        pairs = np.stack([parents + first, order[at]], axis=1)
        found.append(pairs[in_order[at] == reached])
    return _each_once(np.concatenate(found), len(labels), directed)


def _each_once(edges: NDArray[np.int64], nodes: int, directed: bool) -> NDArray[np.int64]:
    """Return the distinct pairs of different nodes, sorted; the smaller node is first if they are not directed."""
    ends = edges if directed else np.sort(edges, axis=1)
    codes = np.unique(ends[ends[:, 0] != ends[:, 1]] @ np.array([nodes, 1]))
    return np.stack(np.divmod(codes, max(nodes, 1)), axis=1)
