"""Pattern tables of puzzles whose moves are always legal, and *views*: tables looked up at a symmetric image."""

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from antipodes_tasks.base.array_types import Labels, Numbers
from antipodes_tasks.properties.lower_bounds import UNREACHABLE_COST
from antipodes_tasks.properties.symmetry import Symmetry
from antipodes_tasks.rules.rules import Rules
from antipodes_tasks.searches.abstractions import NO_MOVE, Homomorphism
from antipodes_tasks.searches.bundles import Bundles
from antipodes_tasks.searches.digits import Digit, digits_of
from antipodes_tasks.searches.packed import Encoding
from antipodes_tasks.searches.quotient import Quotient, followed_digits
from antipodes_tasks.spaces.space import NOT_NUMBERED, Numbering


@dataclass(frozen=True, eq=False)
class PermutationTable:
    """The table of an abstraction: the distances of its entries from the goal."""

    rules: Rules
    """The abstraction as a puzzle."""
    numbering: Numbering
    """The numbering of all positions; it is the numbering of the quotient, if there is one."""
    abstraction: Homomorphism
    begin: int
    """Offset of the table's first byte among the values of all tables."""
    encoding: Encoding
    quotient: Quotient | None = None
    """The entries of all positions, if the table is reduced by symmetries."""
    bundles: Bundles | None = None
    """The words of the table, if its distances are clipped; then it has no values among those of the other tables."""

    @cached_property
    def digits(self) -> tuple[Digit, ...]:
        """The digits of the indices; for a reduced table, the last digit is the column and the others form the row."""
        if self.bundles is not None:
            return self.bundles.rows.digits
        if self.quotient is None:
            return digits_of(self.numbering, self.rules)
        return followed_digits(self.numbering, self.rules, self.quotient.width)

    @property
    def entries(self) -> int:
        """Number of values in memory."""
        return self.numbering.size if self.quotient is None else self.quotient.space.size

    def places_of(self, indices: Numbers) -> Numbers:
        """Return the place among the table's values of the value for each index ``(n,)``."""
        return indices if self.quotient is None else self.quotient.located(indices)[0]

    def read(self, values: NDArray[np.uint8], indices: Numbers) -> Numbers:
        """Return the distances of indices ``(n,)``, or lower bounds if they are clipped.

        The bound of an unreachable position is UNREACHABLE_COST, unless it is clipped.
        """
        if self.bundles is not None:
            return np.where(indices == NOT_NUMBERED, UNREACHABLE_COST, self.bundles.read(np.maximum(indices, 0)))
        found = self.encoding.decode(values[self.begin :], self.places_of(np.maximum(indices, 0)))
        unreached = found == self.encoding.mask
        return np.where(unreached | (indices == NOT_NUMBERED), UNREACHABLE_COST, found)


class TableLookup(NamedTuple):
    """A table that is looked up at the position's image under a symmetry, or at the position itself."""

    table: PermutationTable
    symmetry: Symmetry | None

    def entries(self, labels: Labels) -> Numbers:
        """Return the indices ``(n,)`` of the images of positions ``(n, places)``."""
        images = labels if self.symmetry is None else self.symmetry.image(labels)
        return self.table.numbering.rank(self.table.abstraction.image(images))

    @property
    def moves(self) -> Numbers:
        """``(moves,)``: the table's move that corresponds to the image of each move of the puzzle.

        If the move changes nothing in the table, it is the number of the table's moves.
        """
        of_table = self.table.abstraction.moves
        moves = of_table if self.symmetry is None else of_table[self.symmetry.moves]
        return np.where(moves == NO_MOVE, len(self.table.rules.moves), moves)
