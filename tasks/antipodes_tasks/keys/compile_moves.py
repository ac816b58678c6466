"""Compilation of moves on labels into moves on packed positions."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from antipodes_tasks.base.array_types import Numbers, Words
from antipodes_tasks.keys.bit_fields import WORD
from antipodes_tasks.keys.compiled_moves import (
    MAX_CODES,
    UNGUARDED,
    CompiledMove,
    CompiledMoves,
    FieldCondition,
    Lookup,
    Tables,
    arrays_of,
)
from antipodes_tasks.keys.packing import UNKNOWN, Packing
from antipodes_tasks.keys.piece_steps import PieceSteps, piece_steps
from antipodes_tasks.rules.footprints import EMPTY, BlockStep, block_steps
from antipodes_tasks.rules.moves import Moves, Pairs
from antipodes_tasks.rules.swaps import sorted_swaps
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

    number: int
    allowed: Mapping[int, frozenset[int]]
    changes: Mapping[int, Change]


def compiled_moves(
    moves: Moves, packing: Packing, *, one_blank: bool = False, in_order: bool = False
) -> CompiledMoves | PieceSteps | None:
    """Return the moves on packed positions, without moves that are never legal and without repeated swaps.

    ``one_blank`` says that every position has exactly one empty place. If ``in_order`` is True, successors are written
    in the order of the moves: swaps by empty place and then by the piece's place, other moves by number. Otherwise,
    moves with the same guard are written together, which tests fewer moves.

    Returns None if the moves are stated neither as pairs nor as transforms, or if there are too many.
    """
    pairs, transforms = moves.pairs, Transforms.of(moves)
    if len(moves) > MAX_MOVES or (pairs is None and transforms is None):
        return None
    if packing.groups:
        pieces = _swap_steps(pairs, packing) if transforms is None else block_steps(transforms)
        return piece_steps(packing, (step for step in pieces if step.label in packing.contents[step.origin]))
    fields = _OfPlaces(packing)
    if pairs is not None:
        return _of_pairs(pairs, fields, one_blank)
    assert transforms is not None
    made = [move for step in _transforms(transforms, packing) if (move := fields.move(step)) is not None]
    if in_order and any(one.guard > other.guard for one, other in pairwise(made)):
        for move in made:
            move.guard = UNGUARDED
    return arrays_of(made, packing.words, *fields.empty())


def _swap_steps(pairs: Pairs | None, packing: Packing) -> Iterator[BlockStep]:
    listed = [] if pairs is None else pairs.tolist()
    for origin, destination in dict.fromkeys(map(tuple, listed)):
        for label in packing.contents[origin]:
            if label != EMPTY and origin != destination:
                yield BlockStep(label, origin, destination, (destination,))


def _transforms(moves: Transforms, packing: Packing) -> Iterator[ConditionalMove]:
    moduli = moves.moduli.tolist()
    for number in range(len(moves)):
        origin, added = moves.origin[number].tolist(), moves.added[number].tolist()
        changed = [place for place in range(moves.places) if origin[place] != place or added[place]]
        changes = {origin[place]: Change(place, added[place], moduli[place]) for place in changed}
        yield ConditionalMove(number, dict(_conditions(moves, number, packing)), changes)


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

    def tables(self, changes: Mapping[int, Change]) -> Iterator[Lookup]:
        """Yield lookup tables for the changes of the labels on some places, which must be in ascending order.

        Neighbouring places share a table.
        """
        for group in self._neighbours(changes):
            word, shift = self.word[group[0]], self.shift[group[0]]
            mask = sum(self.mask[place] << self.shift[place] - shift for place in group)
            effects = np.zeros((1, self.words), dtype=np.uint64)
            for place in group:  # the fields ascend, so an index consists of consecutive bits of the position
                lower = np.zeros((1 << self.shift[place] - shift, self.words), dtype=np.uint64)
                lower[: len(effects)] = effects
                effects = (self.effects(place, changes[place])[:, np.newaxis] ^ lower).reshape(-1, self.words)
            for changed in np.flatnonzero(effects.any(axis=0)).tolist():
                yield Lookup(word, shift, mask, changed, effects[:, changed])

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

    def move(self, step: ConditionalMove) -> CompiledMove | None:
        """Return the compiled move, or None if it is never legal."""
        move = CompiledMove(step.number)
        codes = {place: list(range(len(self.contents[place]))) for place in step.changes}
        codes |= {place: self._codes(place, labels) for place, labels in step.allowed.items()}
        if not all(codes.values()):
            return None
        for place in sorted(codes):
            self._require(move, place, codes[place])
        for place, change in step.changes.items():
            if len(codes[place]) == 1:
                effect = self.effects(place, change)[codes[place][0]]
                move.change ^= int.from_bytes(effect.astype("<u8").tobytes(), "little")
        several = {place: step.changes[place] for place in sorted(step.changes) if len(codes[place]) > 1}
        move.lookups = list(self.tables(several))
        return move

    def _codes(self, place: int, labels: Iterable[int]) -> list[int]:
        return sorted(self.contents[place].index(label) for label in labels)

    def _require(self, move: CompiledMove, place: int, codes: Sequence[int]) -> None:
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

    def effects(self, place: int, change: Change) -> Words:
        """Return the changes ``(codes, words)`` of a position, for each code of a place whose label moves away."""
        labels, there = np.array(self.contents[place]), change.destination
        after = self.packing.codes[there, (labels + change.added) % change.modulus]
        effects = np.zeros((self.mask[place] + 1, self.words), dtype=np.uint64)
        codes = effects[: len(labels)]
        codes[:, self.word[place]] = np.arange(len(labels), dtype=np.uint64) << np.uint64(self.shift[place])
        codes[:, self.word[there]] ^= as_words(after) << np.uint64(self.shift[there])
        return effects


def as_words(codes: NDArray[np.int16]) -> Words:
    """Return codes as words, with 0 for UNKNOWN: the move is illegal in this case."""
    return np.where(codes == UNKNOWN, 0, codes).astype(np.uint64)


def _of_pairs(pairs: Pairs, fields: _OfPlaces, one_blank: bool) -> CompiledMoves:
    """Return the swaps of a piece with an empty place, sorted by the empty place and the piece's place."""
    packing, layout = fields.packing, fields.packing.fields.layout
    empty, piece, number = sorted_swaps(pairs, packing.places)
    sizes = np.array(packing.radices)
    can_be_empty = packing.codes[:, EMPTY] == 0
    legal = (empty != piece) & can_be_empty[empty] & (sizes > 1)[empty] & (sizes > can_be_empty)[piece]
    empty, piece, number = empty[legal], piece[legal], number[legal]
    bits = np.array([mask.bit_length() for mask in fields.mask])
    guard = np.array(fields.at, dtype=np.int64)[empty] + bits[empty] - 1
    tested = np.flatnonzero(can_be_empty[piece] & (not one_blank))
    nothing = np.zeros((len(number), packing.words), dtype=np.uint64)
    at, lookups = _tables_of_pairs(empty, piece, packing)
    return CompiledMoves(
        number,
        *fields.empty(),
        first=np.searchsorted(guard, np.arange(WORD * packing.words + 2)),
        mask=nothing,
        value=nothing,
        change=nothing,
        condition_at=np.searchsorted(tested, np.arange(len(number) + 1)),
        condition_word=layout.word[piece[tested]],
        condition_shift=layout.shift[piece[tested]],
        condition_mask=layout.mask[piece[tested]],
        allowed=np.array([(1 << min(size, MAX_CODES)) - 2 for size in sizes.tolist()], dtype=np.uint64)[piece[tested]],
        lookup_at=at,
        lookups=lookups,
    )


def _tables_of_pairs(empty: NDArray[np.int64], piece: NDArray[np.int64], packing: Packing) -> tuple[Numbers, Tables]:
    """Return the start of each swap's lookups, ``(swaps + 1,)``, and the lookups.

    A swap needs one lookup, or two if it changes two words. Swaps with the same changes share tables.
    """
    layout, kinds = packing.fields.layout, {one: kind for kind, one in enumerate(dict.fromkeys(packing.contents))}
    contents = np.array([kinds[one] for one in packing.contents])
    shift, two_words = layout.shift.astype(np.int64), layout.word[empty] != layout.word[piece]
    alike = ((contents[piece] << 16 | contents[empty]) << 16 | shift[piece] << 8 | shift[empty]) << 1 | two_words
    _, example, which = np.unique(alike, return_index=True, return_inverse=True)
    values = int(layout.mask.max(initial=0)) + 1
    leaves = np.arange(values, dtype=np.uint64) << layout.shift[piece[example], np.newaxis]
    after = packing.codes[empty[example, np.newaxis], packing.labels[piece[example], :values]]
    enters = as_words(after) << layout.shift[empty[example], np.newaxis]
    parted = two_words[example]
    tables = np.stack((np.where(parted[:, np.newaxis], leaves, leaves ^ enters), enters), axis=1)
    kept = np.stack((np.ones_like(parted), parted), axis=1)
    each = 1 + two_words
    at = np.cumsum([0, *each], dtype=np.int64)
    swap = np.repeat(np.arange(len(piece)), each)
    second = np.arange(len(swap)) > at[swap]
    places = piece[swap]
    return at, Tables(
        word=layout.word[places],
        shift=layout.shift[places],
        mask=layout.mask[places],
        at=(kept.cumsum()[::2] - 1)[which[swap]] * values + second * values,
        changed_word=layout.word[np.where(second, empty[swap], places)],
        entries=tables[kept].reshape(-1),
    )
