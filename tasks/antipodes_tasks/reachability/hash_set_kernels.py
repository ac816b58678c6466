"""A set of packed positions as an open-addressing hash table, and the search layer that fills it.

Positions lie in ``words`` ``(capacity, words)`` in the order of insertion; ``slots`` holds their numbers,
or -1. There are at least four times as many slots as there is room for positions, and their number is a power of two.
"""

# ruff: noqa: SIM110 (numba compiles loops, not generators)

import numpy as np
from numpy.typing import NDArray

from antipodes_tasks.jit import kernel
from antipodes_tasks.reachability.packing import Layout
from antipodes_tasks.reachability.steps.move_arrays import MoveArrays

Words = NDArray[np.uint64]
ZERO, ONE, HALF = np.uint64(0), np.uint64(1), np.uint64(32)
OTHERS = np.uint64(63)
"""The bit of a condition that stands for all labels from 63 on."""
FACTOR = np.uint64(0x9E3779B97F4A7C15)
Slots = NDArray[np.int32]


@kernel
def slot_of(key: Words, words: Words, slots: Slots) -> int:
    """The slot that holds a position, or the free slot for it."""
    mask = np.uint64(len(slots) - 1)
    hashed = ZERO
    for word in key:
        hashed = (hashed ^ word) * FACTOR
        hashed ^= hashed >> HALF
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
) -> tuple[int, int, int]:
    """Enter the successors of the positions from ``begin`` to ``end``.

    It returns the first not expanded, the set's size, and the most legal moves of an expanded position. It stops before
    the words could run out.
    """
    # A call counts the arrays of a tuple in and out, which takes longer than a move; indices without a sign need no
    # test for counting from the end.
    word, shift, bits = layout.word.view(np.uint64), layout.shift, layout.mask
    guard, next_group = moves.guard, moves.next_group.view(np.uint64)
    condition_at, tested, mask = moves.condition_at.view(np.uint64), moves.tested.view(np.uint64), moves.mask
    change_at, place = moves.change_at.view(np.uint64), moves.place.view(np.uint64)
    origin, added, moduli = moves.origin.view(np.uint64), moves.added.view(np.uint64), moves.moduli.view(np.uint64)
    labels = np.empty(len(word), np.uint64)
    key = np.empty(words.shape[1], np.uint64)
    all_moves, all_words, last_slot = np.uint64(len(guard)), np.uint64(len(key)), np.uint64(len(slots) - 1)
    most = ZERO
    for i in range(np.uint64(begin), np.uint64(end)):
        if count + len(guard) > len(words):
            return int(i), count, int(most)
        for p in range(np.uint64(len(labels))):
            labels[p] = (words[i, word[p]] >> shift[p]) & bits[p]
        move, legal = ZERO, ZERO
        while move < all_moves:
            if guard[move] >= 0 and labels[np.uint64(guard[move])] != ZERO:
                move = next_group[move]
                continue
            condition, stop = condition_at[move], condition_at[move + ONE]
            while condition < stop and (mask[condition] >> min(labels[tested[condition]], OTHERS)) & ONE:
                condition += ONE
            if condition < stop:
                move += ONE
                continue
            for w in range(all_words):
                key[w] = words[i, w]
            for change in range(change_at[move], change_at[move + ONE]):
                p = place[change]
                label = labels[origin[change]] + added[change]
                if label >= moduli[p]:
                    label -= moduli[p]
                key[word[p]] ^= (label ^ labels[p]) << shift[p]
            hashed = ZERO
            for w in range(all_words):
                hashed = (hashed ^ key[w]) * FACTOR
                hashed ^= hashed >> HALF
            slot = hashed & last_slot
            while slots[slot] >= 0 and not same(words[np.uint64(slots[slot])], key):
                slot = (slot + ONE) & last_slot
            if slots[slot] < 0:
                for w in range(all_words):
                    words[count, w] = key[w]
                slots[slot] = count
                count += 1
            legal += ONE
            move += ONE
        most = max(most, legal)
    return end, count, int(most)
