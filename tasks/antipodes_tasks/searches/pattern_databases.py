"""The common interface of pattern databases, the tables of patterns used as heuristics."""

from __future__ import annotations

from abc import abstractmethod
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from antipodes_tasks.base.array_types import Labels, Numbers
from antipodes_tasks.base.errors import InputError
from antipodes_tasks.base.quoting import shorten
from antipodes_tasks.rules.rules import Rules
from antipodes_tasks.searches.heuristic import Heuristic
from antipodes_tasks.searches.problem import Problem

UNREACHED = 255
"""Value of an unreachable entry, in tables with one byte per entry."""


class Patterns(Heuristic):
    """A lower bound of the distance to one goal, from pattern tables in memory."""

    uses_threads: ClassVar = True

    rules: Rules
    goal: Labels
    """``(places,)``: the position to which the tables contain the distances."""

    @property
    @abstractmethod
    def name(self) -> str:
        """Names of the tables, and how their values are combined into one bound."""

    def __repr__(self) -> str:
        goal = shorten(" ".join(self.rules.written(self.goal)), 40)
        return f"<Patterns of {shorten(self.rules.name, 40)}: {shorten(self.name)}; goal {goal}>"

    def estimates(self, labels: ArrayLike) -> Numbers:
        """Return the lower bounds ``(n,)`` of positions ``(n, places)``; UNREACHABLE_COST if a table excludes a path.

        Raises PositionError if a row is not a position of the puzzle.
        """
        return self.bounds(self.rules.checked(labels))

    def estimate(self, position: ArrayLike) -> int:
        """Return the lower bound of one position ``(places,)``, as `estimates` does."""
        return self.bound(self.rules.checked_one(position))

    def check(self, problem: Problem) -> None:
        """Raise InputError unless the tables belong to the problem's moves and to its only goal."""
        if not _have_same_moves(problem.rules, self.rules):
            own = shorten(self.rules.name, 40)
            other = f"a puzzle {own} with other pieces or moves" if own == problem.rules.name else own
            raise InputError(f"the heuristic belongs to {other}, not to {problem.rules.name}")
        if len(problem.goals) and not np.array_equal(problem.goals, self.goal[np.newaxis]):
            several = f"{len(problem.goals)} goals" if len(problem.goals) > 1 else self._goal_text(problem.goals[0])
            raise InputError(f"the heuristic is for {self._goal_text(self.goal)}, but the problem has {several}")

    def _goal_text(self, goal: Labels) -> str:
        return f"the goal {shorten(' '.join(self.rules.written(goal)))}"


def _have_same_moves(one: Rules, other: Rules) -> bool:
    """Return whether two puzzles have the same pieces and moves, regardless of their starts."""
    return one.parts == other.parts and one.moves.identity == other.moves.identity
