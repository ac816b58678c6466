"""The numbering of exactly the reachable positions of a puzzle whose moves generate a group.

All pieces must differ, so that each position is an element of a permutation group, in which the first start is the
identity. A stabiliser chain (see `antipodes_tasks.permutations.chain`) writes each element as a product of
representatives, one from each level. The numbers of these representatives are the digits of the index.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from math import prod
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from antipodes_tasks.base import arguments
from antipodes_tasks.base.array_types import Labels
from antipodes_tasks.base.errors import FieldError, InputError, ResourceLimitError, SizeLimitError
from antipodes_tasks.base.jit import kernel
from antipodes_tasks.move_tables import Indices
from antipodes_tasks.permutations.chain import (
    Level,
    Permutations,
    StabiliserChain,
    checked_chain,
    compose,
    sifted,
    stabiliser_chain,
)
from antipodes_tasks.rules.rules import Rules
from antipodes_tasks.spaces.group_points import PuzzlePoints, points_of
from antipodes_tasks.spaces.group_tables import Automaton, GroupTables
from antipodes_tasks.spaces.space import Numbering, SpaceRecord

Ranks = NDArray[np.int64]

MAX_ORDER = 1 << 128
"""Maximum order of a group that is computed, to report the size of the puzzle. This takes at most about three
seconds."""
BATCH = 1 << 20
"""Number of positions that are ranked together."""

MAX_NUMPY_IMAGES = 1 << 22
"""Number of images of points, over all levels, below which numpy is faster than loading compiled code."""
MAX_BYTES = 256
"""Maximum number of points for which a permutation is written as bytes."""


class ChainArrays(NamedTuple):
    """The levels of a chain, joined into arrays for kernels."""

    base: NDArray[np.int64]
    """``(levels,)``: the base points."""
    numbers: NDArray[np.int16]
    """``(levels, points)``: the digit of each image of the base point; -1 outside its orbit."""
    firsts: NDArray[np.int64]
    """``(levels,)``: the index in ``representatives`` at which those of each level begin."""
    representatives: Permutations
    """``(representatives, points)``: the representatives of all levels, or their inverses."""
    weights: NDArray[np.int64]
    """``(levels,)``: the weight of each digit in a rank."""


@dataclass(frozen=True)
class Elements:
    """The numbering of the elements of a group.

    Raises
    ------
    ResourceLimitError
        There are too many elements for 64 bits.
    """

    chain: StabiliserChain

    def __post_init__(self) -> None:
        """Check the size."""
        if self.size > arguments.MAX_INT64:
            raise ResourceLimitError(f"expected a group of at most 2^63 - 1 elements, found {self.size:,}")

    @property
    def size(self) -> int:
        """Number of elements."""
        return self.chain.order

    @cached_property
    def weights(self) -> tuple[int, ...]:
        """The weight of each digit."""
        radices = self.chain.radices
        return tuple(prod(radices[at:]) for at in range(1, len(radices) + 1))

    def rank(self, elements: Permutations) -> Ranks:
        """Return the number, ``(n,)`` int64, of each permutation ``(n, points)``; -1 if it is not in the group.

        A row of ``elements`` may contain any integers from 0 to ``points - 1``. If it is not a permutation, it gets -1.
        """
        if elements.size * len(self.chain.levels) > MAX_NUMPY_IMAGES:
            return rank_elements(elements, *self._inverses)
        rest, ranks = elements, np.zeros(len(elements), dtype=np.int64)
        for level, weight in zip(self.chain.levels, self.weights, strict=True):
            ranks += level.numbers[rest[:, level.point]] * np.int64(weight)
            rest = sifted([level], rest)
        ranks[(rest != np.arange(self.chain.points)).any(axis=1)] = -1
        return ranks

    def rank_one(self, element: bytes) -> int:
        """Return the rank of a permutation of at most MAX_BYTES points, or -1; products use ``bytes.translate``."""
        rank = 0
        for point, digits in self._translations:
            found = digits.get(element[point])
            if found is None:
                return -1
            rank += found[0]
            element = element.translate(found[1])
        return rank if element == self._identity else -1

    def unrank(self, ranks: Ranks) -> Permutations:
        """Return the elements ``(n, points)`` with these numbers ``(n,)``. The numbers are not checked."""
        points, levels = self.chain.points, self.chain.levels
        if len(ranks) * points * len(levels) > MAX_NUMPY_IMAGES:
            return unrank_elements(ranks, *self._representatives)
        elements: Permutations = np.tile(np.arange(points, dtype=np.int16), (len(ranks), 1))
        for level, weight in zip(levels, self.weights, strict=True):
            elements = compose(elements, level.transversal[ranks // weight % len(level.transversal)])
        return elements

    @cached_property
    def _translations(self) -> list[tuple[int, dict[int, tuple[int, bytes]]]]:
        """For each level: the base point; for each point of its orbit, a summand of the rank and an inverse."""
        further = bytes(MAX_BYTES - self.chain.points)
        found = []
        for level, weight in zip(self.chain.levels, self.weights, strict=True):
            inverses = [bytes(row) + further for row in level.inverse.tolist()]
            numbers = {image: number for image, number in enumerate(level.numbers.tolist()) if number >= 0}
            found.append((level.point, {image: (n * weight, inverses[n]) for image, n in numbers.items()}))
        return found

    @cached_property
    def _identity(self) -> bytes:
        return bytes(range(self.chain.points))

    @cached_property
    def _inverses(self) -> ChainArrays:
        return self._arrays([level.inverse for level in self.chain.levels])

    @cached_property
    def _representatives(self) -> ChainArrays:
        return self._arrays([level.transversal for level in self.chain.levels])

    def _arrays(self, representatives: list[Permutations]) -> ChainArrays:
        levels: tuple[Level, ...] = self.chain.levels
        return ChainArrays(
            base=np.array(self.chain.base, dtype=np.int64),
            numbers=np.array([level.numbers for level in levels], dtype=np.int16),
            firsts=np.cumsum([0, *self.chain.radices[:-1]], dtype=np.int64),
            representatives=np.concatenate(representatives),
            weights=np.array(self.weights, dtype=np.int64),
        )


@dataclass(frozen=True)
class Group(Numbering):
    """The numbering of the elements of the group that the moves generate. They are exactly the reachable positions."""

    KIND: ClassVar[str] = "group"

    rules: Rules
    chain: StabiliserChain

    @classmethod
    def of(cls, rules: Rules) -> Self:
        """Return the group of the moves; see `_chain` for errors."""
        return cls(rules, _chain(rules))

    @classmethod
    def restored(cls, rules: Rules, record: SpaceRecord) -> Self:
        """Return the numbering of a recorded chain; raise FieldError if it is invalid or generates another group."""
        points = points_of(rules)
        if points is None:
            raise FieldError(f"space: the kind {record.kind!r} does not match the puzzle {rules.name}")
        chain = checked_chain(points.count, record.details.get("base"), record.details.get("generators"))
        starts = points.permutations(rules.start_labels)
        if not _members(chain, np.concatenate([points.elements, starts])).all():
            raise FieldError("generators: the group does not contain all moves and starts")
        return cls(rules, chain)

    @classmethod
    def can_number(cls, rules: Rules) -> bool:
        """Return whether this numbering is possible for a puzzle.

        Positions must be permutations of points, moves must connect all starts, and the order of the group must be at
        most MAX_ORDER.
        """
        points = points_of(rules)
        chain = None if points is None else _chain_of(points)
        if points is None or chain is None:
            return False
        starts = rules.start_labels
        return len(starts) == 1 or bool(_members(chain, points.permutations(starts)).all())

    def __reduce__(self) -> tuple[Any, ...]:
        """Send only the generators to other processes, not the tables computed from them."""
        return type(self), (self.rules, self.chain)

    @property
    def radices(self) -> tuple[int, ...]:
        """Number of representatives of each level."""
        return self.chain.radices

    @property
    def cuts(self) -> Sequence[int]:
        """The possible numbers of levels in the row: 1 or more, or 0 if there are no levels."""
        return range(min(1, len(self.radices)), len(self.radices) + 1)

    @property
    def details(self) -> Mapping[str, Any]:
        """The chain, which determines the numbering."""
        return {"base": list(self.chain.base), "generators": [list(each) for each in self.chain.generators]}

    def rank(self, labels: Labels) -> Indices:
        """Return the index of each position ``(n, places)``, as ``(n,)`` int64; NOT_NUMBERED if it is unreachable."""
        ranks = np.empty(len(labels), dtype=np.int64)
        for first in range(0, len(labels), BATCH):
            permutations = self._points.permutations(labels[first : first + BATCH])
            ranks[first : first + BATCH] = self._elements.rank(permutations)
        return ranks

    def rank_one(self, labels: Sequence[int]) -> int:
        """Return the index of one position given as Python integers."""
        if self.chain.points > MAX_BYTES:
            return super().rank_one(labels)
        return self._elements.rank_one(self._points.permutation_of(labels))

    def unrank(self, indices: Indices) -> Labels:
        """Return the position ``(n, places)`` of each index ``(n,)``. The indices are not checked."""
        labels = np.empty((len(indices), self.rules.places), dtype=np.uint8)
        for first in range(0, len(indices), BATCH):
            permutations = self._elements.unrank(indices[first : first + BATCH])
            labels[first : first + BATCH] = self._points.labels(permutations)
        return labels

    def filler(self, rules: Rules, leading: int) -> GroupTables:
        """Return the filler: a row consists of the digits of the leading levels."""
        return GroupTables(_automaton(self._points, self.chain), leading)

    def reachable(self, rules: Rules) -> int:
        """Return the number of positions, because only reachable positions are numbered."""
        return self.size

    @cached_property
    def _points(self) -> PuzzlePoints:
        return _points(self.rules)

    @cached_property
    def _elements(self) -> Elements:
        return Elements(self.chain)


def _chain(rules: Rules) -> StabiliserChain:
    """Return the chain of the group of a puzzle.

    Raises
    ------
    InputError
        The positions of the puzzle do not form a group, see `Group.can_number`.
    SizeLimitError
        The group has more than MAX_ORDER elements.
    """
    chain = _chain_of(_points(rules))
    if chain is None:
        raise SizeLimitError("expected at most 2^63 - 1 positions, found more than 10^38")
    return chain


@lru_cache(maxsize=4)
def _chain_of(points: PuzzlePoints) -> StabiliserChain | None:
    """Return the chain of the group of a puzzle's moves; None if the group has more than MAX_ORDER elements."""
    try:
        return stabiliser_chain(points.elements, max_order=MAX_ORDER)
    except ResourceLimitError:
        return None


@lru_cache(maxsize=4)
def _automaton(points: PuzzlePoints, chain: StabiliserChain) -> Automaton:
    return Automaton(chain.levels, points.elements)


def _points(rules: Rules) -> PuzzlePoints:
    points = points_of(rules)
    if points is None:
        raise InputError(f"the positions of {rules.name} do not form a group of permutations")
    return points


def _members(chain: StabiliserChain, elements: Permutations) -> NDArray[np.bool_]:
    """Return a mask ``(n,)`` of the permutations ``(n, points)`` that are elements of the group."""
    members: NDArray[np.bool_] = (sifted(chain.levels, elements) == np.arange(chain.points)).all(axis=1)
    return members


@kernel
def rank_elements(
    elements: Permutations,
    base: Ranks,
    numbers: NDArray[np.int16],
    firsts: Ranks,
    inverses: Permutations,
    weights: Ranks,
) -> Ranks:
    """Return the number ``(n,)`` of each permutation ``(n, points)``, or -1; see `Elements.rank`."""
    points = elements.shape[1]
    ranks = np.zeros(len(elements), dtype=np.int64)
    rest = np.empty(points, dtype=np.int16)
    for n in range(len(elements)):
        rest[:] = elements[n]
        for level in range(len(base)):
            digit = np.int64(numbers[level, rest[base[level]]])
            if digit < 0:
                break
            ranks[n] += digit * weights[level]
            if digit > 0:
                inverse = inverses[firsts[level] + digit]
                for point in range(points):
                    rest[point] = inverse[rest[point]]
        for point in range(points):
            if rest[point] != point:
                ranks[n] = -1
                break
    return ranks


@kernel
def unrank_elements(
    ranks: Ranks,
    base: Ranks,
    numbers: NDArray[np.int16],
    firsts: Ranks,
    representatives: Permutations,
    weights: Ranks,
) -> Permutations:
    """Return the element ``(n, points)`` of each number ``(n,)``."""
    points = representatives.shape[1]
    elements = np.empty((len(ranks), points), dtype=np.int16)
    for n in range(len(ranks)):
        element = elements[n]
        for point in range(points):
            element[point] = point
        for level in range(len(base) - 1, -1, -1):
            rest = ranks[n] if level == 0 else ranks[n] % weights[level - 1]
            digit = rest // weights[level]
            if digit > 0:
                representative = representatives[firsts[level] + digit]
                for point in range(points):
                    element[point] = representative[element[point]]
    return elements
