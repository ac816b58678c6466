"""A set of packed positions as an open-addressing hash table, and the search layer that fills it.

Positions lie in ``words`` ``(capacity, words)`` in the order of insertion; ``slots`` holds their numbers,
or -1. There are at least twice as many slots as positions, and their number is a power of two.
"""

# ruff: noqa: SIM110 (numba compiles loops, not generators)

import numpy as np
from numpy.typing import NDArray

from antipodes.jit.compile import kernel
from antipodes.searches.packing import Layout
from antipodes.searches.steps.kernels import Position, changed, next_legal
from antipodes.searches.steps.move_arrays import MoveArrays

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
def expand(
    words: Words, slots: Slots, begin: int, end: int, count: int, layout: Layout, moves: MoveArrays
) -> tuple[int, int]:
    """Enter the successors of the positions from ``begin`` to ``end``: the first not expanded, and the set's size.

    It stops before the words could run out.
    """
    labels = np.empty(len(layout.word), np.uint8)
    key = np.empty(words.shape[1], np.uint64)
    for i in range(begin, end):
        if count + len(moves.guard) > len(words):
            return i, count
        unpack(words[i], layout, labels)
        move = next_legal(labels, 0, moves)
        while move < len(moves.guard):
            key[:] = words[i]
            make_packed(key, labels, move, layout, moves)
            slot = slot_of(key, words, slots)
            if slots[slot] < 0:
                words[count] = key
                slots[slot] = count
                count += 1
            move = next_legal(labels, move + 1, moves)
    return end, count


@kernel
def unpack(key: Words, layout: Layout, labels: Position) -> None:
    """Words as labels, as `Packing.unpack` does it."""
    for place in range(len(labels)):
        labels[place] = (key[layout.word[place]] >> layout.shift[place]) & layout.mask[place]


@kernel
def make_packed(key: Words, labels: Position, move: int, layout: Layout, moves: MoveArrays) -> None:
    """Make a move on a packed position, whose labels are given."""
    for change in range(moves.change_at[move], moves.change_at[move + 1]):
        place = moves.place[change]
        difference = np.uint64(labels[place]) ^ np.uint64(changed(labels, change, moves))
        key[layout.word[place]] ^= difference << layout.shift[place]
