"""Spaces reduced by symmetries: one row for each symmetry class of rows.

A symmetry maps positions to positions, starts to starts and moves to moves, so it preserves distances. Here all
symmetries also map rows to rows. Only one row of each symmetry class, its *representative*, belongs to the space (see
`antipodes_tasks.spaces.row_classes`). To find the entry of a position, a symmetry maps the position into a
representative row. The entry of this image is also the entry of the position. An entry stands for one position in each
row of the class. docs/explanation/symmetry.md proves that this is correct, even for rows that symmetries map to
themselves.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np

from antipodes_tasks.base.array_types import Labels
from antipodes_tasks.base.errors import FieldError, InputError, ResourceLimitError
from antipodes_tasks.base.quoting import shorten
from antipodes_tasks.move_tables import Indices
from antipodes_tasks.properties.puzzle_graph import carriers_of
from antipodes_tasks.properties.symmetry_images import Images
from antipodes_tasks.rules.rules import Rules
from antipodes_tasks.rules.swaps import transforms_of
from antipodes_tasks.spaces.arrangements import Arrangements
from antipodes_tasks.spaces.group import Group
from antipodes_tasks.spaces.orbit_parts import PartIndex, PiecesIndex
from antipodes_tasks.spaces.orbits import Orbits
from antipodes_tasks.spaces.reduced_single import OneEntry
from antipodes_tasks.spaces.reduced_tables import ReducedTables, decides
from antipodes_tasks.spaces.row_classes import RowClasses
from antipodes_tasks.spaces.row_symmetries import maps_rows_to_rows
from antipodes_tasks.spaces.rows_and_columns import Classes, Cut
from antipodes_tasks.spaces.space import NOT_NUMBERED, NUMBERED, ORDER, REDUCED, Numbering, SpaceRecord

REDUCIBLE: Mapping[str, type[Numbering]] = {kind.KIND: kind for kind in (Orbits, Group, Arrangements)}
"""The numberings that can be reduced, by the names of their kinds."""
MIN_ENTRIES_FOR_ONE_BLOCK = 1 << 26
"""Number of entries above which all rows form one row block, so that chunks hold a few million entries."""


@dataclass(frozen=True, eq=False)
class Reduced(Numbering):
    """The positions of another numbering, with one row for each symmetry class of rows."""

    KIND: ClassVar[str] = REDUCED

    whole: Numbering
    """The numbering of all positions."""
    frame: Cut
    images: Images
    """All symmetries of a group, the identity first. Each maps rows to rows."""
    outline: bool = field(default=False, kw_only=True)
    """Whether rows are only counted approximately and not listed, which is enough for a plan."""
    stored_rows: int | None = field(default=None, kw_only=True)
    """The number of representative rows in a store, see `RowClasses.expected`."""

    @classmethod
    def of(cls, rules: Rules) -> Self:
        """Raise InputError: a reduced numbering needs symmetries, see `antipodes_tasks.spaces.selection`."""
        raise InputError(f"a reduced numbering of {rules.name} needs symmetries")

    @classmethod
    def restored(cls, rules: Rules, record: SpaceRecord) -> Self:
        """Return the numbering with the symmetries of a record; raise FieldError if it does not match the puzzle."""
        of, details = record.details.get("of"), record.details.get("details")
        if not isinstance(of, str) or of not in REDUCIBLE:
            raise FieldError(f"details.of: expected one of {', '.join(REDUCIBLE)}, found {of!r}")
        if not isinstance(details, Mapping):
            raise FieldError(f"details.details: expected an object, found {details!r}")
        whole = REDUCIBLE[of].restored(rules, SpaceRecord(of, 1, 1, details))
        parts = parts_of(rules)
        classes = checked_classes(parts, record.details.get("classes"))
        frame = Cut(parts, classes, labels_of(rules), tuple(carriers_of(rules).tolist()))
        if not decides(frame, transforms_of(rules)):
            raise FieldError("details.classes: the moves of the puzzle do not map the rows of these classes to rows")
        return cls(whole, frame, checked_images(rules, record, frame, whole.size), stored_rows=record.rows)

    def __reduce__(self) -> tuple[Any, ...]:
        """Leave out the rows when pickling; other processes compute them again."""
        return type(self), (self.whole, self.frame, self.images)

    @cached_property
    def classes(self) -> RowClasses:
        """The symmetry classes of rows."""
        return RowClasses(self.frame, self.images, self.outline, self.stored_rows)

    @property
    def rows(self) -> int:
        """Number of representative rows."""
        return self.classes.count

    @property
    def width(self) -> int:
        """Number of columns."""
        return self.frame.width

    @property
    def radices(self) -> tuple[int, ...]:
        """The numbers of rows and columns.

        In large spaces, a digit with one value comes first, so that all rows form one row block.
        """
        one_block = (1,) if self.rows * self.width > MIN_ENTRIES_FOR_ONE_BLOCK else ()
        return (*one_block, self.rows, self.width)

    @property
    def cuts(self) -> Sequence[int]:
        """The only cut."""
        return (len(self.radices) - 1,)

    @property
    def details(self) -> Mapping[str, Any]:
        """The numbering of all positions, the label classes, and generators of the symmetries."""
        return {
            "of": self.whole.KIND,
            "details": self.whole.details,
            NUMBERED: self.whole.size,
            "classes": [list(each) if isinstance(each, tuple) else each for each in self.frame.classes],
            ORDER: len(self.images),
            "symmetries": self.images.generators().record,
        }

    def rank(self, labels: Labels) -> Indices:
        """Return the index ``(n,)`` of the entry of each position ``(n, places)``; NOT_NUMBERED if it has none."""
        least = self.classes.minimum_images(labels)
        rows = self.classes.numbers(least.keys)
        columns = self.frame.columns(self.images.image(labels, least.symmetries))
        known = (rows >= 0) & (columns != NOT_NUMBERED)
        return np.where(known, rows * self.width + columns, np.int64(NOT_NUMBERED))

    def rank_one(self, labels: Sequence[int]) -> int:
        """Return the index of one position given as Python integers."""
        return super().rank_one(labels) if self._single_entry is None else self._single_entry.rank(labels)

    @cached_property
    def _single_entry(self) -> OneEntry | None:
        """The object that ranks single positions; None if the array functions have to be used."""
        return OneEntry(self.classes) if OneEntry.is_applicable(self.classes) else None

    def unrank(self, indices: Indices) -> Labels:
        """Return the representative ``(n, places)`` of each entry ``(n,)``. The indices are not checked."""
        rows, columns = np.divmod(indices, self.width)
        row_labels = self.frame.row_labels(self.classes.keys[rows])
        return self.frame.positions(row_labels, self.frame.contents(columns))

    @property
    def weights(self) -> Indices:
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
        """Number of symmetries."""
        return len(self.images)

    def positions_of_entries(self, indices: Indices) -> tuple[Indices, Labels]:
        """Return all positions of entries: for each row of the class, the image of the representative in this row."""
        labels = self.unrank(indices)
        of, symmetries = np.nonzero(self.classes.first_images(labels).T)
        return of, self.images.image(labels[of], symmetries)

    def one_of(self, indices: Indices, numbers: Indices) -> Labels:
        """Return the positions with these numbers among the positions of each entry, without computing the others."""
        labels = self.unrank(indices)
        counted = np.cumsum(self.classes.first_images(labels), axis=0)
        return self.images.image(labels, (counted == numbers + 1).argmax(axis=0))

    def filler(self, rules: Rules, leading: int) -> ReducedTables:
        """Return the filler of the move tables."""
        return ReducedTables(transforms_of(rules), self.classes)

    def reachable(self, rules: Rules) -> int | None:
        """Return the number of reachable positions; None if only a search can find it."""
        return self.whole.reachable(rules)


def labels_of(rules: Rules) -> int:
    """Return the exclusive upper limit on the labels of all parts."""
    return max(len(part.symbols) for part in rules.parts)


def parts_of(rules: Rules) -> tuple[PartIndex, ...]:
    """Return the parts of a puzzle whose numbering is REDUCIBLE: pieces first, then values."""
    if rules.moves.pairs is not None:
        return (Arrangements.of(rules).index,)
    return Orbits.of(rules).parts


def checked_images(rules: Rules, record: SpaceRecord, frame: Cut, positions: int) -> Images:
    """Return all symmetries of a record; raise FieldError if they do not map rows to rows, or their number is wrong."""
    generators = Images.recorded(rules, record.details.get("symmetries"))
    if not (frame.has_keys and maps_rows_to_rows(frame, generators).all()):
        raise FieldError("symmetries: each must map every row of the space to a row")
    try:
        images = generators.generated()
    except ResourceLimitError as error:
        raise FieldError(f"symmetries: {error}") from error
    if (len(images), positions) != (record.details.get(ORDER), record.details.get(NUMBERED)):
        raise FieldError(
            f"details: the numbers of symmetries ({len(images)}) and positions ({positions}) are not those recorded"
        )
    return images


def checked_classes(parts: Sequence[PartIndex], given: Any) -> Classes:
    """Return the label classes of a record; raise FieldError if they do not fit the parts of the puzzle."""
    known = isinstance(given, list) and len(given) == len(parts)
    if not known or not all(_divides(part, one) for part, one in zip(parts, given, strict=True)):
        raise FieldError(f"details.classes: {shorten(repr(given))} does not fit the {len(parts)} parts of the puzzle")
    return tuple(tuple(each) if isinstance(each, list) else each for each in given)


def _divides(part: PartIndex, given: Any) -> bool:
    """Return whether ``given`` divides a part: a class for each label, or the number of values in the row."""
    if isinstance(part, PiecesIndex):
        numbers = isinstance(given, list) and len(given) == len(part.pieces) and all(type(one) is int for one in given)
        return numbers and set(given) == set(range(len(set(given))))
    whole = given in (0, part.length)
    return type(given) is int and (whole or (0 < given < part.length and part.total is None))
