"""Moves applied to many positions at once, for searches. Swaps and transforms are compiled; functions use numpy."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from antipodes_tasks.base.jit import kernel
from antipodes_tasks.keys.bit_fields import FieldLayout
from antipodes_tasks.keys.position_set import FACTOR, HALF, ONE, ZERO, Numbers, PositionSet, Slots, Words, words_equal
from antipodes_tasks.rules.moves import Labels, Mask, Moves, Pairs
from antipodes_tasks.rules.parts import Part
from antipodes_tasks.rules.transforms import Transforms

NO_GUARD = -1
"""Value of a guard if no place has to be empty."""
UNLIMITED = 256
"""A modulus greater than all labels."""
OCCUPIED = ~1 & (1 << 64) - 1
"""The condition that a place is not empty. Bit 63 stands for all labels from 63 on."""
MAX_PAIRED = 128
"""Maximum number of moves for which all pairs of moves are compared, which takes about 20 ms. For more moves, all moves
are assumed to be ambiguous, and no pair to be redundant."""
BATCH_BYTES = 1 << 20
"""Number of bytes of the positions that a function moves at a time."""
OTHERS = np.uint64(63)
"""The bit of a condition that stands for all labels from 63 on."""


class MoveArrays(NamedTuple):
    """Moves as arrays. A move may have a *guard*, a place that must be empty; moves with the same guard are adjacent.

    The conditions of move ``m`` are numbered from ``condition_at[m]`` to ``condition_at[m + 1] - 1``, and its changes
    from ``change_at[m]`` to ``change_at[m + 1] - 1``.
    """

    guard: Numbers
    """``(moves,)``: the place that must be empty, or NO_GUARD."""
    next_group: Numbers
    """``(moves,)``: the first later move with another guard."""
    condition_at: Numbers
    tested: Numbers
    """The place of each condition."""
    mask: NDArray[np.uint64]
    """The labels that the place may hold; bit 63 stands for all labels from 63 on."""
    change_at: Numbers
    place: Numbers
    """The place that each change affects."""
    origin: Numbers
    """The place from which this place gets its label."""
    added: Numbers
    """The number that is added to the label."""
    moduli: Numbers
    """``(places,)``: the number of values of each place; it is subtracted from a sum that is not below it."""
    inverse: Numbers
    """``(moves,)``: the number of the inverse of each move, or -1."""
    redundant: NDArray[np.bool_]
    """``(moves, moves)``: whether two moves in a row have the effect of a single move, or no effect. Empty if this is
    unknown."""
    effects: Numbers
    """``(moves, 2, places)``: for each place, the place from which it gets its label, and the number added. Empty
    unless two moves can have the same result."""


class Expanded(NamedTuple):
    """The result of one call of `add_successors`."""

    positions: int
    """Number of positions that were expanded."""
    most_moves: int
    """Maximum number of legal moves of these positions."""


class CompiledSteps:
    """Moves as arrays, applied by compiled code."""

    def __init__(self, arrays: MoveArrays) -> None:
        self.arrays = arrays

    def __len__(self) -> int:
        return len(self.arrays.inverse)

    def successors(self, labels: Labels) -> tuple[Labels, Numbers]:
        """Return the successors ``(m, places)`` of positions ``(n, places)``, and the row of each one's predecessor.

        If several moves lead from a position to the same successor, this successor may be listed several times.
        """
        return _successors(labels, self.arrays)

    def add_successors(self, positions: PositionSet, begin: int, end: int) -> Expanded:
        """Add the successors of positions ``begin`` to ``end - 1`` of the set.

        If the set becomes full, the last of these positions are not expanded; at least one position is.

        Raises
        ------
        ResourceLimitError
            The positions would exceed the memory limit of the set.
        """
        positions.make_room(len(self))
        layout = positions.packing.layout
        after, count, most = _expand(positions.words, positions.slots, begin, end, len(positions), layout, self.arrays)
        positions.count = count
        return Expanded(int(after) - begin, int(most))

    def replay(self, labels: Labels, paths: Words) -> Labels:
        """Return the positions ``(n, moves + 1, places)`` along sequences of moves ``(n, moves)`` from a position."""
        moves = self.arrays
        move = np.repeat(np.arange(len(self)), np.diff(moves.change_at))
        origin, added = np.tile(np.arange(len(labels)), (len(self), 1)), np.zeros((len(self), len(labels)), np.int64)
        origin[move, moves.place], added[move, moves.place] = moves.origin, moves.added
        positions = np.repeat(labels[np.newaxis, np.newaxis], len(paths), axis=0).repeat(paths.shape[1] + 1, axis=1)
        for i, path in enumerate(paths.T):
            sums = np.take_along_axis(positions[:, i], origin[path], axis=1) + added[path]
            positions[:, i + 1] = sums % moves.moduli
        return positions


class BatchSteps:
    """Moves that numpy applies to many positions at once, by ``Moves.move`` or ``Moves.undo``."""

    def __init__(self, moves: int, make: Callable[[int, Labels], tuple[Labels, Mask]]) -> None:
        self._moves = moves
        self._make = make

    def successors(self, labels: Labels) -> tuple[Labels, Numbers]:
        """Return the successors of positions; see `CompiledSteps`."""
        after, before = [labels[:0]], [np.empty(0, dtype=np.int64)]
        for move in range(self._moves):
            made, legal = self._make(move, labels)
            after.append(made[legal])
            before.append(np.flatnonzero(legal))
        return np.concatenate(after), np.concatenate(before)

    def add_successors(self, positions: PositionSet, begin: int, end: int) -> Expanded:
        """Add the successors of positions to the set; see `CompiledSteps`."""
        packing = positions.packing
        end = min(end, begin + max(1, BATCH_BYTES // packing.places))
        labels = packing.unpack(positions.words[begin:end])
        moves = np.zeros(len(labels), dtype=np.int64)
        for move in range(self._moves):
            made, legal = self._make(move, labels)
            positions.add(packing.pack(made[legal]))
            moves += legal
        return Expanded(end - begin, int(moves.max()))


Steps = CompiledSteps | BatchSteps
"""The moves of a puzzle, forwards or backwards."""


def steps_of(moves: Moves, parts: Sequence[Part], *, backwards: bool = False) -> Steps:
    """Return the moves, or their inverses if ``backwards`` is True. They are compiled if possible."""
    arrays = arrays_of(moves, parts, backwards=backwards)
    if arrays is None:
        return BatchSteps(len(moves), moves.undo if backwards else moves.move)
    return CompiledSteps(arrays)


def arrays_of(moves: Moves, parts: Sequence[Part], *, backwards: bool = False) -> MoveArrays | None:
    """Return the moves, or their inverses, as arrays, without repeated swaps; None if they cannot be compiled."""
    if moves.pairs is not None:
        pairs = moves.pairs[:, ::-1] if backwards else moves.pairs
        return _arrays_of_swaps(pairs, sum(part.places for part in parts))
    if moves.transforms is not None:
        return _arrays_of_transforms(moves.transforms.reversed() if backwards else moves.transforms, parts)
    return None


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
        redundant=np.empty((0, 0), dtype=np.bool_),
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
        redundant=_redundant(moves),
        effects=effects if _ambiguous(moves, parts) else effects[:0],
    )


def _ends(entries: NDArray[np.bool_]) -> Numbers:
    """Return the start of each move's entries in a list of all entries, and the end of the list, ``(moves + 1,)``."""
    return np.cumsum([0, *entries.sum(axis=1)], dtype=np.int64)


def _conditions(moves: Transforms) -> tuple[Numbers, Numbers, NDArray[np.uint64]]:
    """Return the arrays ``condition_at``, ``tested`` and ``mask``, without conditions that always hold."""
    if moves.conditions is None:
        return np.zeros(len(moves) + 1, dtype=np.int64), np.empty(0, np.int64), np.empty(0, np.uint64)
    tests = moves.conditional
    return _ends(tests), np.nonzero(tests)[1], moves.conditions[tests]


def _guards(moves: Transforms) -> Numbers:
    """Return, for each move, the first place that must hold label 0, or NO_GUARD."""
    empty = moves.conditional & (np.uint64(1) == (0 if moves.conditions is None else moves.conditions))
    return np.where(empty.any(axis=1), empty.argmax(axis=1), NO_GUARD)


def _next_group(guard: Numbers) -> Numbers:
    """Return, for each move, the first later move with another guard."""
    last = np.flatnonzero(np.append(guard[1:] != guard[:-1], True))
    following: Numbers = last[np.searchsorted(last, np.arange(len(guard)))] + 1
    return following


def _redundant(moves: Transforms) -> NDArray[np.bool_]:
    """Return which pairs of moves in a row have the effect of a single move, or no effect.

    The result is empty if moves have conditions or there are too many moves.
    """
    if moves.allowed is not None or len(moves) > MAX_PAIRED:
        return np.empty((0, 0), dtype=np.bool_)
    moduli, added = moves.moduli.astype(np.int16), moves.added.astype(np.int16)
    single = {a.tobytes() + b.tobytes() for a, b in zip(moves.origin, added, strict=True)}
    single.add(np.arange(moves.places, dtype=np.int16).tobytes() + bytes(2 * moves.places))
    redundant = np.zeros((len(moves), len(moves)), dtype=np.bool_)
    for one in range(len(moves)):
        origins = moves.origin[one][moves.origin]
        sums = (added[one][moves.origin] + added) % moduli
        redundant[one] = [a.tobytes() + b.tobytes() in single for a, b in zip(origins, sums, strict=True)]
    return redundant


def _ambiguous(moves: Transforms, parts: Sequence[Part]) -> bool:
    """Return whether two moves may lead from one position to the same successor.

    This is impossible if the moves take different pieces to some place of a part whose pieces all differ, or add
    different numbers to the same label.
    """
    if len(moves) > MAX_PAIRED:
        return True
    sizes = [part.places for part in parts]
    of_part = np.repeat(np.arange(len(parts)), sizes)
    stays = (of_part[moves.origin] == of_part).all(axis=0) & ~moves.added.any(axis=0)
    distinct = stays & np.repeat([part.holds_pieces and part.all_different for part in parts], sizes)
    for number in range(1, len(moves)):
        other_origin = moves.origin[:number] != moves.origin[number]
        distinguished = np.where(other_origin, distinct, moves.added[:number] != moves.added[number])
        if not distinguished.any(axis=1).all():
            return True
    return False


@kernel
def is_legal(
    labels: Labels, row: np.uint64, move: np.uint64, condition_at: Numbers, tested: Numbers, mask: NDArray[np.uint64]
) -> bool:
    """Return whether a row of ``labels`` ``(n, places)`` meets the conditions of a move, except for its guard."""
    for condition in range(condition_at[move], condition_at[move + 1]):
        if not (mask[condition] >> np.uint64(min(63, labels[row, tested[condition]]))) & np.uint64(1):
            return False
    return True


@kernel
def _successors(positions: Labels, moves: MoveArrays) -> tuple[Labels, Numbers]:
    """Return the successors ``(m, places)`` of positions ``(n, places)``, and the row of each one's predecessor."""
    # Arrays are kept in local variables, because each access to an array in a tuple changes its reference count, which
    # takes longer than a move.
    guard, next_group = moves.guard, moves.next_group
    condition_at, tested, mask = moves.condition_at, moves.tested, moves.mask
    change_at, place, origin, added, moduli = moves.change_at, moves.place, moves.origin, moves.added, moves.moduli
    n, places = positions.shape
    count = 0
    after = np.empty((max(16, 4 * n), places), np.uint8)
    before = np.empty(len(after), np.int64)
    for i in range(n):
        move = 0
        while move < len(guard):
            if guard[move] >= 0 and positions[i, guard[move]] != 0:
                move = next_group[move]
                continue
            condition, stop = condition_at[move], condition_at[move + 1]
            while condition < stop and (mask[condition] >> np.uint64(min(63, positions[i, tested[condition]]))) & ONE:
                condition += 1
            if condition == stop:
                if count == len(after):
                    after = np.concatenate((after, np.empty_like(after)))
                    before = np.concatenate((before, np.empty_like(before)))
                for p in range(places):
                    after[count, p] = positions[i, p]
                for change in range(change_at[move], change_at[move + 1]):
                    label, p = np.int64(positions[i, origin[change]]) + added[change], place[change]
                    after[count, p] = label - moduli[p] if label >= moduli[p] else label
                before[count] = i
                count += 1
            move += 1
    return after[:count], before[:count]


@kernel
def _expand(
    words: Words, slots: Slots, begin: int, end: int, count: int, layout: FieldLayout, moves: MoveArrays
) -> tuple[int, int, int]:
    """Add the successors of positions ``begin`` to ``end - 1`` to the set; stop before ``words`` could become full.

    Return the first position that was not expanded, the size of the set, and the maximum number of legal moves of an
    expanded position.
    """
    # Arrays are kept in local variables, because each access to an array in a tuple changes its reference count, which
    # takes longer than a move. Indices are unsigned, so that numba does not check for negative values.
    word, shift, bits = layout.word.view(np.uint64), layout.shift, layout.mask
    guard, next_group = moves.guard, moves.next_group.view(np.uint64)
    condition_at, tested, mask = moves.condition_at.view(np.uint64), moves.tested.view(np.uint64), moves.mask
    change_at, place = moves.change_at.view(np.uint64), moves.place.view(np.uint64)
    origin, added, moduli = moves.origin.view(np.uint64), moves.added.view(np.uint64), moves.moduli.view(np.uint64)
    labels = np.empty(len(word), np.uint64)
    key = np.empty(words.shape[1], np.uint64)
    all_moves, all_words, last_slot = np.uint64(len(guard)), np.uint64(len(key)), np.uint64(len(slots) - 1)
    most = ZERO
    for i in range(np.uint64(begin), np.uint64(end)):
        if count + len(guard) > len(words):
            return int(i), count, int(most)
        for p in range(np.uint64(len(labels))):
            labels[p] = (words[i, word[p]] >> shift[p]) & bits[p]
        move, legal = ZERO, ZERO
        while move < all_moves:
            if guard[move] >= 0 and labels[np.uint64(guard[move])] != ZERO:
                move = next_group[move]
                continue
            condition, stop = condition_at[move], condition_at[move + ONE]
            while condition < stop and (mask[condition] >> min(labels[tested[condition]], OTHERS)) & ONE:
                condition += ONE
            if condition < stop:
                move += ONE
                continue
            for w in range(all_words):
                key[w] = words[i, w]
            for change in range(change_at[move], change_at[move + ONE]):
                p = place[change]
                label = labels[origin[change]] + added[change]
                if label >= moduli[p]:
                    label -= moduli[p]
                key[word[p]] ^= (label ^ labels[p]) << shift[p]
            hashed = ZERO
            for w in range(all_words):
                hashed = (hashed ^ key[w]) * FACTOR
                hashed ^= hashed >> HALF
            slot = hashed & last_slot
            while slots[slot] >= 0 and not words_equal(words[np.uint64(slots[slot])], key):
                slot = (slot + ONE) & last_slot
            if slots[slot] < 0:
                for w in range(all_words):
                    words[count, w] = key[w]
                slots[slot] = count
                count += 1
            legal += ONE
            move += ONE
        most = max(most, legal)
    return end, count, int(most)
