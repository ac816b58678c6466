"""What the service says of patterns: how many positions fit, by distance, and the nearest and farthest of them."""

from dataclasses import replace
from typing import Any

from antipodes.puzzles.pattern import batches
from antipodes.puzzles.puzzle import Puzzle
from antipodes.service.drawing import pictures_of
from antipodes.service.limits import MAX_MATCHES, MAX_SHOWN, TooMuchError
from antipodes.tables.json_results import matches_view
from antipodes.tables.queries import Matches
from antipodes.tables.table import Table


def pattern_view(table: Table, pattern: str) -> dict[str, Any]:
    """The values of ``query --pattern --json``, with the pictures of the first of the nearest and of the farthest.

    PatternError where it is no pattern; TooMuchError where more than MAX_MATCHES positions fit.
    """
    _check_few(table.puzzle, pattern)
    matches = table.match(pattern)
    shown = replace(matches, nearest=matches.nearest[:MAX_SHOWN], farthest=matches.farthest[:MAX_SHOWN])
    view = matches_view(table.puzzle, pattern, shown)
    view["nearest"] = _side(table.puzzle, view["nearest"], matches, shown, "nearest")
    view["farthest"] = _side(table.puzzle, view["farthest"], matches, shown, "farthest")
    return view


def _side(puzzle: Puzzle, view: dict[str, Any] | None, matches: Matches, shown: Matches, side: str) -> Any:
    """The nearest or the farthest positions: how many there are, and the pictures of those that are shown."""
    if view is None:
        return None
    return {**view, "count": len(getattr(matches, side)), "pictures": pictures_of(puzzle, getattr(shown, side))}


def _check_few(puzzle: Puzzle, pattern: str) -> None:
    count = 0
    for labels in batches(puzzle, pattern):
        count += len(labels)
        if count > MAX_MATCHES:
            raise TooMuchError(
                f"expected a pattern that at most {MAX_MATCHES:,} positions fit, found more: antipodes query --pattern"
            )
