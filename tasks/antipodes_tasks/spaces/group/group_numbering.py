"""The elements of a group as numbers without gaps: their digits in the levels of a stabiliser chain."""

from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from antipodes_tasks import arguments
from antipodes_tasks.errors import InputError, ResourceLimitError
from antipodes_tasks.permutations.chain import Level, Permutations, StabiliserChain, after, sifted

FEW = 1 << 22
"""Images of points, over all levels, that numpy looks up faster than compiled code is loaded."""
MOST_BYTES = 256
"""Points that a byte names."""
Ranks = NDArray[np.int64]


class ChainArrays(NamedTuple):
    """The levels of a chain side by side, for kernels."""

    base: NDArray[np.int64]
    """``(levels,)``: the base points."""
    numbers: NDArray[np.int16]
    """``(levels, points)``: the digit of each image of the base point, -1 outside its orbit."""
    firsts: NDArray[np.int64]
    """``(levels,)``: where the representatives of each level begin."""
    representatives: Permutations
    """``(representatives, points)``: those of all levels, or their inverses."""
    weights: NDArray[np.int64]
    """``(levels,)``: the weight of each digit in a rank."""


@dataclass(frozen=True)
class GroupNumbering:
    """The numbering of the elements of a group: each is the product of one representative of each level.

    Raises
    ------
    ResourceLimitError
        There are more elements than 64 bits can number.
    """

    chain: StabiliserChain

    def __post_init__(self) -> None:
        """Check the size."""
        if self.size > arguments.GREATEST:
            raise ResourceLimitError(f"expected a group of at most 2^63 - 1 elements, found {self.size:,}")

    @property
    def size(self) -> int:
        """The number of elements."""
        return self.chain.order

    @cached_property
    def weights(self) -> tuple[int, ...]:
        """The weight of each digit."""
        radices = self.chain.radices
        return tuple(prod(radices[at:]) for at in range(1, len(radices) + 1))

    def rank(self, elements: Permutations) -> Ranks:
        """The number of each of ``(n, points)``, ``(n,)`` int64; -1 where it is not an element of the group.

        Rows may be any integers from 0 to ``points - 1``: one that is no permutation is no element.
        """
        if elements.size * len(self.chain.levels) > FEW:
            from antipodes_tasks.spaces.group.group_kernels import rank_elements

            return rank_elements(elements, *self._inverses)
        rest, ranks = elements, np.zeros(len(elements), dtype=np.int64)
        for level, weight in zip(self.chain.levels, self.weights, strict=True):
            ranks += level.numbers[rest[:, level.point]] * np.int64(weight)
            rest = sifted([level], rest)
        ranks[(rest != np.arange(self.chain.points)).any(axis=1)] = -1
        return ranks

    def rank_one(self, element: bytes) -> int:
        """As `rank`, for one row of at most MOST_BYTES points: the product with a representative is one translation."""
        rank = 0
        for point, digits in self._translations:
            found = digits.get(element[point])
            if found is None:
                return -1
            rank += found[0]
            element = element.translate(found[1])
        return rank if element == self._identity else -1

    def unrank(self, ranks: ArrayLike) -> Permutations:
        """The elements ``(n, points)`` that have these numbers ``(n,)``; InputError where there is none."""
        wide: Ranks = arguments.integers(ranks, "indices (n,)", 1, InputError).astype(np.int64)
        outside = (wide < 0) | (wide >= self.size)
        if outside.any():
            raise InputError(f"expected an index from 0 to {self.size - 1}, found {wide[outside][0]}")
        points, levels = self.chain.points, self.chain.levels
        if len(wide) * points * len(levels) > FEW:
            from antipodes_tasks.spaces.group.group_kernels import unrank_elements

            return unrank_elements(wide, *self._representatives)
        elements: Permutations = np.tile(np.arange(points, dtype=np.int16), (len(wide), 1))
        for level, weight in zip(levels, self.weights, strict=True):
            elements = after(elements, level.transversal[wide // weight % len(level.transversal)])
        return elements

    @cached_property
    def _translations(self) -> list[tuple[int, dict[int, tuple[int, bytes]]]]:
        """Of each level the base point, and for each image of it what it adds to the rank, and how it is undone."""
        further = bytes(MOST_BYTES - self.chain.points)
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
