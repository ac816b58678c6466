"""Tables of patterns as the heuristic of a search, whatever the moves of the puzzle are."""

from abc import ABC, abstractmethod
from typing import ClassVar

import numpy as np

from antipodes_tasks.errors import InputError
from antipodes_tasks.quoting import shorten
from antipodes_tasks.reachability.position_set import Numbers
from antipodes_tasks.rules.moves import Labels
from antipodes_tasks.rules.rules import Rules
from antipodes_tasks.searches.depth_first import Descent
from antipodes_tasks.searches.problem import Problem, Request
from antipodes_tasks.searches.progress import Pulse, no_pulse
from antipodes_tasks.searches.shares import WHOLE, Share

UNREACHED = 255
"""The value of an entry of a byte to which no moves lead."""


class Patterns(ABC):
    """A lower bound of the moves to one goal, from tables in memory."""

    is_zero: ClassVar = False

    rules: Rules
    goal: Labels
    """``(places,)``: the position to which the tables count the moves."""

    @property
    @abstractmethod
    def name(self) -> str:
        """The tables, and how what they say becomes one bound."""

    @abstractmethod
    def estimates(self, labels: Labels) -> Numbers:
        """The heuristic of positions ``(n, places)``, ``(n,)``; NEVER where a table knows that no path exists."""

    @abstractmethod
    def descent(self, depth: int, problem: Problem, request: Request, share: Share = WHOLE) -> Descent:
        """The search for paths of ``depth`` moves, guided by the tables; of the whole tree, or a share of it."""

    def prepare(self, threads: int, pulse: Pulse = no_pulse) -> None:  # noqa: B027  (most have nothing to make)
        """Make what speeds up a search that takes long, on some threads; the pulse may end that."""

    def estimate(self, position: Labels) -> int:
        """As `estimates`, of one position ``(places,)``."""
        return int(self.estimates(position[np.newaxis])[0])

    def check(self, problem: Problem) -> None:
        """Raise InputError unless the tables count the moves to the only goal of a problem of the same puzzle."""
        if problem.rules.fingerprint != self.rules.fingerprint:
            raise InputError(f"expected a position of {self.rules.name}, found one of {problem.rules.name}")
        if len(problem.goals) and not np.array_equal(problem.goals, self.goal[np.newaxis]):
            expected, found = (" ".join(self.rules.written(goal)) for goal in (self.goal, problem.goals[0]))
            raise InputError(f"expected the goal of the tables, {shorten(expected)}, found {shorten(found)}")
