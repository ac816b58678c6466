"""A position as a key: a number of one 64-bit word, or of several, that has each place's label in a few bits."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from antipodes_tasks.errors import FieldError, SizeLimitError
from antipodes_tasks.keys.contents import Contents, contents
from antipodes_tasks.keys.fields import WORD, Fields, bits_of
from antipodes_tasks.quoting import quote
from antipodes_tasks.rules.moves import Labels, Mask
from antipodes_tasks.rules.rules import Rules

Keys = NDArray[np.uint64]
"""``(n,)`` keys of one word; or ``(n, words)``, compared as numbers, the first word first."""
MOST_WORDS = 64
LABELS = 256
UNKNOWN = 255
"""The code of a label that a place cannot hold; where a place has 256 labels, each is known."""
CONTENTS = "contents"
"""The key of the record that has for each place its labels, or their number if they are the first ones."""


@dataclass(frozen=True)
class Packing:
    """The labels that each place can hold, and with them the bits of a key: the first place has the lowest ones."""

    contents: Contents

    @classmethod
    def of(cls, rules: Rules) -> "Packing":
        """The packing of all positions that moves lead to from the starts.

        SizeLimitError if a key has more than MOST_WORDS words.
        """
        packing = cls(contents(rules))
        if packing.words > MOST_WORDS:
            raise SizeLimitError(
                f"expected positions of at most {MOST_WORDS} words of {WORD} bits, found {packing.words} words: "
                f"{rules.places} places of {rules.name} take {packing.bits:,} bits"
            )
        return packing

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
    def codes(self) -> NDArray[np.uint8]:
        """``(places, LABELS)``: the number in the field of each place for each label, or UNKNOWN."""
        codes = np.full((self.places, LABELS), UNKNOWN, dtype=np.uint8)
        for place, labels in enumerate(self.contents):
            codes[place, list(labels)] = np.arange(len(labels))
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
        return all(labels == tuple(range(len(labels))) for labels in self.contents)

    def fit(self, labels: Labels) -> Mask:
        """Which of the positions ``(n, places)`` have a key: the others cannot be reached from the starts."""
        known = np.zeros((self.places, LABELS), dtype=np.bool_)
        for place, content in enumerate(self.contents):
            known[place, list(content)] = True
        return np.asarray(known[np.arange(self.places), labels].all(axis=1))

    def pack(self, labels: Labels) -> Keys:
        """The keys of positions ``(n, places)``, which are not checked to `fit`: others get the keys of any."""
        coded = labels if self._plain else self.codes[np.arange(self.places), labels]
        if not self._plain:
            coded = coded & self.fields.layout.mask.astype(np.uint8)
        return squeezed(self.fields.pack(coded))

    def unpack(self, keys: Keys) -> Labels:
        """The positions ``(n, places)`` of keys, the inverse of `pack`."""
        coded = self.fields.unpack(rows_of(keys))
        labels: Labels = coded if self._plain else self.labels[np.arange(self.places), coded]
        return labels

    def record(self) -> dict[str, Any]:
        """The packing as values of JSON; see `packing_of`."""
        return {
            CONTENTS: [len(labels) if labels == tuple(range(len(labels))) else list(labels) for labels in self.contents]
        }


def packing_of(record: Mapping[str, Any]) -> Packing:
    """The packing that a record is of; FieldError if it is of none."""
    listed = record.get(CONTENTS)
    if not isinstance(listed, list) or not listed:
        raise FieldError(f"{CONTENTS}: expected a list, found {quote(listed)}")
    return Packing(tuple(_content(one) for one in listed))


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
