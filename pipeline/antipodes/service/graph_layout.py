"""Layout of a layered graph: horizontal places from 0 to 1 that keep edges short and crossings few.

The initial places are coordinates along the principal axis of the distances from a few nodes that are far apart
(D. Harel, Y. Koren, Graph drawing by high-dimensional embedding, 2002). The mean distances of each layer are subtracted
first, because the vertical direction already shows the depth. Each sweep then moves every node towards the mean of its
neighbours. Identical branches would lie on top of each other, so they are separated by the order of the nodes above
them. Finally the nodes of each layer are spread so that they do not overlap. All steps take time and memory linear in
the number of nodes and edges.
"""

import numpy as np
from numpy.typing import NDArray

Places = NDArray[np.float64]
PIVOTS = 12
"""Number of nodes from which distances are measured."""
SWEEPS = 60
"""Number of times that each node moves towards the mean of its neighbours."""
PULL = 0.1
"""Strength of the final pull of each node towards the nodes above it, which separates identical branches."""
EVEN = 0.5
"""Evenness with which a layer is spread: 0 keeps the places of the sweeps, 1 makes all gaps equal."""


def places_in_layers(depths: NDArray[np.int32], edges: NDArray[np.int64]) -> NDArray[np.float32]:
    """Return the place of each node, ``(nodes,)``, from 0 to 1; the places of a layer are distinct.

    Parameters
    ----------
    depths
        The layer of each node, ``(nodes,)``, in ascending order.
    edges
        The numbers of two nodes, ``(edges, 2)``; their direction does not matter.
    """
    layers, neighbours = NodeLayers(depths), NodeNeighbours(len(depths), edges)
    if len(depths) < 3:
        return layers.ranks(np.zeros(len(depths))).astype(np.float32)
    places = layers.centred(_main_axis(layers, neighbours))
    for _ in range(SWEEPS):
        places = _scaled(layers.centred((places + neighbours.means(places)) / 2))
    return _spread(_untangled(places, layers, edges), layers).astype(np.float32)


class NodeLayers:
    """The layers of nodes, which are sorted by depth."""

    def __init__(self, depths: NDArray[np.int32]) -> None:
        self.of_node = depths
        self.sizes = np.bincount(depths)
        self.begins = np.cumsum(self.sizes) - self.sizes

    def centred(self, places: Places) -> Places:
        """Return the places, ``(nodes,)``, minus the mean of their layer."""
        means = np.bincount(self.of_node, places) / np.maximum(self.sizes, 1)
        centred: Places = places - means[self.of_node]
        return centred

    def ranks(self, places: Places) -> Places:
        """Return places with equal gaps in each layer, between 0 and 1 exclusive, in the same order."""
        order, ranks = np.lexsort((places, self.of_node)), np.empty_like(places)
        ranks[order] = np.arange(len(places)) - self.begins[self.of_node] + 0.5
        return ranks / self.sizes[self.of_node]

    def widths(self) -> Places:
        """Return the width of each layer, up to 1: the square root of its size, smoothed over adjacent layers."""
        span = np.ones(1 + len(self.sizes) // 12)
        smooth = np.convolve(self.sizes, span, "same") / np.convolve(np.ones(len(self.sizes)), span, "same")
        widths: Places = np.sqrt(smooth / smooth.max())
        return widths


class NodeNeighbours:
    """The nodes at the other ends of each node's edges."""

    def __init__(self, nodes: int, edges: NDArray[np.int64]) -> None:
        ends = np.concatenate([edges, edges[:, ::-1]])
        ends = ends[np.argsort(ends[:, 0], kind="stable")]
        self.count = np.bincount(ends[:, 0], minlength=nodes)
        self.begins = np.cumsum(self.count) - self.count
        self.of_ends, self.ends = ends[:, 0].copy(), ends[:, 1].copy()

    def means(self, places: Places) -> Places:
        """Return the mean place of the neighbours of each node, or its own place if it has none."""
        sums = np.bincount(self.of_ends, places[self.ends], minlength=len(places))
        return np.where(self.count > 0, sums / np.maximum(self.count, 1), places)

    def steps_from(self, node: int) -> NDArray[np.int64]:
        """Return the distances from a node, ``(nodes,)``; unreachable nodes get the maximum distance plus one."""
        steps = np.full(len(self.count), -1)
        frontier, step = np.array([node]), 0
        while len(frontier):
            steps[frontier] = step
            ends = self._ends_of(frontier)
            frontier, step = np.unique(ends[steps[ends] < 0]), step + 1
        return np.where(steps < 0, step, steps)

    def _ends_of(self, nodes: NDArray[np.int64]) -> NDArray[np.int64]:
        count = self.count[nodes]
        within = np.arange(count.sum()) - np.repeat(np.cumsum(count) - count, count)
        ends: NDArray[np.int64] = self.ends[np.repeat(self.begins[nodes], count) + within]
        return ends


def _main_axis(layers: NodeLayers, neighbours: NodeNeighbours) -> Places:
    """Return the nodes' coordinates along the principal axis of their centred distances from the pivots."""
    pivot, nearest, columns = int(np.argmax(layers.of_node)), np.full(len(layers.of_node), np.inf), []
    for _ in range(PIVOTS):
        steps = neighbours.steps_from(pivot)
        columns.append(layers.centred(steps.astype(float)))
        nearest = np.minimum(nearest, steps)
        pivot = int(np.argmax(nearest))
    embedded = np.stack(columns, axis=1)
    _, axes = np.linalg.eigh(embedded.T @ embedded)
    main = axes[:, -1]
    axis: Places = embedded @ (main * np.sign(main[np.argmax(np.abs(main))]))  # eigenvectors have no definite sign
    return axis


def _scaled(places: Places) -> Places:
    return places / max(float(np.abs(places).max()), 1e-12)


def _untangled(places: Places, layers: NodeLayers, edges: NDArray[np.int64]) -> Places:
    """Return the scaled places after pulling each node slightly towards the nodes above, layer by layer."""
    ends = np.sort(edges, axis=1)
    ends = ends[layers.of_node[ends[:, 0]] < layers.of_node[ends[:, 1]]]
    upper, lower = ends[np.argsort(ends[:, 1], kind="stable")].T
    untangled = _scaled(places)
    ranks, firsts = np.zeros_like(untangled), np.searchsorted(lower, [*layers.begins, len(places)])
    for begin, size, first, end in zip(layers.begins, layers.sizes, firsts, firsts[1:], strict=False):
        below, above = lower[first:end] - begin, ranks[upper[first:end]]
        count = np.maximum(np.bincount(below, minlength=size), 1)
        here = untangled[begin : begin + size] + PULL * np.bincount(below, above, minlength=size) / count
        untangled[begin : begin + size] = here
        ranks[begin + np.argsort(here, kind="stable")] = (np.arange(size) + 0.5) / size
    return untangled


def _spread(places: Places, layers: NodeLayers) -> Places:
    """Return places from 0 to 1: outliers are pulled in, and the gaps of each layer are partly evened out."""
    drawn_in = np.tanh(places / max(2 * float(places.std()), 1e-12))
    even = (2 * layers.ranks(places) - 1) * layers.widths()[layers.of_node]
    return (1 + EVEN * even + (1 - EVEN) * drawn_in) / 2
