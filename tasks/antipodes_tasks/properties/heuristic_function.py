"""Heuristics that are functions written by the user, and the check of the values that they return."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from antipodes_tasks.base.array_types import Labels
from antipodes_tasks.base.errors import InputError
from antipodes_tasks.base.quoting import shorten
from antipodes_tasks.properties.heuristics import NAMED
from antipodes_tasks.rules.custom_function import CustomFunction, guard

Floats = NDArray[np.float64]
Estimator = Callable[[Labels], Any]
"""A function from positions ``(n, places)`` to numbers ``(n,)``: an array, or anything that numpy converts to one."""


def name_of_function(function: object) -> str:
    """Return the name of a user's function, for messages."""
    return shorten(str(getattr(function, "__name__", type(function).__name__)), 100)


def checked_function(function: object, *, name: str | None = None, minimum: float = 0.0) -> Callable[[Labels], Floats]:
    """Return a user's function as one that checks its results.

    The returned function raises InputError, with the ``name`` of the function, by default its own, if the function
    raises an exception, or returns anything other than numbers ``(n,)`` that are at least ``minimum``.
    """
    if not callable(function):
        names = ", ".join(NAMED)
        raise InputError(f"heuristic: expected {names}, pattern tables or a function, found {shorten(repr(function))}")
    role = f"the heuristic {name or name_of_function(function)}"
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
        if not (result >= minimum).all():
            wrong = result[~(result >= minimum)][0]
            limit = f" that are at least {minimum:g}" if np.isfinite(minimum) else ""
            raise InputError(f"{expected}{limit}; it returned {'NaN' if np.isnan(wrong) else f'{wrong:g}'}")
        return result

    return estimates
