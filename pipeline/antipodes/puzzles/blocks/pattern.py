"""Patterns of block puzzles: some blocks where they stand, and anything elsewhere.

A pattern is written like a position. A letter is a block that stands there, ``.`` an empty square, ``?`` a square with
any content.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from antipodes.puzzles.blocks.board import BlockBoard, squares_covered
from antipodes.puzzles.blocks.kinds import EMPTY
from antipodes.puzzles.board import HOLE
from antipodes.puzzles.puzzle import Puzzle
from antipodes_tasks import arguments
from antipodes_tasks.errors import PatternError, PositionError
from antipodes_tasks.quoting import quote, shorten
from antipodes_tasks.rules.moves import Labels
from antipodes_tasks.rules.squares import squares_of

ANYTHING = "?"
UNDECIDED = 255
"""Instead of a label."""
BATCH = 1 << 16
"""Positions of a batch."""


@dataclass(frozen=True, eq=False)
class BlockPattern:
    """The positions of a block puzzle that match a text."""

    puzzle: Puzzle
    board: BlockBoard
    labels: Labels
    """``(places,)``: what the pattern says of each place, or UNDECIDED."""

    @classmethod
    def parse(cls, puzzle: Puzzle, text: str) -> "BlockPattern":
        """Read a pattern.

        Raises
        ------
        PatternError
            The text has another number of squares, or blocks that the puzzle does not have.
        """
        arguments.text(text, "a pattern", PatternError)
        board = puzzle.notation
        assert isinstance(board, BlockBoard)
        try:
            pattern = cls(puzzle, board, _labels(puzzle, board, text))
            pattern._check_pieces()
        except (PositionError, PatternError) as error:
            raise PatternError(f"pattern {quote(shorten(text))}: {error}") from None
        return pattern

    @property
    def named(self) -> set[str]:
        """The symbols of the kinds of the blocks that the pattern has."""
        return {self.puzzle.rules.symbols[label] for label in set(self.labels.tolist()) if 0 < label < self._rest}

    def batches(self) -> Iterator[Labels]:
        """All positions that match, whether or not they can be reached, each once, in batches ``(n, places)``."""
        waiting = [(0, self.labels[np.newaxis], self._left[np.newaxis])]
        while waiting:
            place, labels, left = waiting.pop()
            if place == self.puzzle.places:
                yield labels
                continue
            labels, left = self._decided(place, labels, left)
            parts = range(0, len(labels), BATCH)
            waiting += [(place + 1, labels[at : at + BATCH], left[at : at + BATCH]) for at in reversed(parts)]

    def _decided(self, place: int, labels: Labels, left: NDArray[np.int64]) -> tuple[Labels, NDArray[np.int64]]:
        """The positions with everything that may stand on a place, and the pieces that are left of each."""
        open_ = labels[:, place] == UNDECIDED
        found, counts = [labels[~open_]], [left[~open_]]
        labels, left = labels[open_], left[open_]
        for label, covered in self._choices[place]:
            fits = (left[:, label] > 0) & (labels[:, covered] == UNDECIDED).all(axis=1)
            filled, rest = labels[fits], left[fits]
            filled[:, covered] = self._rest
            filled[:, place] = label
            rest[:, label] -= 1
            found.append(filled)
            counts.append(rest)
        return np.concatenate(found), np.concatenate(counts)

    @property
    def _rest(self) -> int:
        return len(self.board.kinds) + 1

    @cached_property
    def _choices(self) -> list[list[tuple[int, list[int]]]]:
        """For each place the labels that may stand there, and the places that each covers."""
        squares = squares_of(self.board.rows, self.board.columns, self.board.holes)
        place = {square: number for number, square in enumerate(squares)}
        choices = []
        for square in squares:
            choices.append([(0, [place[square]])])
            for label, kind in enumerate(self.board.kinds, start=1):
                covered = squares_covered(kind, square)
                if kind.may_stand(square) and place.keys() >= set(covered):
                    choices[-1].append((label, [place[one] for one in covered]))
        return choices

    @cached_property
    def _left(self) -> NDArray[np.int64]:
        """The number of pieces of each label that the pattern does not name."""
        named = np.bincount(self.labels, minlength=UNDECIDED + 1)[: self._rest]
        left: NDArray[np.int64] = np.array(self.puzzle.rules.counts[: self._rest]) - named
        return left

    def _check_pieces(self) -> None:
        for label in np.flatnonzero(self._left < 0).tolist():
            most, symbol = self.puzzle.rules.counts[label], self.puzzle.rules.symbols[label]
            raise PatternError(f"expected at most {most} x {symbol!r}, found {most - int(self._left[label])}")


def _labels(puzzle: Puzzle, board: BlockBoard, text: str) -> Labels:
    rows = board.grid(text)
    symbols = board.places_of([[EMPTY if symbol == ANYTHING else symbol for symbol in row] for row in rows])
    number = {symbol: label for label, symbol in enumerate(puzzle.rules.symbols)}
    pairs = [
        (written, symbol)
        for row, drawn in zip(rows, symbols, strict=True)
        for written, symbol in zip(row, drawn, strict=True)
    ]
    labels = [UNDECIDED if written == ANYTHING else number[symbol] for written, symbol in pairs if written != HOLE]
    return np.array(labels, dtype=np.uint8)
