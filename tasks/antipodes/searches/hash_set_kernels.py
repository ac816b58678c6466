"""A set of packed positions as an open-addressing hash table, and the search layer that fills it.

Positions lie in ``words`` ``(capacity, words)`` in the order of insertion; ``slots`` holds their numbers,
or -1. There are at least twice as many slots as positions, and their number is a power of two.
"""

# ruff: noqa: SIM110 (numba compiles loops, not generators)

import numpy as np
from numpy.typing import NDArray

from antipodes.jit.compile import kernel
from antipodes.searches.step_kernels import Position, allowed, apply, undo
from antipodes.searches.steps import Steps

Words = NDArray[np.uint64]
Slots = NDArray[np.int32]


@kernel
def slot_of(key: Words, words: Words, slots: Slots) -> int:
    """The slot that holds a position, or the free slot for it."""
    mask = np.uint64(len(slots) - 1)
    hashed = np.uint64(0)
    for word in key:
        hashed = (hashed ^ word) * np.uint64(0x9E3779B97F4A7C15)
        hashed ^= hashed >> np.uint64(32)
    slot = hashed & mask
    while slots[slot] >= 0 and not same(words[slots[slot]], key):
        slot = (slot + np.uint64(1)) & mask
    return int(slot)


@kernel
def same(one: Words, other: Words) -> bool:
    """Whether all words agree."""
    for i in range(len(one)):
        if one[i] != other[i]:
            return False
    return True


@kernel
def insert(keys: Words, count: int, words: Words, slots: Slots) -> int:
    """Add the keys ``(n, words)``; return the size of the set."""
    for i in range(len(keys)):
        slot = slot_of(keys[i], words, slots)
        if slots[slot] < 0:
            words[count] = keys[i]
            slots[slot] = count
            count += 1
    return count


@kernel
def find(keys: Words, words: Words, slots: Slots) -> NDArray[np.int64]:
    """The number of each of ``(n, words)`` positions, or -1."""
    numbers = np.empty(len(keys), np.int64)
    for i in range(len(keys)):
        numbers[i] = slots[slot_of(keys[i], words, slots)]
    return numbers


@kernel
def fill_slots(words: Words, begin: int, end: int, slots: Slots) -> None:
    """Add the positions from ``begin`` to ``end``, all different, into empty slots."""
    for i in range(begin, end):
        slots[slot_of(words[i], words, slots)] = i


@kernel
def pack(labels: Position, bits: int, key: Words) -> None:
    """Labels as words, as `Packing.pack` does it."""
    in_a_word = 64 // bits
    place = 0
    for i in range(len(key)):
        word = np.uint64(0)
        for j in range(min(in_a_word, len(labels) - place)):
            word |= np.uint64(labels[place]) << np.uint64(j * bits)
            place += 1
        key[i] = word


@kernel
def unpack(key: Words, bits: int, labels: Position) -> None:
    """Words as labels, as `Packing.unpack` does it."""
    in_a_word = 64 // bits
    mask = (np.uint64(1) << np.uint64(bits)) - np.uint64(1)
    place = 0
    for i in range(len(key)):
        word = key[i]
        for _ in range(min(in_a_word, len(labels) - place)):
            labels[place] = word & mask
            word >>= np.uint64(bits)
            place += 1


@kernel
def expand(
    words: Words, slots: Slots, begin: int, end: int, count: int, places: int, bits: int, steps: Steps
) -> tuple[int, int]:
    """Enter the successors of the positions from ``begin`` to ``end``: the first not expanded, and the set's size.

    It stops before the words could run out.
    """
    labels = np.empty(places, np.uint8)
    key = np.empty(words.shape[1], np.uint64)
    for i in range(begin, end):
        if count + len(steps.inverse) > len(words):
            return i, count
        unpack(words[i], bits, labels)
        for place in range(places + 1):
            if place < places and labels[place] != 0:
                continue
            for move in range(steps.group[place], steps.group[place + 1]):
                if not allowed(labels, move, steps):
                    continue
                apply(labels, move, steps)
                pack(labels, bits, key)
                undo(labels, move, steps)
                slot = slot_of(key, words, slots)
                if slots[slot] < 0:
                    words[count] = key
                    slots[slot] = count
                    count += 1
    return end, count
