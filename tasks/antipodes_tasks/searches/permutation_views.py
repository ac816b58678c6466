"""Tables of abstractions of puzzles whose moves are legal everywhere, and the views from which they are looked up."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from antipodes_tasks.reachability.position_set import Numbers
from antipodes_tasks.rules.moves import Labels
from antipodes_tasks.rules.rules import Rules
from antipodes_tasks.searches.abstractions import NO_MOVE, Abstraction
from antipodes_tasks.searches.digits import Digit, digits_of
from antipodes_tasks.searches.folding import Folding
from antipodes_tasks.searches.heuristics import UNREACHABLE_COST
from antipodes_tasks.spaces.space import NOT_NUMBERED, Numbering
from antipodes_tasks.symmetries.symmetry import Symmetry

T = TypeVar("T")
PACKED_MASK, BYTE_MASK = 15, 255
"""The greatest value of half a byte, and of a byte: those of entries to which no moves lead."""


@dataclass(frozen=True, eq=False)
class TurnTable:
    """The table of an abstraction: the distances of its entries from the goal."""

    rules: Rules
    """The abstraction as a puzzle."""
    numbering: Numbering
    abstraction: Abstraction
    begin: int
    """The first byte of its values among those of all tables."""
    packed: bool
    """Whether a byte has two values, the first in its lower half."""
    folding: Folding | None = None
    """How the table is folded by its own symmetries, if it is."""

    @cached_property
    def digits(self) -> tuple[Digit, ...]:
        """The digits of its entries."""
        return digits_of(self.numbering, self.rules)

    @property
    def mask(self) -> int:
        """The bits of a value, all of which are set where no moves lead."""
        return PACKED_MASK if self.packed else BYTE_MASK

    @property
    def entries(self) -> int:
        """How many values it has in memory."""
        folding = self.folding
        return self.numbering.size if folding is None else folding.classes * folding.width

    def places_of(self, indices: Numbers) -> Numbers:
        """Where the values of entries ``(n,)`` are among those in memory."""
        return indices if self.folding is None else self.folding.entries(indices, self.digits)

    def read(self, values: NDArray[np.uint8], indices: Numbers) -> Numbers:
        """The distances of entries ``(n,)``; NEVER where no moves lead."""
        numbered = self.places_of(np.maximum(indices, 0))
        found = values[self.begin + (numbered >> self.packed)].astype(np.int64)
        found = (found >> ((numbered & 1) * 4 if self.packed else 0)) & self.mask
        return np.where((found == self.mask) | (indices == NOT_NUMBERED), UNREACHABLE_COST, found)


class View(NamedTuple):
    """A table that is asked for the image of a position under a symmetry, if there is one."""

    table: TurnTable
    symmetry: Symmetry | None

    def entries(self, labels: Labels) -> Numbers:
        """The entries of the images of positions ``(n, places)``, ``(n,)``."""
        images = labels if self.symmetry is None else self.symmetry.image(labels)
        return self.table.numbering.rank(self.table.abstraction.image(images))

    @property
    def moves(self) -> Numbers:
        """``(moves,)``: the move of the table that each move is for the image; the last one where it is none."""
        of_table = self.table.abstraction.moves
        moves = of_table if self.symmetry is None else of_table[self.symmetry.moves]
        return np.where(moves == NO_MOVE, len(self.table.rules.moves), moves)


def in_order(digits: Sequence[T], folding: Folding | None) -> list[T]:
    """The digits of a table; those of a folded one with the column at the end."""
    found = list(digits)
    return found if folding is None else [*found[: folding.column], *found[folding.column + 1 :], found[folding.column]]
