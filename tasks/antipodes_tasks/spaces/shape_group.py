"""The reachable positions of a puzzle with shapes, each given by its shape and an element of a permutation group.

A sequence of moves that leads from the first shape back to it rearranges the pieces. These rearrangements form a group.
A spanning tree of the shapes contains one sequence of moves from the first shape to each other shape, and every further
move closes a loop. By Schreier's lemma, the rearrangements by these loops generate the group. Hence the reachable
positions with some shape are the images of the start under the group, taken to this shape along the tree, and every
shape has equally many of them. If pieces are identical, several elements of the group lead to the same position, but
equally many to each. Source: A. Seress, Permutation Group Algorithms (2003), chapter 4.
"""

from dataclasses import dataclass
from functools import lru_cache
from math import factorial, prod

import numpy as np
from numpy.typing import NDArray

from antipodes_tasks.base.array_types import Labels, Numbers
from antipodes_tasks.move_tables import ILLEGAL, blocks
from antipodes_tasks.permutations.chain import Permutations, StabiliserChain, sifted, stabiliser_chain
from antipodes_tasks.rules.rules import Rules
from antipodes_tasks.rules.transforms import Transforms
from antipodes_tasks.spaces.class_graph import loops_of, spanning_forest
from antipodes_tasks.spaces.shapes import ShapeGraph, shape_graph

MOVES_AT_ONCE = 1 << 16
"""Number of moves of shapes whose loops are computed together."""


@dataclass(frozen=True, eq=False)
class ShapeGroup:
    """The reachable positions of a puzzle: all combinations of a shape and an element of the group."""

    graph: ShapeGraph
    homes: NDArray[np.int16]
    """``(shapes, slots)``: the slot of the first shape to which the tree takes the piece in each slot."""
    start: Labels
    """``(slots,)``: the pieces of the start after they are taken to the first shape."""
    chain: StabiliserChain
    """The rearrangements of the pieces of the first shape: the slot from which each slot gets its piece."""

    def positions(self, shapes: Numbers, elements: Permutations) -> Labels:
        """Return the positions ``(n, places)`` with the shapes ``(n,)`` and the elements ``(n, slots)``."""
        return self.graph.positions(shapes, self.start[np.take_along_axis(elements, self.homes[shapes], axis=1)])


def shape_group(rules: Rules) -> ShapeGroup | None:
    """Return the reachable positions; None if there are too many shapes, or it is unknown how moves connect them."""
    graph = shape_graph(rules)
    found = None if graph is None else _tree_and_group(graph)
    if graph is None or found is None:
        return None
    homes, chain = found
    _, shapes, arranged = graph.divided(rules.start_labels)
    starts = np.empty_like(arranged)
    np.put_along_axis(starts, homes[shapes].astype(np.int64), arranged, axis=1)
    return ShapeGroup(graph, homes, starts[0], chain) if _are_connected(graph, chain, starts) else None


def _are_connected(graph: ShapeGraph, chain: StabiliserChain, starts: Labels) -> bool:
    """Return whether elements of the group are known to take the first of some arrangements ``(n, slots)`` to all.

    With identical pieces, only one of the rearrangements that take one arrangement to another is tried.
    """
    kinds = np.repeat(np.arange(len(graph.slots.parts)), [part.places for part in graph.slots.parts])
    order = np.lexsort((starts, np.broadcast_to(kinds, starts.shape)), axis=1).astype(np.int64)
    between = np.empty(starts.shape, dtype=np.int16)
    np.put_along_axis(between, order, np.broadcast_to(order[:1], order.shape), axis=1)
    return not _outside(chain, between).size


def _outside(chain: StabiliserChain, elements: Permutations) -> Permutations:
    """Return the permutations among ``elements`` ``(n, points)`` that are not in a group."""
    outside: Permutations = elements[(sifted(chain.levels, elements) != np.arange(chain.points)).any(axis=1)]
    return outside


@lru_cache(maxsize=1)
def _tree_and_group(graph: ShapeGraph) -> tuple[NDArray[np.int16], StabiliserChain] | None:
    """Return the home slots of each shape and the group; None unless moves lead from each shape to every other shape.

    If as many moves lead to each shape as away from it, moves that connect shapes connect them in both directions.
    """
    legal, moves = graph.target != ILLEGAL, Transforms.of(graph.slots.moves)
    assert moves is not None
    if (np.bincount(graph.target[legal], minlength=len(legal)) != legal.sum(axis=1)).any():
        return None
    of, homes, _ = spanning_forest(graph.target, graph.rearrangement, moves.origin)
    return None if of.any() else (homes, _group(graph, homes, moves.origin))


def _group(graph: ShapeGraph, homes: NDArray[np.int16], origins: NDArray[np.int16]) -> StabiliserChain:
    """Return the group that the loops generate."""
    chain = stabiliser_chain(np.arange(homes.shape[1])[np.newaxis])
    max_order = prod(factorial(part.places) for part in graph.slots.parts)
    for first, end in blocks(*graph.target.shape, steps=MOVES_AT_ONCE):
        shape, move = np.nonzero(graph.target[first:end] != ILLEGAL)
        shape += first
        moved = origins[graph.rearrangement[shape, move]]
        outside = _outside(chain, loops_of(homes, shape, graph.target[shape, move], moved))
        if len(outside):
            chain = stabiliser_chain([*chain.generators, *outside])
        if chain.order == max_order:
            break
    return chain
