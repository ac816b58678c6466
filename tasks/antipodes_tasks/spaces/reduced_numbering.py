"""Spaces reduced by symmetries: a row for each class of rows that symmetries map to each other.

A symmetry maps positions to positions, starts to starts and moves to moves, so it keeps distances. Here the symmetries
map rows to rows, and one row of each class is kept, the least by its key. An entry of a kept row stands for as many
positions as its class has rows. A position is mapped to a kept row by one of the symmetries, and its entry is that of
its image. Why that is right, also for rows that symmetries map to themselves, is in docs/explanation/symmetry.md.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np

from antipodes_tasks.errors import FieldError, InputError, ResourceLimitError
from antipodes_tasks.quoting import shorten
from antipodes_tasks.rules.moves import Labels
from antipodes_tasks.rules.rules import Rules
from antipodes_tasks.rules.swaps import Swaps
from antipodes_tasks.rules.transforms import Transforms
from antipodes_tasks.spaces.arrangements import Arrangements, parity_by_place
from antipodes_tasks.spaces.group import Group
from antipodes_tasks.spaces.move_tables import Indices
from antipodes_tasks.spaces.orbit_parts import PiecesIndex
from antipodes_tasks.spaces.orbits import Orbits
from antipodes_tasks.spaces.reduced_single import OneEntry
from antipodes_tasks.spaces.reduced_tables import ReducedTables, decides
from antipodes_tasks.spaces.row_classes import RowClasses
from antipodes_tasks.spaces.rows_and_columns import Classes, Frame, Part, Pieces
from antipodes_tasks.spaces.space import NOT_NUMBERED, NUMBERED, ORDER, REDUCED, Numbering, SpaceRecord
from antipodes_tasks.spaces.symmetry_images import Images

REDUCIBLE: Mapping[str, type[Numbering]] = {kind.KIND: kind for kind in (Orbits, Group, Arrangements)}
"""The numberings of all positions that have reduced ones."""
MIN_ENTRIES_FOR_ONE_BLOCK = 1 << 26
"""Entries from which on all rows are one block, so that chunks have a few million."""


@dataclass(frozen=True, eq=False)
class Reduced(Numbering):
    """The positions of another numbering up to symmetries of rows."""

    KIND: ClassVar[str] = REDUCED

    whole: Numbering
    """The numbering of all positions."""
    frame: Frame
    images: Images
    """All symmetries of a group, the identity first; all map rows to rows."""
    outline: bool = field(default=False, kw_only=True)
    """Whether a plan needs only to know about how many rows there are: then they are not listed."""

    @classmethod
    def of(cls, rules: Rules) -> Self:
        """A reduced numbering needs symmetries: see `antipodes_tasks.spaces.selection`."""
        raise InputError(f"expected a numbering without symmetries for {rules.name}")

    @classmethod
    def restored(cls, rules: Rules, record: SpaceRecord) -> Self:
        """The numbering with the symmetries of a record; FieldError if the puzzle has no such."""
        of, details = record.details.get("of"), record.details.get("details")
        if not isinstance(of, str) or of not in REDUCIBLE:
            raise FieldError(f"details.of: expected one of {', '.join(REDUCIBLE)}, found {of!r}")
        if not isinstance(details, Mapping):
            raise FieldError(f"details.details: expected an object, found {details!r}")
        whole = REDUCIBLE[of].restored(rules, SpaceRecord(of, 1, 1, details))
        parts = parts_of(rules)
        frame = Frame(parts, checked_classes(parts, record.details.get("classes")), labels_of(rules))
        if not decides(frame, steps_of(rules)):
            raise FieldError("details.classes: expected rows that decide where moves lead, found others")
        return cls(whole, frame, checked_images(rules, record, frame, whole.size))

    def __reduce__(self) -> tuple[Any, ...]:
        """Leave out the rows, which other processes find again."""
        return type(self), (self.whole, self.frame, self.images)

    @cached_property
    def classes(self) -> RowClasses:
        """The classes of rows."""
        return RowClasses(self.frame, self.images, self.outline)

    @property
    def rows(self) -> int:
        """The number of kept rows."""
        return self.classes.count

    @property
    def width(self) -> int:
        """The number of columns."""
        return self.frame.width

    @property
    def radices(self) -> tuple[int, ...]:
        """The number of rows and of columns; of large spaces after a digit of one value: all are one block."""
        one_block = (1,) if self.rows * self.width > MIN_ENTRIES_FOR_ONE_BLOCK else ()
        return (*one_block, self.rows, self.width)

    @property
    def cuts(self) -> Sequence[int]:
        """The one cut."""
        return (len(self.radices) - 1,)

    @property
    def details(self) -> Mapping[str, Any]:
        """The numbering of all positions, the classes of labels and some symmetries that generate the others."""
        return {
            "of": self.whole.KIND,
            "details": self.whole.details,
            NUMBERED: self.whole.size,
            "classes": [list(each) if isinstance(each, tuple) else each for each in self.frame.classes],
            ORDER: len(self.images),
            "symmetries": self.images.generators().record,
        }

    def rank(self, labels: Labels) -> Indices:
        """The index of the entry of each position ``(n, places)``, ``(n,)``; NOT_NUMBERED for those without one."""
        least = self.classes.minimum_images(labels)
        rows = self.classes.numbers(least.keys)
        columns = self.frame.columns(self.images.image(labels, least.symmetries))
        known = (rows >= 0) & (columns != NOT_NUMBERED)
        return np.where(known, rows * self.width + columns, np.int64(NOT_NUMBERED))

    def rank_one(self, labels: Sequence[int]) -> int:
        """As `rank`, for one position, given as Python's integers."""
        return super().rank_one(labels) if self._single_entry is None else self._single_entry.rank(labels)

    @cached_property
    def _single_entry(self) -> OneEntry | None:
        """The entries of single positions; None where that is no faster."""
        return OneEntry(self.classes) if OneEntry.is_applicable(self.classes) else None

    def unrank(self, indices: Indices) -> Labels:
        """One of the positions ``(n, places)`` that each entry stands for, that in the kept row; not checked."""
        rows, columns = np.divmod(indices, self.width)
        row_labels = self.frame.row_labels(self.classes.keys[rows])
        return self.frame.positions(row_labels, self.frame.contents(columns))

    def weights(self, leading: int) -> Indices:
        """The number of rows in the class of each row."""
        return self.classes.weights

    @property
    def full_numbering(self) -> Numbering:
        """The numbering of all positions."""
        return self.whole

    @property
    def is_outline(self) -> bool:
        """Whether rows are not listed."""
        return self.outline

    @property
    def symmetries(self) -> int:
        """The number of symmetries."""
        return len(self.images)

    def positions_of_entries(self, indices: Indices) -> tuple[Indices, Labels]:
        """All positions that entries stand for: those of one symmetry for each row of its class."""
        labels = self.unrank(indices)
        of, symmetries = np.nonzero(self.classes.first_images(labels).T)
        return of, self.images.image(labels[of], symmetries)

    def one_of(self, indices: Indices, numbers: Indices) -> Labels:
        """The positions of these numbers among those of each entry, without the others."""
        labels = self.unrank(indices)
        counted = np.cumsum(self.classes.first_images(labels), axis=0)
        return self.images.image(labels, (counted == numbers + 1).argmax(axis=0))

    def filler(self, rules: Rules, leading: int) -> ReducedTables:
        """The move tables."""
        return ReducedTables(steps_of(rules), self.classes)

    def reachable(self, rules: Rules) -> int | None:
        """The number of positions that can be reached, where that is known."""
        return self.whole.reachable(rules)


def labels_of(rules: Rules) -> int:
    """More than the greatest label of any part."""
    return max(len(part.symbols) for part in rules.parts)


def parts_of(rules: Rules) -> tuple[Part, ...]:
    """The parts of a puzzle of a kind that can be reduced: pieces first, then values."""
    if isinstance(rules.moves, Swaps):
        return (Pieces(slice(0, rules.places), rules.counts, parity_by_place(rules)),)
    counts = {at.start: part.counts for part, at in zip(rules.parts, rules.ranges, strict=True)}
    parts: list[Part] = []
    for part in Orbits.of(rules).parts:
        if isinstance(part, PiecesIndex):
            parity = None if part.parity is None else (part.parity,) * part.places
            parts.append(Pieces(part.place_slice, counts[part.first] or (), parity))
        else:
            parts.append(part)
    return tuple(parts)


def steps_of(rules: Rules) -> Transforms:
    """The moves of a puzzle of a kind that can be reduced.

    A swap exchanges two places, and is legal where one of them is empty and the other is not.
    """
    if isinstance(rules.moves, Transforms):
        return rules.moves
    assert isinstance(rules.moves, Swaps)
    pairs = np.unique(rules.moves.pairs, axis=0).astype(np.int64)
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    labels = len(rules.counts)
    every = np.arange(len(pairs))
    origins = np.tile(np.arange(rules.places), (len(pairs), 1))
    origins[every, pairs[:, 0]], origins[every, pairs[:, 1]] = pairs[:, 1], pairs[:, 0]
    allowed = np.full(origins.shape, (1 << labels) - 1, dtype=np.uint64)
    allowed[every, pairs[:, 0]] -= np.uint64(1)
    allowed[every, pairs[:, 1]] = 1
    return Transforms((), origins, np.full(rules.places, labels), None, allowed)


def checked_images(rules: Rules, record: SpaceRecord, frame: Frame, positions: int) -> Images:
    """The symmetries of a record; FieldError where they do not map rows to rows, or are not as many as it says."""
    generators = Images.recorded(rules, record.details.get("symmetries"))
    if not (frame.has_keys and frame.fitting(generators).all()):
        raise FieldError("symmetries: expected maps of rows to rows, found others")
    try:
        images = generators.generated()
    except ResourceLimitError as error:
        raise FieldError(f"symmetries: {error}") from error
    if (len(images), positions) != (record.details.get(ORDER), record.details.get(NUMBERED)):
        raise FieldError(f"details: expected {len(images)} symmetries of {positions} positions, found others")
    return images


def checked_classes(parts: Sequence[Part], given: Any) -> Classes:
    """The classes of a record; FieldError where they are none of the parts of the puzzle."""
    known = isinstance(given, list) and len(given) == len(parts)
    if not known or not all(_divides(part, one) for part, one in zip(parts, given, strict=True)):
        raise FieldError(f"details.classes: expected those of {len(parts)} parts, found {shorten(repr(given))}")
    return tuple(tuple(each) if isinstance(each, list) else each for each in given)


def _divides(part: Part, given: Any) -> bool:
    """Whether these are classes of a part: of each label of pieces, or how many values the row has."""
    if isinstance(part, Pieces):
        numbers = isinstance(given, list) and len(given) == len(part.counts) and all(type(one) is int for one in given)
        return numbers and set(given) == set(range(len(set(given))))
    whole = given in (0, part.length)
    return type(given) is int and (whole or (0 < given < part.length and part.total is None))
