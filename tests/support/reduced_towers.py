"""Entries that stand for several positions: towers of Hanoi with two pegs taken for the same."""

from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np
import pytest

from antipodes.config import Config
from antipodes_tasks.rules.moves import Labels
from antipodes_tasks.rules.rules import Rules
from antipodes_tasks.spaces import selection
from antipodes_tasks.spaces.move_tables import ILLEGAL, Fill, Filler, Indices, MoveTables
from antipodes_tasks.spaces.orbits import Orbits
from antipodes_tasks.spaces.space import Numbering, SpaceRecord

TOWERS = Config({"name": "towers", "family": "hanoi", "pegs": 3, "discs": 6})
SWAPPED = np.array([0, 2, 1], dtype=np.uint8)
"""The pegs after the last two are exchanged, which maps starts to starts and moves to moves."""


@dataclass(frozen=True)
class Reduced(Numbering):
    """Positions up to an exchange of the last two pegs where that moves the smallest disc; else all positions."""

    KIND: ClassVar[str] = "reduced"

    whole: Orbits

    @classmethod
    def of(cls, rules: Rules) -> Self:
        return cls(Orbits.of(rules))

    @classmethod
    def restored(cls, rules: Rules, record: SpaceRecord) -> Self:
        return cls.of(rules)

    @property
    def radices(self) -> tuple[int, ...]:
        return 2, *self.whole.radices[1:]

    @property
    def cuts(self) -> tuple[int]:
        return (len(self.radices),)

    def weights(self, leading: int) -> Indices:
        return np.repeat([1, 2], self.size // 2)

    def rank(self, labels: Labels) -> Indices:
        return self.whole.rank(np.where(labels[:, :1] == 2, SWAPPED[labels], labels))

    def unrank(self, indices: Indices) -> Labels:
        return self.whole.unrank(indices)

    def filler(self, rules: Rules, leading: int) -> "Successors":
        return Successors(rules, self)


@dataclass(frozen=True)
class Successors(Filler):
    """The entries one move after any of the positions that an entry stands for."""

    rules: Rules
    numbering: Reduced
    width: ClassVar[int] = 1  # type: ignore[assignment]
    most_moves: ClassVar[int] = 6  # type: ignore[assignment]
    most_column_maps: ClassVar[int] = 1  # type: ignore[assignment]

    @property
    def rows(self) -> int:
        return self.numbering.size

    def begin(self) -> tuple[MoveTables, list[Fill]]:
        target = np.full((self.rows, self.most_moves), ILLEGAL, dtype=np.int32)
        for entry, labels in enumerate(self.numbering.unrank(np.arange(self.rows))):
            after = np.concatenate([self.rules.moves.successors(each) for each in (labels, SWAPPED[labels])])
            found = np.unique(self.numbering.rank(after))
            target[entry, : len(found)] = found
        return MoveTables(target, np.zeros((self.rows, 0), np.int16), np.zeros((1, 1), np.int32)), []

    def building_bytes(self, threads: int) -> int:
        return 0


def reduce_towers(patch: pytest.MonkeyPatch) -> None:
    """Let all searches number positions in this way."""
    patch.setitem(selection.KINDS, Reduced.KIND, "reduced.Reduced")
    patch.setattr(selection, "_kind_for", lambda rules: Reduced)
    patch.setattr(selection, "_kind", lambda name: Reduced)
