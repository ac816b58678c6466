"""Sets of positions packed into words, as open-addressing hash tables."""

# ruff: noqa: SIM110 (numba compiles loops, not generators)

import numpy as np
from numpy.typing import NDArray

from antipodes_tasks.base.array_types import Numbers, Words
from antipodes_tasks.base.errors import ResourceLimitError
from antipodes_tasks.base.jit import integer, kernel
from antipodes_tasks.base.quoting import counted
from antipodes_tasks.keys.bit_fields import Fields

Slots = NDArray[np.int32]
ZERO, ONE, HALF = np.uint64(0), np.uint64(1), np.uint64(32)
FACTOR = np.uint64(0x9E3779B97F4A7C15)
FIRST_CAPACITY = 1 << 14
SLICE = 1 << 19
"""Number of positions that one kernel call looks up or adds, so that an interruption takes effect soon."""
SLOT_BYTES = 4
MAX_SLOTS = 1 << 31
"""Maximum number of slots. A slot holds the number of a position in 32 bits, and there are at least four slots per
position."""


class PositionSet:
    """Distinct positions, numbered in the order in which they were added, within a memory limit.

    If they exceed the limit, the error message ends with ``advice``.
    """

    words: Words
    """``(capacity, words)``: the packed positions, and then unused rows."""
    slots: NDArray[np.int32]
    """The hash table: numbers of positions, or -1."""

    def __init__(self, packing: Fields, memory_limit: int, advice: str = "") -> None:
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
        """Add those of the positions ``(n, words)`` that are new; raise ResourceLimitError if the limit is exceeded."""
        begin = 0
        while begin < len(keys):
            self.make_room(1)
            added, self.count = _insert(keys[begin : begin + SLICE], self.count, self.words, self.slots)
            begin += added

    def numbers(self, keys: Words) -> NDArray[np.int64]:
        """Return the number of each of the positions ``(n, words)``, or -1."""
        found = np.empty(len(keys), dtype=np.int64)
        for begin in range(0, len(keys), SLICE):
            found[begin : begin + SLICE] = _find(keys[begin : begin + SLICE], self.words, self.slots)
        return found

    def make_room(self, more: int) -> None:
        """Make room for more positions; raise ResourceLimitError if they would exceed the memory limit."""
        if self.count + more > len(self.words):
            self._grow(max(2 * len(self.words), self.count + more))

    def _grow(self, capacity: int) -> None:
        """Enlarge the set. While its positions are copied, they are in memory twice."""
        slots = 1 << (4 * capacity - 1).bit_length()
        needed = (capacity + self.count) * self.words.itemsize * self.packing.words + slots * SLOT_BYTES
        if slots > MAX_SLOTS:
            raise ResourceLimitError(f"{self.count:,} positions reached: a search cannot hold more{self._advice}")
        if needed > self._memory_limit:
            raise ResourceLimitError(
                f"{counted(self.count, 'position')} reached: more positions would take {needed:,} bytes, "
                f"but the limit is {self._memory_limit:,} bytes{self._advice}"
            )
        self.slots = np.empty(0, dtype=np.int32)
        words = np.empty((capacity, self.packing.words), dtype=np.uint64)
        words[: self.count] = self.words[: self.count]
        self.words, self.slots = words, np.full(slots, -1, dtype=np.int32)
        for begin in range(0, self.count, SLICE):
            _fill_slots(self.words, begin, min(self.count, begin + SLICE), self.slots)


@kernel
def find_slot(key: Words, words: Words, slots: Slots) -> int:
    """Return the slot that holds a position, or the free slot for it."""
    mask = np.uint64(len(slots) - 1)
    hashed = ZERO
    for word in key:
        hashed = (hashed ^ word) * FACTOR
        hashed ^= hashed >> HALF
    slot = hashed & mask
    while slots[slot] >= 0 and not words_equal(words[slots[slot]], key):
        slot = (slot + ONE) & mask
    return int(slot)


@kernel
def words_equal(one: Words, other: Words) -> bool:
    """Return whether all words are equal."""
    for i in range(len(one)):
        if one[i] != other[i]:
            return False
    return True


@kernel
def _insert(keys: Words, count: int, words: Words, slots: Slots) -> tuple[int, int]:
    """Add the keys ``(n, words)`` until the set is full; return the number of keys added and the new size."""
    # The search for a slot is repeated here, because a call of `find_slot` for each key takes half as long again.
    room, every, last_slot = np.uint64(len(words)), np.uint64(words.shape[1]), np.uint64(len(slots) - 1)
    size = np.uint64(count)
    for i in range(np.uint64(len(keys))):
        if size == room:
            return integer(i), integer(size)
        hashed = ZERO
        for w in range(every):
            hashed = (hashed ^ keys[i, w]) * FACTOR
            hashed ^= hashed >> HALF
        slot = hashed & last_slot
        while slots[slot] >= 0:
            number, same = np.uint64(slots[slot]), ZERO
            while same < every and words[number, same] == keys[i, same]:
                same += ONE
            if same == every:
                break
            slot = (slot + ONE) & last_slot
        if slots[slot] < 0:
            for w in range(every):
                words[size, w] = keys[i, w]
            slots[slot] = size
            size += ONE
    return len(keys), integer(size)


@kernel
def _find(keys: Words, words: Words, slots: Slots) -> Numbers:
    """Return the number of each of the positions ``(n, words)``, or -1."""
    numbers = np.empty(len(keys), np.int64)
    for i in range(len(keys)):
        numbers[i] = slots[find_slot(keys[i], words, slots)]
    return numbers


@kernel
def _fill_slots(words: Words, begin: int, end: int, slots: Slots) -> None:
    """Write the numbers ``begin`` to ``end - 1`` of distinct positions to empty slots."""
    for i in range(begin, end):
        slots[find_slot(words[i], words, slots)] = i
