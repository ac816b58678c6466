"""The model of a puzzle: labels on places, and moves that permute the places."""

import hashlib
import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

import antipodes.puzzles.move as move
from antipodes import arguments
from antipodes.errors import PositionError
from antipodes.puzzles.board import Board
from antipodes.puzzles.move import Labels, Move, Moves, Swaps
from antipodes.quoting import quote, shorten

__all__ = ["Labels", "Move", "Puzzle", "Swaps"]


@dataclass(frozen=True)
class Puzzle:
    """A puzzle: its board, its pieces, where they start and how they move.

    Positions are arrays of labels (see `Labels`), texts as a person writes them, or drawings of several lines. Tables
    depend on `starts` and `moves` only.
    """

    name: str
    family: str
    description: str
    board: Board
    symbols: tuple[str, ...]
    """The symbol of each label."""
    starts: tuple[tuple[int, ...], ...]
    """The positions at depth 0."""
    moves: Moves

    @property
    def places(self) -> int:
        """The number of places."""
        return len(self.starts[0])

    @cached_property
    def counts(self) -> tuple[int, ...]:
        """The number of pieces with each label; the first entry is the number of empty places."""
        tally = Counter(self.starts[0])
        return tuple(tally[label] for label in range(len(self.symbols)))

    @cached_property
    def start_labels(self) -> Labels:
        """The starts, ``(starts, places)``."""
        return np.array(self.starts, dtype=np.uint8)

    @cached_property
    def fingerprint(self) -> str:
        """SHA-256 of symbols, starts and moves: two puzzles with the same fingerprint have the same table."""
        digest = hashlib.sha256(json.dumps([self.symbols, sorted(self.starts)]).encode())
        digest.update(move.essence(self.moves))
        return digest.hexdigest()

    def parse(self, text: str) -> Labels:
        """Read one position, ``(places,)``.

        Raises
        ------
        PositionError
            The text has another number of symbols, a symbol that the puzzle does not know, or other pieces.
        """
        arguments.text(text, "a position", PositionError)
        try:
            labels: Labels = self.checked(np.array([self._labels(text)]))[0]
        except PositionError as error:
            raise PositionError(f"position {quote(shorten(text))}: {error}") from None
        return labels

    def parse_many(self, texts: Sequence[str]) -> Labels:
        """Read many positions, ``(n, places)``; raises as `parse` for the first text that is not a position."""
        if isinstance(texts, str) or not isinstance(texts, Sequence):
            raise PositionError(f"expected a list of texts, found {arguments.found(texts)}")
        try:
            return self._parse_all(texts)
        except PositionError:
            self.parse(self._first_refused(texts))
            raise

    def _parse_all(self, texts: Sequence[str]) -> Labels:
        return self.checked(np.array([self._labels(text) for text in texts]).reshape(-1, self.places))

    def _first_refused(self, texts: Sequence[str]) -> str:
        """The first text that is not a position, by bisection: one after another would take ten times as long."""
        while len(texts) > 1:
            first, second = texts[: len(texts) // 2], texts[len(texts) // 2 :]
            try:
                self._parse_all(first)
            except PositionError:
                texts = first
            else:
                texts = second
        return texts[0]

    def _labels(self, text: str) -> list[int]:
        arguments.text(text, "a position", PositionError)
        known = {symbol: label for label, symbol in enumerate(self.symbols)}
        return [known[symbol] for symbol in self.board.split(text, self.symbols)]

    def checked_one(self, labels: ArrayLike) -> Labels:
        """As `checked`, for one position ``(places,)``."""
        one = arguments.integers(labels, f"a position of {self.places} places", 1, PositionError)
        checked: Labels = self.checked(one[np.newaxis])[0]
        return checked

    def checked(self, labels: ArrayLike) -> Labels:
        """The integers ``(n, places)`` as labels, checked to have exactly the pieces of the puzzle in each row.

        Raises
        ------
        PositionError
            A row has other pieces; the message names the first surplus or missing piece.
        """
        labels = arguments.integers(labels, f"positions (n, {self.places})", 2, PositionError)
        if labels.shape[1] != self.places:
            raise PositionError(f"expected positions of {self.places} places, found an array {labels.shape}")
        wrong_label = (labels < 0) | (labels >= len(self.symbols))
        if wrong_label.any():
            raise PositionError(f"expected labels 0 to {len(self.symbols) - 1}, found {labels[wrong_label].flat[0]}")
        for label, expected in enumerate(self.counts):
            found = (labels == label).sum(axis=1)
            if (found != expected).any():
                wrong = int(found[found != expected][0])
                raise PositionError(f"expected {expected} x {self.symbols[label]!r}, found {wrong}")
        checked: Labels = labels.astype(np.uint8, copy=False)
        return checked

    def format(self, labels: ArrayLike) -> str:
        """The position as one line of text, the inverse of `parse`; PositionError if it is not one."""
        return self.board.join(self._written(labels))

    def draw(self, labels: ArrayLike) -> str:
        """The position as a drawing of several lines; PositionError if it is not one."""
        return self.board.draw(self._written(labels))

    def _written(self, labels: ArrayLike) -> list[str]:
        """The symbol on each place. The number of each is not checked, since often many positions are written."""
        one = arguments.integers(labels, f"a position of {self.places} places", 1, PositionError)
        if len(one) != self.places or not set(one.tolist()) <= set(range(len(self.symbols))):
            self.checked_one(one)  # raises
        return [self.symbols[label] for label in one.tolist()]

    def successors(self, labels: ArrayLike) -> Labels:
        """All positions one move after a position, ``(k, places)``; PositionError if it is not one."""
        return move.successors(self.moves, self.checked_one(labels))

    def predecessors(self, labels: ArrayLike) -> Labels:
        """All positions one move before a position, ``(k, places)``; PositionError if it is not one."""
        return move.predecessors(self.moves, self.checked_one(labels))
