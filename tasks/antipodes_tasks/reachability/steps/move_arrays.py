"""Swaps and transforms as arrays, for kernels: where each move is legal, and which places it changes."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from antipodes_tasks.rules.parts import Part
from antipodes_tasks.rules.swaps import Pairs, Swaps
from antipodes_tasks.rules.transforms import Transforms

Numbers = NDArray[np.int64]
NO_GUARD = -1
UNLIMITED = 256
"""A modulus that no label reaches."""
OCCUPIED = ~1 & (1 << 64) - 1
"""The condition that a place is not empty; bit 63 stands for all labels from 63 on."""
MOST_PAIRED = 128
"""Moves of which every two are compared, in some 20 ms; of more, the worst is assumed."""


class MoveArrays(NamedTuple):
    """Moves, each with a place that must be empty (label 0), if there is one. Others with the same place best follow.

    The conditions of a move ``m`` are the entries from ``condition_at[m]`` to ``condition_at[m + 1]``, and its changes
    those from ``change_at[m]`` to ``change_at[m + 1]``.
    """

    guard: Numbers
    """``(moves,)``: the place that must be empty, or NO_GUARD."""
    next_group: Numbers
    """``(moves,)``: the first later move that has another guard."""
    condition_at: Numbers
    tested: Numbers
    """The place of each condition."""
    mask: NDArray[np.uint64]
    """The labels that the place may hold; bit 63 stands for all labels from 63 on."""
    change_at: Numbers
    place: Numbers
    """The place that each change concerns."""
    origin: Numbers
    """The place from which it gets its label."""
    added: Numbers
    """The number added to the label."""
    moduli: Numbers
    """``(places,)``: the number of values of each place, which is taken away where a sum reaches it."""
    inverse: Numbers
    """``(moves,)``: the number of the move that undoes each move, or -1."""
    wasted: NDArray[np.bool_]
    """``(moves, moves)``: whether the second of two moves is wasted, as one move or none has the effect of both; no
    rows if there are many moves."""
    effects: Numbers
    """``(moves, 2, places)``: the origin of every place, and the number added; no rows unless two moves can lead from
    one position to the same one."""


def arrays_of(moves: Swaps | Transforms, parts: Sequence[Part]) -> MoveArrays:
    """The moves as arrays; a swap given twice counts once."""
    if isinstance(moves, Swaps):
        return _arrays_of_swaps(moves.pairs, sum(part.places for part in parts))
    return _arrays_of_transforms(moves, parts)


def _arrays_of_swaps(pairs: Pairs, places: int) -> MoveArrays:
    ends = np.unique(pairs[:, 1].astype(np.int64) * places + pairs[:, 0])  # by destination, ascending
    destination, origin = np.divmod(ends, places)
    backwards = origin * places + destination
    undo = np.minimum(np.searchsorted(ends, backwards), max(0, len(ends) - 1))
    each = np.arange(len(ends) + 1)
    swapped = np.stack((destination, origin), axis=1)
    return MoveArrays(
        guard=destination,
        next_group=np.searchsorted(destination, destination, side="right").astype(np.int64),
        condition_at=each,
        tested=origin,
        mask=np.full(len(ends), OCCUPIED, dtype=np.uint64),
        change_at=2 * each,
        place=swapped.reshape(-1),
        origin=swapped[:, ::-1].reshape(-1).copy(),
        added=np.zeros(2 * len(ends), dtype=np.int64),
        moduli=np.full(places, UNLIMITED, dtype=np.int64),
        inverse=np.where(ends[undo] == backwards, undo, -1),
        wasted=np.empty((0, 0), dtype=np.bool_),
        effects=np.empty((0, 2, places), dtype=np.int64),
    )


def _arrays_of_transforms(moves: Transforms, parts: Sequence[Part]) -> MoveArrays:
    origin, added = moves.origin.astype(np.int64), moves.added.astype(np.int64)
    changes = (origin != np.arange(moves.places)) | (added != 0)
    move, place = np.nonzero(changes)
    at, tested, mask = _conditions(moves)
    guard = _guards(moves)
    effects = np.stack((origin, added), axis=1)
    return MoveArrays(
        guard=guard,
        next_group=_next_group(guard),
        condition_at=at,
        tested=tested,
        mask=mask,
        change_at=_ends(changes),
        place=place,
        origin=origin[move, place],
        added=added[move, place],
        moduli=moves.moduli.astype(np.int64),
        inverse=moves.inverse,
        wasted=_wasted(moves),
        effects=effects if _ambiguous(moves, parts) else effects[:0],
    )


def _ends(entries: NDArray[np.bool_]) -> Numbers:
    """``(moves + 1,)``: where the entries of each move begin, if they are listed one after another."""
    return np.cumsum([0, *entries.sum(axis=1)], dtype=np.int64)


def _conditions(moves: Transforms) -> tuple[Numbers, Numbers, NDArray[np.uint64]]:
    """Where the conditions of each move begin, their places, and their masks; those that always hold are left out."""
    if moves.conditions is None:
        return np.zeros(len(moves) + 1, dtype=np.int64), np.empty(0, np.int64), np.empty(0, np.uint64)
    tests = moves.conditional
    return _ends(tests), np.nonzero(tests)[1], moves.conditions[tests]


def _guards(moves: Transforms) -> Numbers:
    """For each move the first place that must hold label 0, or NO_GUARD."""
    empty = moves.conditional & (np.uint64(1) == (0 if moves.conditions is None else moves.conditions))
    return np.where(empty.any(axis=1), empty.argmax(axis=1), NO_GUARD)


def _next_group(guard: Numbers) -> Numbers:
    """For each move the first later one that has another guard."""
    last = np.flatnonzero(np.append(guard[1:] != guard[:-1], True))
    following: Numbers = last[np.searchsorted(last, np.arange(len(guard)))] + 1
    return following


def _wasted(moves: Transforms) -> NDArray[np.bool_]:
    """Which two moves one after another are one move or none, for moves without conditions."""
    if moves.allowed is not None or len(moves) > MOST_PAIRED:
        return np.empty((0, 0), dtype=np.bool_)
    moduli, added = moves.moduli.astype(np.int16), moves.added.astype(np.int16)
    single = {a.tobytes() + b.tobytes() for a, b in zip(moves.origin, added, strict=True)}
    single.add(np.arange(moves.places, dtype=np.int16).tobytes() + bytes(2 * moves.places))
    wasted = np.zeros((len(moves), len(moves)), dtype=np.bool_)
    for one in range(len(moves)):
        origins = moves.origin[one][moves.origin]
        sums = (added[one][moves.origin] + added) % moduli
        wasted[one] = [a.tobytes() + b.tobytes() in single for a, b in zip(origins, sums, strict=True)]
    return wasted


def _ambiguous(moves: Transforms, parts: Sequence[Part]) -> bool:
    """Whether two moves may lead from one position to the same one.

    They cannot if they bring different pieces to a place of a part whose pieces all differ, or add different numbers
    to the same label.
    """
    if len(moves) > MOST_PAIRED:
        return True
    sizes = [part.places for part in parts]
    of_part = np.repeat(np.arange(len(parts)), sizes)
    stays = (of_part[moves.origin] == of_part).all(axis=0) & ~moves.added.any(axis=0)
    distinct = stays & np.repeat([part.holds_pieces and part.all_different for part in parts], sizes)
    for number in range(1, len(moves)):
        other_origin = moves.origin[:number] != moves.origin[number]
        told_apart = np.where(other_origin, distinct, moves.added[:number] != moves.added[number])
        if not told_apart.any(axis=1).all():
            return True
    return False
