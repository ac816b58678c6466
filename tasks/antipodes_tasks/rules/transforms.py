"""Transforms: moves that permute the places and add to their labels, optionally under conditions on the labels."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any, NamedTuple, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from antipodes_tasks.base import arguments
from antipodes_tasks.base.array_types import Labels, Mask
from antipodes_tasks.base.errors import InputError
from antipodes_tasks.base.quoting import counted
from antipodes_tasks.rules.moves import Moves

PLACE_BYTES = 64
"""Bytes of memory per place of a move, for all arrays together."""
MAX_MASKED = 64
"""Maximum number of values of a place if moves have conditions: a mask has one bit for each value."""
MAX_MASKS = 1 << 20
"""Maximum length of a range or iterator of masks. It may be endless, or take more memory than there is."""


class Effect(NamedTuple):
    """The change of labels by transforms: ``after[i] = (before[origin[i]] + added[i]) % modulus[i]``.

    The arrays have the shape ``(places,)`` for one transform, and ``(n, places)`` for n transforms.
    """

    origin: NDArray[np.int64]
    """The place from which each place gets its label."""
    added: NDArray[np.int64]
    """The number added to each label."""

    @classmethod
    def identity(cls, places: int) -> Effect:
        """Return the effect that changes nothing."""
        return cls(np.arange(places), np.zeros(places, dtype=np.int64))

    def then(self, other: Effect, moduli: NDArray[np.integer[Any]]) -> Effect:
        """Return the effect of one transform, followed by another transform, or by each of several."""
        return Effect(self.origin[other.origin], (self.added[other.origin] + other.added) % moduli)

    def inverse(self, moduli: NDArray[np.integer[Any]]) -> Effect:
        """Return the effect that undoes each transform."""
        back = np.argsort(self.origin, axis=-1)
        return Effect(back, -np.take_along_axis(self.added, back, axis=-1) % moduli)

    @property
    def key(self) -> bytes:
        """Bytes that identify the effect: only transforms with the same effect have the same bytes."""
        return np.concatenate(self, axis=-1, dtype=np.int64).tobytes()

    @property
    def keys(self) -> list[bytes]:
        """The `key` of each of several transforms."""
        return [row.tobytes() for row in np.concatenate(self, axis=-1, dtype=np.int64)]


class Transforms(Moves):
    """Moves ``after[i] = (before[origin[i]] + added[i]) % modulus[i]``; a move is legal if its conditions hold.

    Moves of permutation puzzles add nothing. A twist adds a number to orientations; pressing a light of Lights Out adds
    1 modulo 2.
    """

    origin: NDArray[np.int16]
    """``(moves, places)``: the place from which each place gets its label."""
    added: NDArray[np.uint8]
    """``(moves, places)``: the number added to each label."""
    moduli: NDArray[np.int16]
    """``(places,)``: the number of values of each place."""
    allowed: NDArray[np.uint64] | None
    """``(moves, places)``: bit ``v`` is set if the place may hold ``v`` before the move. If it is None, every move is
    always legal.
    """

    def __init__(
        self,
        names: Iterable[str],
        origin: ArrayLike,
        moduli: ArrayLike,
        added: ArrayLike | None = None,
        allowed: ArrayLike | None = None,
    ) -> None:
        """Copy the arrays.

        Raises InputError if shapes do not match, an origin is not a permutation or connects places with different
        moduli, an added value is not below its modulus, or a place with conditions has more than 64 values.
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
        """Pickle only the arrays, not the values derived from them."""
        return type(self), (self._names, self.origin, self.moduli, self.added, self.allowed)

    @classmethod
    def of(cls, moves: Moves) -> Transforms | None:
        """Return the moves as transforms if they are stated in this form, else None."""
        return cast(Transforms | None, moves.transforms)

    @classmethod
    def permuting(cls, origins: Mapping[str, Sequence[int]], symbols: int) -> Transforms:
        """Return named permutations of ``symbols`` labels: place ``i`` gets the label of place ``origin[i]``."""
        places = len(next(iter(origins.values()), ()))
        return cls(origins, list(origins.values()), np.full(places, symbols))

    @property
    def names(self) -> tuple[str, ...]:
        """The name of each move; see `Moves.names`."""
        return self._names

    @property
    def transforms(self) -> Transforms:
        """These moves."""
        return self

    @property
    def places(self) -> int:
        """Number of places."""
        return len(self.moduli)

    def __len__(self) -> int:
        return len(self.origin)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Transforms) and (self.names, self.table_key) == (other.names, other.table_key)

    def __hash__(self) -> int:
        return hash(self.table_key)

    @cached_property
    def points_of_places(self) -> NDArray[np.int64]:
        """``(places,)``: number of points of each place, as in `permutations`."""
        is_turned: Mask = np.asarray(self.added.any(axis=0))
        while is_turned[self.origin].any(axis=0).sum() > is_turned.sum():
            is_turned = is_turned | is_turned[self.origin].any(axis=0)
        return np.where(is_turned, self.moduli, 1).astype(np.int64)

    def permutations(self) -> NDArray[np.int64]:
        """Return the moves as permutations of points, ``(moves, points)``: ``after[i] = before[permutation[i]]``.

        The points are the places. If a number is added to the label of a place, each value of the place is a point of
        its own: a corner of a cube that can be twisted in three ways has three points. Conditions are ignored.
        """
        values = self.points_of_places
        first = np.cumsum(values) - values
        place = np.repeat(np.arange(len(values)), values)
        value = np.arange(len(place)) - first[place]
        found: NDArray[np.int64] = first[self.origin[:, place]] + (value - self.added[:, place]) % values[place]
        return found

    @cached_property
    def table_key(self) -> bytes:
        """The bytes of the arrays, which depend on the order of the moves but not on their names."""
        conditions = b"" if self.allowed is None else self.allowed.astype("<u8").tobytes()
        return b"transforms" + self.moduli.astype("<i2").tobytes() + self._stored_effects.tobytes() + conditions

    @property
    def _stored_effects(self) -> NDArray[np.int16]:
        return np.concatenate((self.origin, self.added), axis=1).astype("<i2")

    @property
    def effects(self) -> Effect:
        """The effects of all moves."""
        return Effect(self.origin.astype(np.int64), self.added.astype(np.int64))

    def effect(self, number: int) -> Effect:
        """Return the effect of a move."""
        return Effect(self.origin[number].astype(np.int64), self.added[number].astype(np.int64))

    @property
    def memory_bytes(self) -> int:
        """Upper bound on the memory in bytes: the arrays, the inverse moves, and the copies made to compare them."""
        return PLACE_BYTES * len(self) * self.places

    @cached_property
    def inverse(self) -> NDArray[np.int64]:
        """``(moves,)``: the number of the inverse of each move, or -1. It is legal exactly after the move."""
        back = self.reversed()
        numbers = {one: number for number, one in enumerate(_keys(self))}
        return np.array([numbers.get(key, -1) for key in _keys(back)], dtype=np.int64)

    @property
    def reversible(self) -> bool:
        """Whether every move has an inverse among the moves."""
        return bool((self.inverse >= 0).all())

    @cached_property
    def conditions(self) -> NDArray[np.uint64] | None:
        """The masks `allowed`, without bits for labels that the place cannot hold."""
        return None if self.allowed is None else self.allowed & _every_value(self.moduli)

    @cached_property
    def conditional(self) -> NDArray[np.bool_]:
        """``(moves, places)``: whether some value of the place makes the move illegal."""
        if self.conditions is None:
            return np.zeros(self.origin.shape, dtype=np.bool_)
        conditional: NDArray[np.bool_] = self.conditions != _every_value(self.moduli)
        return conditional

    def reversed(self) -> Transforms:
        """Return the inverse moves, with the same numbers and names; each is legal exactly after its move."""
        back = self.effects.inverse(self.moduli)
        conditions = None
        if self.conditions is not None:
            old = np.take_along_axis(self.conditions, self.origin.astype(np.int64), axis=1)
            conditions = rotated(old, self.added, self.moduli)
        return Transforms(self.names, back.origin, self.moduli, back.added, conditions)

    @cached_property
    def _inverses(self) -> Transforms:
        return self.reversed()

    def move(self, number: int, labels: Labels) -> tuple[Labels, Mask]:
        """Return the positions ``(n, places)`` after a move and a mask ``(n,)`` of the positions that allow it."""
        moved = labels[:, self.origin[number]]
        if self.added[number].any():
            moved = ((moved.astype(np.int16) + self.added[number]) % self.moduli).astype(np.uint8)
        return moved, self.legal(number, labels)

    def undo(self, number: int, labels: Labels) -> tuple[Labels, Mask]:
        """Return the predecessors ``(n, places)`` by a move and a mask ``(n,)`` of the positions that have one."""
        return self._inverses.move(number, labels)

    def successors(self, labels: Labels) -> Labels:
        """Return all successors ``(k, places)`` of a position ``(places,)``, in the order of the moves."""
        legal: Mask = np.ones(len(self), dtype=np.bool_)
        if self.allowed is not None:
            legal = np.logical_and.reduce((self.allowed >> labels.astype(np.uint64)) & np.uint64(1), axis=1)
        sums = labels[self.origin[legal]].astype(np.int16) + self.added[legal]
        after: Labels = (sums % self.moduli).astype(np.uint8)
        return after

    def predecessors(self, labels: Labels) -> Labels:
        """Return all predecessors ``(k, places)`` of a position ``(places,)``, in the order of the moves."""
        return self._inverses.successors(labels)

    def legal(self, number: int, labels: Labels) -> Mask:
        """Return a mask ``(n,)`` of the positions ``(n, places)`` that allow the move."""
        if self.allowed is None:
            return np.ones(len(labels), dtype=np.bool_)
        places = np.flatnonzero(self.conditional[number])
        legal: Mask = ((self.allowed[number, places] >> labels[:, places].astype(np.uint64)) & np.uint64(1)).all(axis=1)
        return legal


def _table(values: ArrayLike, what: str, places: int, dtype: np.dtype[Any]) -> NDArray[Any]:
    """Return the integers as an array ``(moves, places)`` of type ``dtype``."""
    if isinstance(values, list | tuple) and not values:
        return np.zeros((0, places), dtype)
    table = arguments.integers(values, f"{what} (moves, places)", 2)
    if table.shape[1] != places:
        raise InputError(f"expected {what} (moves, {places}), found an array {table.shape}")
    return _narrow(table, dtype)


def _masks(values: object) -> NDArray[np.uint64]:
    """Return 64-bit masks, converted one by one, since numpy turns a list with small and large masks into floats."""
    if isinstance(values, np.ndarray) and values.dtype == np.uint64:
        return np.array(values)
    rows = arguments.few(values, MAX_MASKS, "rows of masks")
    if isinstance(rows, list | tuple):
        rows = [arguments.few(row, MAX_MASKS, "masks in a row") for row in rows]
    try:
        each = np.array(rows, dtype=object)
    except (ValueError, MemoryError):
        raise InputError("allowed: expected an array (moves, places), found rows of different lengths") from None
    masks = [arguments.integer(mask, "allowed: masks", 0, (1 << 64) - 1) for mask in each.flat]
    return np.array(masks, dtype=np.uint64).reshape(each.shape)


def _narrow(values: NDArray[Any], dtype: np.dtype[Any]) -> NDArray[Any]:
    """Return a copy of type ``dtype``; raise InputError if a value does not fit."""
    limits = np.iinfo(dtype)
    if values.size and not limits.min <= int(values.min()) <= int(values.max()) <= limits.max:
        raise InputError(f"expected integers from {limits.min} to {limits.max}, found {values.min()} to {values.max()}")
    return values.astype(dtype)


def _check(moves: Transforms) -> None:
    for table in (moves.added, moves.allowed):
        if table is not None and table.shape != moves.origin.shape:
            raise InputError(f"expected arrays (moves, places) {moves.origin.shape}, found {table.shape}")
    if moves._names and len(moves._names) != len(moves):
        raise InputError(f"names: expected {counted(len(moves), 'name')}, one per move, found {len(moves._names)}")
    if not (np.sort(moves.origin, axis=1) == np.arange(len(moves.moduli))).all():
        raise InputError("origin: each move must be a permutation of the places")
    if not (moves.moduli[moves.origin] == moves.moduli).all() or not (moves.added < moves.moduli).all():
        raise InputError("a move may only connect places with the same modulus, and add numbers below this modulus")
    if moves.allowed is not None and moves.moduli.max(initial=0) > MAX_MASKED:
        raise InputError(f"if moves have conditions, each place may have at most {MAX_MASKED} values")


def _keys(moves: Transforms) -> list[bytes]:
    """Return one byte string per move; equal moves have equal strings."""
    conditions = np.zeros((len(moves), 0)) if moves.conditions is None else moves.conditions
    return [a.tobytes() + b.tobytes() for a, b in zip(moves._stored_effects, conditions, strict=True)]


def _every_value(moduli: NDArray[np.int16]) -> NDArray[np.uint64]:
    """Return masks ``(places,)`` of all values of each place; a place must have at most MAX_MASKED values."""
    every: NDArray[np.uint64] = ~np.uint64(0) >> (64 - moduli).astype(np.uint64)
    return every


def rotated(masks: NDArray[np.uint64], by: NDArray[np.uint8], moduli: NDArray[np.int16]) -> NDArray[np.uint64]:
    """Return masks ``(moves, places)`` of the values after the numbers ``by`` have been added, from masks of the values
    before.
    """
    rotated = np.zeros_like(masks)
    one = np.uint64(1)
    for value in range(int(moduli.max(initial=0))):
        after = (value + by.astype(np.int64)) % moduli
        rotated |= ((masks >> np.uint64(value)) & one) << after.astype(np.uint64)
    return rotated
