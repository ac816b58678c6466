"""Goals as a person writes them: a position, or a pattern that stands for many."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from antipodes.puzzles.blocks.board import BlockBoard
from antipodes.puzzles.blocks.pattern import BlockPattern
from antipodes.puzzles.pattern import Pattern
from antipodes.puzzles.puzzle import Puzzle
from antipodes_tasks import arguments
from antipodes_tasks.errors import PatternError
from antipodes_tasks.quoting import quote, shorten
from antipodes_tasks.rules.moves import Labels

MARKS = frozenset("?[]{}")
"""Characters that only patterns have."""
MOST = 1 << 16
"""Positions that a goal stands for, at most: a search looks for each."""


def batches(puzzle: Puzzle, pattern: str) -> Iterator[Labels]:
    """All positions that match a pattern, each once, in batches ``(n, places)``; PatternError if it is not one."""
    kind = BlockPattern if isinstance(puzzle.notation, BlockBoard) else Pattern
    return kind.parse(puzzle, pattern).batches()


def aimed_at(puzzle: Puzzle, goals: Sequence[str]) -> Puzzle:
    """The puzzle that draws the blocks of patterns among the goals as targets, too; PatternError if one is wrong."""
    board = puzzle.notation
    if not isinstance(board, BlockBoard):
        return puzzle
    named = {symbol for text in goals if MARKS & set(text) for symbol in BlockPattern.parse(puzzle, text).named}
    return replace(puzzle, notation=replace(board, targets=board.targets | named))


def goals_in(puzzle: Puzzle, text: str) -> Labels:
    """The positions ``(n, places)`` that a text stands for: one, or all that match a pattern.

    Raises
    ------
    PositionError
        The text is no position, and no pattern.
    PatternError
        A pattern is not one of the puzzle, or matches no position or more than MOST.
    """
    arguments.text(text, "a position or a pattern", PatternError)
    if not MARKS & set(text):
        return puzzle.parse(text)[np.newaxis]
    found, count = [puzzle.start_labels[:0]], 0
    for labels in batches(puzzle, text):
        found.append(labels)
        count += len(labels)
        if count > MOST:
            raise PatternError(f"pattern {quote(shorten(text))}: expected at most {MOST:,} positions, found more")
    if not count:
        raise PatternError(f"pattern {quote(shorten(text))}: expected one that a position matches, found none")
    return np.concatenate(found)
