"""Positions as permutations of points: each combination of a place and an orientation of a piece is a point.

A position is written as the permutation that takes each point of the first start to the point where it is now. This
requires that all pieces differ, so that the labels determine which piece is where. Values must be orientations of these
pieces, or stay on their places. A move then multiplies the permutation from the left by an element that does not depend
on the position.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import NDArray

from antipodes_tasks.base.array_types import Labels
from antipodes_tasks.base.jit import kernel
from antipodes_tasks.permutations.chain import MAX_POINTS, Permutations
from antipodes_tasks.rules.parts import Part, ranges_of
from antipodes_tasks.rules.rules import Rules
from antipodes_tasks.rules.transforms import Transforms

BATCH = 1 << 11
"""Number of positions that are converted together, so that a column of them stays in the cache."""
MAX_NUMPY_IMAGES = 1 << 20
"""Number of images of points below which numpy is faster than loading compiled code."""
NO_COLUMN = -1
"""Used instead of a place if a seat has no piece, or no value."""
Turns = NDArray[np.int64]
"""``(n, seats)``: the number of points by which the value of each seat is turned."""


@dataclass(frozen=True, eq=False)
class PuzzlePoints:
    """The points of a puzzle. Each belongs to a *seat*, which has a piece, a value, or a piece with its orientation."""

    pieces: NDArray[np.int64]
    """``(seats,)``: the place of the piece among all places, or NO_COLUMN."""
    values: NDArray[np.int64]
    """``(seats,)``: the place of the value, which is the orientation of the piece if there is one; or NO_COLUMN."""
    moduli: NDArray[np.int64]
    """``(seats,)``: the number of values, which is the number of points."""
    homes: NDArray[np.int64]
    """``(seats, labels)``: for each piece that can be on a seat, its seat at the start; -1 for other labels."""
    start: Labels
    """``(places,)``: the first start."""
    moves: Transforms

    @cached_property
    def count(self) -> int:
        """Number of points."""
        return int(self.moduli.sum())

    @cached_property
    def first_points(self) -> NDArray[np.int64]:
        """``(seats,)``: the first point of each seat."""
        return np.cumsum(self.moduli) - self.moduli

    def permutations(self, labels: Labels) -> Permutations:
        """Return the permutations ``(n, points)`` of positions ``(n, places)``; only zeros if a label is unknown."""
        permutations = np.zeros((len(labels), self.count), dtype=np.int16)
        if permutations.size > MAX_NUMPY_IMAGES:
            columns = (self.pieces, self.values, self.moduli, self.first_points, self.homes, self._start_values)
            write_permutations(np.ascontiguousarray(labels), *columns, permutations)
            return permutations
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
                homes = np.maximum(homes, 0)
            turns: Turns = np.zeros(homes.shape, dtype=np.int64)
            if self.values[seats[0]] != NO_COLUMN:
                turns += labels[:, self.values[seats]]
                unknown |= (turns >= self.moduli[seats[0]]).any(axis=1)
                turns -= self._start_values[homes]
            self._put(permutations, self.first_points[homes], seats, turns)
        permutations[unknown] = 0

    def _put(
        self, permutations: Permutations, firsts: NDArray[np.int64], seats: NDArray[np.int64], turns: Turns
    ) -> None:
        """Write the images of the points that begin at ``firsts`` ``(n, seats)``.

        The images are the points of ``seats``, turned by ``turns``.
        """
        modulus = self.moduli[seats[0]]
        for turn in range(modulus):
            images = (self.first_points[seats] + (turns + turn) % modulus).astype(np.int16)
            np.put_along_axis(permutations, firsts + turn, images, axis=1)

    def permutation_of(self, labels: Sequence[int]) -> bytes:
        """Return the permutation of one position given as Python integers, with a byte for each point."""
        permutation = bytearray(self.count)
        for piece, value, homes, images in self._images:
            first, end, start_value = homes[0 if piece == NO_COLUMN else labels[piece]]
            permutation[first:end] = images[0 if value == NO_COLUMN else labels[value] - start_value]
        return bytes(permutation)

    @cached_property
    def _images(self) -> list[tuple[int, int, dict[int, tuple[int, int, int]], list[bytes]]]:
        """For each seat, the places of its piece and value, the home of each label, and the points after each turn.

        A home is given by its first point, one past its last point, and its value at the start.
        """
        known = list(
            zip(
                self.first_points.tolist(),
                (self.first_points + self.moduli).tolist(),
                self._start_values.tolist(),
                strict=True,
            )
        )
        found = []
        for seat, (piece, value) in enumerate(zip(self.pieces.tolist(), self.values.tolist(), strict=True)):
            labels = {0: seat} if piece == NO_COLUMN else dict(enumerate(self.homes[seat].tolist()))
            homes = {label: known[home] for label, home in labels.items() if home >= 0}
            points = list(range(*known[seat][:2]))
            images = [bytes(points[turn:] + points[:turn]) for turn in range(len(points))]
            found.append((piece, value, homes, images))
        return found

    def labels(self, permutations: Permutations) -> Labels:
        """Return the positions ``(n, places)`` of permutations ``(n, points)``, which must be reachable."""
        labels = np.empty((len(permutations), len(self.start)), dtype=np.uint8)
        for first in range(0, len(labels), BATCH):
            self._convert_back(permutations[first : first + BATCH], labels[first : first + BATCH])
        return labels

    def _convert_back(self, permutations: Permutations, labels: Labels) -> None:
        for homes in self._kinds:
            points = permutations[:, self.first_points[homes]]
            seats = self._seats[points]
            if self.pieces[homes[0]] != NO_COLUMN:
                pieces = np.broadcast_to(self.start[self.pieces[homes]], seats.shape)
                np.put_along_axis(labels, self.pieces[seats], pieces, axis=1)
            if self.values[homes[0]] != NO_COLUMN:
                values = (points - self.first_points[seats] + self._start_values[homes]) % self.moduli[homes[0]]
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

    @cached_property
    def elements(self) -> Permutations:
        """The permutation ``(moves, points)`` by which each move multiplies a position from the left."""
        elements = np.empty((len(self.moves), self.count), dtype=np.int16)
        place = np.where(self.pieces < 0, self.values, self.pieces)
        seat_at = np.zeros(len(self.start), dtype=np.int64)
        seat_at[place] = np.arange(len(place))
        firsts = self.first_points[seat_at[self.moves.origin[:, place]]]
        turns: Turns = np.where(self.values == NO_COLUMN, 0, self.moves.added[:, self.values]).astype(np.int64)
        for seats in self._kinds:
            self._put(elements, firsts[:, seats], seats, turns[:, seats])
        return elements


def points_of(rules: Rules) -> PuzzlePoints | None:
    """Return the points of a puzzle, cached; None if its positions are not permutations of points."""
    moves = Transforms.of(rules.moves)
    return None if moves is None else _points_of(rules.parts, rules.starts[0], moves)


@lru_cache(maxsize=4)
def _points_of(parts: tuple[Part, ...], start: tuple[int, ...], moves: Transforms) -> PuzzlePoints | None:
    seats = _seats_of(parts, moves)
    if seats is None or moves.allowed is not None or not all(part.all_different for part in parts):
        return None
    pieces, values = (np.array(column, dtype=np.int64) for column in seats)
    moduli = np.where(values == NO_COLUMN, 1, moves.moduli[values]).astype(np.int64)
    if moduli.sum() > MAX_POINTS:
        return None
    labels = np.array(start, dtype=np.uint8)
    homes = np.full((len(pieces), 256), -1, dtype=np.int64)
    for part, here in zip(parts, ranges_of(parts), strict=True):
        if part.holds_pieces:
            occupied = np.flatnonzero((pieces >= here.start) & (pieces < here.stop))
            homes[np.ix_(occupied, labels[here])] = occupied
    return PuzzlePoints(pieces, values, moduli, homes, labels, moves)


def _seats_of(parts: tuple[Part, ...], moves: Transforms) -> tuple[list[int], list[int]] | None:
    """Return the places of the pieces and of the values of all seats; None if moves do not permute points."""
    pieces: list[int] = []
    values: list[int] = []
    ranges = ranges_of(parts)
    for number, (part, here) in enumerate(zip(parts, ranges, strict=True)):
        places = range(here.start, here.stop)
        if part.twists:
            if (
                number == 0
                or not parts[number - 1].holds_pieces
                or not _values_follow_pieces(moves, ranges[number - 1], here)
            ):
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
    return pieces, values


def _values_follow_pieces(moves: Transforms, pieces: slice, values: slice) -> bool:
    """Return whether values always move together with the pieces."""
    one, other = moves.origin[:, pieces] - pieces.start, moves.origin[:, values] - values.start
    return np.array_equal(one, other)


Column = NDArray[np.int64]


@kernel
def write_permutations(
    labels: NDArray[np.uint8],
    pieces: Column,
    values: Column,
    moduli: Column,
    firsts: Column,
    homes: NDArray[np.int64],
    start_values: Column,
    permutations: NDArray[np.int16],
) -> None:
    """Write positions ``(n, places)`` as permutations ``(n, points)``; only zeros if a label is unknown."""
    for row in range(labels.shape[0]):
        for seat in range(len(moduli)):
            home = np.int64(seat)
            if pieces[seat] >= 0:
                home = homes[seat, labels[row, pieces[seat]]]
            turn = np.int64(0)
            if values[seat] >= 0:
                turn = np.int64(labels[row, values[seat]])
            if home < 0 or turn >= moduli[seat]:
                permutations[row] = 0
                break
            if values[seat] >= 0:
                turn -= start_values[home]
            if turn < 0:
                turn += moduli[seat]
            for point in range(moduli[seat]):
                permutations[row, firsts[home] + point] = firsts[seat] + turn
                turn += 1
                if turn == moduli[seat]:
                    turn = np.int64(0)
