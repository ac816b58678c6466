"""The service's answers about patterns: the number of matching positions at each distance, and the extremes."""

from dataclasses import dataclass, replace

from antipodes.drawing.picture import Picture
from antipodes.puzzles.pattern import batches
from antipodes.puzzles.puzzle import Puzzle
from antipodes.service.encoded_answers import Encoded, pictures_of
from antipodes.service.limits import MAX_MATCHES, MAX_SHOWN, TooMuchError
from antipodes.system.records import schema_name, values_of
from antipodes.tables.json_results import MatchesAtDistance, PatternMatches, pattern_matches
from antipodes.tables.table import Table
from antipodes_tasks.base.array_types import Labels


@dataclass(frozen=True, slots=True)
class Side(MatchesAtDistance):
    """The closest or farthest of the positions that match a pattern."""

    pictures: list[Encoded[Picture]]


@schema_name("Matches")
@dataclass(frozen=True, slots=True)
class PicturedMatches(PatternMatches):
    """The positions that match a pattern."""

    nearest: Side | None
    farthest: Side | None


def pattern_view(table: Table, pattern: str) -> PicturedMatches:
    """Return the values of ``query --pattern --json`` and pictures of a few of the closest and farthest positions.

    Raises PatternError if the pattern is invalid, and TooMuchError if more than MAX_MATCHES positions match.
    """
    _check_few(table.puzzle, pattern)
    matches = table.match(pattern)
    nearest, farthest = matches.nearest[:MAX_SHOWN], matches.farthest[:MAX_SHOWN]
    found = pattern_matches(table.puzzle, pattern, replace(matches, nearest=nearest, farthest=farthest))
    sides = {
        "nearest": _side(table.puzzle, found.nearest, nearest, len(matches.nearest)),
        "farthest": _side(table.puzzle, found.farthest, farthest, len(matches.farthest)),
    }
    return PicturedMatches(**{**values_of(found), **sides})


def _side(puzzle: Puzzle, found: MatchesAtDistance | None, positions: Labels, count: int) -> Side | None:
    """Return the closest or farthest positions, of which some are listed, with pictures."""
    if found is None:
        return None
    return Side(found.distance, count, found.positions, pictures_of(puzzle, positions))


def _check_few(puzzle: Puzzle, pattern: str) -> None:
    count = 0
    for labels in batches(puzzle, pattern):
        count += len(labels)
        if count > MAX_MATCHES:
            raise TooMuchError(f"more than {MAX_MATCHES:,} positions match this pattern; use antipodes query --pattern")
