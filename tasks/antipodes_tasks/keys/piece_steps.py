"""Steps of pieces onto empty places, listed for each number in each field of a key.

A field belongs to several places, or stores the set of places of identical pieces. So the number in the field
determines the places of some pieces. For each number, tables list the places that these pieces cover, and all their
steps: the places that must be empty, and the number added to the key.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np

from antipodes_tasks.base.array_types import Numbers, Words
from antipodes_tasks.keys.bit_fields import WORD, SharedFields
from antipodes_tasks.keys.identical_pieces import PieceSets
from antipodes_tasks.keys.packing import Packing
from antipodes_tasks.rules.footprints import EMPTY, BlockStep


class PieceSteps(NamedTuple):
    """All steps. Number *n* of field *f* has the table entry ``at[f] + n``."""

    word: Numbers
    """``(fields,)``: the location of each field in a key, together with ``shift`` and ``mask``."""
    shift: Words
    mask: Words
    at: Numbers
    covered: Words
    """``(entries, words of places)``: the places that the field's pieces cover, as a bit mask."""
    first: Numbers
    """``(entries + 1,)``: the first step of each entry."""
    empty: Words
    """``(steps, words of places)``: the places that must be empty, as a bit mask."""
    change: Words
    """``(steps, words)``: the number added to each word of a key, modulo 2^64."""


class _Listed(NamedTuple):
    """One step of a piece, for all numbers of a field that allow it."""

    numbers: Numbers
    """``(k,)``: the numbers of the field that allow the step."""
    empty: Words
    """``(words of places,)``: the places that must be empty."""
    change: Words
    """``(k, words)``: the number added to each word of a key, for each of these numbers."""


def piece_steps(packing: Packing, steps: Iterable[BlockStep]) -> PieceSteps:
    """Return the tables for a packing whose places share fields."""
    making = _Making(packing, steps)
    fields = making.fields
    of_fields = [
        *(_of_places(making, field) for field in range(len(packing.groups))),
        *(_of_sets(making, field, one) for field, one in enumerate(packing.sets, start=len(packing.groups))),
    ]
    at = np.cumsum([0, *fields.values], dtype=np.int64)
    listed = [(at[field] + one.numbers, one) for field, (_, found) in enumerate(of_fields) for one in found]
    entries = np.concatenate([np.zeros(0, dtype=np.int64), *(numbers for numbers, _ in listed)])
    nothing = np.zeros((0, making.words), dtype=np.uint64), np.zeros((0, fields.words), dtype=np.uint64)
    empty = np.concatenate([nothing[0], *(np.tile(one.empty, (len(one.numbers), 1)) for _, one in listed)])
    change = np.concatenate([nothing[1], *(one.change for _, one in listed)])
    order = np.argsort(entries, kind="stable")
    return PieceSteps(
        word=fields.layout.word,
        shift=fields.layout.shift,
        mask=fields.layout.mask,
        at=at[:-1].copy(),
        covered=np.concatenate([covered for covered, _ in of_fields]),
        first=np.searchsorted(entries[order], np.arange(at[-1] + 1)).astype(np.int64),
        empty=empty[order],
        change=change[order],
    )


class _Making:
    """The data from which the tables of all fields are made."""

    def __init__(self, packing: Packing, steps: Iterable[BlockStep]) -> None:
        assert isinstance(packing.fields, SharedFields)
        self.packing, self.fields = packing, packing.fields
        self.words = -(-packing.places // WORD)
        """Number of words of a bit mask of places."""
        self.steps = defaultdict[tuple[int, int], list[BlockStep]](list)
        for step in steps:
            self.steps[step.origin, step.label].append(step)
        self.covers = (
            {}
            if packing.footprints is None
            else {(one.place, one.label): (one.place, *one.others) for one in packing.footprints.every}
        )

    def mask(self, places: Iterable[int]) -> Words:
        """Return a bit mask ``(words of places,)`` of places."""
        number = sum(1 << place for place in set(places))
        return np.frombuffer(number.to_bytes(8 * self.words, "little"), dtype="<u8").astype(np.uint64)

    def covered(self, place: int, label: int) -> Words:
        """Return the places that a piece covers."""
        return self.mask(self.covers.get((place, label), (place,)))

    def added(self, field: int, numbers: Numbers) -> Words:
        """Return the change ``(k, words)`` of a key when numbers, which may be negative, are added to a field."""
        found = np.zeros((len(numbers), self.fields.words), dtype=np.uint64)
        found[:, self.fields.layout.word[field]] = numbers.astype(np.uint64) << self.fields.layout.shift[field]
        return found

    def moved(self, step: BlockStep) -> Words:
        """Return the change ``(words,)`` of a key when a piece moves from one place to another."""
        total = np.zeros((1, self.fields.words), dtype=np.uint64)
        for place, sign in ((step.destination, 1), (step.origin, -1)):
            code = sign * int(self.packing.codes[place, step.label]) * self.fields.divisors[place]
            total += self.added(int(self.fields.field[place]), np.array([code]))
        moved: Words = total[0]
        return moved


def _of_places(making: _Making, field: int) -> tuple[Words, list[_Listed]]:
    """Return the covered places for each number of a field of places, and all steps from these places."""
    fields, found = making.fields, list[_Listed]()
    numbers = np.arange(fields.values[field])
    covered = np.zeros((len(numbers), making.words), dtype=np.uint64)
    for place in range(fields.first[field], fields.first[field] + fields.groups[field]):
        digits = numbers // fields.divisors[place] % fields.radices[place]
        for digit, label in enumerate(making.packing.cells[place]):
            if label != EMPTY:
                here = numbers[digits == digit]
                covered[here] |= making.covered(place, label)
                found += _steps_of(making, here, place, label)
    return covered, found


def _steps_of(making: _Making, here: Numbers, place: int, label: int) -> Iterator[_Listed]:
    for step in making.steps[place, label]:
        change = np.tile(making.moved(step), (len(here), 1))
        yield _Listed(here, making.mask(step.empty), change)


def _of_sets(making: _Making, field: int, pieces: PieceSets) -> tuple[Words, list[_Listed]]:
    """Return the covered places for each set of places of identical pieces, and all steps of these pieces."""
    covered = np.zeros((len(pieces.sets), making.words), dtype=np.uint64)
    found, bit = [], {place: np.uint64(1 << i) for i, place in enumerate(pieces.places)}
    for place in pieces.places:
        covered[pieces.sets & bit[place] != 0] |= making.covered(place, pieces.label)
        for step in making.steps[place, pieces.label]:
            origin, destination = bit[place], bit[step.destination]
            before = np.flatnonzero(pieces.sets & (origin | destination) == origin)
            wanted = pieces.sets[before] ^ (origin | destination)
            after = np.minimum(np.searchsorted(pieces.sets, wanted), len(pieces.sets) - 1)
            possible = pieces.sets[after] == wanted
            change = making.added(field, (after - before)[possible])
            found.append(_Listed(before[possible], making.mask(step.empty), change))
    return covered, found
