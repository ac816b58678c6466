"""Moves applied to many positions at once, for searches. Swaps and transforms are compiled; functions use numpy."""

from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache

import numpy as np

from antipodes_tasks.base.array_types import Labels, Mask, Numbers, Words
from antipodes_tasks.keys.bit_fields import Fields
from antipodes_tasks.keys.compile_moves import compiled_moves
from antipodes_tasks.keys.compiled_moves import CompiledMoves
from antipodes_tasks.keys.expansion import ROOM
from antipodes_tasks.keys.kernels import expand_rows, expand_words
from antipodes_tasks.keys.packing import Packing
from antipodes_tasks.keys.position_set import PositionSet
from antipodes_tasks.rules.moves import Moves
from antipodes_tasks.rules.parts import Part
from antipodes_tasks.rules.swaps import Swaps
from antipodes_tasks.rules.transforms import Transforms

BATCH_BYTES = 1 << 20
"""Number of bytes of the positions that a function moves at a time."""
Apply = Callable[[int, Labels], tuple[Labels, Mask]]
"""Function that applies a move to positions ``(n, places)``: ``Moves.move`` or ``Moves.undo``."""


class Steps:
    """Moves that numpy applies to many positions at once."""

    def __init__(self, moves: int, apply: Apply) -> None:
        self._moves = moves
        self._apply = apply

    def successors(self, labels: Labels) -> tuple[Labels, Numbers]:
        """Return the successors ``(m, places)`` of positions ``(n, places)``, and the row of each one's predecessor.

        If several moves lead from a position to the same successor, this successor may be listed several times.
        """
        after, before = [labels[:0]], [np.empty(0, dtype=np.int64)]
        for move in range(self._moves):
            made, legal = self._apply(move, labels)
            after.append(made[legal])
            before.append(np.flatnonzero(legal))
        return np.concatenate(after), np.concatenate(before)

    def packed_successors(self, words: Words, packing: Fields) -> tuple[Words, Numbers]:
        """Return the packed successors ``(m, words)`` of positions ``(n, words)``, and rows as `successors` does."""
        after, before = self.successors(packing.unpack(words))
        return packing.pack(after), before

    def add_successors(self, positions: PositionSet, begin: int, end: int) -> int:
        """Add the successors of positions ``begin`` to ``end - 1`` of the set; return the number of positions expanded.

        The last of these positions may be left out; at least one position is expanded.

        Raises
        ------
        ResourceLimitError
            The positions would exceed the memory limit of the set.
        """
        packing = positions.packing
        end = min(end, begin + max(1, BATCH_BYTES // packing.places))
        labels = packing.unpack(positions.words[begin:end])
        for move in range(self._moves):
            made, legal = self._apply(move, labels)
            positions.add(packing.pack(made[legal]))
        return end - begin


class CompiledSteps(Steps):
    """Moves that are applied by compiled code."""

    def __init__(self, moves: int, apply: Apply, fields: Fields, compiled: CompiledMoves) -> None:
        super().__init__(moves, apply)
        self.compiled = compiled
        self._fields = fields

    def successors(self, labels: Labels) -> tuple[Labels, Numbers]:
        """Return the successors of positions; see `Steps`. They are ordered by position and then by move."""
        after, before = self.packed_successors(self._fields.pack(labels), self._fields)
        return self._fields.unpack(after), before

    def packed_successors(self, words: Words, packing: Fields) -> tuple[Words, Numbers]:
        """Return the successors of packed positions; see `Steps`. They are ordered as `successors` orders them."""
        parts = list(self._parts(words)) or [(words, np.empty(0, dtype=np.int64))]
        after, before = parts[0] if len(parts) == 1 else map(np.concatenate, zip(*parts, strict=True))
        return after, before

    def _parts(self, words: Words) -> Iterator[tuple[Words, Numbers]]:
        """Yield successors, and the index of each one's predecessor, for one part of the positions after another."""
        begin, moves = 0, len(self.compiled.mask)
        while begin < len(words):
            room = min(ROOM, (len(words) - begin) * moves) + moves
            after, before = np.empty((room, words.shape[1]), dtype=np.uint64), np.empty(room, dtype=np.int64)
            begin, count = self._expand(words, begin, after, before)
            yield after[:count], before[:count]

    def add_successors(self, positions: PositionSet, begin: int, end: int) -> int:
        """Add the successors of positions to the set; see `Steps`. All positions are expanded."""
        expanded, moves = end - begin, len(self.compiled.mask)
        after = np.empty((min(ROOM, expanded * moves) + moves, positions.packing.words), dtype=np.uint64)
        while begin < end:
            begin, count = self._expand(positions.words[:end], begin, after, None)
            positions.add(after[:count])
        return expanded

    def _expand(self, words: Words, begin: int, after: Words, before: Numbers | None) -> tuple[int, int]:
        """Write successors as `expand_rows` does."""
        if words.shape[1] == 1:
            return expand_words(words.reshape(-1), begin, after.reshape(-1), before, self.compiled)
        return expand_rows(words, begin, after, before, self.compiled)


def steps_of(moves: Moves, parts: Sequence[Part], *, backwards: bool = False) -> Steps:
    """Return the moves, or their inverses if ``backwards`` is True. They are compiled if possible."""
    apply, compiled = moves.undo if backwards else moves.move, None
    if moves.pairs is not None or moves.transforms is not None:
        compiled = _compiled(moves, tuple(parts), backwards)
    if compiled is None:
        return Steps(len(moves), apply)
    return CompiledSteps(len(moves), apply, Fields.of(parts), compiled)


@lru_cache(maxsize=4)
def _compiled(moves: Moves, parts: tuple[Part, ...], backwards: bool) -> CompiledMoves | None:
    """Return the moves or their inverses, compiled for the fields `Fields.of`; None if they cannot be compiled."""
    if backwards and moves.pairs is not None:
        moves = Swaps(moves.pairs[:, ::-1])
    elif backwards and (transforms := Transforms.of(moves)) is not None:
        moves = transforms.reversed()
    empty = sum(part.counts[0] for part in parts if part.counts)
    compiled = compiled_moves(moves, Packing.of_all(parts), one_blank=empty == 1, in_order=True)
    assert compiled is None or isinstance(compiled, CompiledMoves)
    return compiled
