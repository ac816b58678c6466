"""Moves on labels made into moves on keys."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from antipodes_tasks.keys.fields import WORD, Words
from antipodes_tasks.keys.key_moves import MOST_CODES, UNGUARDED, Condition, Empty, KeyMove, KeyMoves, Lookup, arrays_of
from antipodes_tasks.keys.packing import LABELS, UNKNOWN, Packing
from antipodes_tasks.rules.moves import Moves
from antipodes_tasks.rules.swaps import Swaps
from antipodes_tasks.rules.transforms import Transforms

INDEX_BITS = 8
"""Bits of a key that a table takes."""
MOST_MOVES = 1 << 16
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


def key_moves(moves: Moves, packing: Packing) -> KeyMoves | None:
    """The moves on keys; None if they are functions, or too many."""
    if len(moves) > MOST_MOVES or not isinstance(moves, Swaps | Transforms):
        return None
    fields = _Fields(packing)
    steps = _swaps(moves, packing) if isinstance(moves, Swaps) else _transforms(moves, packing)
    made = [move for step in steps if (move := fields.move(step)) is not None]
    return arrays_of(made, packing.words, fields.empty())


def _swaps(moves: Swaps, packing: Packing) -> Iterator[Step]:
    for origin, destination in dict.fromkeys(map(tuple, moves.pairs.tolist())):
        if origin != destination:
            pieces = frozenset(packing.contents[origin]) - {0}
            there, back = (Change(place, 0, LABELS) for place in (destination, origin))
            yield Step({destination: frozenset({0}), origin: pieces}, {origin: there, destination: back})


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


class _Fields:
    """Makes moves from those on labels, where a key has a field for each place."""

    def __init__(self, packing: Packing) -> None:
        self.packing = packing
        self.contents = packing.contents
        layout = packing.fields.layout
        self.word, self.shift, self.mask = layout.word.tolist(), layout.shift.tolist(), layout.mask.tolist()
        self.at = [word * WORD + shift for word, shift in zip(self.word, self.shift, strict=True)]

    def empty(self) -> Empty:
        """Fields that are 0 are empty."""
        words = self.packing.words
        low, high = np.zeros((2, words), dtype=np.uint64)
        for word, shift, mask in zip(self.word, self.shift, self.mask, strict=True):
            highest = (mask + 1) >> 1
            low[word] |= np.uint64((mask - highest if mask else 0) << shift)
            high[word] |= np.uint64((highest if mask else 0) << shift)
        return Empty(words, low, high, np.zeros(words, dtype=np.uint64), ())

    def move(self, step: Step) -> KeyMove | None:
        """The move; None if it is never legal."""
        move = KeyMove()
        codes = {place: list(range(len(self.contents[place]))) for place in step.changes}
        codes |= {place: self._codes(place, labels) for place, labels in step.allowed.items()}
        if not all(codes.values()):
            return None
        for place in sorted(codes):
            self._require(move, place, codes[place])
        several = []
        for place, change in sorted(step.changes.items()):
            if len(codes[place]) == 1:
                move.change ^= self._effect(place, change, codes[place][0])
            else:
                several.append((place, change))
        move.lookups = list(self._lookups(several))
        return move

    def _codes(self, place: int, labels: Iterable[int]) -> list[int]:
        return sorted(self.contents[place].index(label) for label in labels)

    def _require(self, move: KeyMove, place: int, codes: Sequence[int]) -> None:
        """Add the condition that the field of a place has one of some values."""
        if len(codes) == len(self.contents[place]):
            return
        if len(codes) > 1:
            allowed = sum(1 << code for code in {min(code, MOST_CODES - 1) for code in codes})
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

    def _lookups(self, changes: Sequence[tuple[int, Change]]) -> Iterator[Lookup]:
        """The tables of the changes of some places, those of neighbours in one."""
        for group in self._neighbours(changes):
            word, shift = self.word[group[0][0]], self.shift[group[0][0]]
            mask = sum(self.mask[place] << self.shift[place] - shift for place, _ in group)
            effects = [0]
            for place, change in group:  # the fields ascend, so that the index is as the key
                codes = range(self.mask[place] + 1)
                gap = 1 << self.shift[place] - shift
                known = len(self.contents[place])
                own = [self._effect(place, change, code) if code < known else 0 for code in codes]
                effects += [0] * (gap - len(effects))
                effects = [one ^ effect for one in own for effect in effects]
            yield from _tables(word, shift, mask, effects, self.packing.words)

    def _neighbours(self, changes: Sequence[tuple[int, Change]]) -> list[list[tuple[int, Change]]]:
        """The changes of places whose fields are within INDEX_BITS of a word."""
        groups: list[list[tuple[int, Change]]] = []
        for place, change in changes:
            first = groups[-1][0][0] if groups else place
            end = self.shift[place] + self.mask[place].bit_length()
            if groups and self.word[first] == self.word[place] and end - self.shift[first] <= INDEX_BITS:
                groups[-1].append((place, change))
            else:
                groups.append([(place, change)])
        return groups


def _tables(word: int, shift: int, mask: int, effects: Sequence[int], words: int) -> Iterator[Lookup]:
    """A look-up for each word that some effect changes."""
    each = (1 << WORD) - 1
    for changed in range(words):
        table = [effect >> changed * WORD & each for effect in effects]
        if any(table):
            yield Lookup(word, shift, mask, changed, np.array(table, dtype=np.uint64))


def words_of(numbers: Sequence[int]) -> Words:
    """Integers below 2^64 as an array."""
    return np.array(numbers, dtype=np.uint64)
