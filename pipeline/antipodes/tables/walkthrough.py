"""A position that a person moves, with a table that knows how far each move leads."""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike

from antipodes.puzzles.puzzle import Puzzle
from antipodes.storage.address import in_shell
from antipodes.tables.store.chunks import UNREACHABLE
from antipodes.tables.table import Table
from antipodes_tasks.errors import InputError, UnfinishedError, UnreachableError
from antipodes_tasks.rules.moves import Labels


@dataclass(frozen=True, slots=True)
class Choice:
    """A legal move."""

    name: str
    """The name of the move; its number, counted from 1, where moves have no names."""
    position: Labels
    """``(places,)``: the position after it."""
    distance: int


def check_playable(table: Table) -> None:
    """Raise as `Game` unless there is a way to a start from each position of the table."""
    if not table.puzzle.moves.reversible:
        raise InputError(f"expected a puzzle whose moves can be undone, found {table.puzzle.name}")
    if not table.complete:
        raise UnfinishedError(f"the table is unfinished: antipodes resume {in_shell(table.address)}")


class Game:
    """A walk through the positions of a table whose moves can be undone.

    Raises
    ------
    InputError
        The text or the labels are no position, or moves cannot be undone.
    UnfinishedError
        The table is unfinished.
    UnreachableError
        The position has no distance.
    """

    def __init__(self, table: Table, position: str | ArrayLike) -> None:
        check_playable(table)
        self._table = table
        self._walk = [(table.puzzle, table.space.labels(position))]
        table.distance(self.position)

    @property
    def position(self) -> Labels:
        """Where the walk is, ``(places,)``."""
        return self._walk[-1][1]

    @property
    def puzzle(self) -> Puzzle:
        """The puzzle, which draws the `position` with the letters that blocks had where the walk began."""
        return self._walk[-1][0]

    @property
    def distance(self) -> int:
        """How far that is from the nearest start or goal."""
        return self._table.distance(self.position)

    @property
    def moves_made(self) -> int:
        """How many moves were made and not taken back."""
        return len(self._walk) - 1

    @property
    def choices(self) -> list[Choice]:
        """The legal moves, in the order of the puzzle's moves."""
        puzzle = self._table.puzzle
        after = puzzle.successors(self.position)
        distances = self._table.distances(after)
        if (distances == UNREACHABLE).any():
            raise UnreachableError("expected a distance after each move, found none: the table is damaged")
        named = [puzzle.move_names(np.stack((self.position, one))) for one in after]
        names = [name[0] if name else str(number) for number, name in enumerate(named, start=1)]
        return [Choice(*one) for one in zip(names, after, distances.tolist(), strict=True)]

    def make(self, choice: Choice) -> None:
        """Make a move."""
        self._walk.append((self.puzzle.followed(self.position, choice.position), choice.position))

    def follow(self, sequence: str) -> None:
        """Make the moves of a sequence such as ``R U R'``; PositionError, and no move made, where one is not legal."""
        path = self.puzzle.follow(sequence, self.position)
        for before, after in pairwise(path):
            self._walk.append((self.puzzle.followed(before, after), after))

    def begin_at(self, position: Labels) -> None:
        """Begin a new walk at a position ``(places,)``; raises as `Table.distance`, and the old walk goes on."""
        self._table.distance(position)
        self._walk = [(self._table.puzzle, position)]

    def step(self) -> Choice | None:
        """Make the first move of a shortest way to a start or goal; None if the walk is there."""
        if self.distance == 0:
            return None
        nearest = min(self.choices, key=lambda choice: choice.distance)
        self.make(nearest)
        return nearest

    def undo(self) -> bool:
        """Take the last move back; False if there is none."""
        if self.moves_made:
            self._walk.pop()
            return True
        return False
