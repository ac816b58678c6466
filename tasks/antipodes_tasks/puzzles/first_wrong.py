"""The first of many positions that a check of all of them refuses: one after another takes ten times as long."""

from collections.abc import Callable

from antipodes_tasks.errors import PositionError


def first_wrong(count: int, check: Callable[[slice], object]) -> int:
    """The number of the first of ``count`` positions that ``check`` refuses with a PositionError, by bisection.

    One of them is refused.
    """
    first, end = 0, count
    while end - first > 1:
        middle = (first + end) // 2
        try:
            check(slice(first, middle))
        except PositionError:
            end = middle
        else:
            first = middle
    return first
