"""Compilation of moves on labels into moves on keys."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from antipodes_tasks.keys.bit_fields import WORD, Words
from antipodes_tasks.keys.key_moves import (
    MAX_CODES,
    UNGUARDED,
    FieldCondition,
    KeyMove,
    KeyMoves,
    Lookup,
    arrays_of,
    words_of,
)
from antipodes_tasks.keys.packing import LABELS, UNKNOWN, Packing
from antipodes_tasks.keys.piece_steps import PieceSteps, piece_steps
from antipodes_tasks.rules.footprints import EMPTY, BlockStep, block_steps
from antipodes_tasks.rules.moves import Moves, Pairs
from antipodes_tasks.rules.transforms import Transforms

INDEX_BITS = 8
"""Maximum number of bits of a key that index one lookup table."""
MAX_MOVES = 1 << 16
"""Maximum number of moves that are compiled, which takes some seconds."""


class Change(NamedTuple):
    """The place to which a label goes, and the number added to it."""

    destination: int
    added: int
    modulus: int


class ConditionalMove(NamedTuple):
    """A move: the labels that some places must hold, and where the labels of the changed places go."""

    allowed: Mapping[int, frozenset[int]]
    changes: Mapping[int, Change]


def key_moves(moves: Moves, packing: Packing) -> KeyMoves | PieceSteps | None:
    """Return the moves on keys, without moves that are never legal.

    Returns None if the moves are stated neither as pairs nor as transforms, or if there are too many.
    """
    pairs, transforms = moves.pairs, moves.transforms
    if len(moves) > MAX_MOVES or (pairs is None and transforms is None):
        return None
    if packing.groups:
        pieces = _swap_steps(pairs, packing) if transforms is None else block_steps(transforms)
        return piece_steps(packing, (step for step in pieces if step.label in packing.contents[step.origin]))
    fields = _OfPlaces(packing)
    steps = _swaps(pairs, packing) if transforms is None else _transforms(transforms, packing)
    made = [move for step in steps if (move := fields.move(step)) is not None]
    return arrays_of(made, packing.words, *fields.empty())


def _swaps(pairs: Pairs | None, packing: Packing) -> Iterator[ConditionalMove]:
    for origin, destination in _distinct(pairs):
        pieces = frozenset(packing.contents[origin]) - {EMPTY}
        there, back = (Change(place, 0, LABELS) for place in (destination, origin))
        yield ConditionalMove({destination: frozenset({EMPTY}), origin: pieces}, {origin: there, destination: back})


def _swap_steps(pairs: Pairs | None, packing: Packing) -> Iterator[BlockStep]:
    for origin, destination in _distinct(pairs):
        for label in packing.contents[origin]:
            if label != EMPTY:
                yield BlockStep(label, origin, destination, (destination,))


def _distinct(pairs: Pairs | None) -> Iterator[tuple[int, int]]:
    """Yield the distinct pairs of different places."""
    listed = [] if pairs is None else pairs.tolist()
    return ((origin, destination) for origin, destination in dict.fromkeys(map(tuple, listed)) if origin != destination)


def _transforms(moves: Transforms, packing: Packing) -> Iterator[ConditionalMove]:
    moduli = moves.moduli.tolist()
    for number in range(len(moves)):
        origin, added = moves.origin[number].tolist(), moves.added[number].tolist()
        changed = [place for place in range(moves.places) if origin[place] != place or added[place]]
        changes = {origin[place]: Change(place, added[place], moduli[place]) for place in changed}
        yield ConditionalMove(dict(_conditions(moves, number, packing)), changes)


def _conditions(moves: Transforms, number: int, packing: Packing) -> Iterator[tuple[int, frozenset[int]]]:
    """Yield the places that a move has conditions on, and the labels that it allows there."""
    if moves.conditions is None:
        return
    for place in np.flatnonzero(moves.conditional[number]).tolist():
        mask = int(moves.conditions[number, place])
        yield place, frozenset(label for label in packing.contents[place] if mask >> label & 1)


class _OfPlaces:
    """Compiler of moves for keys with one field per place; lookup tables combine neighbouring places."""

    def __init__(self, packing: Packing) -> None:
        self.packing = packing
        self.contents = packing.contents
        layout = packing.fields.layout
        self.words = packing.words
        self.word, self.shift, self.mask = layout.word.tolist(), layout.shift.tolist(), layout.mask.tolist()
        self.at = [word * WORD + shift for word, shift in zip(self.word, self.shift, strict=True)]

    def tables(self, places: Iterable[int], effect: Callable[[int, int], int]) -> Iterator[Lookup]:
        """Yield lookup tables for the effect of each code on some places, which must be in ascending order.

        Neighbouring places share a table.
        """
        for group in self._neighbours(places):
            word, shift = self.word[group[0]], self.shift[group[0]]
            mask = sum(self.mask[place] << self.shift[place] - shift for place in group)
            effects = [0]
            for place in group:  # the fields ascend, so an index consists of consecutive bits of the key
                known = range(len(self.contents[place]))
                own = [effect(place, code) if code in known else 0 for code in range(self.mask[place] + 1)]
                effects += [0] * ((1 << self.shift[place] - shift) - len(effects))
                effects = [one ^ other for one in own for other in effects]
            yield from _lookups(word, shift, mask, effects, self.words)

    def _neighbours(self, places: Iterable[int]) -> list[list[int]]:
        """Divide the places into groups whose fields span at most INDEX_BITS bits of one word."""
        groups: list[list[int]] = []
        for place in places:
            first = groups[-1][0] if groups else place
            end = self.shift[place] + self.mask[place].bit_length()
            if groups and self.word[first] == self.word[place] and end - self.shift[first] <= INDEX_BITS:
                groups[-1].append(place)
            else:
                groups.append([place])
        return groups

    def empty(self) -> tuple[Words, Words]:
        """Return two masks ``(words,)``: the lower bits of all fields, and the highest bit of each field."""
        low, high = np.zeros((2, self.words), dtype=np.uint64)
        for word, shift, mask in zip(self.word, self.shift, self.mask, strict=True):
            highest = (mask + 1) >> 1
            low[word] |= np.uint64((mask - highest if mask else 0) << shift)
            high[word] |= np.uint64((highest if mask else 0) << shift)
        return low, high

    def move(self, step: ConditionalMove) -> KeyMove | None:
        """Return the compiled move, or None if it is never legal."""
        move = KeyMove()
        codes = {place: list(range(len(self.contents[place]))) for place in step.changes}
        codes |= {place: self._codes(place, labels) for place, labels in step.allowed.items()}
        if not all(codes.values()):
            return None
        for place in sorted(codes):
            self._require(move, place, codes[place])
        for place, change in step.changes.items():
            if len(codes[place]) == 1:
                move.change ^= self._effect(place, change, codes[place][0])
        several = sorted(place for place in step.changes if len(codes[place]) > 1)
        changes = step.changes
        move.lookups = list(self.tables(several, lambda place, code: self._effect(place, changes[place], code)))
        return move

    def _codes(self, place: int, labels: Iterable[int]) -> list[int]:
        return sorted(self.contents[place].index(label) for label in labels)

    def _require(self, move: KeyMove, place: int, codes: Sequence[int]) -> None:
        """Add the condition that the field of a place has one of some codes."""
        if len(codes) == len(self.contents[place]):
            return
        if len(codes) > 1:
            allowed = sum(1 << code for code in {min(code, MAX_CODES - 1) for code in codes})
            move.conditions.append(FieldCondition(self.word[place], self.shift[place], self.mask[place], allowed))
            return
        move.mask |= self.mask[place] << self.at[place]
        move.value |= codes[0] << self.at[place]
        if codes[0] == 0 and move.guard == UNGUARDED:
            move.guard = self.at[place] + self.mask[place].bit_length() - 1

    def _effect(self, place: int, change: Change, code: int) -> int:
        """Return the change of a key when the code on a place leaves the place and goes to its destination."""
        label = (self.contents[place][code] + change.added) % change.modulus
        after = int(self.packing.codes[change.destination, label])
        after = 0 if after == UNKNOWN else after  # the move is illegal in this case
        effect: int = code << self.at[place] ^ after << self.at[change.destination]
        return effect


def _lookups(word: int, shift: int, mask: int, effects: Sequence[int], words: int) -> Iterator[Lookup]:
    """Yield one lookup for each word that some effect changes."""
    each = words_of(effects, words)
    for changed in np.flatnonzero(each.any(axis=0)).tolist():
        yield Lookup(word, shift, mask, changed, each[:, changed])
