"""Packing of positions into keys of one or several 64-bit words.

The label of a place is stored in a few bits. Neighbouring places share a bit field if that saves a word. A set of
identical blocks is stored as one number, which determines all their places, if that takes fewer bits than the labels.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from antipodes_tasks.base.array_types import Labels, Mask
from antipodes_tasks.base.errors import FieldError, SizeLimitError
from antipodes_tasks.base.quoting import quote
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
from antipodes_tasks.rules.footprints import EMPTY, Footprint, Footprints, block_steps
from antipodes_tasks.rules.parts import Part, moduli_of
from antipodes_tasks.rules.rules import Rules
from antipodes_tasks.rules.transforms import Transforms

Keys = NDArray[np.uint64]
"""Keys of one word, ``(n,)``, or of several words, ``(n, words)``. They are compared as numbers; the first word is the
most significant."""
MAX_WORDS = 64
LABELS = 256
UNKNOWN = -1
"""Code of a label that a place cannot hold."""
VERSION, VERSION_NOW = "version", 2
"""JSON key of the format version, and the current version."""
CONTENTS = "contents"
"""JSON key of a list with one item per place: the labels of the place, or their number if they are 0, 1, 2, ..."""
FOOTPRINTS, REST, EVERY = "footprints", "rest", "every"
"""JSON keys of the footprints of blocks."""
GROUPS, PIECES = "groups", "pieces"
"""JSON keys of the groups of places that share fields, and of the labels that are stored as sets of places."""


@dataclass(frozen=True)
class Packing:
    """The labels that each place can hold, which determine the bits of a key; the first place has the lowest bits.

    For a block, a key only stores the place that holds the block's label. This determines all places that the block
    covers.
    """

    contents: Contents
    footprints: Footprints | None = None
    groups: tuple[int, ...] = ()
    """Number of neighbouring places in each shared field; empty if each place has its own field."""
    pieces: tuple[tuple[int, int], ...] = ()
    """The labels whose blocks are stored as a set of places, each with the number of blocks that have the label."""

    @classmethod
    def of(cls, rules: Rules) -> "Packing":
        """Return the packing of all positions reachable from the starts.

        Raises SizeLimitError if a key has more than MAX_WORDS words.
        """
        packing = cls(*_reached(contents(rules), rules.footprints))
        if packing.footprints is not None and (moves := Transforms.of(rules.moves)) is not None:
            packing = _of_blocks(packing, rules, moves)
        elif rules.moves.pairs is not None:
            packing = min(packing, cls(packing.contents, None, shared(packing.radices)), key=lambda one: one.words)
        if packing.words > MAX_WORDS:
            raise SizeLimitError(
                f"the {rules.places} places of {rules.name} take {packing.bits:,} bits, hence {packing.words} words of "
                f"{WORD} bits per position; the limit is {MAX_WORDS} words"
            )
        return packing

    @classmethod
    def of_all(cls, parts: Sequence[Part]) -> "Packing":
        """Return the packing of positions with any labels, in the bit fields of `Fields.of`."""
        return cls(tuple(tuple(range(modulus)) for modulus in moduli_of(parts)))

    def is_injective(self, rules: Rules) -> bool:
        """Return whether different positions have different keys, among all positions reachable from the starts."""
        moduli = moduli_of(rules.parts)
        if self.places != rules.places or any(one[-1] >= most for one, most in zip(self.contents, moduli, strict=True)):
            return False
        reached = all({*one} <= {*here} for one, here in zip(contents(rules), self.contents, strict=True))
        counted = all(((rules.start_labels == label).sum(axis=1) == count).all() for label, count in self.pieces)
        return reached and counted and self.footprints == _reached(self.contents, rules.footprints)[1]

    @cached_property
    def cells(self) -> Contents:
        """The labels that each place's field distinguishes: all labels except those in `pieces`."""
        others = {label for label, _ in self.pieces}
        return tuple(tuple(label for label in labels if label not in others) for labels in self.contents)

    @property
    def radices(self) -> tuple[int, ...]:
        """Number of values of each place."""
        return tuple(map(len, self.cells))

    @cached_property
    def sets(self) -> tuple[PieceSets, ...]:
        """The possible sets of places of each label in `pieces`; raises FieldError if there are none."""
        return tuple(self._sets(label, count) for label, count in self.pieces)

    def _sets(self, label: int, count: int) -> PieceSets:
        found = None if self.footprints is None else piece_sets(label, count, covered_by(self.footprints, label))
        if found is None:
            raise FieldError(f"{PIECES}: blocks {quote([label, count])} do not fit on the board")
        return found

    @cached_property
    def fields(self) -> Fields | SharedFields:
        """Location of the fields of the places, followed by the fields of `sets`.

        A place with one possible label takes no bits.
        """
        if not self.groups:
            return Fields(tuple(map(bits_of, self.radices)))
        return SharedFields(self.radices, self.groups, tuple(len(one.sets) for one in self.sets))

    @property
    def shared_values(self) -> Iterable[tuple[int, int]]:
        """The number of places and the number of values of each shared field in `groups`."""
        return zip(self.groups, self.fields.values, strict=False) if isinstance(self.fields, SharedFields) else ()

    @property
    def places(self) -> int:
        """Number of places."""
        return len(self.contents)

    @property
    def words(self) -> int:
        """Number of 64-bit words of a key."""
        return self.fields.words

    @property
    def bits(self) -> int:
        """Number of bits of a key that are in use; the unused high bits of each word are 0."""
        return sum(mask.bit_length() for mask in self.fields.layout.mask.tolist())

    @cached_property
    def codes(self) -> NDArray[np.int16]:
        """``(places, LABELS)``: the number that stands for each label in a place's field, or UNKNOWN.

        Labels in `pieces` have code 0.
        """
        codes = np.full((self.places, LABELS), UNKNOWN, dtype=np.int16)
        for place, labels in enumerate(self.cells):
            codes[place, list(labels)] = np.arange(len(labels))
        if self.footprints is not None:
            codes[:, [self.footprints.rest, *(label for label, _ in self.pieces)]] = 0
        return codes

    @cached_property
    def labels(self) -> NDArray[np.uint8]:
        """``(places, LABELS)``: the label of each code at each place; 0 for unused codes."""
        labels = np.zeros((self.places, LABELS), dtype=np.uint8)
        for place, known in enumerate(self.cells):
            labels[place, : len(known)] = known
        return labels

    @cached_property
    def _plain(self) -> bool:
        """Whether the code of every label is the label itself."""
        return self.footprints is None and all(labels == tuple(range(len(labels))) for labels in self.contents)

    def fit(self, labels: Labels) -> Mask:
        """Return a mask of the positions ``(n, places)`` that have a key; other positions are unreachable."""
        fit: Mask = (self.codes[np.arange(self.places), labels] != UNKNOWN).all(axis=1)
        return fit if self.footprints is None else fit & (self.unpack(self.pack(labels)) == labels).all(axis=1)

    def pack(self, labels: Labels) -> Keys:
        """Return the keys of positions ``(n, places)``.

        Positions are not checked; a position that does not `fit` gets an arbitrary key.
        """
        coded = labels
        if not self._plain:
            coded = self._fitting_codes[np.arange(self.places), labels]
        words = self.fields.pack(coded)
        for field, one in enumerate(self.sets, start=len(self.groups)):
            chosen = np.zeros(len(labels), dtype=np.uint64)
            for i, place in enumerate(one.places):
                chosen |= (labels[:, place] == one.label).astype(np.uint64) << np.uint64(i)
            number = np.minimum(np.searchsorted(one.sets, chosen), len(one.sets) - 1).astype(np.uint64)
            words[:, self.fields.layout.word[field]] |= number << self.fields.layout.shift[field]
        return squeezed(words)

    @cached_property
    def _fitting_codes(self) -> NDArray[np.uint8]:
        """``(places, LABELS)``: the codes modulo numbers by which no place changes another place's bits."""
        moduli = np.array(self.radices) if self.groups else self.fields.layout.mask.astype(np.int64) + 1
        return (self.codes % moduli[:, np.newaxis]).astype(np.uint8)

    def unpack(self, keys: Keys) -> Labels:
        """Return the positions ``(n, places)`` of keys; the inverse of `pack`."""
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
        """Return the packing as JSON values, which `packing_of` reads."""
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
    """Return the contents unchanged, with the footprints that the contents allow."""
    if footprints is not None:
        some = tuple(one for one in footprints.every if one.label in contents[one.place])
        footprints = Footprints(footprints.rest, some)
    return contents, footprints


def _of_blocks(packing: Packing, rules: Rules, moves: Transforms) -> Packing:
    """Return a packing of blocks with few bits: each label is stored in the places' fields or as a set of places.

    Sets with the most values come first, which makes the gaps between sorted keys smallest.
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
    """Return the packing that a record describes; raise FieldError if the record is invalid."""
    if not isinstance(record, Mapping):
        raise FieldError(f"packing: expected an object, found {quote(record)}")
    if type(record.get(VERSION)) is not int or record[VERSION] != VERSION_NOW:
        raise FieldError(
            f"{VERSION}: expected {VERSION_NOW}, found {quote(record.get(VERSION))}; another version wrote the store"
        )
    listed = record.get(CONTENTS)
    if not isinstance(listed, list) or not listed:
        raise FieldError(f"{CONTENTS}: expected a list, found {quote(listed)}")
    footprints = _footprints(record[FOOTPRINTS], len(listed)) if FOOTPRINTS in record else None
    groups = _groups(record.get(GROUPS, []), len(listed))
    packing = Packing(tuple(_content(one) for one in listed), footprints, groups, _pieces(record.get(PIECES, [])))
    if packing.pieces and not packing.groups:
        raise FieldError(f"{GROUPS}: the groups of places are missing, but {PIECES} needs them")
    if not all(packing.cells) or len(packing.sets) != len(packing.pieces):  # `sets` also raises FieldError
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
        raise FieldError(f"{PIECES}: expected distinct labels, each with its number of blocks, found {quote(value)}")
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
    """Return keys ``(n, words)`` in the form of `Keys`."""
    return rows[:, 0] if rows.shape[1] == 1 else rows


def rows_of(keys: Keys) -> Keys:
    """Return keys in the form ``(n, words)``."""
    return keys[:, np.newaxis] if keys.ndim == 1 else keys
