"""A state space for callers outside the program, which checks positions and indices before it uses them."""

import numpy as np
from numpy.typing import ArrayLike

from antipodes.puzzles.puzzle import Puzzle
from antipodes_tasks.base import arguments
from antipodes_tasks.base.array_types import Labels, Numbers
from antipodes_tasks.base.errors import InputError
from antipodes_tasks.base.quoting import shorten
from antipodes_tasks.spaces.space import Space


class CheckedSpace:
    """The positions of a puzzle as labels, with their indices and their entries in the table.

    Entries are indices, unless the table is reduced by symmetries.
    """

    def __init__(self, puzzle: Puzzle, stored: Space) -> None:
        self.stored = stored
        """The space of the table. An entry may represent several positions."""
        self.unchecked = stored.full_space
        """The space of all positions, without checks, for positions and indices that come from the program itself."""
        self.puzzle = puzzle
        self.size = self.unchecked.size
        """Number of positions that have an index, including unreachable ones."""

    def __repr__(self) -> str:
        return repr(self.unchecked)

    def labels(self, position: str | ArrayLike) -> Labels:
        """Return a position as labels ``(places,)``; raise PositionError if it is not a position of the puzzle."""
        return self.puzzle.parse(position) if isinstance(position, str) else self.puzzle.rules.checked_one(position)

    def index(self, position: str | ArrayLike) -> int:
        """Return the index of one position, or -1 if it has none; raise PositionError if it is not valid."""
        return self.unchecked.numbering.rank_one(self._checked_one(position))

    def entry(self, position: str | ArrayLike) -> int:
        """Return the entry of one position, or -1 if it has none; raise PositionError if it is not valid."""
        return self.stored.numbering.rank_one(self._checked_one(position))

    def _checked_one(self, position: str | ArrayLike) -> list[int]:
        """Return the checked labels of one position.

        Arrays and lists of integers are checked in a loop, which is much faster than `labels` for one position.
        """
        labels = _integers(position)
        if len(labels) != self.puzzle.places or not self.puzzle.rules.holds(labels):
            labels = self.labels(position).tolist()
        return labels

    def entries(self, indices: Numbers) -> Numbers:
        """Return the entry of each index ``(n,)``, without checks."""
        return indices if self.stored is self.unchecked else self.stored.rank(self.unchecked.unrank(indices))

    def rank(self, labels: ArrayLike) -> Numbers:
        """Return the index of each position ``(n, places)`` as ``(n,)``: -1 if it has none and is thus unreachable.

        Raises PositionError if one of them is not a position of the puzzle.
        """
        return self.unchecked.rank(self.puzzle.checked(labels))

    def unrank(self, indices: ArrayLike) -> Labels:
        """Return the position ``(n, places)`` at each index ``(n,)``; raise InputError if an index is out of range."""
        return self.unchecked.unrank(self.indices(indices))

    def indices(self, indices: ArrayLike) -> Numbers:
        """Return integers ``(n,)`` as an array of indices; raise InputError if one is out of range."""
        numbers = arguments.integers(indices, "indices (n,)", 1)
        outside = (numbers < 0) | (numbers >= self.size)
        if outside.any():
            raise InputError(f"expected an index from 0 to {self.size - 1}, found {numbers[outside][0]}")
        return numbers.astype(np.int64, copy=False)

    def quoted(self, position: Labels) -> str:
        """Return the position as text for messages, shortened, since boards may have hundreds of places."""
        return shorten(self.puzzle.format(position))


def _integers(position: str | ArrayLike) -> list[int]:
    """Return the integers of an array or a list as Python integers; an empty list for anything else."""
    if type(position) is np.ndarray and position.ndim == 1 and position.dtype.kind in "iu":
        integers: list[int] = position.tolist()
        return integers
    if isinstance(position, list | tuple) and {*map(type, position)} == {int}:
        return list(position)
    return []
