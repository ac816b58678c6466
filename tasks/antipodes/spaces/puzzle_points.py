"""Positions as permutations of points: each place of a piece, in each orientation, is a point.

A position is the permutation that takes each point of the first start to where it has gone. It is defined where all
pieces differ, so that the labels say which piece is where, and where values are orientations of such pieces, or stay on
their places. A move then multiplies the permutation from the left, whatever the position.
"""

from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import NDArray

from antipodes.puzzles.moves.moves import Labels
from antipodes.puzzles.moves.transforms import Transforms
from antipodes.puzzles.puzzle import Puzzle
from antipodes.spaces.stabiliser_chain import MAX_POINTS, Permutations

BATCH = 1 << 11
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

    @cached_property
    def count(self) -> int:
        """The number of points."""
        return int(self.moduli.sum())

    @cached_property
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
        unknown = np.zeros(len(labels), dtype=np.bool_)
        for seats in self._kinds:
            homes = np.broadcast_to(seats, (len(labels), len(seats)))
            if self.pieces[seats[0]] != NO_COLUMN:
                homes = self.homes[seats, labels[:, self.pieces[seats]]]
                unknown |= (homes < 0).any(axis=1)
            turns: NDArray[np.int64] = np.zeros(homes.shape, dtype=np.int64)
            modulus = self.moduli[seats[0]]
            if self.values[seats[0]] != NO_COLUMN:
                turns += labels[:, self.values[seats]]
                unknown |= (turns >= modulus).any(axis=1)
                turns -= self._start_values[homes]
            for turn in range(modulus):
                images = (self.firsts[seats] + (turns + turn) % modulus).astype(np.int16)
                np.put_along_axis(permutations, self.firsts[homes] + turn, images, axis=1)
        permutations[unknown] = 0

    def labels(self, permutations: Permutations) -> Labels:
        """The positions ``(n, places)`` of permutations ``(n, points)`` that moves can make."""
        labels = np.empty((len(permutations), len(self.start)), dtype=np.uint8)
        for first in range(0, len(labels), BATCH):
            self._convert_back(permutations[first : first + BATCH], labels[first : first + BATCH])
        return labels

    def _convert_back(self, permutations: Permutations, labels: Labels) -> None:
        for homes in self._kinds:
            points = permutations[:, self.firsts[homes]]
            seats = self._seats[points]
            if self.pieces[homes[0]] != NO_COLUMN:
                pieces = np.broadcast_to(self.start[self.pieces[homes]], seats.shape)
                np.put_along_axis(labels, self.pieces[seats], pieces, axis=1)
            if self.values[homes[0]] != NO_COLUMN:
                values = (points - self.firsts[seats] + self._start_values[homes]) % self.moduli[homes[0]]
                np.put_along_axis(labels, self.values[seats], values.astype(np.uint8), axis=1)

    @cached_property
    def _start_values(self) -> NDArray[np.int64]:
        return np.where(self.values == NO_COLUMN, 0, self.start[self.values]).astype(np.int64)

    @cached_property
    def _seats(self) -> NDArray[np.int64]:
        """``(points,)``: the seat of each point."""
        return np.repeat(np.arange(len(self.moduli)), self.moduli)

    @cached_property
    def _kinds(self) -> list[NDArray[np.int64]]:
        """The seats, grouped by their number of points and by whether they have pieces and values."""
        kinds: dict[tuple[int, bool, bool], list[int]] = {}
        columns = zip(self.moduli.tolist(), self.pieces == NO_COLUMN, self.values == NO_COLUMN, strict=True)
        for seat, kind in enumerate(columns):
            kinds.setdefault(kind, []).append(seat)
        return [np.array(seats) for seats in kinds.values()]

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
