"""How many shortest paths lead from the starts to a position: counted exactly, layer by layer."""

import numpy as np
from numpy.typing import NDArray

from antipodes.tables.table import Table
from antipodes_tasks.rules.moves import Labels, Moves

MOST_POSITIONS = 50_000
"""Positions on shortest paths, beyond which they are not counted."""
Sources = NDArray[np.int64]


def count_paths(table: Table, position: Labels, distance: int) -> int | None:
    """The number of shortest paths between the starts and a position at a distance, as sequences of positions.

    None where more than MOST_POSITIONS lie on them, or predecessors are not known.
    """
    moves = table.puzzle.moves
    if not (moves.invertible or moves.reversible):
        return None
    layer, counts, seen = position[np.newaxis], [1], 1
    for depth in range(distance - 1, -1, -1):
        before, sources = _predecessors(moves, layer)
        nearer = table.distances(before) == depth
        layer, counts = _merged(before[nearer], sources[nearer], counts)
        seen += len(layer)
        if seen > MOST_POSITIONS:
            return None
    return sum(counts)


def _predecessors(moves: Moves, labels: Labels) -> tuple[Labels, Sources]:
    """The positions one move before those of ``labels`` ``(n, places)``, and the number of the latter for each."""
    lead = moves.after if moves.reversible else moves.before
    positions, sources = [labels[:0]], [np.empty(0, dtype=np.int64)]
    for number in range(len(moves)):
        before, legal = lead(number, labels)
        positions.append(before[legal])
        sources.append(np.flatnonzero(legal))
    return np.concatenate(positions), np.concatenate(sources)


def _merged(labels: Labels, sources: Sources, counts: list[int]) -> tuple[Labels, list[int]]:
    """Each of the positions ``(n, places)`` once, and how many paths lead on from it: those of its sources together.

    Moves that lead from one position to the same other one are one step.
    """
    totals: dict[bytes, int] = {}
    first: dict[bytes, int] = {}
    steps: set[tuple[bytes, int]] = set()
    for number, (one, source) in enumerate(zip(labels, sources.tolist(), strict=True)):
        step = one.tobytes(), source
        if step not in steps:
            steps.add(step)
            first.setdefault(step[0], number)
            totals[step[0]] = totals.get(step[0], 0) + counts[source]
    return labels[list(first.values())], list(totals.values())
