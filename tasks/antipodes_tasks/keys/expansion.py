"""Expansion: the successors of positions given as keys."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from antipodes_tasks.keys.compile_moves import compiled_moves
from antipodes_tasks.keys.compiled_moves import CompiledMoves
from antipodes_tasks.keys.kernels import (
    drop_recent,
    drop_recent_rows,
    expand_rows,
    expand_step_rows,
    expand_steps,
    expand_words,
    no_recent,
)
from antipodes_tasks.keys.packing import Keys, Packing, rows_of
from antipodes_tasks.keys.piece_steps import PieceSteps
from antipodes_tasks.rules.functions import legal_positions
from antipodes_tasks.rules.rules import Rules

BATCH_BYTES = 1 << 20
"""Number of bytes of labels that are moved by one call of a Python function, which receives 8 times as many bytes."""
ROOM = 1 << 15
"""Number of successors that a kernel writes before they are copied; 256 KiB of them stay in the cache."""
MIN_KEYS_TO_FILTER = 1 << 12
"""Minimum number of keys for which most repeated successors are dropped before sorting."""


@dataclass(frozen=True)
class Expansion:
    """Computes the successors of keys."""

    rules: Rules
    packing: Packing

    @property
    def one_way(self) -> bool:
        """Whether some move is irreversible, so that a successor may be in any earlier layer."""
        return not self.rules.moves.reversible

    @property
    def moves(self) -> int:
        """Number of moves, which is the maximum number of successors of a position."""
        return len(self.rules.moves)

    @cached_property
    def compiled(self) -> CompiledMoves | PieceSteps | None:
        """The moves as arrays for a kernel; None if they are not compiled."""
        return compiled_moves(self.rules.moves, self.packing)

    def successors(self, keys: Keys, check: bool = False) -> Keys:
        """Return the keys of all successors, unsorted and with repeats.

        If ``check`` is set, the inverses of moves are checked as by `Moves.check_undone`. Kernels release the GIL.
        """
        return np.concatenate(
            [keys[:0], *(self._batches(keys, check) if self.compiled is None else self._kernel(keys))]
        )

    def _kernel(self, keys: Keys) -> Iterator[Keys]:
        after = np.empty((ROOM + self.moves + 1, *keys.shape[1:]), dtype=np.uint64)
        recent = no_recent(self.packing.words) if len(keys) >= MIN_KEYS_TO_FILTER else None
        begin = 0
        while begin < len(keys):
            begin, count = self._expand(keys, begin, after)
            if recent is not None:
                count = (drop_recent if keys.ndim == 1 else drop_recent_rows)(after, count, recent)
            yield after[:count].copy()

    def _expand(self, keys: Keys, begin: int, after: Keys) -> tuple[int, int]:
        """Write the successors of the keys from index ``begin`` on, while there is room.

        Return the index of the first key that was not expanded, and the number of successors.
        """
        moves = self.compiled
        if isinstance(moves, PieceSteps):
            of_one_word = keys.ndim == moves.covered.shape[1] == 1
            if of_one_word:
                return expand_steps(keys, begin, after, self.moves, moves)
            return expand_step_rows(rows_of(keys), begin, rows_of(after), self.moves, moves)
        assert moves is not None
        return (expand_words if keys.ndim == 1 else expand_rows)(keys, begin, after, None, moves)

    def _batches(self, keys: Keys, check: bool) -> Iterator[Keys]:
        moves = self.rules.moves
        size = max(1, BATCH_BYTES // self.packing.places)
        for begin in range(0, len(keys), size):
            labels = np.asfortranarray(self.packing.unpack(keys[begin : begin + size]))
            for number in range(self.moves):
                after, legal = moves.move(number, labels)
                if check:
                    moves.check_undone(number, labels, after, legal)
                yield self.packing.pack(legal_positions(after, legal))
