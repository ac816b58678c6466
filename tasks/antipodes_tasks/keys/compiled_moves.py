"""Compiled moves: conditions that the bits of a packed position must fulfil, and changes of these bits.

A move is legal if certain fields have one specific value (a mask and a value of the whole position), and certain other
fields have one of several values. A move changes a position by exclusive or: with a constant for the fields whose
values are known if the move is legal, and with entries of lookup tables, indexed by neighbouring bits of the position,
for the others.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from antipodes_tasks.base.array_types import Numbers, Words
from antipodes_tasks.keys.bit_fields import WORD

UNGUARDED = -1
MAX_CODES = 64
"""Number of field values that a condition's mask distinguishes; the last bit also stands for all greater values."""


class FieldCondition(NamedTuple):
    """A field that must have one of several values."""

    word: int
    shift: int
    mask: int
    allowed: int
    """The allowed values as a bit mask."""


class Lookup(NamedTuple):
    """Neighbouring bits of a position that index a table, and the word that the table's entries change."""

    word: int
    shift: int
    mask: int
    changed_word: int
    table: Words


@dataclass
class CompiledMove:
    """One move. Its integers have one bit for each bit of a packed position, the first word lowest."""

    number: int
    """The number of the stated move."""
    guard: int = UNGUARDED
    """A place that must be empty, given by the number of the highest bit of its field; UNGUARDED if there is none."""
    mask: int = 0
    value: int = 0
    change: int = 0
    conditions: list[FieldCondition] = field(default_factory=list)
    lookups: list[Lookup] = field(default_factory=list)


class Tables(NamedTuple):
    """The concatenation of all lookups."""

    word: Numbers
    shift: Words
    mask: Words
    at: Numbers
    """Start of each lookup's table in ``entries``; several lookups may share a table."""
    changed_word: Numbers
    entries: Words

    @classmethod
    def of(cls, lookups: Sequence[Lookup]) -> "Tables":
        """Return the lookups as arrays."""
        return cls(
            np.array([one.word for one in lookups], dtype=np.int64),
            np.array([one.shift for one in lookups], dtype=np.uint64),
            np.array([one.mask for one in lookups], dtype=np.uint64),
            _starts([len(one.table) for one in lookups]),
            np.array([one.changed_word for one in lookups], dtype=np.int64),
            np.concatenate([np.zeros(0, dtype=np.uint64), *(one.table for one in lookups)]),
        )


class CompiledMoves(NamedTuple):
    """All moves, sorted by guard; see `CompiledMove`.

    The conditions of move ``m`` are numbered from ``condition_at[m]`` to ``condition_at[m + 1] - 1``, its lookups from
    ``lookup_at[m]`` to ``lookup_at[m + 1] - 1``.
    """

    number: Numbers
    """``(moves,)``: the number of each move among the stated moves."""
    low: Words
    """``(words,)``: all bits of the fields except the highest bit of each."""
    high: Words
    """``(words,)``: the highest bit of each field. A place is empty if its field is 0."""
    first: Numbers
    """``(guards + 2,)``: the first move of each guard; moves without a guard come last."""
    mask: Words
    """``(moves, words)``: mask of the fields that must have a specific value; ``value`` contains these values."""
    value: Words
    change: Words
    """``(moves, words)``: the constant part of the change."""
    condition_at: Numbers
    condition_word: Numbers
    condition_shift: Words
    condition_mask: Words
    allowed: Words
    """The values that the field of each condition may have, as bit masks."""
    lookup_at: Numbers
    lookups: Tables


def arrays_of(moves: Iterable[CompiledMove], words: int, low: Words, high: Words) -> CompiledMoves:
    """Return the moves of positions with this number of words as arrays."""
    guards = words * WORD
    ordered = sorted(moves, key=lambda move: move.guard % (guards + 1))  # UNGUARDED, -1, comes last
    conditions = [one for move in ordered for one in move.conditions]
    return CompiledMoves(
        number=np.array([move.number for move in ordered], dtype=np.int64),
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
    """Return the start of each list in a concatenation of lists, and the end of the last list, ``(n + 1,)``."""
    return np.cumsum([0, *lengths], dtype=np.int64)


def words_of(numbers: Sequence[int], words: int) -> Words:
    """Return integers as rows of words ``(n, words)``, the lowest word first."""
    packed = b"".join(number.to_bytes(8 * words, "little") for number in numbers)
    return np.frombuffer(packed, dtype="<u8").astype(np.uint64).reshape(len(numbers), words)
