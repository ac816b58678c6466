"""A growing set of packed positions, as a hash table."""

import numpy as np
from numpy.typing import NDArray

from antipodes_tasks.errors import ResourceLimitError
from antipodes_tasks.quoting import counted
from antipodes_tasks.reachability.packing import Packing, Words

FIRST_CAPACITY = 1 << 14
SLICE = 1 << 19
"""Positions that one call of a kernel looks up or adds, so that an interrupt is answered soon."""
SLOT_BYTES = 4
MOST_SLOTS = 1 << 31
"""A slot has the number of a position in 32 bits, and there are four slots for each."""


class PositionSet:
    """Different positions, numbered in the order in which they were added, within a limit of memory.

    The ``advice`` ends the message when they exceed it.
    """

    words: Words
    """``(capacity, words)``: the packed positions, and room for more."""
    slots: NDArray[np.int32]
    """The hash table: numbers of positions, or -1."""

    def __init__(self, packing: Packing, memory_limit: int, advice: str = "") -> None:
        self.packing = packing
        self.count = 0
        self._memory_limit = memory_limit
        self._advice = advice
        self.words = np.empty((0, packing.words), dtype=np.uint64)
        self.slots = np.empty(0, dtype=np.int32)
        self._grow(FIRST_CAPACITY)

    def __len__(self) -> int:
        return self.count

    def add(self, keys: Words) -> None:
        """Add the positions ``(n, words)`` that are new; ResourceLimitError if they do not fit into memory."""
        from antipodes_tasks.reachability.hash_set_kernels import insert

        for begin in range(0, len(keys), SLICE):
            few = keys[begin : begin + SLICE]
            self.make_room(len(few))
            self.count = insert(few, self.count, self.words, self.slots)

    def numbers(self, keys: Words) -> NDArray[np.int64]:
        """The number of each of the positions ``(n, words)``, or -1."""
        from antipodes_tasks.reachability.hash_set_kernels import find

        found = np.empty(len(keys), dtype=np.int64)
        for begin in range(0, len(keys), SLICE):
            found[begin : begin + SLICE] = find(keys[begin : begin + SLICE], self.words, self.slots)
        return found

    def make_room(self, more: int) -> None:
        """Make room for more positions; ResourceLimitError if they would take more than the memory limit."""
        if self.count + more > len(self.words):
            self._grow(max(2 * len(self.words), self.count + more))

    def _grow(self, capacity: int) -> None:
        """Enlarge the set; its positions are in memory twice while they are copied."""
        slots = 1 << (4 * capacity - 1).bit_length()
        needed = (capacity + self.count) * self.words.itemsize * self.packing.words + slots * SLOT_BYTES
        if slots > MOST_SLOTS:
            raise ResourceLimitError(f"{self.count:,} positions reached: a search holds no more{self._advice}")
        if needed > self._memory_limit:
            raise ResourceLimitError(
                f"{counted(self.count, 'position')} reached: more would take {needed:,} bytes, "
                f"and {self._memory_limit:,} are allowed{self._advice}"
            )
        self.slots = np.empty(0, dtype=np.int32)
        words = np.empty((capacity, self.packing.words), dtype=np.uint64)
        words[: self.count] = self.words[: self.count]
        self.words, self.slots = words, np.full(slots, -1, dtype=np.int32)
        self._fill_slots()

    def _fill_slots(self) -> None:
        from antipodes_tasks.reachability.hash_set_kernels import fill_slots

        for begin in range(0, self.count, SLICE):
            fill_slots(self.words, begin, min(self.count, begin + SLICE), self.slots)
