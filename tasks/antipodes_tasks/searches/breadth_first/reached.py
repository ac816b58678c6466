"""The layers of a breadth-first search, as a set of packed positions."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from antipodes_tasks.reachability.packing import Packing, Words
from antipodes_tasks.reachability.position_set import PositionSet
from antipodes_tasks.reachability.steps.steps import Steps
from antipodes_tasks.rules.moves import Labels
from antipodes_tasks.searches.progress import Pace

MEMORY_LIMIT = 4 << 30
"""Bytes for the positions of a search and their hash table."""


class Reached:
    """All positions within a distance of the seeds, in complete layers."""

    def __init__(
        self,
        seeds: Labels,
        steps: Steps,
        packing: Packing,
        memory_limit: int = MEMORY_LIMIT,
        pulse: Callable[[], None] = lambda: None,
        advice: str = "",
    ) -> None:
        self.steps = steps
        self.packing = packing
        self.expanded = 0
        self._pulse = pulse
        self._pace = Pace()
        self._positions = PositionSet(packing, memory_limit, advice)
        self._positions.add(packing.pack(seeds))
        self._ends = [0, len(self._positions)]

    def __len__(self) -> int:
        """The number of positions in memory."""
        return len(self._positions)

    @property
    def depth(self) -> int:
        """The greatest distance."""
        return len(self._ends) - 2

    @property
    def last_layer_size(self) -> int:
        """The number of positions at the greatest distance."""
        return self._ends[-1] - self._ends[-2]

    def layer(self, depth: int) -> Words:
        """The packed positions at a distance, ``(n, words)``."""
        return self._positions.words[self._ends[depth] : self._ends[depth + 1]]

    def depths(self, keys: Words) -> NDArray[np.int64]:
        """The distance of each of ``(n, words)`` packed positions; -1 if it is not reached."""
        numbers = self._positions.numbers(keys)
        depths = np.searchsorted(self._ends, numbers, side="right") - 1
        return np.where(numbers < 0, -1, depths)

    def expand(self) -> int:
        """Add the next layer; return the number of its positions.

        Raises
        ------
        ResourceLimitError
            The positions would take more than the memory limit.
        """
        begin, end = self._ends[-2:]
        while begin < end:
            self._pace.start()
            expanded = self.steps.add_successors(self._positions, begin, min(end, begin + self._pace.budget)).positions
            self._pace.learn(expanded)
            self.expanded += expanded
            begin += expanded
            self._pulse()
        self._ends.append(len(self._positions))
        return self.last_layer_size
