"""The numbering of classes of positions under free moves, with one row for each symmetry class of rows.

docs/explanation/symmetry.md proves that such tables are correct. Here, classes take the place of positions:
an entry stands for one class in each row of its symmetry class.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np

from antipodes_tasks.base.array_types import Labels, Mask
from antipodes_tasks.base.errors import FieldError, InputError, ResourceLimitError
from antipodes_tasks.move_tables import Indices
from antipodes_tasks.rules.rules import Rules
from antipodes_tasks.spaces.class_symmetries import (
    MAX_START_CLASSES,
    ClassSymmetries,
    automorphisms,
    class_symmetries,
)
from antipodes_tasks.spaces.shape_classes import Frame, ShapeClasses
from antipodes_tasks.spaces.space import NUMBERED, ORDER, REDUCED, SpaceRecord

MAX_ROW_IMAGES = 1 << 31
"""Maximum number of images of rows that are compared. Half a billion take less than half a minute of processor time."""


@dataclass(frozen=True)
class ReducedClasses(ShapeClasses):
    """The classes of positions up to symmetry."""

    KIND: ClassVar[str] = REDUCED

    def __reduce__(self) -> tuple[Any, ...]:
        """Send only the rules to other processes, which find the symmetries again."""
        return ReducedClasses, (self.rules,)

    @classmethod
    def restored(cls, rules: Rules, record: SpaceRecord) -> Self:
        """Return the numbering of a record; raise FieldError if the classes or symmetries of the puzzle differ."""
        details = record.details.get("details")
        if not isinstance(details, Mapping):
            raise FieldError(f"details.details: expected an object, found {details!r}")
        ShapeClasses.restored(rules, SpaceRecord(ShapeClasses.KIND, 1, 1, details))
        try:
            numbering = cls.of(rules)
        except InputError as error:
            raise FieldError(f"symmetries: {error}") from error
        if record.details != numbering.details:
            raise FieldError(f"symmetries: the record does not match the symmetries of the puzzle {rules.name}")
        return numbering

    @classmethod
    def of(cls, rules: Rules) -> Self:
        """Return the numbering of a puzzle; raise InputError if there are no symmetries, or too many."""
        numbering = cls(rules)
        try:
            if len(numbering.frame.symmetries) > 1:
                if numbering.frame.row_images > MAX_ROW_IMAGES:
                    raise ResourceLimitError("comparing its rows with their images would take too long")
                return numbering
        except ResourceLimitError as error:
            raise InputError(f"the table of {rules.name} cannot be reduced: {error}") from error
        raise InputError(f"the table of {rules.name} cannot be reduced: the puzzle has no symmetries")

    @cached_property
    def frame(self) -> Frame:
        """The classes of shapes, the kinds of row and column, and the symmetries.

        Raises ResourceLimitError if the symmetries are too many to find.
        """
        latest = _latest[:1]  # other threads may replace it
        if not latest or latest[0][0] != self.rules.fingerprint:
            latest = _latest[:] = [(self.rules.fingerprint, replace(self.whole.frame, symmetries=self._symmetries()))]
        return latest[0][1]

    def _symmetries(self) -> ClassSymmetries:
        starts = np.unique(self.whole.rank(self.rules.start_labels))
        if len(starts) > MAX_START_CLASSES:
            raise ResourceLimitError(
                f"symmetries are found for at most {MAX_START_CLASSES} starts, not {len(starts):,}"
            )
        graph = self.whole.frame.graph
        return class_symmetries(graph, automorphisms(self.rules, graph), self.whole.unrank_classes(starts))

    @cached_property
    def whole(self) -> ShapeClasses:
        """The numbering of all classes."""
        return ShapeClasses(self.rules)

    @property
    def full_numbering(self) -> ShapeClasses:
        """The numbering of all classes."""
        return self.whole

    @property
    def details(self) -> Mapping[str, Any]:
        """The record of the numbering of all classes, their number, and the number of symmetries."""
        return {
            "of": self.whole.KIND,
            "details": self.whole.details,
            NUMBERED: self.whole.size,
            ORDER: self.symmetries,
        }

    @property
    def weights(self) -> Indices:
        """The number of rows in the symmetry class of each row."""
        return self.frame.rows.weights

    @property
    def symmetries(self) -> int:
        """Number of symmetries."""
        return len(self.frame.symmetries)

    def _images(self, indices: Indices) -> tuple[Indices, Mask]:
        """Return the images of entries ``(n,)`` under all symmetries, as indices of `whole`, ``(n, symmetries)``.

        The mask states which of them are in other rows than all images before them.
        """
        of, arranged = self.unrank_classes(indices)
        group, images = self.frame.symmetries, np.empty((len(indices), self.symmetries), dtype=np.int64)
        for number in range(len(group)):
            moved = np.take_along_axis(arranged, group.origins[number, of].astype(np.int64), axis=1)
            renamed = group.renamed(moved, int(group.renaming[number]))
            images[:, number] = self.whole.rank_classes(group.to[number, of], renamed)
        rows = images // self.whole.radices[-1]
        order = np.argsort(rows, axis=1, kind="stable")
        first, ascending = np.ones(rows.shape, dtype=np.bool_), np.take_along_axis(rows, order, axis=1)
        first[:, 1:] = ascending[:, 1:] != ascending[:, :-1]
        is_first = np.empty_like(first)
        np.put_along_axis(is_first, order, first, axis=1)
        return images, is_first

    def positions_of_entries(self, indices: Indices) -> tuple[Indices, Labels]:
        """Return a position of each class that the entries stand for, as `Numbering.positions_of_entries` does."""
        images, is_first = self._images(indices)
        return np.nonzero(is_first)[0], self.whole.unrank(images[is_first])

    def one_of(self, indices: Indices, numbers: Indices) -> Labels:
        """Return the positions with these numbers among the positions of each entry."""
        images, is_first = self._images(indices)
        chosen = (np.cumsum(is_first, axis=1) == numbers[:, np.newaxis] + 1).argmax(axis=1)
        return self.whole.unrank(images[np.arange(len(indices)), chosen])


_latest: list[tuple[str, Frame]] = []
"""The most recent reduced frame, with the fingerprint of its puzzle."""
