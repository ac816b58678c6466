"""A position as a key: a number of one 64-bit word, or of several.

A place has its label in a few bits, or shares a field with its neighbours where that saves a word. Equal blocks are one
number, which stands for all their places, where that takes fewer bits than labels of places do.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from antipodes_tasks.errors import FieldError, SizeLimitError
from antipodes_tasks.keys.bit_fields import WORD, Fields, SharedFields, bits_of
from antipodes_tasks.keys.contents import Contents, contents
from antipodes_tasks.keys.identical_pieces import (
    FIELD_BITS,
    MAX_STEPS,
    PieceSets,
    covered_by,
    in_sets,
    piece_sets,
    shared,
)
from antipodes_tasks.quoting import quote
from antipodes_tasks.rules.footprints import EMPTY, Footprint, Footprints, block_steps
from antipodes_tasks.rules.moves import Labels, Mask
from antipodes_tasks.rules.parts import moduli_of
from antipodes_tasks.rules.rules import Rules
from antipodes_tasks.rules.swaps import Swaps
from antipodes_tasks.rules.transforms import Transforms

Keys = NDArray[np.uint64]
"""``(n,)`` keys of one word; or ``(n, words)``, compared as numbers, the first word first."""
MAX_WORDS = 64
LABELS = 256
UNKNOWN = -1
"""The code of a label that a place cannot hold."""
VERSION, VERSION_NOW = "version", 2
"""The key of the record that has the number of its form, and that number."""
CONTENTS = "contents"
"""The key of the record that has for each place its labels, or their number if they are the first ones."""
FOOTPRINTS, REST, EVERY = "footprints", "rest", "every"
"""The keys of what blocks cover."""
GROUPS, PIECES = "groups", "pieces"
"""The keys of places that share fields, and of labels that are sets of places."""


@dataclass(frozen=True)
class Packing:
    """The labels that each place can hold, and with them the bits of a key: the first place has the lowest ones.

    Of blocks a key has the place that gives a block its label; which others it covers is known then.
    """

    contents: Contents
    footprints: Footprints | None = None
    groups: tuple[int, ...] = ()
    """How many neighbouring places share each field; none if each has its own."""
    pieces: tuple[tuple[int, int], ...] = ()
    """The labels that have a field for the set of their places, and how many blocks have the label."""

    @classmethod
    def of(cls, rules: Rules) -> "Packing":
        """The packing of all positions that moves lead to from the starts.

        SizeLimitError if a key has more than MAX_WORDS words.
        """
        packing = cls(*_reached(contents(rules), rules.footprints))
        if packing.footprints is not None and isinstance(rules.moves, Transforms):
            packing = _of_blocks(packing, rules, rules.moves)
        elif isinstance(rules.moves, Swaps):
            packing = min(packing, cls(packing.contents, None, shared(packing.radices)), key=lambda one: one.words)
        if packing.words > MAX_WORDS:
            raise SizeLimitError(
                f"expected positions of at most {MAX_WORDS} words of {WORD} bits, found {packing.words} words: "
                f"{rules.places} places of {rules.name} take {packing.bits:,} bits"
            )
        return packing

    def is_injective(self, rules: Rules) -> bool:
        """Whether all positions of a puzzle that moves lead to from its starts have keys of their own."""
        moduli = moduli_of(rules.parts)
        if self.places != rules.places or any(one[-1] >= most for one, most in zip(self.contents, moduli, strict=True)):
            return False
        reached = all({*one} <= {*here} for one, here in zip(contents(rules), self.contents, strict=True))
        counted = all(((rules.start_labels == label).sum(axis=1) == count).all() for label, count in self.pieces)
        return reached and counted and self.footprints == _reached(self.contents, rules.footprints)[1]

    @cached_property
    def cells(self) -> Contents:
        """The labels that the field of each place tells apart: all but those of `pieces`."""
        others = {label for label, _ in self.pieces}
        return tuple(tuple(label for label in labels if label not in others) for labels in self.contents)

    @property
    def radices(self) -> tuple[int, ...]:
        """The number of values of each place."""
        return tuple(map(len, self.cells))

    @cached_property
    def sets(self) -> tuple[PieceSets, ...]:
        """For each of `pieces` where they can be; FieldError if they cannot."""
        return tuple(self._sets(label, count) for label, count in self.pieces)

    def _sets(self, label: int, count: int) -> PieceSets:
        found = None if self.footprints is None else piece_sets(label, count, covered_by(self.footprints, label))
        if found is None:
            raise FieldError(f"{PIECES}: expected blocks that fit the board, found {quote([label, count])}")
        return found

    @cached_property
    def fields(self) -> Fields | SharedFields:
        """Where the bits of each place are; a place that holds one label alone has none. Then those of `sets`."""
        if not self.groups:
            return Fields(tuple(map(bits_of, self.radices)))
        return SharedFields(self.radices, self.groups, tuple(len(one.sets) for one in self.sets))

    @property
    def shared_values(self) -> Iterable[tuple[int, int]]:
        """How many places share each field of `groups`, and how many values the field has."""
        return zip(self.groups, self.fields.values, strict=False) if isinstance(self.fields, SharedFields) else ()

    @property
    def places(self) -> int:
        """The number of places."""
        return len(self.contents)

    @property
    def words(self) -> int:
        """The 64-bit words of a key."""
        return self.fields.words

    @property
    def bits(self) -> int:
        """The bits of a key that are in use; those above them are 0, of several words in each word."""
        return sum(mask.bit_length() for mask in self.fields.layout.mask.tolist())

    @cached_property
    def codes(self) -> NDArray[np.int16]:
        """``(places, LABELS)``: the number of each label among those of a place, or UNKNOWN; 0 of `pieces`."""
        codes = np.full((self.places, LABELS), UNKNOWN, dtype=np.int16)
        for place, labels in enumerate(self.cells):
            codes[place, list(labels)] = np.arange(len(labels))
        if self.footprints is not None:
            codes[:, [self.footprints.rest, *(label for label, _ in self.pieces)]] = 0
        return codes

    @cached_property
    def labels(self) -> NDArray[np.uint8]:
        """``(places, LABELS)``: the label for each number of a place; 0 where none stands for one."""
        labels = np.zeros((self.places, LABELS), dtype=np.uint8)
        for place, known in enumerate(self.cells):
            labels[place, : len(known)] = known
        return labels

    @cached_property
    def _plain(self) -> bool:
        """Whether each label is its own code."""
        return self.footprints is None and all(labels == tuple(range(len(labels))) for labels in self.contents)

    def fit(self, labels: Labels) -> Mask:
        """Which of the positions ``(n, places)`` have a key: the others cannot be reached from the starts."""
        fit: Mask = (self.codes[np.arange(self.places), labels] != UNKNOWN).all(axis=1)
        return fit if self.footprints is None else fit & (self.unpack(self.pack(labels)) == labels).all(axis=1)

    def pack(self, labels: Labels) -> Keys:
        """The keys of positions ``(n, places)``, which are not checked to `fit`: others get the keys of any."""
        coded = labels
        if not self._plain:
            coded = (self.codes[np.arange(self.places), labels] % self._moduli).astype(np.uint8)
        words = self.fields.pack(coded)
        for field, one in enumerate(self.sets, start=len(self.groups)):
            chosen = np.zeros(len(labels), dtype=np.uint64)
            for i, place in enumerate(one.places):
                chosen |= (labels[:, place] == one.label).astype(np.uint64) << np.uint64(i)
            number = np.minimum(np.searchsorted(one.sets, chosen), len(one.sets) - 1).astype(np.uint64)
            words[:, self.fields.layout.word[field]] |= number << self.fields.layout.shift[field]
        return squeezed(words)

    @cached_property
    def _moduli(self) -> NDArray[np.int16]:
        """``(places,)``: a number that codes are less than, so that no place changes the bits of another."""
        if self.groups:
            return np.array(self.radices, dtype=np.int16)
        return self.fields.layout.mask.astype(np.int16) + 1

    def unpack(self, keys: Keys) -> Labels:
        """The positions ``(n, places)`` of keys, the inverse of `pack`."""
        words = rows_of(keys)
        coded = self.fields.unpack(words)
        labels: Labels = coded if self._plain else self.labels[np.arange(self.places), coded]
        if isinstance(self.fields, SharedFields):
            for field, one in enumerate(self.sets, start=len(self.groups)):
                chosen = one.sets[np.minimum(self.fields.number(words, field), len(one.sets) - 1)]
                for i, place in enumerate(one.places):
                    labels[chosen >> np.uint64(i) & np.uint64(1) == 1, place] = one.label
        if self.footprints is not None:
            for footprint in self.footprints.every:
                if footprint.others:
                    here = labels[:, footprint.place] == footprint.label
                    labels[np.ix_(here, footprint.others)] = self.footprints.rest
        return labels

    def record(self) -> dict[str, Any]:
        """The packing as values of JSON; see `packing_of`."""
        listed = [len(labels) if labels == tuple(range(len(labels))) else list(labels) for labels in self.contents]
        record: dict[str, Any] = {VERSION: VERSION_NOW, CONTENTS: listed}
        if self.groups:
            record[GROUPS] = list(self.groups)
        if self.footprints is not None:
            every = [[place, label, list(others)] for place, label, others in self.footprints.every]
            record[FOOTPRINTS] = {REST: self.footprints.rest, EVERY: every}
            record[PIECES] = [list(one) for one in self.pieces]
        return record


def _reached(contents: Contents, footprints: Footprints | None) -> tuple[Contents, Footprints | None]:
    """The contents, and those footprints that they have."""
    if footprints is not None:
        some = tuple(one for one in footprints.every if one.label in contents[one.place])
        footprints = Footprints(footprints.rest, some)
    return contents, footprints


def _of_blocks(packing: Packing, rules: Rules, moves: Transforms) -> Packing:
    """The packing of blocks that takes the fewest bits, by labels of places and sets of places.

    The field with most values is the lowest: then sorted keys have the smallest gaps.
    """
    assert packing.footprints is not None
    steps = Counter(step.label for step in block_steps(moves))
    sizes, counts = dict[int, int](), dict[int, int]()
    for label in sorted(set().union(*packing.contents) - {EMPTY}):
        count, *others = np.unique((rules.start_labels == label).sum(axis=1)).tolist()
        found = piece_sets(label, count, covered_by(packing.footprints, label))
        if others or found is None or len(found.sets) * count * steps[label] > MAX_STEPS * len(found.places):
            continue
        sizes[label], counts[label] = len(found.sets), count
    in_own = in_sets(packing.contents, {label: bits_of(size) for label, size in sizes.items()})
    pieces = tuple((label, counts[label]) for label in sorted(in_own, key=lambda label: (-sizes[label], label)))
    packing = Packing(packing.contents, packing.footprints, (), pieces)
    return replace(packing, groups=shared(packing.radices))


def packing_of(record: object) -> Packing:
    """The packing that a record is of; FieldError if it is of none."""
    if not isinstance(record, Mapping):
        raise FieldError(f"packing: expected an object, found {quote(record)}")
    if type(record.get(VERSION)) is not int or record[VERSION] != VERSION_NOW:
        raise FieldError(
            f"{VERSION}: expected {VERSION_NOW}, found {quote(record.get(VERSION))}: another version wrote the store"
        )
    listed = record.get(CONTENTS)
    if not isinstance(listed, list) or not listed:
        raise FieldError(f"{CONTENTS}: expected a list, found {quote(listed)}")
    footprints = _footprints(record[FOOTPRINTS], len(listed)) if FOOTPRINTS in record else None
    groups = _groups(record.get(GROUPS, []), len(listed))
    packing = Packing(tuple(_content(one) for one in listed), footprints, groups, _pieces(record.get(PIECES, [])))
    if packing.pieces and not packing.groups:
        raise FieldError(f"{GROUPS}: expected some with {PIECES}, found none")
    if not all(packing.cells) or len(packing.sets) != len(packing.pieces):  # FieldError also where blocks do not fit
        raise FieldError(f"{PIECES}: expected labels of blocks, found {quote(record.get(PIECES))}")
    if any(size > 1 and bits_of(values) > FIELD_BITS for size, values in packing.shared_values):
        raise FieldError(f"{GROUPS}: expected fields of at most {FIELD_BITS} bits, found {quote(record.get(GROUPS))}")
    if packing.words > MAX_WORDS:
        raise FieldError(f"{CONTENTS}: expected keys of at most {MAX_WORDS} words, found {packing.words}")
    return packing


def _groups(value: Any, places: int) -> tuple[int, ...]:
    if not isinstance(value, list) or not all(type(one) is int and one > 0 for one in value):
        raise FieldError(f"{GROUPS}: expected numbers of places, found {quote(value)}")
    if value and sum(value) != places:
        raise FieldError(f"{GROUPS}: expected {places} places, found {sum(value)}")
    return tuple(value)


def _pieces(value: Any) -> tuple[tuple[int, int], ...]:
    whole = isinstance(value, list) and all(
        isinstance(one, list) and len(one) == 2 and all(type(number) is int and number > 0 for number in one)
        for one in value
    )
    if not whole or len({label for label, _ in value}) < len(value):
        raise FieldError(f"{PIECES}: expected labels, each once, and numbers of them, found {quote(value)}")
    return tuple((label, count) for label, count in value)


def _footprints(value: Any, places: int) -> Footprints:
    try:
        every = tuple(Footprint(place, label, tuple(others)) for place, label, others in value[EVERY])
        numbers = [number for place, label, others in every for number in (place, *others)]
        labels = [value[REST], *(one.label for one in every)]
    except (TypeError, KeyError, ValueError):
        raise FieldError(f"{FOOTPRINTS}: expected places and labels, found {quote(value)}") from None
    known = _is_below(places, numbers) and _is_below(LABELS, labels)
    if not (known and len({(one.place, one.label) for one in every}) == len(every)):
        raise FieldError(f"{FOOTPRINTS}: expected {places} places and labels below {LABELS}, found {quote(value)}")
    return Footprints(value[REST], every)


def _is_below(end: int, numbers: Iterable[object]) -> bool:
    return all(type(number) is int and 0 <= number < end for number in numbers)


def _content(value: object) -> tuple[int, ...]:
    if type(value) is int and 1 <= value <= LABELS:
        return tuple(range(value))
    numbers = value if isinstance(value, list) and all(type(one) is int for one in value) else []
    if not numbers or numbers != sorted(set(numbers)) or not 0 <= numbers[0] <= numbers[-1] < LABELS:
        raise FieldError(
            f"{CONTENTS}: expected labels from 0 to {LABELS - 1}, ascending, or their number, found {quote(value)}"
        )
    return tuple(numbers)


def squeezed(rows: Keys) -> Keys:
    """Keys ``(n, words)`` as `Keys`."""
    return rows[:, 0] if rows.shape[1] == 1 else rows


def rows_of(keys: Keys) -> Keys:
    """Keys as ``(n, words)``."""
    return keys[:, np.newaxis] if keys.ndim == 1 else keys
