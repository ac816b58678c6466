"""A position and the goals to reach from it: the one thing that a search needs to know of a puzzle."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from antipodes.errors import InputError
from antipodes.puzzles.puzzle import Labels, Puzzle
from antipodes.searches.packing import Packing
from antipodes.searches.solvability import parities, solvable
from antipodes.searches.steps import Steps, reversed_moves, steps_of


@dataclass(frozen=True, eq=False)
class Problem:
    """Find the shortest ways along moves from the position to any of the goals.

    The way is walked forwards: where moves cannot be taken back, the distance to a goal may differ from the goal's
    distance from the position's side, which is what a table holds.
    """

    puzzle: Puzzle
    position: Labels
    """``(places,)``."""
    goals: Labels
    """``(goals, places)``: those that are not known to be out of reach; there may be none."""

    @classmethod
    def of(cls, puzzle: Puzzle, position: Labels, goals: Labels | None = None) -> "Problem":
        """The problem of reaching ``goals``, ``(places,)`` or ``(goals, places)``, by default the puzzle's starts.

        Raises
        ------
        PositionError
            The position or a goal has other pieces than the puzzle.
        InputError
            No goal is given.
        """
        wanted = puzzle.start_labels if goals is None else np.atleast_2d(goals)
        puzzle.checked(position[np.newaxis])
        puzzle.checked(wanted)
        if not len(wanted):
            raise InputError("expected at least one goal, found none")
        possible = [solvable(puzzle, position, goal) is not False for goal in wanted]
        return cls(puzzle, position, np.ascontiguousarray(wanted[possible]))

    @property
    def hopeless(self) -> bool:
        """Whether no goal can be reached, as is known without a search."""
        return len(self.goals) == 0

    @cached_property
    def packing(self) -> Packing:
        """How sets of positions are stored."""
        return Packing.of(self.puzzle.places, len(self.puzzle.symbols))

    @cached_property
    def steps(self) -> Steps:
        """The moves."""
        return steps_of(self.puzzle.moves, self.puzzle.places)

    @cached_property
    def steps_back(self) -> Steps:
        """What takes the moves back."""
        return steps_of(reversed_moves(self.puzzle.moves), self.puzzle.places)

    @cached_property
    def parities(self) -> frozenset[int]:
        """The parities that the number of moves to a goal can have."""
        return frozenset().union(*(parities(self.puzzle, self.position, goal) for goal in self.goals))
