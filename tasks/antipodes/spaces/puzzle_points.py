"""Positions as permutations of points: each place of a piece, in each orientation, is a point.

A position is the permutation that takes each point of the first start to where it has gone. It is defined where all
pieces differ, so that the labels say which piece is where, and where values are orientations of such pieces, or stay on
their places. A move then multiplies the permutation from the left, whatever the position.
"""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from antipodes.puzzles.moves.moves import Labels
from antipodes.puzzles.moves.transforms import Transforms
from antipodes.puzzles.puzzle import Puzzle
from antipodes.spaces.stabiliser_chain import MAX_POINTS, Permutations

BATCH = 1 << 13
"""Positions that are converted together, so that a column of them stays in the cache."""
NO_COLUMN = -1


@dataclass(frozen=True, eq=False)
class PuzzlePoints:
    """The points of a puzzle: those of each of its *seats*, which are places with a piece, a value, or both."""

    pieces: NDArray[np.int64]
    """``(seats,)``: the place of the piece among all places, or NO_COLUMN."""
    values: NDArray[np.int64]
    """``(seats,)``: the place of the value, which is the piece's orientation if there is one; or NO_COLUMN."""
    moduli: NDArray[np.int64]
    """``(seats,)``: the number of values, which is the number of points."""
    homes: NDArray[np.int64]
    """``(seats, labels)``: the seat at which a label of a piece starts, -1 for other labels."""
    start: Labels
    """``(places,)``: the first start."""

    @property
    def count(self) -> int:
        """The number of points."""
        return int(self.moduli.sum())

    @property
    def firsts(self) -> NDArray[np.int64]:
        """``(seats,)``: the first point of each seat."""
        return np.cumsum(self.moduli) - self.moduli

    def permutations(self, labels: Labels) -> Permutations:
        """The positions ``(n, places)`` as permutations ``(n, points)``; unknown labels give arrays that are none."""
        permutations = np.zeros((len(labels), self.count), dtype=np.int16)
        for first in range(0, len(labels), BATCH):
            self._convert(labels[first : first + BATCH], permutations[first : first + BATCH])
        return permutations

    def _convert(self, labels: Labels, permutations: Permutations) -> None:
        lines, firsts = np.arange(len(labels)), self.firsts
        for seat, (piece, value, modulus) in enumerate(zip(self.pieces, self.values, self.moduli, strict=True)):
            homes = np.full(len(labels), seat) if piece < 0 else self.homes[seat, labels[:, piece]]
            turns = np.zeros(len(labels), dtype=np.int64)
            if value >= 0:
                turns = (labels[:, value] + modulus - self._start_values[homes]) % modulus
                homes = np.where(labels[:, value] < modulus, homes, -1)
            known = homes >= 0
            lines_here, homes, turns = (
                (lines, homes, turns) if known.all() else (lines[known], homes[known], turns[known])
            )
            for turn in range(modulus):
                permutations[lines_here, firsts[homes] + turn] = firsts[seat] + (turn + turns) % modulus

    @property
    def _start_values(self) -> NDArray[np.int64]:
        return np.where(self.values < 0, 0, self.start[self.values]).astype(np.int64)

    def labels(self, permutations: Permutations) -> Labels:
        """The positions ``(n, places)`` of permutations ``(n, points)`` that moves can make."""
        labels = np.empty((len(permutations), len(self.start)), dtype=np.uint8)
        seat_of = np.repeat(np.arange(len(self.moduli)), self.moduli)
        firsts, starts = self.firsts, self._start_values
        for first in range(0, len(labels), BATCH):
            batch = labels[first : first + BATCH]
            lines = np.arange(len(batch))
            for home, (piece, value, modulus) in enumerate(zip(self.pieces, self.values, self.moduli, strict=True)):
                points = permutations[first : first + BATCH, firsts[home]]
                seats = seat_of[points]
                if piece >= 0:
                    batch[lines, self.pieces[seats]] = self.start[piece]
                if value >= 0:
                    batch[lines, self.values[seats]] = (points - firsts[seats] + starts[home]) % modulus
        return labels

    def elements(self, moves: Transforms) -> Permutations:
        """The permutation ``(moves, points)`` by which each move multiplies a position from the left."""
        elements = np.empty((len(moves), self.count), dtype=np.int16)
        place = np.where(self.pieces < 0, self.values, self.pieces)
        seat_at = np.zeros(len(self.start), dtype=np.int64)
        seat_at[place] = np.arange(len(place))
        for origin, added, element in zip(moves.origin, moves.added, elements, strict=True):
            for seat, (first, modulus) in enumerate(zip(self.firsts, self.moduli, strict=True)):
                turn = added[self.values[seat]] if self.values[seat] >= 0 else 0
                begin = self.firsts[seat_at[origin[place[seat]]]]
                element[begin : begin + modulus] = first + (np.arange(modulus) + turn) % modulus
        return elements


@lru_cache(maxsize=4)
def points_of(puzzle: Puzzle) -> PuzzlePoints | None:
    """The points of a puzzle; None where positions are no permutations of points."""
    moves = puzzle.moves
    if not isinstance(moves, Transforms) or moves.allowed is not None:
        return None
    if not all(part.all_different for part in puzzle.parts):
        return None
    pieces: list[int] = []
    values: list[int] = []
    for number, (part, here) in enumerate(zip(puzzle.parts, puzzle.ranges, strict=True)):
        places = range(here.start, here.stop)
        if part.twists:
            before = puzzle.ranges[number - 1]
            if number == 0 or not puzzle.parts[number - 1].holds_pieces or not _alike(moves, before, here):
                return None
            values[-len(places) :] = places
        elif part.holds_pieces:
            if moves.added[:, here].any():
                return None
            pieces.extend(places)
            values.extend([NO_COLUMN] * len(places))
        else:
            if (moves.origin[:, here] != np.arange(here.start, here.stop)).any():
                return None
            pieces.extend([NO_COLUMN] * len(places))
            values.extend(places)
    return _points(puzzle, moves, pieces, values)


def _alike(moves: Transforms, pieces: slice, values: slice) -> bool:
    """Whether values go where the pieces go."""
    same = moves.origin[:, pieces] - pieces.start, moves.origin[:, values] - values.start
    return same[0].shape == same[1].shape and bool((same[0] == same[1]).all())


def _points(puzzle: Puzzle, moves: Transforms, pieces: list[int], values: list[int]) -> PuzzlePoints | None:
    at, value_at = np.array(pieces, dtype=np.int64), np.array(values, dtype=np.int64)
    start = puzzle.start_labels[0]
    moduli = np.where(value_at < 0, 1, moves.moduli[value_at]).astype(np.int64)
    if moduli.sum() > MAX_POINTS:
        return None
    homes = np.full((len(at), 256), -1, dtype=np.int64)
    for part, here in zip(puzzle.parts, puzzle.ranges, strict=True):
        if part.holds_pieces:
            seats = np.flatnonzero((at >= here.start) & (at < here.stop))
            homes[np.ix_(seats, start[here])] = seats
    return PuzzlePoints(at, value_at, moduli, homes, start)
