"""Guides of best-first searches: a named heuristic, pattern tables, or a function written by the user."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from antipodes_tasks.base.array_types import Labels
from antipodes_tasks.properties.heuristic_function import Estimator, Floats, checked_function
from antipodes_tasks.properties.heuristics import heuristic_of
from antipodes_tasks.properties.lower_bounds import UNREACHABLE_COST
from antipodes_tasks.searches.heuristic import Heuristic
from antipodes_tasks.searches.problem import Problem

Guidance = str | Heuristic | Estimator | None
"""A heuristic as users give it: a name, pattern tables or a function; None means the strongest name that applies."""
ROUNDING = 1e-3
"""How much of an estimate is ignored when it is rounded up, since a neural network returns 4.00001 instead of 4."""


@dataclass(frozen=True)
class Guide:
    """Estimates of the distance to the goals of a problem."""

    estimates: Callable[[Labels], Floats]
    """Function from positions ``(n, places)`` to estimates ``(n,)``, at least 0; infinite if no goal is reachable."""
    is_proved: bool
    """Whether the estimates are known to be lower bounds. False for a user's function."""

    @classmethod
    def of(cls, problem: Problem, heuristic: Guidance) -> "Guide":
        """Return the guide for a heuristic; None means the strongest one with a name that applies.

        Raises InputError if the heuristic does not support the problem.
        """
        if isinstance(heuristic, Heuristic):
            heuristic.check(problem)
            return cls(lambda labels: heuristic.bounds(labels).astype(np.float64), True)
        if heuristic is None or isinstance(heuristic, str):
            problem.check_listed("a named heuristic")
            named = heuristic_of(problem.rules, problem.goals, heuristic)
            return cls(lambda labels: named.bounds(labels).astype(np.float64), True)
        return cls(checked_function(heuristic), False)

    def bounds(self, labels: Labels) -> NDArray[np.int32]:
        """Return the estimates, rounded up to whole moves and at most UNREACHABLE_COST, ``(n,)``."""
        rounded = np.ceil(self.estimates(labels) - ROUNDING)  # at least 0, because estimates are
        return np.minimum(rounded, UNREACHABLE_COST).astype(np.int32)
