"""The moves of a puzzle from keys to keys."""

from dataclasses import dataclass

import numpy as np

from antipodes_tasks.keys.packing import Keys, Packing
from antipodes_tasks.rules.rules import Rules

BATCH_BYTES = 1 << 22
"""Bytes of the labels of positions that move together."""


@dataclass(frozen=True)
class Expansion:
    """The successors of positions, as keys."""

    rules: Rules
    packing: Packing

    @property
    def one_way(self) -> bool:
        """Whether some move cannot be undone, so that a layer may lead to any earlier one."""
        return not self.rules.moves.reversible

    @property
    def moves(self) -> int:
        """The number of moves: no position has more successors."""
        return len(self.rules.moves)

    def successors(self, keys: Keys) -> Keys:
        """The keys of all positions one move after some, unsorted and with repeats; it releases the GIL meanwhile."""
        batch = max(1, BATCH_BYTES // self.packing.places)
        found = [keys[:0]]
        for begin in range(0, len(keys), batch):
            found += self._of_batch(keys[begin : begin + batch])
        return np.concatenate(found)

    def _of_batch(self, keys: Keys) -> list[Keys]:
        labels = self.packing.unpack(keys)
        made = (self.rules.moves.after(number, labels) for number in range(self.moves))
        return [self.packing.pack(after[legal]) for after, legal in made]
