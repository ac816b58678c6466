"""Fields reduced by symmetries that a puzzle names: its moves are functions, applied to all positions of kept rows.

A symmetry takes each place to one place, and renames what is on it. The fields of the row go to fields of the row, so a
row decides the row of its image. A move leads from a kept row to one row, and one symmetry from there to a kept row;
where the columns go is found by ranking the images.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from math import prod
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from antipodes_tasks.errors import FieldError
from antipodes_tasks.rules.moves import Labels
from antipodes_tasks.rules.rules import Rules
from antipodes_tasks.spaces.mixed_radix import (
    POSITIONS,
    SPARE_BYTES,
    WIDTHS,
    Field,
    Fields,
    FieldTables,
    MapNumbers,
    Rows,
    closed_order,
    dependencies_of,
    fields_of,
    functions_of,
)
from antipodes_tasks.spaces.move_tables import ILLEGAL, Closing, Fill, MoveTables, blocks
from antipodes_tasks.spaces.orbit_parts import ValuesIndex
from antipodes_tasks.spaces.reduced_numbering import Reduced, checked_classes, checked_images, labels_of
from antipodes_tasks.spaces.rows_and_columns import Classes, Frame, Part, Pieces
from antipodes_tasks.spaces.space import SpaceRecord
from antipodes_tasks.spaces.symmetry_images import Images

STABILISED = 1000
"""Symmetries of rows to themselves in a sample."""


class Stabilised(NamedTuple):
    """Rows that symmetries map to themselves."""

    rows: NDArray[np.int64]
    """``(n,)``: a row for each of its symmetries, ascending."""
    symmetries: NDArray[np.int64]
    """``(n,)``: such a symmetry, not the identity."""


@dataclass(frozen=True, eq=False)
class ReducedFields(Reduced):
    """The positions of fields up to symmetries of rows."""

    most_maps: int = 1
    """The column maps that memory is kept for."""

    @classmethod
    def cut(cls, rules: Rules, whole: Fields, frame: Frame, images: Images) -> Self | None:
        """The numbering with rows of this frame; None if they do not decide where moves lead in a sample of rows."""
        found = cls(replace(whole, leading=len(whole.order), most_maps=1), frame, images)
        most = found.filler(rules, found.cuts[0]).estimated_maps()
        return None if most is None else replace(found, most_maps=most)

    @classmethod
    def restored(cls, rules: Rules, record: SpaceRecord) -> Self:
        """The numbering with the symmetries of a record; FieldError if the puzzle has no such."""
        details, most = record.details.get("details"), record.details.get("column_maps")
        if not isinstance(details, Mapping):
            raise FieldError(f"details.details: expected an object, found {details!r}")
        if type(most) is not int or most < 1:
            raise FieldError(f"details.column_maps: expected a number of column maps, found {most!r}")
        whole = Fields.restored(rules, SpaceRecord(Fields.KIND, Fields.size_for(rules), 1, details))
        parts = field_parts(rules)
        frame = Frame(parts, checked_classes(parts, record.details.get("classes")), labels_of(rules))
        return cls(whole, frame, checked_images(rules, record, frame, whole.size), most)

    def __reduce__(self) -> tuple[Any, ...]:
        """Leave out the rows, which other processes find again."""
        return type(self), (self.whole, self.frame, self.images, self.most_maps)

    @property
    def details(self) -> Mapping[str, Any]:
        """As those of other reduced numberings, and the bound of the column maps."""
        return {**super().details, "column_maps": self.most_maps}

    def filler(self, rules: Rules, leading: int) -> "ReducedFieldTables":  # type: ignore[override]
        """The move tables; filling them raises InputError if a row does not decide where moves lead."""
        deciding = np.flatnonzero(self.frame.radices > 1).tolist()
        return ReducedFieldTables(functions_of(rules), self, leading, tuple(deciding), self.most_maps)


@dataclass(frozen=True)
class ReducedFieldTables(FieldTables):
    """How the move tables of functions are filled, of kept rows alone."""

    numbering: ReducedFields

    def rows_after(self, number: int, labels: Labels) -> Rows:
        """As that of all positions; the row that a move leads to is mapped to a kept one, and its columns with it."""
        after, legal = self.moves.move(number, labels)
        if self.moves.reversible:
            self.moves.check_undone(number, labels, after, legal)
        frame, classes, shape = self.numbering.frame, self.numbering.classes, (-1, self.width)
        keys, by_row = frame.keys(after).reshape(shape), legal.reshape(shape)
        rows, first = np.flatnonzero(by_row.any(axis=1)), by_row.argmax(axis=1)
        own = keys[np.arange(len(keys)), first]
        decided = bool(((keys == own[:, np.newaxis]) | ~by_row).all())
        least = classes.minimum_images(after[np.arange(len(keys)) * self.width + first])
        images = self.numbering.images.image(after, np.repeat(least.symmetries, self.width))
        columns = np.where(legal, frame.columns(images), ILLEGAL).reshape(shape)
        return Rows(rows, classes.numbers(least.keys[rows]), columns[rows].astype(np.int32), decided)

    def estimated_maps(self) -> int | None:
        """As that of all positions; column maps of rows that symmetries map to themselves are counted, too."""
        most = super().estimated_maps()
        if most is None or self.width == 1:
            return most
        stabilised = self._stabilised
        some = Stabilised(*(each[:: max(1, len(stabilised.rows) // STABILISED)] for each in stabilised))
        numbers = MapNumbers(self.width)
        numbers.of(self._maps(some))
        return most + min(len(stabilised.rows), 2 * len(numbers) + SPARE_BYTES // (4 * self.width))

    @property
    def _stabilised(self) -> Stabilised:
        classes = self.numbering.classes
        rows = np.flatnonzero(classes.weights < len(classes.images))
        same = classes.image_keys(classes.rows()[rows]) == classes.keys[rows]
        of, symmetries = np.nonzero(same[1:].T)
        return Stabilised(rows[of], symmetries + 1)

    def _maps(self, stabilised: Stabilised) -> NDArray[np.int32]:
        """The column ``(n, width)`` to which a symmetry takes each column of a row."""
        rows, symmetries = stabilised
        images = self.numbering.images.image(self._labels(rows), np.repeat(symmetries, self.width))
        return self.numbering.frame.columns(images).reshape(-1, self.width).astype(np.int32)

    def begin(self) -> tuple[MoveTables, list[Fill]]:
        """Move tables, and the calls that fill them; InputError in these if there are more column maps."""
        tables, numbers = self._empty()
        fills = self._fills(tables, numbers)
        if self.width == 1:
            return tables, fills
        stabilised = self._stabilised
        rows, begins = np.unique(stabilised.rows, return_index=True)
        maps = np.zeros(len(stabilised.rows), dtype=np.int32)
        ends = np.append(begins, len(maps)).astype(np.int64)
        fills += [
            partial(self._close, maps[first:end], numbers, Stabilised(*(each[first:end] for each in stabilised)))
            for first, end in blocks(len(maps), self.width, steps=POSITIONS)
        ]
        return tables._replace(closing=Closing(rows.astype(np.int32), ends, maps) if len(rows) else None), fills

    def _close(self, maps: NDArray[np.int32], numbers: MapNumbers, stabilised: Stabilised) -> None:
        maps[:] = numbers.of(self._maps(stabilised))


def field_parts(rules: Rules) -> tuple[Part, ...]:
    """A part for each field of a puzzle, in the order of their places."""
    return tuple(map(_part, fields_of(rules.parts)))


def _part(field: Field) -> Part:
    if field.counts is None:
        return ValuesIndex(field.first, 1, field.radix)
    return Pieces(slice(field.first, field.end), field.counts)


def field_frames(rules: Rules, images: Images) -> Iterator[Frame]:
    """Frames whose rows decide where moves lead, as far as a sample of positions shows.

    The fields of a row depend on no others; of some frames the symmetries take them to each other, too.
    """
    fields, moves = fields_of(rules.parts), functions_of(rules)
    dependencies = dependencies_of(fields, rules.parts, moves)
    known = {tuple(range(len(fields))): None}
    for needed in () if moves.plain else (dependencies, dependencies | _mapped_together(fields, images)):
        order, ends = closed_order(fields, needed)
        known |= {tuple(sorted(order[:end])): None for end in ends}
    least, most = WIDTHS
    for chosen in known:
        width = prod(field.radix for number, field in enumerate(fields) if number not in chosen)
        if width == 1 or least <= width <= most:
            yield Frame(field_parts(rules), _classes(fields, chosen), labels_of(rules))


def _mapped_together(fields: Sequence[Field], images: Images) -> NDArray[np.bool_]:
    """``(fields, fields)``: whether symmetries take the first to the second."""
    number_of = np.repeat(np.arange(len(fields)), [field.end - field.first for field in fields])
    together = np.zeros((len(fields), len(fields)), dtype=np.bool_)
    for number, field in enumerate(fields):
        together[number, number_of[images.places[:, field.first]]] = True
    return together


def _classes(fields: Sequence[Field], chosen: Sequence[int]) -> Classes:
    """The classes where the row has the chosen fields, and the column the others."""
    return tuple(_class(field, number in chosen) for number, field in enumerate(fields))


def _class(field: Field, in_row: bool) -> tuple[int, ...] | int:
    if field.counts is None:
        return int(in_row)
    return tuple(range(len(field.counts))) if in_row else (0,) * len(field.counts)
