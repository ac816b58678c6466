"""Moves that are functions, on batches of positions."""

from collections.abc import Callable

import numpy as np

from antipodes_tasks.reachability.position_set import PositionSet
from antipodes_tasks.reachability.steps.steps import Expanded, Numbers, Steps
from antipodes_tasks.rules.moves import Labels, Mask

BATCH_BYTES = 1 << 20
"""Bytes of the positions that a move is made on at once."""


class BatchSteps(Steps):
    """Moves that numpy makes on many positions at once: ``Moves.after`` or ``Moves.before``."""

    def __init__(self, most: int, make: Callable[[int, Labels], tuple[Labels, Mask]]) -> None:
        self._most = most
        self._make = make

    @property
    def most(self) -> int:
        """The number of moves."""
        return self._most

    def successors(self, labels: Labels) -> tuple[Labels, Numbers]:
        """The successors of positions; see `Steps`."""
        after, before = [labels[:0]], [np.empty(0, dtype=np.int64)]
        for move in range(self._most):
            made, legal = self._make(move, labels)
            after.append(made[legal])
            before.append(np.flatnonzero(legal))
        return np.concatenate(after), np.concatenate(before)

    def add_successors(self, positions: PositionSet, begin: int, end: int) -> Expanded:
        """Add the successors of positions to their set; see `Steps`."""
        packing = positions.packing
        end = min(end, begin + max(1, BATCH_BYTES // packing.places))
        labels = packing.unpack(positions.words[begin:end])
        moves = np.zeros(len(labels), dtype=np.int64)
        for move in range(self._most):
            made, legal = self._make(move, labels)
            positions.add(packing.pack(made[legal]))
            moves += legal
        return Expanded(end - begin, int(moves.max()))
