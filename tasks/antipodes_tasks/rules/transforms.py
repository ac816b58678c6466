"""Transforms: moves that permute the places and add to what they hold, perhaps under conditions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from antipodes_tasks import arguments
from antipodes_tasks.errors import InputError
from antipodes_tasks.quoting import counted
from antipodes_tasks.rules.moves import Labels, Mask, Moves

PLACE_BYTES = 64
"""Memory of a place of a move, in all arrays together."""
MAX_MASKED = 64
"""Values of a place that a condition can tell apart: the bits of a mask."""


class Transforms(Moves):
    """Moves ``after[i] = (before[origin[i]] + added[i]) % modulus[i]``, each legal where its conditions hold.

    Permutation puzzles add nothing. A twist adds to orientations, a press of Lights Out adds 1 modulo 2.
    """

    origin: NDArray[np.int16]
    """``(moves, places)``: the place from which each place gets its label."""
    added: NDArray[np.uint8]
    """``(moves, places)``: what is added there."""
    moduli: NDArray[np.int16]
    """``(places,)``: the number of values of each place."""
    allowed: NDArray[np.uint64] | None
    """``(moves, places)``: bit ``v`` is set where the place may hold ``v`` before the move; None: all are legal."""

    def __init__(
        self,
        names: Iterable[str],
        origin: ArrayLike,
        moduli: ArrayLike,
        added: ArrayLike | None = None,
        allowed: ArrayLike | None = None,
    ) -> None:
        """Copy the arrays.

        InputError where shapes or values do not fit: an origin is no permutation, joins places of different moduli, an
        added value is not below its modulus, or there are conditions on places of more than 64 values.
        """
        listed = names.tolist() if isinstance(names, np.ndarray) else names
        given = arguments.instance(listed, Iterable, "names of moves")  # type: ignore[type-abstract]
        self._names = tuple(arguments.text(name, "the name of a move") for name in given)
        self.moduli = _narrow(arguments.integers(moduli, "moduli", 1), np.dtype(np.int16))
        self.origin = _table(origin, "origin", len(self.moduli), np.dtype(np.int16))
        self.added = np.zeros(self.origin.shape, dtype=np.uint8)
        if added is not None:
            self.added = _table(added, "added", len(self.moduli), np.dtype(np.uint8))
        self.allowed = arguments.optional(allowed, _masks)
        _check(self)

    def __reduce__(self) -> tuple[Any, ...]:
        """Send the arrays alone to other processes, not what follows from them."""
        return type(self), (self._names, self.origin, self.moduli, self.added, self.allowed)

    @classmethod
    def permuting(cls, origins: Mapping[str, Sequence[int]], symbols: int) -> Transforms:
        """Permutations by name: ``origin[i]`` is the place from which ``i`` gets one of so many labels."""
        places = len(next(iter(origins.values()), ()))
        return cls(origins, list(origins.values()), np.full(places, symbols))

    @property
    def names(self) -> tuple[str, ...]:
        """The name of each move; see `Moves.names`."""
        return self._names

    @property
    def places(self) -> int:
        """The number of places."""
        return len(self.moduli)

    def __len__(self) -> int:
        return len(self.origin)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Transforms) and (self.names, self.table_key) == (other.names, other.table_key)

    def __hash__(self) -> int:
        return hash(self.table_key)

    @cached_property
    def table_key(self) -> bytes:
        """The arrays; the order of moves counts, their names do not."""
        conditions = b"" if self.allowed is None else self.allowed.astype("<u8").tobytes()
        return b"transforms" + self.moduli.astype("<i2").tobytes() + self._effects.tobytes() + conditions

    @property
    def _effects(self) -> NDArray[np.int16]:
        return np.concatenate((self.origin, self.added), axis=1).astype("<i2")

    @property
    def memory_bytes(self) -> int:
        """An upper bound of the memory of the moves: the arrays, those backwards, and copies made to compare them."""
        return PLACE_BYTES * len(self) * self.places

    @cached_property
    def inverse(self) -> NDArray[np.int64]:
        """``(moves,)``: the number of the move that undoes each, legal exactly where it leads, or -1."""
        back = self.reversed()
        numbers = {one: number for number, one in enumerate(_keys(self))}
        return np.array([numbers.get(key, -1) for key in _keys(back)], dtype=np.int64)

    @property
    def reversible(self) -> bool:
        """Whether each move is undone by another."""
        return bool((self.inverse >= 0).all())

    @cached_property
    def conditions(self) -> NDArray[np.uint64] | None:
        """The masks of `allowed` without bits that stand for no value."""
        return None if self.allowed is None else self.allowed & _every_value(self.moduli)

    @cached_property
    def conditional(self) -> NDArray[np.bool_]:
        """``(moves, places)``: where a move is illegal for some value."""
        if self.conditions is None:
            return np.zeros(self.origin.shape, dtype=np.bool_)
        conditional: NDArray[np.bool_] = self.conditions != _every_value(self.moduli)
        return conditional

    def reversed(self) -> Transforms:
        """The moves that undo these, with the same numbers and names, each legal exactly where its move leads."""
        back = np.argsort(self.origin, axis=1)
        taken = np.take_along_axis(self.added.astype(np.int64), back, axis=1)
        conditions = None
        if self.conditions is not None:
            old = np.take_along_axis(self.conditions, self.origin.astype(np.int64), axis=1)
            conditions = _rotated(old, self.added, self.moduli)
        return Transforms(self.names, back, self.moduli, (-taken) % self.moduli, conditions)

    @cached_property
    def _inverses(self) -> Transforms:
        return self.reversed()

    def move(self, number: int, labels: Labels) -> tuple[Labels, Mask]:
        """The positions ``(n, places)`` after a move, and where it is legal, ``(n,)``."""
        moved = labels[:, self.origin[number]]
        if self.added[number].any():
            moved = ((moved.astype(np.int16) + self.added[number]) % self.moduli).astype(np.uint8)
        return moved, self.legal(number, labels)

    def undo(self, number: int, labels: Labels) -> tuple[Labels, Mask]:
        """The positions ``(n, places)`` before a move, and where there is one, ``(n,)``."""
        return self._inverses.move(number, labels)

    def successors(self, labels: Labels) -> Labels:
        """All positions one move after ``(places,)``, ``(k, places)``, in the order of the moves."""
        legal: Mask = np.ones(len(self), dtype=np.bool_)
        if self.allowed is not None:
            legal = np.logical_and.reduce((self.allowed >> labels.astype(np.uint64)) & np.uint64(1), axis=1)
        sums = labels[self.origin[legal]].astype(np.int16) + self.added[legal]
        after: Labels = (sums % self.moduli).astype(np.uint8)
        return after

    def predecessors(self, labels: Labels) -> Labels:
        """All positions one move before ``(places,)``, ``(k, places)``, in the order of the moves."""
        return self._inverses.successors(labels)

    def legal(self, number: int, labels: Labels) -> Mask:
        """Which of the positions ``(n, places)`` allow the move, ``(n,)``."""
        if self.allowed is None:
            return np.ones(len(labels), dtype=np.bool_)
        legal: Mask = ((self.allowed[number] >> labels.astype(np.uint64)) & np.uint64(1)).all(axis=1)
        return legal


def _table(values: ArrayLike, what: str, places: int, dtype: np.dtype[Any]) -> NDArray[Any]:
    """The integers ``(moves, places)`` in an array of that type."""
    if isinstance(values, list | tuple) and not values:
        return np.zeros((0, places), dtype)
    table = arguments.integers(values, f"{what} (moves, places)", 2)
    if table.shape[1] != places:
        raise InputError(f"expected {what} (moves, {places}), found an array {table.shape}")
    return _narrow(table, dtype)


def _masks(values: object) -> NDArray[np.uint64]:
    """The integers of 64 bits, one by one: numpy makes floats of a list of some below 2^63 and some above."""
    if isinstance(values, np.ndarray) and values.dtype == np.uint64:
        return np.array(values)
    try:
        each = np.array(values, dtype=object)
    except (ValueError, MemoryError):
        raise InputError("expected allowed (moves, places), found rows of different lengths") from None
    masks = [arguments.integer(mask, "allowed: masks", 0, (1 << 64) - 1) for mask in each.flat]
    return np.array(masks, dtype=np.uint64).reshape(each.shape)


def _narrow(values: NDArray[Any], dtype: np.dtype[Any]) -> NDArray[Any]:
    """A copy in that type; InputError where it has no such numbers."""
    limits = np.iinfo(dtype)
    if values.size and not limits.min <= int(values.min()) <= int(values.max()) <= limits.max:
        raise InputError(f"expected integers from {limits.min} to {limits.max}, found {values.min()} to {values.max()}")
    return values.astype(dtype)


def _check(moves: Transforms) -> None:
    for table in (moves.added, moves.allowed):
        if table is not None and table.shape != moves.origin.shape:
            raise InputError(f"expected arrays (moves, places) {moves.origin.shape}, found {table.shape}")
    if moves._names and len(moves._names) != len(moves):
        raise InputError(f"expected {counted(len(moves), 'name')} of moves, found {len(moves._names)}")
    if not (np.sort(moves.origin, axis=1) == np.arange(len(moves.moduli))).all():
        raise InputError("expected moves that are permutations of the places, found another")
    if not (moves.moduli[moves.origin] == moves.moduli).all() or not (moves.added < moves.moduli).all():
        raise InputError("expected moves that keep to the values of each place, found another")
    if moves.allowed is not None and moves.moduli.max(initial=0) > MAX_MASKED:
        raise InputError(f"expected at most {MAX_MASKED} values where moves have conditions")


def _keys(moves: Transforms) -> list[bytes]:
    """Bytes that are equal for equal moves."""
    conditions = np.zeros((len(moves), 0)) if moves.conditions is None else moves.conditions
    return [a.tobytes() + b.tobytes() for a, b in zip(moves._effects, conditions, strict=True)]


def _every_value(moduli: NDArray[np.int16]) -> NDArray[np.uint64]:
    """``(places,)``: the mask of all values of each place; there are at most MAX_MASKED."""
    every: NDArray[np.uint64] = ~np.uint64(0) >> (64 - moduli).astype(np.uint64)
    return every


def _rotated(masks: NDArray[np.uint64], by: NDArray[np.uint8], moduli: NDArray[np.int16]) -> NDArray[np.uint64]:
    """The masks ``(moves, places)`` of the values after adding, from those before."""
    rotated = np.zeros_like(masks)
    one = np.uint64(1)
    for value in range(int(moduli.max(initial=0))):
        after = (value + by.astype(np.int64)) % moduli
        rotated |= ((masks >> np.uint64(value)) & one) << after.astype(np.uint64)
    return rotated
