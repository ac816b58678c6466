"""The positions of a puzzle and their numbers, for arguments that a user gives: checked before they are used."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from antipodes import arguments
from antipodes.errors import InputError
from antipodes.puzzles.puzzle import Labels, Puzzle
from antipodes.quoting import shorten
from antipodes.spaces.arrangements import Index


class CheckedSpace:
    """The state space of a puzzle: its positions as labels, and the index of each."""

    def __init__(self, puzzle: Puzzle, index: Index) -> None:
        self.puzzle = puzzle
        self.index = index
        """The same without checks, for positions and indices that come from the program itself."""
        self.size = index.size
        """How many positions there are, reachable or not."""

    def labels(self, position: str | ArrayLike) -> Labels:
        """The position, a text or labels, as labels ``(places,)``; PositionError if it is not one of the puzzle."""
        return self.puzzle.parse(position) if isinstance(position, str) else self.puzzle.checked_one(position)

    def rank(self, labels: ArrayLike) -> NDArray[np.int64]:
        """The index of each position ``(n, places)``, ``(n,)``; PositionError if one is not of the puzzle."""
        return self.index.rank(self.puzzle.checked(labels))

    def unrank(self, indices: ArrayLike) -> Labels:
        """The position ``(n, places)`` of each index ``(n,)``; InputError if one is out of range."""
        return self.index.unrank(self.indices(indices))

    def indices(self, indices: ArrayLike) -> NDArray[np.int64]:
        """The integers ``(n,)`` as indices; InputError if one is out of range."""
        numbers = arguments.integers(indices, "indices (n,)", 1)
        outside = (numbers < 0) | (numbers >= self.size)
        if outside.any():
            raise InputError(f"expected an index from 0 to {self.size - 1}, found {numbers[outside][0]}")
        return numbers.astype(np.int64, copy=False)

    def quoted(self, position: Labels) -> str:
        """The position for a message, shortened: boards may have hundreds of places."""
        return shorten(self.puzzle.format(position))
