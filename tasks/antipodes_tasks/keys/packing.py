"""A position as a key: a number of one 64-bit word, or of several, that has each place's label in a few bits."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from antipodes_tasks.errors import FieldError, SizeLimitError
from antipodes_tasks.keys.contents import Contents, contents
from antipodes_tasks.keys.fields import WORD, Fields, bits_of
from antipodes_tasks.quoting import quote
from antipodes_tasks.rules.footprints import Footprint, Footprints
from antipodes_tasks.rules.moves import Labels, Mask
from antipodes_tasks.rules.rules import Rules

Keys = NDArray[np.uint64]
"""``(n,)`` keys of one word; or ``(n, words)``, compared as numbers, the first word first."""
MOST_WORDS = 64
LABELS = 256
UNKNOWN = -1
"""The code of a label that a place cannot hold."""
CONTENTS = "contents"
"""The key of the record that has for each place its labels, or their number if they are the first ones."""
FOOTPRINTS, REST, EVERY = "footprints", "rest", "every"
"""The keys of what blocks cover."""


@dataclass(frozen=True)
class Packing:
    """The labels that each place can hold, and with them the bits of a key: the first place has the lowest ones.

    Of blocks a key has the place that gives a block its label; which others it covers is known then.
    """

    contents: Contents
    footprints: Footprints | None = None

    @classmethod
    def of(cls, rules: Rules) -> "Packing":
        """The packing of all positions that moves lead to from the starts.

        SizeLimitError if a key has more than MOST_WORDS words.
        """
        packing = cls.holding(contents(rules), rules.footprints)
        if packing.words > MOST_WORDS:
            raise SizeLimitError(
                f"expected positions of at most {MOST_WORDS} words of {WORD} bits, found {packing.words} words: "
                f"{rules.places} places of {rules.name} take {packing.bits:,} bits"
            )
        return packing

    @classmethod
    def holding(cls, contents: Contents, footprints: Footprints | None) -> "Packing":
        """The packing of these labels, with those footprints that they have."""
        if footprints is not None:
            some = tuple(one for one in footprints.every if one.label in contents[one.place])
            footprints = Footprints(footprints.rest, some)
        return cls(contents, footprints)

    @cached_property
    def fields(self) -> Fields:
        """Where the bits of each place are; a place that holds one label alone has none."""
        return Fields(tuple(bits_of(len(labels)) for labels in self.contents))

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
        return sum(self.fields.bits)

    @cached_property
    def codes(self) -> NDArray[np.int16]:
        """``(places, LABELS)``: the number in the field of each place for each label, or UNKNOWN."""
        codes = np.full((self.places, LABELS), UNKNOWN, dtype=np.int16)
        for place, labels in enumerate(self.contents):
            codes[place, list(labels)] = np.arange(len(labels))
        if self.footprints is not None:
            codes[:, self.footprints.rest] = 0
        return codes

    @cached_property
    def labels(self) -> NDArray[np.uint8]:
        """``(places, LABELS)``: the label for each number in the field of a place; 0 where none stands for one."""
        labels = np.zeros((self.places, LABELS), dtype=np.uint8)
        for place, known in enumerate(self.contents):
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
        if not self._plain:
            labels = (self.codes[np.arange(self.places), labels] & self._masks).astype(np.uint8)
        return squeezed(self.fields.pack(labels))

    @cached_property
    def _masks(self) -> NDArray[np.int16]:
        """``(places,)``: the bits of each field, so that no place changes another's bits."""
        return self.fields.layout.mask.astype(np.int16)

    def unpack(self, keys: Keys) -> Labels:
        """The positions ``(n, places)`` of keys, the inverse of `pack`."""
        coded = self.fields.unpack(rows_of(keys))
        labels: Labels = coded if self._plain else self.labels[np.arange(self.places), coded]
        if self.footprints is not None:
            for one in self.footprints.every:
                if one.others:
                    labels[np.ix_(labels[:, one.place] == one.label, one.others)] = self.footprints.rest
        return labels

    def record(self) -> dict[str, Any]:
        """The packing as values of JSON; see `packing_of`."""
        listed = [len(labels) if labels == tuple(range(len(labels))) else list(labels) for labels in self.contents]
        if self.footprints is None:
            return {CONTENTS: listed}
        every = [[place, label, list(others)] for place, label, others in self.footprints.every]
        return {CONTENTS: listed, FOOTPRINTS: {REST: self.footprints.rest, EVERY: every}}


def packing_of(record: Mapping[str, Any]) -> Packing:
    """The packing that a record is of; FieldError if it is of none."""
    listed = record.get(CONTENTS)
    if not isinstance(listed, list) or not listed:
        raise FieldError(f"{CONTENTS}: expected a list, found {quote(listed)}")
    footprints = _footprints(record[FOOTPRINTS], len(listed)) if FOOTPRINTS in record else None
    return Packing(tuple(_content(one) for one in listed), footprints)


def _footprints(value: Any, places: int) -> Footprints:
    try:
        every = tuple(Footprint(place, label, tuple(others)) for place, label, others in value[EVERY])
        numbers = [number for place, label, others in every for number in (place, *others)]
        labels = [value[REST], *(one.label for one in every)]
    except (TypeError, KeyError, ValueError):
        raise FieldError(f"{FOOTPRINTS}: expected places and labels, found {quote(value)}") from None
    if not (_below(places, numbers) and _below(LABELS, labels)):
        raise FieldError(f"{FOOTPRINTS}: expected {places} places and labels below {LABELS}, found {quote(value)}")
    return Footprints(value[REST], every)


def _below(end: int, numbers: Iterable[object]) -> bool:
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
