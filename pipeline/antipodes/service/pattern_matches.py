"""The service's answers about patterns: the number of matching positions at each distance, and the extremes."""

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
    """Return the values of ``query --pattern --json`` and pictures of a few of the closest and farthest positions.

    Raises PatternError if the pattern is invalid, and TooMuchError if more than MAX_MATCHES positions match.
    """
    _check_few(table.puzzle, pattern)
    matches = table.match(pattern)
    shown = replace(matches, nearest=matches.nearest[:MAX_SHOWN], farthest=matches.farthest[:MAX_SHOWN])
    view = matches_view(table.puzzle, pattern, shown)
    view["nearest"] = _side(table.puzzle, view["nearest"], matches, shown, "nearest")
    view["farthest"] = _side(table.puzzle, view["farthest"], matches, shown, "farthest")
    return view


def _side(puzzle: Puzzle, view: dict[str, Any] | None, matches: Matches, shown: Matches, side: str) -> Any:
    """Return the number of the closest or farthest positions, and pictures of the positions that are shown."""
    if view is None:
        return None
    return {**view, "count": len(getattr(matches, side)), "pictures": pictures_of(puzzle, getattr(shown, side))}


def _check_few(puzzle: Puzzle, pattern: str) -> None:
    count = 0
    for labels in batches(puzzle, pattern):
        count += len(labels)
        if count > MAX_MATCHES:
            raise TooMuchError(f"more than {MAX_MATCHES:,} positions match this pattern; use antipodes query --pattern")
