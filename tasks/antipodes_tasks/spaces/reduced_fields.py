"""The reduced numbering of puzzles whose moves are functions, with symmetries that the puzzle declares.

A symmetry takes each place to a place and renames the label on it. It maps the fields of the row to fields of the row,
so the row of a position determines the row of its image. The functions are applied to all positions of each
representative row. A fixed symmetry then takes the row of the results to its representative, and ranking the images of
the results yields the column map.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from math import prod
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from antipodes_tasks.base.array_types import Labels
from antipodes_tasks.base.errors import FieldError
from antipodes_tasks.move_tables import ILLEGAL, Closing, Fill, MoveTables, blocks
from antipodes_tasks.properties.symmetry_images import Images
from antipodes_tasks.rules.rules import Rules
from antipodes_tasks.spaces.mixed_radix import (
    POSITIONS,
    SPARE_BYTES,
    WIDTHS,
    Field,
    FieldTables,
    MapNumbers,
    MixedRadix,
    Rows,
    closed_order,
    dependencies_of,
    fields_of,
)
from antipodes_tasks.spaces.orbit_parts import PartIndex, PiecesIndex, ValuesIndex
from antipodes_tasks.spaces.reduced_numbering import Reduced, checked_classes, checked_images, labels_of
from antipodes_tasks.spaces.rows_and_columns import Classes, Cut
from antipodes_tasks.spaces.space import SpaceRecord

STABILISED = 1000
"""Approximate number of sampled pairs of a row and a symmetry in the stabiliser of this row."""


class Stabilised(NamedTuple):
    """The rows with a nontrivial stabiliser."""

    rows: NDArray[np.int64]
    """``(n,)``: the rows, ascending. A row is repeated for each symmetry in ``symmetries``."""
    symmetries: NDArray[np.int64]
    """``(n,)``: a symmetry, other than the identity, that maps the row to itself."""


@dataclass(frozen=True, eq=False)
class ReducedFields(Reduced):
    """The positions of a numbering of fields, with one row for each symmetry class of rows."""

    max_maps: int = 1
    """Number of column maps for which memory is reserved."""

    @classmethod
    def cut(cls, rules: Rules, whole: MixedRadix, frame: Cut, images: Images) -> Self | None:
        """Return the numbering with this cut; None if, in a sample, the row after a move also depends on the column."""
        found = cls(replace(whole, leading=len(whole.order), max_maps=1), frame, images)
        most = found.filler(rules, found.cuts[0]).estimated_maps()
        return None if most is None else replace(found, max_maps=most)

    @classmethod
    def restored(cls, rules: Rules, record: SpaceRecord) -> Self:
        """Return the numbering with the symmetries of a record; raise FieldError if it does not match the puzzle."""
        details, most = record.details.get("details"), record.details.get("column_maps")
        if not isinstance(details, Mapping):
            raise FieldError(f"details.details: expected an object, found {details!r}")
        if type(most) is not int or most < 1:
            raise FieldError(f"details.column_maps: expected a positive integer, found {most!r}")
        whole = MixedRadix.restored(rules, SpaceRecord(MixedRadix.KIND, MixedRadix.size_for(rules), 1, details))
        parts = field_parts(rules)
        frame = Cut(parts, checked_classes(parts, record.details.get("classes")), labels_of(rules))
        return cls(whole, frame, checked_images(rules, record, frame, whole.size), most)

    def __reduce__(self) -> tuple[Any, ...]:
        """Leave out the rows when pickling; other processes compute them again."""
        return type(self), (self.whole, self.frame, self.images, self.max_maps)

    @property
    def details(self) -> Mapping[str, Any]:
        """The details of other reduced numberings, and the number of column maps for which memory is reserved."""
        return {**super().details, "column_maps": self.max_maps}

    def filler(self, rules: Rules, leading: int) -> "ReducedFieldTables":  # type: ignore[override]
        """Return the filler. Filling raises InputError if the row after a move also depends on the column."""
        deciding = np.flatnonzero(self.frame.radices > 1).tolist()
        return ReducedFieldTables(rules.moves, self, leading, tuple(deciding), self.max_maps)


@dataclass(frozen=True)
class ReducedFieldTables(FieldTables):
    """The filler of a reduced space whose moves are functions."""

    numbering: ReducedFields

    def rows_after(self, number: int, labels: Labels) -> Rows:
        """Return the effect of a move on whole rows, as the base class does, with representative rows as targets."""
        after, legal = self.moves.move(number, labels)
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
        """Return the estimate of the base class, plus the maps of symmetries in stabilisers; or None."""
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
        """Return, for each row and symmetry in its stabiliser, the image ``(n, width)`` of each column."""
        rows, symmetries = stabilised
        images = self.numbering.images.image(self._labels(rows), np.repeat(symmetries, self.width))
        return self.numbering.frame.columns(images).reshape(-1, self.width).astype(np.int32)

    def begin(self) -> tuple[MoveTables, list[Fill]]:
        """Return unfilled tables and the calls that fill them.

        The calls raise InputError if there are too many column maps.
        """
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


def field_parts(rules: Rules) -> tuple[PartIndex, ...]:
    """Return a part for each field of a puzzle, in the order of their places."""
    return tuple(map(_part, fields_of(rules.parts)))


def _part(field: Field) -> PartIndex:
    if field.counts is None:
        return ValuesIndex(field.first, 1, field.radix)
    return PiecesIndex(field.first, field.counts)


def field_frames(rules: Rules, images: Images) -> Iterator[Cut]:
    """Yield cuts for which, in a sample of positions, the row of a position determines its row after each move.

    The fields of a row depend on no other fields. For some of the cuts, all symmetries also map the fields of the row
    to each other.
    """
    fields, moves = fields_of(rules.parts), rules.moves
    dependencies = dependencies_of(fields, rules.parts, moves)
    known = {tuple(range(len(fields))): None}
    for needed in () if moves.plain else (dependencies, dependencies | _mapped_together(fields, images)):
        order, ends = closed_order(fields, needed)
        known |= {tuple(sorted(order[:end])): None for end in ends}
    least, most = WIDTHS
    for chosen in known:
        width = prod(field.radix for number, field in enumerate(fields) if number not in chosen)
        if width == 1 or least <= width <= most:
            yield Cut(field_parts(rules), _classes(fields, chosen), labels_of(rules))


def _mapped_together(fields: Sequence[Field], images: Images) -> NDArray[np.bool_]:
    """Return ``(fields, fields)``: whether a symmetry takes the first field to the second."""
    number_of = np.repeat(np.arange(len(fields)), [field.end - field.first for field in fields])
    together = np.zeros((len(fields), len(fields)), dtype=np.bool_)
    for number, field in enumerate(fields):
        together[number, number_of[images.places[:, field.first]]] = True
    return together


def _classes(fields: Sequence[Field], chosen: Sequence[int]) -> Classes:
    """Return the label classes with the chosen fields in the row and the other fields in the column."""
    return tuple(_class(field, number in chosen) for number, field in enumerate(fields))


def _class(field: Field, in_row: bool) -> tuple[int, ...] | int:
    if field.counts is None:
        return int(in_row)
    return tuple(range(len(field.counts))) if in_row else (0,) * len(field.counts)
