"""The digits of a puzzle of several parts, and where they are cut into row and column."""

from dataclasses import dataclass
from functools import cached_property
from math import prod

import numpy as np
from numpy.typing import NDArray

from antipodes_tasks.errors import ConfigError
from antipodes_tasks.permutations.parity import parities
from antipodes_tasks.rules.parts import Part
from antipodes_tasks.rules.rules import Rules
from antipodes_tasks.rules.transforms import Transforms
from antipodes_tasks.spaces.orbit.part_index import PartIndex, PiecesIndex, ValuesIndex


@dataclass(frozen=True)
class OrbitCut:
    """The parts in the order of their digits, and the digit before which they are cut."""

    parts: tuple[PartIndex, ...]
    number: int
    """The part that is cut; the parts before it are in the row, those after it in the column."""
    leading: int = 0
    """The number of its digits in the row."""

    @cached_property
    def row(self) -> tuple[PartIndex, ...]:
        """The parts of the row: whole ones, then the leading digits of the part that is cut."""
        whole = self.parts[: self.number]
        return (*whole, self._divided.leading(self.leading)) if self.leading else whole

    @cached_property
    def column(self) -> tuple[PartIndex, ...]:
        """The parts of the column: the other digits of the part that is cut, then whole parts."""
        if not self.leading:
            return self.parts[self.number :]
        return (self._divided.trailing(self.leading), *self.parts[self.number + 1 :])

    @cached_property
    def rows(self) -> int:
        """The number of rows."""
        return prod(part.size for part in self.row)

    @cached_property
    def width(self) -> int:
        """The number of columns."""
        return prod(part.size for part in self.column)

    @property
    def first_radix(self) -> int:
        """The number of values of the first digit of the row that has several; 1 if the row has none."""
        return next((radix for part in self.row for radix in part.radices if radix > 1), 1)

    @property
    def divides_pieces(self) -> bool:
        """Whether the cut goes through an arrangement of pieces: the column arranges them on the places left free."""
        return self.leading > 0 and isinstance(self._divided, PiecesIndex)

    @property
    def column_parts(self) -> tuple[PartIndex, ...]:
        """The parts of the column that moves change without regard to the row."""
        return self.column[1:] if self.divides_pieces else self.column

    @cached_property
    def column_places(self) -> NDArray[np.bool_]:
        """Which places of the puzzle belong to the `column_parts`, ``(places,)``; the others belong to the row."""
        belong = np.zeros(max(part.at.stop for part in self.parts), dtype=np.bool_)
        for part in self.column_parts:
            belong[part.at] = True
        return belong

    @property
    def _divided(self) -> PiecesIndex | ValuesIndex:
        part = self.parts[self.number]
        assert isinstance(part, PiecesIndex | ValuesIndex)
        return part


def transforms_of(rules: Rules) -> Transforms:
    """The moves of a puzzle of which an OrbitSpace is made."""
    assert isinstance(rules.moves, Transforms)
    return rules.moves


def parts_of(rules: Rules) -> tuple[PartIndex, ...]:
    """The index of each part, in the order of the digits: pieces first, then values.

    Pieces come first since the places of values usually move along with pieces, which can be in the row for that.

    Raises
    ------
    ConfigError
        A move takes a label from one part to another, or adds something to pieces.
    """
    transforms = transforms_of(rules)
    both = sorted(zip(rules.parts, rules.ranges, strict=True), key=lambda pair: not pair[0].holds_pieces)
    for part, at in both:
        _check(part, at, transforms)
    return tuple(
        _pieces_index(rules, at, part.counts) if part.counts is not None else _values_index(rules, at, part)
        for part, at in both
    )


def _check(part: Part, at: slice, transforms: Transforms) -> None:
    origin = transforms.origin[:, at]
    if ((origin < at.start) | (origin >= at.stop)).any():
        raise ConfigError(f"expected moves within the places {at.start} to {at.stop - 1}, found one to other places")
    if part.holds_pieces and transforms.added[:, at].any():
        raise ConfigError(f"expected moves that add nothing to the pieces on places {at.start} to {at.stop - 1}")


def _pieces_index(rules: Rules, at: slice, counts: tuple[int, ...]) -> PiecesIndex:
    """All arrangements; only those of one parity where all pieces differ, and no move or start has another."""
    transforms = transforms_of(rules)
    if set(counts) == {1} and len(counts) > 1 and not _has_conditions(transforms, at):
        odd, starts = parities(transforms.origin[:, at]), parities(rules.start_labels[:, at])
        if not odd.any() and (starts == starts[0]).all():
            return PiecesIndex(at.start, (*counts[:-2], 2), int(starts[0]))
    return PiecesIndex(at.start, counts)


def _values_index(rules: Rules, at: slice, part: Part) -> ValuesIndex:
    """All values; only those of one sum where all moves keep it, and all starts have the same."""
    transforms = transforms_of(rules)
    radix = len(part.symbols)
    if part.places and not _has_conditions(transforms, at):
        changes = transforms.added[:, at].sum(axis=1, dtype=np.int64) % radix
        totals = rules.start_labels[:, at].sum(axis=1, dtype=np.int64) % radix
        if not changes.any() and (totals == totals[0]).all():
            return ValuesIndex(at.start, part.places, radix, int(totals[0]))
    return ValuesIndex(at.start, part.places, radix)


def _has_conditions(transforms: Transforms, at: slice) -> bool:
    return bool(transforms.conditional[:, at].any())


def cuts_of(rules: Rules, parts: tuple[PartIndex, ...]) -> list[OrbitCut]:
    """All cuts before a digit of several values, and the one past the last digit.

    Pieces with conditions are not divided: whether a move is legal must be decided by the row, or by the column. Nor
    are values whose places move: each side would have to know the other.
    """
    transforms = transforms_of(rules)
    cuts = []
    for number, part in enumerate(parts):
        divisible = _is_divisible(part, transforms)
        for digit, radix in enumerate(part.radices):
            leading = digit if prod(part.radices[:digit]) > 1 else 0
            if radix > 1 and (divisible or leading == 0):
                cuts.append(OrbitCut(parts, number, leading))
    return [*cuts, OrbitCut(parts, len(parts))]


def _is_divisible(part: PartIndex, transforms: Transforms) -> bool:
    if isinstance(part, PiecesIndex):
        return not _has_conditions(transforms, part.at)
    return bool((transforms.origin[:, part.at] == np.arange(part.at.start, part.at.stop)).all())
