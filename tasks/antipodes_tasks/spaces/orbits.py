"""The numbering of puzzles with several parts, whose moves permute the places of a part and add numbers to values."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import factorial, prod
from typing import Any, ClassVar, Self

import numpy as np

from antipodes_tasks.base.array_types import Labels
from antipodes_tasks.base.errors import ConfigError, FieldError
from antipodes_tasks.move_tables import Indices
from antipodes_tasks.permutations.parity import generate_even, parities
from antipodes_tasks.rules.parts import Part
from antipodes_tasks.rules.rules import Rules
from antipodes_tasks.rules.swaps import transforms_of
from antipodes_tasks.rules.transforms import Transforms
from antipodes_tasks.spaces.group import Group
from antipodes_tasks.spaces.orbit_parts import OrbitCut, PartIndex, PiecesIndex, ValuesIndex
from antipodes_tasks.spaces.orbit_tables import OrbitTables
from antipodes_tasks.spaces.space import NOT_NUMBERED, Numbering, SpaceRecord


@dataclass(frozen=True)
class Orbits(Numbering):
    """The numbering of all combinations of the contents of parts: arrangements of pieces, and values like orientations.

    If all pieces of a part differ and all moves permute them evenly, only arrangements of one parity are numbered. If
    all moves preserve the sum of the values of a part, only values with this sum are numbered. Some numbered positions
    may be unreachable.
    """

    KIND: ClassVar[str] = "orbits"

    parts: tuple[PartIndex, ...]
    """The parts in the order of their digits: pieces first, then values.

    Values usually move together with pieces, so the pieces should be in the row.
    """
    places: int
    """Number of places of a position."""
    divisible_from: tuple[int, ...]
    """For each part, the minimum number of its digits that are in the row if a cut divides it."""

    @classmethod
    def of(cls, rules: Rules) -> Self:
        """Return the numbering; raise ConfigError if a move takes labels between parts, or adds numbers to pieces."""
        return cls._of(rules, tuple(_parts_of(rules)))

    @classmethod
    def of_all(cls, rules: Rules) -> Self:
        """Return the numbering of all contents, with all parities and all sums."""
        return cls._of(rules, tuple(map(_without_limits, _parts_of(rules))))

    @classmethod
    def _of(cls, rules: Rules, parts: tuple[PartIndex, ...]) -> Self:
        return cls(parts, rules.places, tuple(_divisible_from(part, transforms_of(rules)) for part in parts))

    @classmethod
    def restored(cls, rules: Rules, record: SpaceRecord) -> Self:
        """Return the numbering of a record; raise FieldError if the puzzle has different parts."""
        numbering = None if rules.moves.transforms is None else cls.of(rules)
        if numbering is None or record.details != numbering.details:
            raise FieldError(f"space: the record does not match the parts of the puzzle {rules.name}")
        return numbering

    @classmethod
    def size_for(cls, rules: Rules) -> int:
        """Return the number of combinations of the numbered contents of all parts."""
        return prod(part.size for part in _parts_of(rules))

    @staticmethod
    def has_every_arrangement(rules: Rules) -> bool:
        """Return whether a quick test proves that all numbered positions are reachable.

        They are reachable if the puzzle is a single arrangement of pieces and its moves generate all even permutations.
        If all pieces differ, even permutations reach every arrangement with the same parity; if two pieces are
        identical, they reach every arrangement.
        """
        moves = Transforms.of(rules.moves)
        if len(rules.parts) > 1 or not rules.parts[0].holds_pieces or moves is None:
            return False
        return moves.allowed is None and generate_even(moves.origin.tolist())

    @cached_property
    def _digits(self) -> tuple[tuple[int, int, int], ...]:
        """The part, the number within the part, and the radix of each digit that has several values."""
        every = (
            (number, digit, radix) for number, part in enumerate(self.parts) for digit, radix in enumerate(part.radices)
        )
        return tuple(one for one in every if one[2] > 1)

    @cached_property
    def radices(self) -> tuple[int, ...]:
        """The radix of each digit, without digits that have only one value."""
        return tuple(radix for _, _, radix in self._digits)

    @property
    def block_digits(self) -> int:
        """The number of digits of the first part, because moves change each part independently."""
        return max(1, sum(number == 0 for number, _, _ in self._digits))

    @cached_property
    def cuts(self) -> Sequence[int]:
        """The possible numbers of digits in the row.

        Either the row or the column must decide whether a condition is met. So a part that holds pieces with conditions
        is only divided if the row contains all pieces that the conditions distinguish. Values that change places are
        never divided, because the new values of the row would depend on the column, and vice versa.
        """
        starts = {number: at for at, (number, _, _) in reversed(list(enumerate(self._digits)))}
        inner = [
            at
            for at, (number, digit, _) in enumerate(self._digits)
            if at == starts[number] or digit >= self.divisible_from[number]
        ]
        return [*inner, len(self._digits)]

    def cut(self, leading: int) -> OrbitCut:
        """Return the parts of the row and the column if the row has ``leading`` digits."""
        if leading == len(self._digits):
            return OrbitCut(self.parts, len(self.parts))
        number, digit, _ = self._digits[leading]
        divides = prod(self.parts[number].radices[:digit]) > 1
        return OrbitCut(self.parts, number, digit if divides else 0)

    @property
    def details(self) -> Mapping[str, Any]:
        """The record of each part."""
        return {"parts": [part.details for part in self.parts]}

    def rank(self, labels: Labels) -> Indices:
        """Return the index of each position ``(n, places)``, as ``(n,)`` int64; NOT_NUMBERED if parity or sum is wrong.

        The pieces are not checked.
        """
        ranks = np.zeros(len(labels), dtype=np.int64)
        unnumbered = np.zeros(len(labels), dtype=np.bool_)
        for part in self.parts:
            here = part.rank(labels[:, part.place_slice])
            unnumbered |= here == NOT_NUMBERED
            ranks = ranks * part.size + here
        ranks[unnumbered] = NOT_NUMBERED
        return ranks

    def rank_one(self, labels: Sequence[int]) -> int:
        """Return the index of one position given as Python integers."""
        rank = 0
        for part in self.parts:
            here = part.rank_one(labels[part.place_slice])
            if here == NOT_NUMBERED:
                return NOT_NUMBERED
            rank = rank * part.size + here
        return rank

    def unrank(self, indices: Indices) -> Labels:
        """Return the position ``(n, places)`` of each index ``(n,)``. The indices are not checked."""
        labels = np.empty((len(indices), self.places), dtype=np.uint8)
        rest = indices
        for part in reversed(self.parts):
            rest, here = np.divmod(rest, part.size)
            if part.size < len(here):  # unranking takes longer than a look-up
                labels[:, part.place_slice] = part.unrank(np.arange(part.size))[here]
            else:
                labels[:, part.place_slice] = part.unrank(here)
        return labels

    def filler(self, rules: Rules, leading: int) -> OrbitTables:
        """Return the filler of a cut."""
        return OrbitTables(transforms_of(rules), self.cut(leading))

    def reachable(self, rules: Rules) -> int | None:
        """Return the number of reachable positions; None if it is not known from the group of the moves."""
        if self.has_every_arrangement(rules):
            return self.size
        return Group.size_for(rules) if Group.can_number(rules) else None


def least_group_order(rules: Rules) -> int:
    """Return a lower bound on the order of the group of a puzzle's moves, which is computed quickly."""
    moves = transforms_of(rules)
    orders = [1]
    for part, at in zip(rules.parts, rules.ranges, strict=True):
        if part.holds_pieces and part.all_different and generate_even((moves.origin[:, at] - at.start).tolist()):
            orders.append(factorial(part.places) // 2)
    return max(orders)


def _check(part: Part, at: slice, transforms: Transforms) -> None:
    origin = transforms.origin[:, at]
    if ((origin < at.start) | (origin >= at.stop)).any():
        raise ConfigError(f"a move takes labels from another part to the places {at.start} to {at.stop - 1}")
    if part.holds_pieces and transforms.added[:, at].any():
        raise ConfigError(f"a move adds a number to the pieces on the places {at.start} to {at.stop - 1}")


def _pieces_index(rules: Rules, at: slice, counts: tuple[int, ...]) -> PiecesIndex:
    """Return the index of all arrangements of a part, or of the arrangements with one parity if that is sufficient.

    It is sufficient if all pieces differ, all moves are even, and all starts have the same parity.
    """
    transforms = transforms_of(rules)
    if set(counts) == {1} and len(counts) > 1 and not _has_conditions(transforms, at):
        odd, starts = parities(transforms.origin[:, at]), parities(rules.start_labels[:, at])
        if not odd.any() and (starts == starts[0]).all():
            return PiecesIndex(at.start, counts, (int(starts[0]),) * len(counts))
    return PiecesIndex(at.start, counts)


def _values_index(rules: Rules, at: slice, part: Part) -> ValuesIndex:
    """Return the index of the values of a part; only values with the starts' sum are numbered if moves preserve it."""
    transforms = transforms_of(rules)
    radix = len(part.symbols)
    if part.places and not _has_conditions(transforms, at):
        changes = transforms.added[:, at].sum(axis=1, dtype=np.int64) % radix
        totals = rules.start_labels[:, at].sum(axis=1, dtype=np.int64) % radix
        if not changes.any() and (totals == totals[0]).all():
            return ValuesIndex(at.start, part.places, radix, int(totals[0]))
    return ValuesIndex(at.start, part.places, radix)


def _without_limits(part: PartIndex) -> PartIndex:
    """Return the index of all contents of a part, with all parities and sums."""
    return replace(part, total=None) if isinstance(part, ValuesIndex) else replace(part, parity=None)


def _has_conditions(transforms: Transforms, at: slice) -> bool:
    return bool(transforms.conditional[:, at].any())


def _divisible_from(part: PartIndex, transforms: Transforms) -> int:
    """Return how many digits of a part must be in the row if a cut divides it; all digits if no cut may divide it."""
    if isinstance(part, PiecesIndex):
        return _labels_told_apart(part, transforms)
    stay = (transforms.origin[:, part.place_slice] == np.arange(part.place_slice.start, part.place_slice.stop)).all()
    return 0 if stay else len(part.radices)


def _labels_told_apart(part: PiecesIndex, transforms: Transforms) -> int:
    """Return the number of leading labels that conditions distinguish from each other or from the later labels."""
    if transforms.conditions is None:
        return 0
    masks, labels = transforms.conditions[:, part.place_slice], len(part.counts)
    bits = [(masks >> np.uint64(label)) & np.uint64(1) for label in range(labels)]
    return max((label + 1 for label in range(labels - 1) if (bits[label] != bits[label + 1]).any()), default=0)


def _parts_of(rules: Rules) -> Iterator[PartIndex]:
    """Yield the index of each part, pieces first, then values.

    Raises
    ------
    ConfigError
        A move takes a label from one part to another, or adds a number to pieces.
    """
    transforms = transforms_of(rules)
    both = sorted(zip(rules.parts, rules.ranges, strict=True), key=lambda pair: not pair[0].holds_pieces)
    for part, at in both:
        _check(part, at, transforms)
        yield _values_index(rules, at, part) if part.counts is None else _pieces_index(rules, at, part.counts)
