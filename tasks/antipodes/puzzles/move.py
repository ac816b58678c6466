"""Moves: permutations of places under conditions, and swaps as a compact array."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from antipodes.errors import InputError

Labels = NDArray[np.uint8]
"""Positions as arrays ``(..., places)``: the label of the piece on each place, 0 where there is none."""
Pairs = NDArray[np.int16]
MAX_PLACE = np.iinfo(np.int16).max


@dataclass(frozen=True, slots=True)
class Move:
    """A permutation of places, and the conditions under which it is legal."""

    cycles: tuple[tuple[int, ...], ...]
    """In each cycle the piece on a place goes to the next place of the cycle, and from the last place to the first."""
    empty: tuple[int, ...] = ()
    """Places that must be empty."""
    occupied: tuple[int, ...] = ()
    """Places that must have a piece."""

    def inverse(self) -> "Move":
        """The same permutation backwards, without conditions."""
        return Move(tuple(cycle[::-1] for cycle in self.cycles))

    def origin(self, places: int) -> NDArray[np.intp]:
        """``(places,)``: from which place each place gets its piece, so that ``after = before[..., origin]``."""
        origin = np.arange(places)
        for cycle in self.cycles:
            origin[np.roll(cycle, -1)] = cycle
        return origin

    def legal(self, labels: Labels) -> NDArray[np.bool_]:
        """Which of the positions ``(n, places)`` allow the move, ``(n,)``."""
        onto = labels[:, list(self.empty)] != 0
        legal: NDArray[np.bool_] = (labels[:, list(self.occupied)] != 0).all(axis=1) & ~onto.any(axis=1)
        return legal


class Swaps(Sequence[Move]):
    """Moves that swap one piece with an empty place, as a compact array.

    Complete graphs have a million of them, so `Move` objects are made only for code that iterates over single moves.
    """

    __slots__ = ("pairs",)

    pairs: Pairs
    """``(moves, 2)``: the place of the piece, and the empty place."""

    def __init__(self, pairs: ArrayLike) -> None:
        """Copy the pairs; InputError if a number is not a place."""
        wide = np.asarray(pairs, dtype=np.int64).reshape(-1, 2)
        if wide.size and not 0 <= wide.min() <= wide.max() <= MAX_PLACE:
            raise InputError(f"expected places from 0 to {MAX_PLACE}, found {wide.min()} to {wide.max()}")
        self.pairs = wide.astype(np.int16)

    def __len__(self) -> int:
        return len(self.pairs)

    @overload
    def __getitem__(self, number: int) -> Move: ...
    @overload
    def __getitem__(self, number: slice) -> "Swaps": ...
    def __getitem__(self, number: int | slice) -> "Move | Swaps":
        if isinstance(number, slice):
            return Swaps(self.pairs[number])
        return _move(*self.pairs[number].tolist())

    def __iter__(self) -> Iterator[Move]:
        return (_move(a, b) for a, b in self.pairs.tolist())

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Swaps) and np.array_equal(self.pairs, other.pairs)

    def __hash__(self) -> int:
        return hash(self.pairs.tobytes())


Moves = tuple[Move, ...] | Swaps


def successors(moves: Moves, labels: Labels) -> Labels:
    """All positions one move after ``(places,)``, ``(k, places)``, in the order of the moves."""
    if isinstance(moves, Swaps):
        origin, destination = moves.pairs.T
        return _swapped(labels, moves.pairs[(labels[origin] != 0) & (labels[destination] == 0)])
    after = [labels[move.origin(len(labels))] for move in moves if move.legal(labels[np.newaxis])[0]]
    return _stacked(after, labels)


def predecessors(moves: Moves, labels: Labels) -> Labels:
    """All positions one move before ``(places,)``, ``(k, places)``, in the order of the moves."""
    if isinstance(moves, Swaps):
        origin, destination = moves.pairs.T
        return _swapped(labels, moves.pairs[(labels[origin] == 0) & (labels[destination] != 0)])
    before: list[Labels] = [labels[move.inverse().origin(len(labels))] for move in moves]
    return _stacked([one for one, move in zip(before, moves, strict=True) if move.legal(one[np.newaxis])[0]], labels)


def essence(moves: Moves) -> bytes:
    """The bytes of a fingerprint: equal for equal moves; the order and repetition of swaps do not count."""
    if isinstance(moves, Swaps):
        origin, destination = moves.pairs.T.astype("<i4")
        pairs: NDArray[np.int32] = np.sort(origin << 16 | destination)
        differs = np.ones(len(pairs), dtype=np.bool_)
        differs[1:] = pairs[1:] != pairs[:-1]  # np.unique loads numpy.ma, which takes 20 ms
        return b"exchanges" + pairs[differs].tobytes()  # stores keep fingerprints, so the word stays
    return json.dumps([(move.cycles, move.empty, move.occupied) for move in moves]).encode()


def _move(origin: int, destination: int) -> Move:
    return Move(((origin, destination),), empty=(destination,), occupied=(origin,))


def _swapped(labels: Labels, pairs: Pairs) -> Labels:
    """The position with the labels of each pair swapped, ``(pairs, places)``."""
    changed = np.repeat(labels[np.newaxis], len(pairs), axis=0)
    every = np.arange(len(pairs))
    changed[every, pairs[:, 0]], changed[every, pairs[:, 1]] = labels[pairs[:, 1]], labels[pairs[:, 0]]
    return changed


def _stacked(positions: list[Labels], labels: Labels) -> Labels:
    return np.array(positions, dtype=labels.dtype).reshape(-1, len(labels))
