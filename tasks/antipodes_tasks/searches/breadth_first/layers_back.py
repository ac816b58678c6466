"""The moves backwards where predecessors are unknown: the layers of a search are expanded once more."""

import numpy as np

from antipodes_tasks.reachability.position_set import PositionSet
from antipodes_tasks.reachability.steps.steps import Numbers
from antipodes_tasks.rules.moves import Labels
from antipodes_tasks.searches.breadth_first.reached import Reached

BLOCK = 1 << 16
"""Positions expanded at once."""
ENOUGH = 1 << 40
"""Bytes that the positions on paths may take: no limit, as the search holds them anyway."""


class LayersBack:
    """The predecessors of positions of one layer in the layer before."""

    def __init__(self, reached: Reached) -> None:
        self._reached = reached

    def successors(self, labels: Labels) -> tuple[Labels, Numbers]:
        """The positions that lead to ``(n, places)``, different ones of a layer, and for each the row it leads to."""
        reached, packing = self._reached, self._reached.packing
        wanted = PositionSet(packing, ENOUGH)
        wanted.add(packing.pack(labels))
        layer = reached.layer(int(reached.depths(wanted.words[:1])[0]) - 1)
        before, leads_to = [labels[:0]], [np.empty(0, dtype=np.int64)]
        for begin in range(0, len(layer), BLOCK):
            block = packing.unpack(layer[begin : begin + BLOCK])
            after, row = reached.steps.successors(block)
            number = wanted.numbers(packing.pack(after))
            before.append(block[row[number >= 0]])
            leads_to.append(number[number >= 0])
        return np.concatenate(before), np.concatenate(leads_to)
