"""Machine code that makes all moves of keys."""

import numpy as np

from antipodes_tasks.jit import integer, kernel, trailing_zeros
from antipodes_tasks.keys.fields import Words
from antipodes_tasks.keys.key_moves import KeyMoves

ZERO, ONE = np.uint64(0), np.uint64(1)
OTHERS = np.uint64(63)
"""The bit of a condition that stands for all values from 63 on."""


@kernel
def expand_words(keys: Words, begin: int, after: Words, moves: KeyMoves) -> tuple[int, int]:
    """Write the successors of keys ``(n,)`` from ``begin`` on, while there is room for all of a key.

    It returns the first key that is not expanded, and the number of successors. The keys have one word, and so have
    the empty places.
    """
    # A call counts the arrays of a tuple in and out; indices without a sign need no test for counting from the end.
    low, high, board = moves.low[0], moves.high[0], moves.board[0]
    covering, lookups = moves.covering, moves.lookups
    cover_shift, cover_mask = covering.shift, covering.mask
    cover_at, covered = covering.at.view(np.uint64), covering.entries
    first = moves.first.view(np.uint64)
    mask, value, empty, change = moves.mask.ravel(), moves.value.ravel(), moves.empty.ravel(), moves.change.ravel()
    condition_at, condition_shift = moves.condition_at.view(np.uint64), moves.condition_shift
    condition_mask, allowed = moves.condition_mask, moves.allowed
    lookup_at, lookup_shift, lookup_mask = moves.lookup_at.view(np.uint64), lookups.shift, lookups.mask
    table_at, table = lookups.at.view(np.uint64), lookups.entries
    tables, unguarded = np.uint64(len(cover_shift)), np.uint64(64)
    room, count = np.uint64(len(after)), ZERO
    most = np.uint64(len(mask))
    for i in range(np.uint64(begin), np.uint64(len(keys))):
        if count + most > room:
            return int(i), int(count)
        key = keys[i]
        free = ~(((key & low) + low) | key) & high
        if tables > ZERO:
            free = board
            for t in range(tables):
                free &= ~covered[cover_at[t] + ((key >> cover_shift[t]) & cover_mask[t])]
        guard, pending = unguarded, free
        while True:
            for move in range(first[guard], first[guard + ONE]):
                if (key & mask[move]) != value[move] or (free & empty[move]) != empty[move]:
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
                count += ONE
            if pending == ZERO:
                break
            guard = trailing_zeros(pending)
            pending &= pending - ONE
    return len(keys), int(count)


@kernel
def expand_constants(keys: Words, begin: int, after: Words, moves: KeyMoves) -> tuple[int, int]:
    """As `expand_words`, where no move has conditions or look-ups of its own, and tables find the empty places.

    Each move of an empty place is written, and counts if it is legal: that takes no branch, which would often be
    predicted wrong.
    """
    board, covering = moves.board[0], moves.covering
    cover_shift, cover_mask = covering.shift, covering.mask
    cover_at, covered = covering.at.view(np.uint64), covering.entries
    first = moves.first.view(np.uint64)
    mask, value, empty, change = moves.mask.ravel(), moves.value.ravel(), moves.empty.ravel(), moves.change.ravel()
    room, count = np.uint64(len(after)), ZERO
    most = np.uint64(len(mask))
    for i in range(np.uint64(begin), np.uint64(len(keys))):
        if count + most >= room:
            return int(i), int(count)
        key, taken = keys[i], ~board
        for t in range(np.uint64(len(cover_shift))):
            taken |= covered[cover_at[t] + ((key >> cover_shift[t]) & cover_mask[t])]
        pending = ~taken
        while pending != ZERO:
            guard = trailing_zeros(pending)
            pending &= pending - ONE
            for move in range(first[guard], first[guard + ONE]):
                after[count] = key ^ change[move]
                count += np.uint64((((key & mask[move]) ^ value[move]) | (taken & empty[move])) == ZERO)
    return len(keys), int(count)


RECENT_BITS = 16
"""Bits of a slot: half a MiB of recent keys."""
FACTOR = np.uint64(0x9E3779B97F4A7C15)


def no_recent() -> Words:
    """``(slots,)``: a table of recent keys that has none, since 0 belongs to the first slot, and 1 to another."""
    recent = np.zeros(1 << RECENT_BITS, dtype=np.uint64)
    recent[0] = 1
    return recent


@kernel
def drop_recent(keys: Words, count: int, recent: Words) -> int:
    """Keep those of the first ``count`` keys that are not recent, in place, and enter them; return their number.

    Of the successors of a block board two thirds are repeats, most of them found here: a quarter of the time of a
    search, which would go into sorting them.
    """
    shift = np.uint64(64 - RECENT_BITS)
    kept = 0
    for i in range(count):
        key = keys[i]
        slot = (key * FACTOR) >> shift
        keys[kept] = key
        kept += recent[slot] != key
        recent[slot] = key
    return kept


@kernel
def expand_rows(keys: Words, begin: int, after: Words, moves: KeyMoves) -> tuple[int, int]:
    """As `expand_words`, for keys ``(n, words)``, and for more than 64 places."""
    low, high, board = moves.low, moves.high, moves.board
    covering, lookups = moves.covering, moves.lookups
    words, free_words = keys.shape[1], len(board)
    free = np.empty(free_words, np.uint64)
    key = np.empty(words, np.uint64)
    count = 0
    for i in range(begin, len(keys)):
        if count + len(moves.mask) > len(after):
            return i, count
        for w in range(words):
            key[w] = keys[i, w]
        if len(covering.word) > 0:
            for w in range(free_words):
                free[w] = board[w]
            for t in range(len(covering.word)):
                index = (key[covering.word[t]] >> covering.shift[t]) & covering.mask[t]
                free[covering.changed_word[t]] &= ~covering.entries[np.uint64(covering.at[t]) + index]
        else:
            for w in range(words):
                free[w] = ~(((key[w] & low[w]) + low[w]) | key[w]) & high[w]
        guard_word, pending = free_words, ZERO
        while True:
            guard = 64 * free_words
            if guard_word < free_words:
                guard = 64 * guard_word + integer(trailing_zeros(pending))
                pending &= pending - ONE
            for move in range(moves.first[guard], moves.first[guard + 1]):
                if is_legal(key, free, move, moves):
                    for w in range(words):
                        after[count, w] = key[w] ^ moves.change[move, w]
                    for look in range(moves.lookup_at[move], moves.lookup_at[move + 1]):
                        index = (key[lookups.word[look]] >> lookups.shift[look]) & lookups.mask[look]
                        after[count, lookups.changed_word[look]] ^= lookups.entries[np.uint64(lookups.at[look]) + index]
                    count += 1
            if guard_word == free_words:
                guard_word, pending = 0, free[0]
            while pending == ZERO and guard_word < free_words:
                guard_word += 1
                if guard_word < free_words:
                    pending = free[guard_word]
            if guard_word == free_words:
                break
    return len(keys), count


@kernel
def is_legal(key: Words, free: Words, move: int, moves: KeyMoves) -> bool:
    """Whether a key ``(words,)`` with these empty places allows a move."""
    for w in range(len(key)):
        if (key[w] & moves.mask[move, w]) != moves.value[move, w]:
            return False
    for w in range(len(free)):
        if (free[w] & moves.empty[move, w]) != moves.empty[move, w]:
            return False
    for condition in range(moves.condition_at[move], moves.condition_at[move + 1]):
        field = (key[moves.condition_word[condition]] >> moves.condition_shift[condition]) & moves.condition_mask[
            condition
        ]
        if not (moves.allowed[condition] >> min(OTHERS, field)) & ONE:
            return False
    return True
