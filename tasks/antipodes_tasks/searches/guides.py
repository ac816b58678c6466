"""Guides of best-first searches: a named heuristic, pattern tables, or a function written by the user."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from antipodes_tasks.base.errors import InputError
from antipodes_tasks.base.quoting import shorten
from antipodes_tasks.properties.heuristics import NAMED, heuristic_of
from antipodes_tasks.properties.lower_bounds import UNREACHABLE_COST
from antipodes_tasks.rules.custom_function import CustomFunction, guard
from antipodes_tasks.rules.moves import Labels
from antipodes_tasks.searches.heuristic import Heuristic
from antipodes_tasks.searches.problem import Problem

Floats = NDArray[np.float64]
Estimator = Callable[[Labels], Any]
"""A function from positions ``(n, places)`` to numbers ``(n,)``: an array, or anything that numpy converts to one."""
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


def name_of_function(function: object) -> str:
    """Return the name of a user's function, for messages."""
    return shorten(str(getattr(function, "__name__", type(function).__name__)), 100)


def checked_function(function: object) -> Callable[[Labels], Floats]:
    """Return a user's function as one that checks its results.

    The returned function raises InputError, with the name of the user's function, if the function raises an exception,
    or returns anything other than numbers ``(n,)`` that are at least 0.
    """
    if not callable(function):
        names = ", ".join(NAMED)
        raise InputError(f"heuristic: expected {names}, pattern tables or a function, found {shorten(repr(function))}")
    role = f"the heuristic {name_of_function(function)}"
    call = CustomFunction(function, role)

    def estimates(labels: Labels) -> Floats:
        returned = call(labels.copy())  # a copy, since the function may change its argument
        expected = f"{role} must return an array ({len(labels)},) of numbers"
        values: NDArray[Any] = returned
        if type(returned) is not np.ndarray:
            with guard(f"{expected}; numpy cannot convert the {type(returned).__name__} that it returned"):
                values = np.asarray(returned)  # a tensor that requires a gradient raises RuntimeError
        if values.shape != (len(labels),) or values.dtype.kind not in "iuf":
            raise InputError(f"{expected}; it returned {values.shape} of {values.dtype}")
        result = values.astype(np.float64)
        if not (result >= 0).all():
            wrong = result[~(result >= 0)][0]
            raise InputError(
                f"{expected} that are at least 0; it returned {'NaN' if np.isnan(wrong) else f'{wrong:g}'}"
            )
        return result

    return estimates
