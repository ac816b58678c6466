"""The graph of all reachable positions, with their depths, and all moves between them."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from antipodes_tasks.base.array_types import Labels
from antipodes_tasks.base.errors import ResourceLimitError
from antipodes_tasks.base.option_names import option
from antipodes_tasks.base.quoting import counted
from antipodes_tasks.keys.bit_fields import Fields
from antipodes_tasks.keys.position_set import PositionSet
from antipodes_tasks.rules.moves import Moves
from antipodes_tasks.rules.parts import Part

BATCH = 1 << 14
"""Maximum number of positions that are moved together."""
MOVED_BYTES = 1 << 26
"""Maximum size of the successors of these positions, in bytes."""
ENOUGH = 1 << 40
"""Memory limit of the set, in bytes. It is never reached, because the number of positions is limited instead."""


@dataclass(frozen=True, eq=False, slots=True, repr=False)
class MoveGraph:
    """Reachable positions (nodes), ordered by depth, and moves (edges), ordered by the node before the move."""

    labels: Labels
    """``(nodes, places)``: the positions."""
    depths: NDArray[np.int32]
    """``(nodes,)``: the number of moves from the nearest start."""
    edges: NDArray[np.int64]
    """``(edges, 2)``: the nodes before and after a move; each pair occurs once."""
    moves: NDArray[np.int32]
    """``(edges,)``: the index of the first move that leads from one node to the other."""

    def __repr__(self) -> str:
        return f"<MoveGraph: {counted(len(self.labels), 'position')}, {counted(len(self.edges), 'edge')}>"


def move_graph(starts: Labels, moves: Moves, parts: tuple[Part, ...], max_positions: int) -> MoveGraph:
    """Return the graph of the positions reachable from starts ``(n, places)``. Moves that change nothing are not edges.

    Raises ResourceLimitError if there are more than ``max_positions`` positions.
    """
    packing = Fields.of(parts)
    found = PositionSet(packing, ENOUGH)
    found.add(packing.pack(starts))
    first, bounds, edges = 0, [0], [np.empty((0, 3), dtype=np.int64)]
    together = min(BATCH, max(1, MOVED_BYTES // max(1, len(moves) * starts.shape[1])))
    while first < len(found):
        bounds.append(end := len(found))
        while first < end:
            batch = range(first, min(end, first + together))
            edges.append(_moved(found, moves, batch))
            first = batch.stop
            if len(found) > max_positions:
                raise ResourceLimitError(
                    f"the graph has more than {max_positions:,} positions; raise {option('limit')}"
                )
    depths = np.repeat(np.arange(len(bounds) - 1, dtype=np.int32), np.diff(bounds))
    before, after, move = np.concatenate(edges).T
    return MoveGraph(
        packing.unpack(found.words[: len(found)]), depths, np.stack((before, after), axis=1), move.astype(np.int32)
    )


def _moved(found: PositionSet, moves: Moves, batch: range) -> NDArray[np.int64]:
    """Add the successors of a batch of positions; return its edges: the nodes before and after, and the move."""
    before, number, after = moves.steps(found.packing.unpack(found.words[batch.start : batch.stop]))
    order = np.argsort(number, kind="stable")  # new positions are numbered in the order of the moves that reach them
    words = found.packing.pack(after[order])
    found.add(words)
    return _each_once(np.stack((batch.start + before[order], found.numbers(words), number[order]), axis=1))


def _each_once(edges: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the sorted edges between different nodes; for each pair of nodes, only the edge with the first move."""
    edges = edges[edges[:, 0] != edges[:, 1]]
    edges = edges[np.lexsort(edges.T[::-1])]
    new = np.ones(len(edges), dtype=np.bool_)
    new[1:] = (edges[1:, :2] != edges[:-1, :2]).any(axis=1)
    each: NDArray[np.int64] = edges[new]
    return each
