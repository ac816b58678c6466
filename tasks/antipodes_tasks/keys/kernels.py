"""Kernels that expand keys by all moves, and drop duplicates of recent keys."""

import numpy as np

from antipodes_tasks.base.array_types import Numbers, Words
from antipodes_tasks.base.jit import integer, kernel, trailing_zeros
from antipodes_tasks.keys.compiled_moves import CompiledMoves
from antipodes_tasks.keys.piece_steps import PieceSteps

ZERO, ONE = np.uint64(0), np.uint64(1)
OTHERS = np.uint64(63)
"""The bit of a condition's mask that stands for the value 63 and all greater values."""


@kernel
def expand_words(
    keys: Words, begin: int, after: Words, before: Numbers | None, moves: CompiledMoves
) -> tuple[int, int]:
    """Write the successors of one-word keys ``(n,)`` from index ``begin`` on, as long as ``after`` has room for one
    successor per move.

    ``before`` gets the index of each successor's predecessor, unless it is None. Return the index of the first key that
    was not expanded, and the number of successors.
    """
    # Numba counts references at each access to an array in a tuple, so each array is read from the tuple once. Indices
    # are unsigned, so that numba does not check for negative values.
    low, high, lookups = moves.low[0], moves.high[0], moves.lookups
    first = moves.first.view(np.uint64)
    mask, value, change = moves.mask.ravel(), moves.value.ravel(), moves.change.ravel()
    condition_at, condition_shift = moves.condition_at.view(np.uint64), moves.condition_shift
    condition_mask, allowed = moves.condition_mask, moves.allowed
    lookup_at, lookup_shift, lookup_mask = moves.lookup_at.view(np.uint64), lookups.shift, lookups.mask
    table_at, table = lookups.at.view(np.uint64), lookups.entries
    unguarded = np.uint64(64)
    room, count = np.uint64(len(after)), ZERO
    most = np.uint64(len(mask))
    for i in range(np.uint64(begin), np.uint64(len(keys))):
        if count + most > room:
            return integer(i), integer(count)
        key = keys[i]
        guard, pending = unguarded, ~(((key & low) + low) | key) & high
        while True:
            for move in range(first[guard], first[guard + ONE]):
                if (key & mask[move]) != value[move]:
                    continue
                condition, stop = condition_at[move], condition_at[move + ONE]
                while (
                    condition < stop
                    and (
                        allowed[condition]
                        >> min(OTHERS, (key >> condition_shift[condition]) & condition_mask[condition])
                    )
                    & ONE
                ):
                    condition += ONE
                if condition < stop:
                    continue
                successor = key ^ change[move]
                for look in range(lookup_at[move], lookup_at[move + ONE]):
                    successor ^= table[table_at[look] + ((key >> lookup_shift[look]) & lookup_mask[look])]
                after[count] = successor
                if before is not None:
                    before[count] = i
                count += ONE
            if pending == ZERO:
                break
            guard = trailing_zeros(pending)
            pending &= pending - ONE
    return len(keys), integer(count)


@kernel
def expand_steps(keys: Words, begin: int, after: Words, max_successors: int, steps: PieceSteps) -> tuple[int, int]:
    """Expand as `expand_words` does, by steps of pieces; a key has at most ``max_successors`` successors.

    The result of every step is written, but it is overwritten if the step is illegal. This avoids a branch that would
    often be mispredicted.
    """
    shift, mask, at = steps.shift, steps.mask, steps.at.view(np.uint64)
    covered, first = steps.covered.ravel(), steps.first.view(np.uint64)
    empty, change = steps.empty.ravel(), steps.change.ravel()
    room, count, each = np.uint64(len(after)), ZERO, np.uint64(max_successors)
    fields = np.uint64(len(shift))
    for i in range(np.uint64(begin), np.uint64(len(keys))):
        if count + each >= room:
            return integer(i), integer(count)
        key, taken = keys[i], ZERO
        for f in range(fields):
            taken |= covered[at[f] + ((key >> shift[f]) & mask[f])]
        for f in range(fields):
            entry = at[f] + ((key >> shift[f]) & mask[f])
            for step in range(first[entry], first[entry + ONE]):
                after[count] = key + change[step]
                count += np.uint64((taken & empty[step]) == ZERO)
    return len(keys), integer(count)


@kernel
def expand_step_rows(keys: Words, begin: int, after: Words, max_successors: int, steps: PieceSteps) -> tuple[int, int]:
    """Expand as `expand_steps` does, for keys ``(n, words)`` and for more than 64 places."""
    word, shift, mask, at = steps.word, steps.shift, steps.mask, steps.at
    covered, first, empty, change = steps.covered, steps.first, steps.empty, steps.change
    words, place_words = keys.shape[1], covered.shape[1]
    taken, entries = np.empty(place_words, np.uint64), np.empty(len(word), np.int64)
    count = 0
    for i in range(begin, len(keys)):
        if count + max_successors >= len(after):
            return i, count
        for w in range(place_words):
            taken[w] = ZERO
        for f in range(len(word)):
            entry = at[f] + integer((keys[i, word[f]] >> shift[f]) & mask[f])
            entries[f] = entry
            for w in range(place_words):
                taken[w] |= covered[entry, w]
        for f in range(len(word)):
            for step in range(first[entries[f]], first[entries[f] + 1]):
                for w in range(words):
                    after[count, w] = keys[i, w] + change[step, w]
                blocked = ZERO
                for w in range(place_words):
                    blocked |= taken[w] & empty[step, w]
                count += blocked == ZERO
    return len(keys), count


RECENT_BITS = 16
"""Number of bits of a slot's index; the table of recent keys takes 512 KiB per word of a key."""
FACTOR = np.uint64(0x9E3779B97F4A7C15)


def no_recent(words: int) -> Words:
    """Return an empty table ``(slots, words)`` of recent keys: each slot holds a key that belongs to another slot."""
    recent = np.zeros((1 << RECENT_BITS, words), dtype=np.uint64)
    recent[0, -1] = 1
    return recent


@kernel
def drop_recent(keys: Words, count: int, slots: Words) -> int:
    """Drop recent keys among the first ``count`` keys in place, and record the others; return the number of keys kept.

    Two thirds of a sliding-block puzzle's successors are repeats. This function drops most of them, so that they need
    not be sorted, which saves a quarter of the search time.
    """
    shift, recent = np.uint64(64 - RECENT_BITS), slots.ravel()
    kept = 0
    for i in range(count):
        key = keys[i]
        slot = (key * FACTOR) >> shift
        keys[kept] = key
        kept += recent[slot] != key
        recent[slot] = key
    return kept


@kernel
def drop_recent_rows(keys: Words, count: int, recent: Words) -> int:
    """Drop recent keys as `drop_recent` does, for keys ``(n, words)`` and recent keys ``(slots, words)``."""
    shift, words = np.uint64(64 - RECENT_BITS), keys.shape[1]
    kept = 0
    for i in range(count):
        hashed = ZERO
        for w in range(words):
            hashed = (hashed ^ keys[i, w]) * FACTOR
        slot = hashed >> shift
        differs = ZERO
        for w in range(words):
            differs |= recent[slot, w] ^ keys[i, w]
            keys[kept, w] = keys[i, w]
            recent[slot, w] = keys[i, w]
        kept += differs != ZERO
    return kept


@kernel
def expand_rows(keys: Words, begin: int, after: Words, before: Numbers | None, moves: CompiledMoves) -> tuple[int, int]:
    """Expand as `expand_words` does, for keys ``(n, words)``."""
    low, high, first, mask, value, change = moves.low, moves.high, moves.first, moves.mask, moves.value, moves.change
    condition_at, condition_word, condition_shift = moves.condition_at, moves.condition_word, moves.condition_shift
    condition_mask, allowed, lookup_at = moves.condition_mask, moves.allowed, moves.lookup_at
    lookup_word, lookup_shift, lookup_mask = moves.lookups.word, moves.lookups.shift, moves.lookups.mask
    table_at, changed_word, table = moves.lookups.at, moves.lookups.changed_word, moves.lookups.entries
    words = keys.shape[1]
    key = np.empty(words, np.uint64)
    count = 0
    for i in range(begin, len(keys)):
        if count + len(mask) > len(after):
            return i, count
        for w in range(words):
            key[w] = keys[i, w]
        # First the moves without a guard. Then `pending` marks the highest bit of every bit field that is 0, in one
        # word after another; each marked bit is the guard of the moves that need an empty place there.
        guard_word, guard, pending = -1, 64 * words, ZERO
        while True:
            for move in range(first[guard], first[guard + 1]):
                legal = True
                for w in range(words):
                    legal &= (key[w] & mask[move, w]) == value[move, w]
                if not legal:
                    continue
                condition, stop = condition_at[move], condition_at[move + 1]
                while condition < stop:
                    field = (key[condition_word[condition]] >> condition_shift[condition]) & condition_mask[condition]
                    if not (allowed[condition] >> min(OTHERS, field)) & ONE:
                        break
                    condition += 1
                if condition < stop:
                    continue
                for w in range(words):
                    after[count, w] = key[w] ^ change[move, w]
                for look in range(lookup_at[move], lookup_at[move + 1]):
                    index = (key[lookup_word[look]] >> lookup_shift[look]) & lookup_mask[look]
                    after[count, changed_word[look]] ^= table[np.uint64(table_at[look]) + index]
                if before is not None:
                    before[count] = i
                count += 1
            while pending == ZERO and guard_word < words - 1:
                guard_word += 1
                pending = (
                    ~(((key[guard_word] & low[guard_word]) + low[guard_word]) | key[guard_word]) & high[guard_word]
                )
            if pending == ZERO:
                break
            guard = 64 * guard_word + integer(trailing_zeros(pending))
            pending &= pending - ONE
    return len(keys), count
