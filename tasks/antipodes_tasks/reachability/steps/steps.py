"""The interface of moves on many positions, as the searches use them."""

from abc import ABC, abstractmethod
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from antipodes_tasks.reachability.position_set import PositionSet
from antipodes_tasks.rules.moves import Labels

Numbers = NDArray[np.int64]


class Expanded(NamedTuple):
    """What one call has expanded."""

    positions: int
    most_moves: int
    """The most legal moves of one of them."""


class Steps(ABC):
    """The moves of a puzzle, forwards or backwards."""

    @property
    @abstractmethod
    def most(self) -> int:
        """No position has more successors."""

    @abstractmethod
    def successors(self, labels: Labels) -> tuple[Labels, Numbers]:
        """The successors of ``(n, places)``: ``(m, places)``, and for each the row that it comes after, ``(m,)``.

        Moves that lead from a position to the same one may give it several times.
        """

    @abstractmethod
    def add_successors(self, positions: PositionSet, begin: int, end: int) -> Expanded:
        """Add the successors of the positions numbered ``begin`` to ``end``, or of some of them, at least one.

        Raises
        ------
        ResourceLimitError
            The positions would take more memory than the set may have.
        """
