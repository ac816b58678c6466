"""The layers of a breadth-first search, as a hash set of packed positions."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from antipodes.errors import ResourceLimitError
from antipodes.puzzles.puzzle import Labels
from antipodes.searches.packing import Packing, Words
from antipodes.searches.progress import Pace
from antipodes.searches.steps import Steps

MEMORY_LIMIT = 4 << 30
"""Bytes for the positions of a search and their hash table."""
FIRST_CAPACITY = 1 << 14
SLICE = 1 << 19
"""Positions that one call of a kernel looks up or adds, so that an interrupt is answered soon."""
SLOT_BYTES = 4


class Reached:
    """All positions within a distance of the seeds, in complete layers."""

    def __init__(
        self,
        seeds: Labels,
        steps: Steps,
        packing: Packing,
        memory_limit: int = MEMORY_LIMIT,
        pulse: Callable[[], None] = lambda: None,
    ) -> None:
        from antipodes.searches.hash_set_kernels import insert

        self.steps = steps
        self.packing = packing
        self.expanded = 0
        self._memory_limit = memory_limit
        self._pulse = pulse
        self._pace = Pace()
        self._words: Words = np.empty((0, packing.words), dtype=np.uint64)
        self._slots = np.empty(0, dtype=np.int32)
        self._count = 0
        self._grow(FIRST_CAPACITY + 2 * max(len(seeds), len(steps.inverse)))
        self._count = insert(packing.pack(seeds), 0, self._words, self._slots)
        self._ends = [0, self._count]

    def __len__(self) -> int:
        """The number of positions in memory."""
        return self._count

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
        return self._words[self._ends[depth] : self._ends[depth + 1]]

    def depths(self, keys: Words) -> NDArray[np.int64]:
        """The distance of each of ``(n, words)`` packed positions; -1 if it is not reached."""
        from antipodes.searches.hash_set_kernels import find

        numbers = np.empty(len(keys), dtype=np.int64)
        for begin in range(0, len(keys), SLICE):
            numbers[begin : begin + SLICE] = find(keys[begin : begin + SLICE], self._words, self._slots)
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
            expanded = self._expand(begin, min(end, begin + self._pace.budget))
            self._pace.learn(expanded)
            self.expanded += expanded
            begin += expanded
            if self._count + len(self.steps.inverse) > len(self._words):
                self._grow(2 * len(self._words))
            self._pulse()
        self._ends.append(self._count)
        return self.last_layer_size

    def _expand(self, begin: int, end: int) -> int:
        """Expand the positions; return how many, fewer than all if room runs out."""
        from antipodes.searches.hash_set_kernels import expand

        places, bits = self.packing.places, self.packing.bits
        after, self._count = expand(self._words, self._slots, begin, end, self._count, places, bits, self.steps)
        return int(after) - begin

    def _grow(self, capacity: int) -> None:
        """Make room for more positions, which are in memory twice while they are copied."""
        slots = 1 << (2 * capacity - 1).bit_length()
        needed = (capacity + self._count) * self._words.itemsize * self.packing.words + slots * SLOT_BYTES
        if needed > self._memory_limit or slots > 1 << 31:
            raise ResourceLimitError(
                f"{self._count} positions reached: more would take {needed} bytes, "
                f"and {self._memory_limit} are allowed; give a bound, or choose iddfs or ida-star"
            )
        self._slots = np.empty(0, dtype=np.int32)
        words = np.empty((capacity, self.packing.words), dtype=np.uint64)
        words[: self._count] = self._words[: self._count]
        self._words, self._slots = words, np.full(slots, -1, dtype=np.int32)
        self._fill_slots()

    def _fill_slots(self) -> None:
        from antipodes.searches.hash_set_kernels import fill_slots

        for begin in range(0, self._count, SLICE):
            fill_slots(self._words, begin, min(self._count, begin + SLICE), self._slots)
