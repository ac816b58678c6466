"""Swaps: moves of one piece to an empty place, as a compact array."""

from collections.abc import Callable
from functools import cached_property
from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike, NDArray

from antipodes_tasks.errors import InputError
from antipodes_tasks.rules.moves import Labels, Mask, Moves

Pairs = NDArray[np.int16]
Naming = Callable[[int, int], str]
"""The name of a move, from the place of the piece and the empty place; for other processes it can be pickled."""
MAX_PLACE = np.iinfo(np.int16).max


class Swaps(Moves):
    """Moves that swap one piece with an empty place; label 0 stands for an empty place.

    Complete graphs have a million of them, so they are one array.
    """

    pairs: Pairs
    """``(moves, 2)``: the place of the piece, and the empty place."""

    def __init__(self, pairs: ArrayLike, naming: Naming | None = None) -> None:
        """Copy the pairs; InputError if a number is not a place."""
        wide = np.asarray(pairs, dtype=np.int64).reshape(-1, 2)
        if wide.size and not 0 <= wide.min() <= wide.max() <= MAX_PLACE:
            raise InputError(f"expected places from 0 to {MAX_PLACE}, found {wide.min()} to {wide.max()}")
        self.pairs = wide.astype(np.int16)
        self._naming = naming

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The name of each move, if moves have names; made when it is asked for, as there may be many."""
        return () if self._naming is None else tuple(self._naming(*pair) for pair in self.pairs.tolist())

    def __len__(self) -> int:
        return len(self.pairs)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Swaps) and np.array_equal(self.pairs, other.pairs)

    def __hash__(self) -> int:
        return hash(self.pairs.tobytes())

    @cached_property
    def reversible(self) -> bool:
        """Whether each piece can go back the way it came."""
        return np.array_equal(_different(self.pairs), _different(self.pairs[:, ::-1]))

    @property
    def essence(self) -> bytes:
        """The different pairs: their order and repetition do not count."""
        return b"swaps" + _different(self.pairs).tobytes()

    def reversed(self) -> "Swaps":
        """The moves that undo these."""
        return Swaps(self.pairs[:, ::-1])

    def after(self, number: int, labels: Labels) -> tuple[Labels, Mask]:
        """The positions ``(n, places)`` after a move, and where it is legal, ``(n,)``."""
        origin, destination = self.pairs[number]
        return _swapped(labels, origin, destination), (labels[:, origin] != 0) & (labels[:, destination] == 0)

    def before(self, number: int, labels: Labels) -> tuple[Labels, Mask]:
        """The positions ``(n, places)`` before a move, and where there is one, ``(n,)``."""
        destination, origin = self.pairs[number]
        return _swapped(labels, origin, destination), (labels[:, origin] != 0) & (labels[:, destination] == 0)

    def along(self, path: Labels) -> list[int | None]:
        """The number of the move from each position of a path to the next; see `Moves`."""
        numbers = {pair: number for number, pair in reversed(list(enumerate(map(tuple, self.pairs.tolist()))))}
        return [numbers.get(_pair(before, after)) for before, after in pairwise(path)]

    def successors(self, labels: Labels) -> Labels:
        """All positions one move after ``(places,)``, ``(k, places)``, in the order of the moves."""
        origin, destination = self.pairs.T
        return _each_swapped(labels, self.pairs[(labels[origin] != 0) & (labels[destination] == 0)])

    def predecessors(self, labels: Labels) -> Labels:
        """All positions one move before ``(places,)``, ``(k, places)``, in the order of the moves."""
        origin, destination = self.pairs.T
        return _each_swapped(labels, self.pairs[(labels[origin] == 0) & (labels[destination] != 0)])


def _different(pairs: Pairs) -> NDArray[np.int32]:
    """The different pairs as numbers, ascending."""
    origin, destination = pairs.T.astype("<i4")
    numbers: NDArray[np.int32] = np.sort(origin << 16 | destination)
    differs = np.ones(len(numbers), dtype=np.bool_)
    differs[1:] = numbers[1:] != numbers[:-1]  # np.unique loads numpy.ma, which takes 20 ms
    return numbers[differs]


def _pair(before: Labels, after: Labels) -> tuple[int, ...]:
    """The place of the piece and the empty place of the swap between two positions; () if it is none."""
    places = np.flatnonzero(before != after)
    if len(places) != 2 or sorted(before[places]) != sorted(after[places]) or before[places].all():
        return ()
    origin, destination = places if before[places[0]] else places[::-1]
    return int(origin), int(destination)


def _swapped(labels: Labels, one: int, other: int) -> Labels:
    changed = labels.copy()
    changed[:, [one, other]] = labels[:, [other, one]]
    return changed


def _each_swapped(labels: Labels, pairs: Pairs) -> Labels:
    """The position with the labels of each pair swapped, ``(pairs, places)``."""
    changed = np.repeat(labels[np.newaxis], len(pairs), axis=0)
    every = np.arange(len(pairs))
    changed[every, pairs[:, 0]], changed[every, pairs[:, 1]] = labels[pairs[:, 1]], labels[pairs[:, 0]]
    return changed
