"""The neighbours of positions by the rules of the puzzle alone, to check move tables and depths against.

Positions are unranked, moved by the puzzle's own moves, and ranked again. Move tables are only compared with them.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from antipodes_tasks.rules.moves import Labels
from antipodes_tasks.spaces.move_tables import ILLEGAL, MoveTables
from antipodes_tasks.spaces.space import Indices, StateSpace

INFINITE = 1 << 30
"""The depth of unreached positions, greater than all others."""
BATCH = 1 << 13
"""Neighbours that are ranked together."""


class Neighbours(NamedTuple):
    """Positions one move away from each of some positions."""

    of: Indices
    """``(n,)``: for each neighbour the place in the sample of its position, ascending."""
    indices: Indices
    """``(n,)``: the index of each neighbour."""


def successors(space: StateSpace, sample: Indices) -> Neighbours:
    """All positions one move after each of the sample, ``(samples,)``."""
    return _neighbours(space, space.rules.successors, sample)


def predecessors(space: StateSpace, sample: Indices) -> Neighbours:
    """All positions one move before each of the sample, ``(samples,)``; InputError if a move has no known inverse."""
    return _neighbours(space, space.rules.predecessors, sample)


def by_tables(tables: MoveTables, sample: Indices) -> Neighbours:
    """All positions one move after each of the sample, by the move tables."""
    width = tables.column_maps.shape[1]
    rows, columns = np.divmod(sample, width)
    of, move = np.nonzero(tables.target[rows] != ILLEGAL)
    numbers = tables.column_map[rows[of], move] if width > 1 else np.zeros(len(of), dtype=np.int64)
    after = tables.column_maps[numbers, columns[of]]
    legal = after != ILLEGAL
    indices = tables.target[rows[of], move].astype(np.int64) * width + after
    return Neighbours(of[legal], indices[legal])


def differing(one: Neighbours, other: Neighbours, samples: int) -> Indices:
    """The places in the sample of the positions whose neighbours differ."""
    counts = [np.bincount(each.of, minlength=samples) for each in (one, other)]
    wrong = counts[0] != counts[1]
    (of, indices), (_, others) = (_sorted(each, ~wrong[each.of]) for each in (one, other))
    wrong[of[indices != others]] = True
    return np.flatnonzero(wrong)


def _sorted(neighbours: Neighbours, which: NDArray[np.bool_]) -> Neighbours:
    of, indices = neighbours.of[which], neighbours.indices[which]
    order = np.lexsort((indices, of))
    return Neighbours(of[order], indices[order])


def contradicted(depths: Indices, after: Neighbours, after_depths: Indices, expanded: int) -> NDArray[np.bool_]:
    """Which of the sample ``(samples,)`` have a depth that the depths of their successors contradict.

    Unreached positions have the depth INFINITE. The successors of positions deeper than ``expanded`` may be unknown.
    """
    wrong = np.zeros(len(depths), dtype=bool)
    own = depths[after.of]
    wrong[after.of[(own <= expanded) & (after_depths > own + 1)]] = True
    return wrong


def unsupported(depths: Indices, before: Neighbours, before_depths: Indices, expanded: int) -> NDArray[np.bool_]:
    """Which of the sample ``(samples,)`` have a depth that the depths of their predecessors contradict.

    Positions at depth 0 need no predecessor.
    """
    wrong = np.zeros(len(depths), dtype=bool)
    own = depths[before.of]
    wrong[before.of[(before_depths <= expanded) & (own > before_depths + 1)]] = True
    supported = np.zeros(len(depths), dtype=bool)
    supported[before.of[before_depths == own - 1]] = True
    unsupported: NDArray[np.bool_] = wrong | ~(supported | (depths == 0) | (depths == INFINITE))
    return unsupported


def _neighbours(space: StateSpace, move: Callable[[Labels], Labels], sample: Indices) -> Neighbours:
    of: list[Indices] = [np.empty(0, dtype=np.int64)]
    ranked: list[Indices] = [np.empty(0, dtype=np.int64)]
    waiting: list[Labels] = []
    for number, labels in enumerate(space.unrank(sample)):
        waiting.append(move(labels))
        of.append(np.full(len(waiting[-1]), number))
        if sum(map(len, waiting)) >= BATCH or number == len(sample) - 1:
            ranked.append(space.rank(np.concatenate(waiting)))
            waiting = []
    return Neighbours(np.concatenate(of), np.concatenate(ranked))
