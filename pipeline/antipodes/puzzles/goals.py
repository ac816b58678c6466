"""Goals and starts: the positions that texts describe. A text is a position or a pattern."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from antipodes.puzzles.block_board import BlockBoard
from antipodes.puzzles.pattern import BlockPattern, parse_pattern
from antipodes.puzzles.puzzle import Puzzle, starts_of
from antipodes_tasks.base import arguments
from antipodes_tasks.base.array_types import Labels
from antipodes_tasks.base.errors import PatternError
from antipodes_tasks.base.quoting import quote, shorten
from antipodes_tasks.rules.moves import GoalTest

MARKS = frozenset("?[]{}")
"""Characters that distinguish patterns from positions."""
MAX_GOALS = 1 << 16
"""Maximum number of positions in a list of goals."""
MAX_STARTS = 1 << 22
"""Maximum number of starts: a table ranks all of them at once, which takes a few hundred bytes each."""


def starts_matching(puzzle: Puzzle, texts: Sequence[str]) -> Sequence[tuple[int, ...]]:
    """Return all distinct positions that the texts (positions or patterns) describe, in ascending order of keys.

    Raises the errors of `goals_in`, but with a limit of MAX_STARTS positions.
    """
    return starts_of(_all_batches(puzzle, texts), puzzle.moves, puzzle.parts)


def _all_batches(puzzle: Puzzle, texts: Sequence[str]) -> Iterator[Labels]:
    count = 0
    for text in texts:
        for labels in positions_matching(puzzle, text):
            yield labels
            count += len(labels)
            _check_count(text, count, MAX_STARTS)


def positions_matching(puzzle: Puzzle, text: str) -> Iterator[Labels]:
    """Yield the positions that a text (a position or a pattern) describes, at least one, in batches ``(n, places)``.

    Raises PositionError if the text is not a valid position, and PatternError if it is an invalid pattern or matches no
    position.
    """
    if not MARKS & set(text):
        yield puzzle.parse(text)[np.newaxis]
        return
    tried = count = 0
    for labels in parse_pattern(puzzle, text).batches():
        tried += len(labels)
        if puzzle.rules.larger is not None:  # perhaps only a small fraction of many arrangements is whole
            _check_count(text, tried, MAX_STARTS)
        yield (whole := puzzle.rules.whole(labels))
        count += len(whole)
    if not count:
        raise PatternError(f"no position of the puzzle matches the pattern {quote(shorten(text))}")


def _check_count(text: str, count: int, max_count: int) -> None:
    if count > max_count:
        raise PatternError(f"pattern {quote(shorten(text))}: more than {max_count:,} positions match")


def with_targets(puzzle: Puzzle, goals: Sequence[str]) -> Puzzle:
    """Return the puzzle that also draws, as targets, the blocks that patterns among the goals name.

    Raises PatternError if a pattern is invalid.
    """
    board = puzzle.notation
    if not isinstance(board, BlockBoard):
        return puzzle
    named = {symbol for text in goals if MARKS & set(text) for symbol in BlockPattern.parse(puzzle, text).named}
    return replace(puzzle, notation=replace(board, targets=board.targets | named))


def goals_in(puzzle: Puzzle, text: str) -> Labels:
    """Return the positions ``(n, places)`` that a text describes: one position, or all that match a pattern.

    Raises PositionError if the text is not a valid position, and PatternError if it is an invalid pattern or matches no
    position or more than MAX_GOALS.
    """
    arguments.text(text, "a position or a pattern", PatternError)
    found, count = [puzzle.start_labels[:0]], 0
    for labels in positions_matching(puzzle, text):
        found.append(labels)
        count += len(labels)
        _check_count(text, count, MAX_GOALS)
    return np.concatenate(found)


def goals_or_test(puzzle: Puzzle, text: str) -> Labels | GoalTest:
    """Return the positions of `goals_in`; if they are too many, return a function that tests whether positions match.

    Raises the same errors for an invalid text.
    """
    if MARKS & set(arguments.text(text, "a position or a pattern", PatternError)):
        pattern, count = parse_pattern(puzzle, text), 0
        for labels in pattern.batches():
            count += len(labels)
            if count > MAX_GOALS:
                return pattern.matches
    return goals_in(puzzle, text)
