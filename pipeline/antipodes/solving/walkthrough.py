"""A walk through the positions of a table: a person makes moves, and the table gives the distance after each move."""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike

from antipodes.puzzles.puzzle import Puzzle
from antipodes.system.addresses import in_shell
from antipodes.tables.store.chunks import UNREACHABLE
from antipodes.tables.table import Table
from antipodes_tasks.base.array_types import Labels
from antipodes_tasks.base.errors import InputError, UnfinishedError, UnreachableError


@dataclass(frozen=True, slots=True)
class NextMove:
    """A legal move."""

    name: str
    """The name of the move, or its number (counted from 1) if moves have no names."""
    position: Labels
    """``(places,)``: the position after the move."""
    distance: int


def check_playable(table: Table) -> None:
    """Raise as `Game` does unless every position of the table has a path to a start."""
    if not table.puzzle.moves.reversible:
        raise InputError(f"{table.puzzle.name} has irreversible moves, so it cannot be played towards a start")
    if not table.complete:
        raise UnfinishedError(f"the table is unfinished; resume with: antipodes resume {in_shell(table.address)}")


class Game:
    """A walk through the positions of a table with reversible moves.

    Raises
    ------
    InputError
        The text or the labels are not a position, or moves are irreversible.
    UnfinishedError
        The table is unfinished.
    UnreachableError
        The position is unreachable.
    """

    def __init__(self, table: Table, position: str | ArrayLike) -> None:
        check_playable(table)
        self._table = table
        self._walk = [(table.puzzle, table.space.labels(position))]
        table.distance(self.position)

    @property
    def position(self) -> Labels:
        """The current position, ``(places,)``."""
        return self._walk[-1][1]

    @property
    def puzzle(self) -> Puzzle:
        """The puzzle, which draws `position` with the letters that blocks had at the start of the walk."""
        return self._walk[-1][0]

    @property
    def distance(self) -> int:
        """The distance of the current position from the nearest start or goal."""
        return self._table.distance(self.position)

    @property
    def moves_made(self) -> int:
        """The number of moves made, without those that were undone."""
        return len(self._walk) - 1

    @property
    def choices(self) -> list[NextMove]:
        """The legal moves, in the order of the puzzle's moves."""
        puzzle = self._table.puzzle
        after = puzzle.successors(self.position)
        distances = self._table.distances(after)
        if (distances == UNREACHABLE).any():
            raise UnreachableError("the table is corrupt: it has no distance for a position after a move")
        named = [puzzle.move_names(np.stack((self.position, one))) for one in after]
        names = [name[0] if name else str(number) for number, name in enumerate(named, start=1)]
        return [NextMove(*one) for one in zip(names, after, distances.tolist(), strict=True)]

    def make(self, choice: NextMove) -> None:
        """Make a move."""
        self._walk.append((self.puzzle.followed(self.position, choice.position), choice.position))

    def follow(self, sequence: str) -> None:
        """Make the moves of a sequence such as ``R U R'``; raise PositionError and make none if one is illegal."""
        path = self.puzzle.follow(sequence, self.position)
        for before, after in pairwise(path):
            self._walk.append((self.puzzle.followed(before, after), after))

    def begin_at(self, position: Labels) -> None:
        """Begin a new walk at a position ``(places,)``; if that raises, as `Table.distance` does, keep the old walk."""
        self._table.distance(position)
        self._walk = [(self._table.puzzle, position)]

    def step(self) -> NextMove | None:
        """Make the first move of a shortest path to a start or goal; return None if the walk is already there."""
        if self.distance == 0:
            return None
        nearest = min(self.choices, key=lambda choice: choice.distance)
        self.make(nearest)
        return nearest

    def undo(self) -> bool:
        """Undo the last move; return False if there is none."""
        if self.moves_made:
            self._walk.pop()
            return True
        return False
