"""Moves as arrays over the bits of keys: what a key must have, and what changes in it.

A move is legal where some fields have one value (a mask and a value of the whole key), and others one of several. It
changes a key by an exclusive or: a constant for the fields whose value is known then, and for the others an entry of a
table, which neighbouring bits of the key are the index of.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from antipodes_tasks.keys.bit_fields import WORD, Words

UNGUARDED = -1
MAX_CODES = 64
"""Values of a field that a condition tells apart, the bits of a mask: the last stands for all above it, too."""
Numbers = NDArray[np.int64]


class Condition(NamedTuple):
    """A field with several values that a move allows."""

    word: int
    shift: int
    mask: int
    allowed: int
    """A bit for each value."""


class Lookup(NamedTuple):
    """Neighbouring bits of a key, and what they change in one word."""

    word: int
    shift: int
    mask: int
    changed_word: int
    table: Words


@dataclass
class KeyMove:
    """One move; its integers have a bit for each bit of all words, the first word lowest."""

    guard: int = UNGUARDED
    """A place that must be empty, as the highest bit of its field."""
    mask: int = 0
    value: int = 0
    change: int = 0
    conditions: list[Condition] = field(default_factory=list)
    lookups: list[Lookup] = field(default_factory=list)


class Tables(NamedTuple):
    """Look-ups one after another."""

    word: Numbers
    shift: Words
    mask: Words
    at: Numbers
    """Where the table of each begins in the entries."""
    changed_word: Numbers
    entries: Words

    @classmethod
    def of(cls, lookups: Sequence[Lookup]) -> "Tables":
        """The look-ups as arrays."""
        return cls(
            np.array([one.word for one in lookups], dtype=np.int64),
            np.array([one.shift for one in lookups], dtype=np.uint64),
            np.array([one.mask for one in lookups], dtype=np.uint64),
            _starts([len(one.table) for one in lookups]),
            np.array([one.changed_word for one in lookups], dtype=np.int64),
            np.concatenate([np.zeros(0, dtype=np.uint64), *(one.table for one in lookups)]),
        )


class KeyMoves(NamedTuple):
    """All moves, in the order of their guards.

    The conditions of a move ``m`` are the entries from ``condition_at[m]`` to ``condition_at[m + 1]``, the same goes
    for its look-ups.
    """

    low: Words
    """``(words,)``: all bits of fields, but the highest of each."""
    high: Words
    """The highest bit of each field: a place is empty if its field is 0."""
    first: Numbers
    """``(guards + 2,)``: where the moves of each guard begin; those without a guard are the last."""
    mask: Words
    """``(moves, words)``: the fields that must have one value, and that value."""
    value: Words
    change: Words
    """``(moves, words)``: the constant part of the change."""
    condition_at: Numbers
    condition_word: Numbers
    condition_shift: Words
    condition_mask: Words
    allowed: Words
    """The values that the field of a condition may have, as bits."""
    lookup_at: Numbers
    lookups: Tables


def arrays_of(moves: Iterable[KeyMove], words: int, low: Words, high: Words) -> KeyMoves:
    """The moves of keys of so many words, as arrays."""
    guards = words * WORD
    ordered = sorted(moves, key=lambda move: move.guard % (guards + 1))  # UNGUARDED, -1, comes last
    conditions = [one for move in ordered for one in move.conditions]
    return KeyMoves(
        low=low,
        high=high,
        first=np.searchsorted([move.guard % (guards + 1) for move in ordered], np.arange(guards + 2)).astype(np.int64),
        mask=words_of([move.mask for move in ordered], words),
        value=words_of([move.value for move in ordered], words),
        change=words_of([move.change for move in ordered], words),
        condition_at=_starts([len(move.conditions) for move in ordered]),
        condition_word=np.array([one.word for one in conditions], dtype=np.int64),
        condition_shift=np.array([one.shift for one in conditions], dtype=np.uint64),
        condition_mask=np.array([one.mask for one in conditions], dtype=np.uint64),
        allowed=np.array([one.allowed for one in conditions], dtype=np.uint64),
        lookup_at=_starts([len(move.lookups) for move in ordered]),
        lookups=Tables.of([one for move in ordered for one in move.lookups]),
    )


def _starts(lengths: Sequence[int]) -> Numbers:
    """``(n + 1,)``: where each of some lists begins, one after another, and their end."""
    return np.cumsum([0, *lengths], dtype=np.int64)


def words_of(numbers: Sequence[int], words: int) -> Words:
    """``(n, words)``: integers of that many words, the lowest first."""
    packed = b"".join(number.to_bytes(8 * words, "little") for number in numbers)
    return np.frombuffer(packed, dtype="<u8").astype(np.uint64).reshape(len(numbers), words)
