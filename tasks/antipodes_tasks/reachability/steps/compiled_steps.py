"""Swaps and transforms on many positions, in machine code."""

from collections.abc import Sequence

import numpy as np

from antipodes_tasks.reachability.position_set import PositionSet
from antipodes_tasks.reachability.steps.move_arrays import arrays_of
from antipodes_tasks.reachability.steps.steps import Expanded, Numbers, Steps
from antipodes_tasks.rules.moves import Labels
from antipodes_tasks.rules.parts import Part
from antipodes_tasks.rules.swaps import Swaps
from antipodes_tasks.rules.transforms import Transforms


class CompiledSteps(Steps):
    """Moves as arrays, made by kernels."""

    def __init__(self, moves: Swaps | Transforms, parts: Sequence[Part]) -> None:
        self.arrays = arrays_of(moves, parts)

    @property
    def most(self) -> int:
        """The number of moves."""
        return len(self.arrays.inverse)

    def successors(self, labels: Labels) -> tuple[Labels, Numbers]:
        """The successors of positions; see `Steps`."""
        from antipodes_tasks.reachability.steps.kernels import successors

        return successors(labels, self.arrays)

    def add_successors(self, positions: PositionSet, begin: int, end: int) -> Expanded:
        """Add the successors of positions to their set; see `Steps`."""
        from antipodes_tasks.reachability.hash_set_kernels import expand

        positions.make_room(self.most)
        layout = positions.packing.layout
        after, count, most = expand(positions.words, positions.slots, begin, end, len(positions), layout, self.arrays)
        positions.count = count
        return Expanded(int(after) - begin, int(most))

    def replay(self, labels: Labels, path: Numbers) -> Labels:
        """The positions that a sequence of moves passes from ``(places,)``, ``(moves + 1, places)``."""
        moves = self.arrays
        positions = np.repeat(labels[np.newaxis], len(path) + 1, axis=0)
        for i, move in enumerate(path.tolist()):
            own = slice(moves.change_at[move], moves.change_at[move + 1])
            sums = positions[i, moves.origin[own]] + moves.added[own]
            positions[i + 1] = positions[i]
            positions[i + 1, moves.place[own]] = sums % moves.moduli[moves.place[own]]
        return positions
