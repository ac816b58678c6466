"""Moves on labels made into moves on keys."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from antipodes_tasks.keys.bit_fields import WORD, Words
from antipodes_tasks.keys.key_moves import (
    MAX_CODES,
    UNGUARDED,
    Condition,
    KeyMove,
    KeyMoves,
    Lookup,
    arrays_of,
    words_of,
)
from antipodes_tasks.keys.packing import LABELS, UNKNOWN, Packing
from antipodes_tasks.keys.piece_steps import PieceSteps, piece_steps
from antipodes_tasks.rules.footprints import EMPTY, BlockStep, block_steps
from antipodes_tasks.rules.moves import Moves
from antipodes_tasks.rules.swaps import Swaps
from antipodes_tasks.rules.transforms import Transforms

INDEX_BITS = 8
"""Bits of a key that a table takes."""
MAX_MOVES = 1 << 16
"""Moves that are made, in some seconds."""


class Change(NamedTuple):
    """Where the label of a place goes, and what is added to it."""

    destination: int
    added: int
    modulus: int


class Step(NamedTuple):
    """A move: the labels that some places must have, and where the label of each other goes."""

    allowed: Mapping[int, frozenset[int]]
    changes: Mapping[int, Change]


def key_moves(moves: Moves, packing: Packing) -> KeyMoves | PieceSteps | None:
    """The moves on keys, except those that are never legal; None if they are functions, or too many."""
    if len(moves) > MAX_MOVES or not isinstance(moves, Swaps | Transforms):
        return None
    if packing.groups:
        pieces = _swap_steps(moves, packing) if isinstance(moves, Swaps) else block_steps(moves)
        return piece_steps(packing, (step for step in pieces if step.label in packing.contents[step.origin]))
    fields = _OfPlaces(packing)
    steps = _swaps(moves, packing) if isinstance(moves, Swaps) else _transforms(moves, packing)
    made = [move for step in steps if (move := fields.move(step)) is not None]
    return arrays_of(made, packing.words, *fields.empty())


def _swaps(moves: Swaps, packing: Packing) -> Iterator[Step]:
    for origin, destination in dict.fromkeys(map(tuple, moves.pairs.tolist())):
        if origin != destination:
            pieces = frozenset(packing.contents[origin]) - {0}
            there, back = (Change(place, 0, LABELS) for place in (destination, origin))
            yield Step({destination: frozenset({0}), origin: pieces}, {origin: there, destination: back})


def _swap_steps(moves: Swaps, packing: Packing) -> Iterator[BlockStep]:
    for origin, destination in dict.fromkeys(map(tuple, moves.pairs.tolist())):
        if origin != destination:
            for label in packing.contents[origin]:
                if label != EMPTY:
                    yield BlockStep(label, origin, destination, (destination,))


def _transforms(moves: Transforms, packing: Packing) -> Iterator[Step]:
    moduli = moves.moduli.tolist()
    for number in range(len(moves)):
        origin, added = moves.origin[number].tolist(), moves.added[number].tolist()
        changed = [place for place in range(moves.places) if origin[place] != place or added[place]]
        changes = {origin[place]: Change(place, added[place], moduli[place]) for place in changed}
        yield Step(dict(_conditions(moves, number, packing)), changes)


def _conditions(moves: Transforms, number: int, packing: Packing) -> Iterator[tuple[int, frozenset[int]]]:
    """The places that a move has conditions on, and which of their labels it allows."""
    if moves.conditions is None:
        return
    for place in np.flatnonzero(moves.conditional[number]).tolist():
        mask = int(moves.conditions[number, place])
        yield place, frozenset(label for label in packing.contents[place] if mask >> label & 1)


class _OfPlaces:
    """Makes moves from those on labels, where a key has a field for each place, and tables of neighbours among them."""

    def __init__(self, packing: Packing) -> None:
        self.packing = packing
        self.contents = packing.contents
        layout = packing.fields.layout
        self.words = packing.words
        self.word, self.shift, self.mask = layout.word.tolist(), layout.shift.tolist(), layout.mask.tolist()
        self.at = [word * WORD + shift for word, shift in zip(self.word, self.shift, strict=True)]

    def tables(self, places: Iterable[int], effect: Callable[[int, int], int]) -> Iterator[Lookup]:
        """The effects on a key of the codes of some places, ascending; those of neighbours in one table."""
        for group in self._neighbours(places):
            word, shift = self.word[group[0]], self.shift[group[0]]
            mask = sum(self.mask[place] << self.shift[place] - shift for place in group)
            effects = [0]
            for place in group:  # the fields ascend, so that an index has the bits of the key
                known = range(len(self.contents[place]))
                own = [effect(place, code) if code in known else 0 for code in range(self.mask[place] + 1)]
                effects += [0] * ((1 << self.shift[place] - shift) - len(effects))
                effects = [one ^ other for one in own for other in effects]
            yield from _lookups(word, shift, mask, effects, self.words)

    def _neighbours(self, places: Iterable[int]) -> list[list[int]]:
        """The places in groups, whose fields are within INDEX_BITS of a word."""
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
        """All bits of fields but the highest of each, and these, ``(words,)`` each: fields that are 0 are empty."""
        low, high = np.zeros((2, self.words), dtype=np.uint64)
        for word, shift, mask in zip(self.word, self.shift, self.mask, strict=True):
            highest = (mask + 1) >> 1
            low[word] |= np.uint64((mask - highest if mask else 0) << shift)
            high[word] |= np.uint64((highest if mask else 0) << shift)
        return low, high

    def move(self, step: Step) -> KeyMove | None:
        """The move; None if it is never legal."""
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
        """Add the condition that the field of a place has one of some values."""
        if len(codes) == len(self.contents[place]):
            return
        if len(codes) > 1:
            allowed = sum(1 << code for code in {min(code, MAX_CODES - 1) for code in codes})
            move.conditions.append(Condition(self.word[place], self.shift[place], self.mask[place], allowed))
            return
        move.mask |= self.mask[place] << self.at[place]
        move.value |= codes[0] << self.at[place]
        if codes[0] == 0 and move.guard == UNGUARDED:
            move.guard = self.at[place] + self.mask[place].bit_length() - 1

    def _effect(self, place: int, change: Change, code: int) -> int:
        """The change of a key, if a place has a code: it leaves the place, and goes to its destination."""
        label = (self.contents[place][code] + change.added) % change.modulus
        after = int(self.packing.codes[change.destination, label])
        after = 0 if after == UNKNOWN else after  # then the move is illegal
        effect: int = code << self.at[place] ^ after << self.at[change.destination]
        return effect


def _lookups(word: int, shift: int, mask: int, effects: Sequence[int], words: int) -> Iterator[Lookup]:
    """A look-up for each word that some effect changes."""
    each = words_of(effects, words)
    for changed in np.flatnonzero(each.any(axis=0)).tolist():
        yield Lookup(word, shift, mask, changed, each[:, changed])
