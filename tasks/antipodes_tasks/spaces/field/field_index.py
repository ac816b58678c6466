"""The mixed-radix index of puzzles whose moves are functions: a digit for each field, in any order.

A field is a place that holds any value, or a whole part of pieces, whose digit is the number of their arrangement. The
leading fields are the row, the others the column; the cut between them changes no index, the order of fields does.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from antipodes_tasks.errors import InputError
from antipodes_tasks.permutations.arrangements import rank_arrangements, ranker, unrank_arrangements
from antipodes_tasks.rules.moves import Labels
from antipodes_tasks.rules.parts import Part, ranges_of

Digits = NDArray[np.int64]


class Field(NamedTuple):
    """Places that have one digit."""

    first: int
    end: int
    """One past the last place."""
    radix: int
    """The number of values of the digit."""
    counts: tuple[int, ...] | None
    """The pieces of an arrangement; None: one place that holds any value."""

    def digit(self, labels: Labels) -> Digits:
        """The digit ``(n,)`` of positions ``(n, places)``."""
        if self.counts is None:
            return labels[:, self.first].astype(np.int64)
        return rank_arrangements(labels[:, self.first : self.end], self.counts)

    def digit_of_one(self, labels: Sequence[int]) -> int:
        """As `digit`, for one position, given as Python's integers."""
        if self.counts is None:
            return labels[self.first]
        return ranker(self.counts)(labels[self.first : self.end])

    def write(self, digit: Digits, labels: Labels) -> None:
        """Write the content that has this digit ``(n,)`` into positions ``(n, places)``."""
        if self.counts is None:
            labels[:, self.first] = digit
        else:
            labels[:, self.first : self.end] = unrank_arrangements(digit, self.counts)


def fields_of(parts: Sequence[Part]) -> tuple[Field, ...]:
    """The fields of a puzzle, in the order of its places."""
    found = []
    for part, at in zip(parts, ranges_of(parts), strict=True):
        if part.counts is None:
            places = range(at.start, at.stop)
            found += [Field(place, place + 1, len(part.symbols), None) for place in places]
        else:
            found.append(Field(at.start, at.stop, part.size, part.counts))
    return tuple(found)


@dataclass(frozen=True)
class FieldIndex:
    """The number of every position, as ``row * width + column``."""

    fields: tuple[Field, ...]
    """In the order of their digits, the most significant first."""
    leading: int
    """The number of fields in the row; the others are in the column."""

    @cached_property
    def rows(self) -> int:
        """The number of rows."""
        return prod(field.radix for field in self.fields[: self.leading])

    @cached_property
    def width(self) -> int:
        """The number of columns of a row."""
        return prod(field.radix for field in self.fields[self.leading :])

    @property
    def size(self) -> int:
        """The number of positions."""
        return self.rows * self.width

    @property
    def places(self) -> int:
        """The number of places of a position."""
        return max(field.end for field in self.fields)

    def rank(self, labels: Labels) -> Digits:
        """The index of each position ``(n, places)``, ``(n,)``; that it is one is not checked."""
        ranks = np.zeros(len(labels), dtype=np.int64)
        for field in self.fields:
            ranks *= field.radix
            ranks += field.digit(labels)
        return ranks

    def rank_one(self, labels: Sequence[int]) -> int:
        """As `rank`, for one position, given as Python's integers."""
        rank = 0
        for field in self.fields:
            rank = rank * field.radix + field.digit_of_one(labels)
        return rank

    def unrank(self, indices: Digits) -> Labels:
        """The position ``(n, places)`` of each index ``(n,)``; InputError where one is not in 0 to ``size - 1``."""
        outside = (indices < 0) | (indices >= self.size)
        if outside.any():
            raise InputError(f"expected an index from 0 to {self.size - 1}, found {indices[outside][0]}")
        labels = np.empty((len(indices), self.places), dtype=np.uint8, order="F")
        rest = np.array(indices, dtype=np.int64)
        for field in reversed(self.fields):
            rest, digit = np.divmod(rest, field.radix)
            field.write(digit, labels)
        return labels
