"""A permutation group as a stabiliser chain, which writes each element as a product of one element per level.

Level ``i`` is the group of the elements that fix the first ``i`` points of the *base*. The *orbit* of a level is the
set of images of the next base point under its elements. The *transversal* of the level contains, for each point of the
orbit, a *representative*: an element of the level that takes the base point to this point. Source: A. Seress,
Permutation Group Algorithms (2003), chapter 4.
"""

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from antipodes_tasks.base.errors import FieldError, PermutationError, ResourceLimitError
from antipodes_tasks.base.quoting import quote

Permutations = NDArray[np.int16]
"""``(n, points)``: the image of each point."""
MAX_POINTS = np.iinfo(np.int16).max
"""Maximum number of points, because images are stored in 16 bits."""


@dataclass(frozen=True, eq=False)
class Level:
    """A level of a stabiliser chain: the orbit of its base point, and its representatives."""

    point: int
    """The base point."""
    numbers: NDArray[np.int16]
    """``(points,)``: the index of each point in the orbit; -1 for other points. The base point has index 0."""
    transversal: Permutations
    """``(orbit, points)``: the representative that takes the base point to each point of the orbit."""
    inverse: Permutations
    """``(orbit, points)``: the inverse of each representative."""

    @property
    def orbit(self) -> NDArray[np.int16]:
        """``(orbit,)``: the points of the orbit, in the order of their numbers."""
        return self.transversal[:, self.point]


@dataclass(frozen=True)
class StabiliserChain:
    """A group, given by a base and strong generators. These determine all orbits and representatives."""

    points: int
    base: tuple[int, ...]
    generators: tuple[tuple[int, ...], ...]
    """Strong generators: the subset that fixes the first i base points generates level i, for each i."""

    @cached_property
    def levels(self) -> tuple[Level, ...]:
        """The levels, one per base point, the whole group first; see `_order_preserving` for the representatives."""
        fixing = np.array(self.generators, dtype=np.int16).reshape(-1, self.points)
        free = []
        for point in self.base:
            free.append(extended(single(point, self.points), fixing))
            fixing = fixing[fixing[:, point] == point]
        levels: list[Level] = []
        for level in reversed(free):
            levels.insert(0, _order_preserving(level, levels, self._places))
        return tuple(levels)

    @cached_property
    def _places(self) -> NDArray[np.int64]:
        """``(points,)``: the rank of each point: the base points come first, in their order, then all other points."""
        others = sorted(set(range(self.points)) - set(self.base))
        places = np.empty(self.points, dtype=np.int64)
        places[[*self.base, *others]] = np.arange(self.points)
        return places

    @cached_property
    def radices(self) -> tuple[int, ...]:
        """Number of representatives of each level."""
        return tuple(len(level.transversal) for level in self.levels)

    @property
    def order(self) -> int:
        """Number of elements."""
        return prod(self.radices)

    @property
    def is_complete(self) -> bool:
        """Whether the generators are strong: every element of the group is a product of representatives.

        They are strong if, at each level, each generator times each representative is a product of representatives.
        """
        fixing = np.array(self.generators, dtype=np.int16).reshape(-1, self.points)
        for number, level in enumerate(self.levels):
            for generator in fixing:
                rest = sifted(self.levels[number:], generator[level.transversal])
                if (rest != np.arange(self.points)).any():
                    return False
            fixing = fixing[fixing[:, level.point] == level.point]
        return not len(fixing) or bool((fixing == np.arange(self.points)).all())

    def __reduce__(self) -> tuple[Any, ...]:
        """Send only the generators to other processes, not the levels, which follow from them."""
        return StabiliserChain, (self.points, self.base, self.generators)


def single(point: int, points: int) -> Level:
    """Return the level of the trivial group with this base point."""
    identity = np.arange(points, dtype=np.int16)[np.newaxis]
    numbers = np.full(points, -1, dtype=np.int16)
    numbers[point] = 0
    return Level(point, numbers, identity, identity)


def extended(level: Level, generators: Permutations) -> Level:
    """Extend a level to the group of these generators ``(m, points)``; known representatives keep their numbers.

    The orbit is searched breadth first: points in the order of their numbers, and generators in the given order.
    """
    numbers, transversal = level.numbers.copy(), level.transversal
    first = 0
    while first < len(transversal) and len(generators):
        frontier, first = transversal[first:], len(transversal)
        images = generators[:, frontier[:, level.point]].T.ravel()
        _, earliest = np.unique(images, return_index=True)
        new = np.sort(earliest[numbers[images[earliest]] < 0])
        numbers[images[new]] = np.arange(first, first + len(new))
        found, by = np.divmod(new, len(generators))
        transversal = np.concatenate([transversal, compose(generators[by], frontier[found])])
    known = len(level.transversal)
    inverse = np.concatenate([level.inverse, inverted(transversal[known:])])
    return Level(level.point, numbers, transversal, inverse)


def _order_preserving(level: Level, below: Sequence[Level], places: NDArray[np.int64]) -> Level:
    """Return the level with representatives that take the base points of later levels to the first possible places.

    Each representative may be multiplied by any element of the levels below. Of these products, the one is chosen that
    takes the later base points to the first places. Products of such representatives differ little from row to row, so
    there are few column maps. If the group contains all permutations, they are the column maps of arrangements. If the
    group is a direct product, divided between row and column, there is one column map for each move. Digits are
    numbered in the order of places, so the levels depend only on the group and the base.
    """
    transversal = level.transversal[np.argsort(places[level.orbit])]
    for lower in below:
        best = places[transversal[:, lower.orbit]].argmin(axis=1)
        transversal = compose(transversal, lower.transversal[best])
    numbers = np.full_like(level.numbers, -1)
    numbers[transversal[:, level.point]] = np.arange(len(transversal))
    return Level(level.point, numbers, transversal, inverted(transversal))


def compose(second: Permutations, first: Permutations) -> Permutations:
    """Return the products ``(n, points)`` that apply ``first`` and then ``second``."""
    return np.take_along_axis(second, first.astype(np.intp), axis=1)


def inverted(permutations: Permutations) -> Permutations:
    """Return the inverses ``(n, points)``."""
    inverse = np.empty_like(permutations)
    identity = np.broadcast_to(np.arange(permutations.shape[1], dtype=np.int16), permutations.shape)
    np.put_along_axis(inverse, permutations.astype(np.intp), identity, axis=1)
    return inverse


def sifted(levels: Sequence[Level], permutations: Permutations) -> Permutations:
    """Return the permutations ``(n, points)``, divided by a representative of each level in turn.

    The result is the identity if, and only if, a permutation is a product of representatives.
    """
    rest = permutations
    for level in levels:
        numbers = np.maximum(level.numbers[rest[:, level.point]], 0)  # number 0 is the identity
        if numbers.any():
            rest = compose(level.inverse[numbers], rest)
    return rest


def checked_chain(points: int, base: object, generators: object) -> StabiliserChain:
    """Return the chain that a record from a file describes, on the given number of points.

    Raises
    ------
    FieldError
        The record is not a base and strong generators of a group.
    """
    numbers = _integers("base", base)
    if len(set(numbers)) < len(numbers) or not set(numbers) <= set(range(points)):
        raise FieldError(f"base: expected different points from 0 to {points - 1}, found {quote(numbers)}")
    if not isinstance(generators, list | tuple):
        raise FieldError(f"generators: expected a list, found {quote(generators)}")
    permutations = tuple(_integers("generators", each) for each in generators)
    for each in permutations:
        if len(each) != points or set(each) != set(range(points)):
            raise FieldError(f"generators: expected permutations of {points} points, found {quote(each)}")
    chain = StabiliserChain(points, numbers, permutations)
    if not chain.is_complete:
        raise FieldError("generators: they are not strong generators for the base")
    return chain


def _integers(name: str, values: object) -> tuple[int, ...]:
    if not isinstance(values, list | tuple) or not all(type(value) is int for value in values):
        raise FieldError(f"{name}: expected lists of integers, found {quote(values)}")
    return tuple(values)


BATCH = 1 << 16
"""Number of images of points that are sifted together."""


def stabiliser_chain(generators: ArrayLike, max_order: int | None = None) -> StabiliserChain:
    """Return the chain of the group that the permutations ``(moves, points)`` generate.

    A point belongs to the base if some element moves it and fixes all smaller points. So the base depends only on the
    group. The generators also depend on the order of the given permutations.

    Raises
    ------
    PermutationError
        An array is not a permutation.
    ResourceLimitError
        The group has more than ``max_order`` elements.
    """
    given = _checked(generators)
    search = _Search(given, max_order)
    base, strong = tuple(level.point for level in search.levels), search.strong_generators().tolist()
    return StabiliserChain(given.shape[1], base, tuple(map(tuple, strong)))


def _checked(permutations: ArrayLike) -> Permutations:
    array = np.asarray(permutations)
    if array.ndim != 2 or array.dtype.kind not in "iu" or not 1 <= array.shape[1] <= MAX_POINTS:
        raise PermutationError(f"expected permutations (n, points) of 1 to {MAX_POINTS} points, found {array.shape}")
    wrong = (np.sort(array, axis=1) != np.arange(array.shape[1])).any(axis=1)
    if wrong.any():
        found = " ".join(map(str, array[wrong][0].tolist()))
        raise PermutationError(f"expected each of 0 to {array.shape[1] - 1} once, found {found:.60}")
    return array.astype(np.int16)


class _Search:
    """The Schreier-Sims algorithm: levels grow until all Schreier generators of each level lie in the level below it.

    Base points ascend, and the generators of a level fix all points before its base point.
    """

    def __init__(self, generators: Permutations, max_order: int | None) -> None:
        self.levels: list[Level] = []
        self.max_order = max_order
        self._generators: list[Permutations] = []
        self._checked: list[NDArray[np.bool_]] = []
        """For each level, ``(orbit, generators)``: whether this Schreier generator is known to lie in the level
        below."""
        self._identity = np.arange(generators.shape[1], dtype=np.int16)
        moved = (generators != self._identity).sum(axis=1)
        outside = generators[np.argsort(-moved, kind="stable")]  # the first few often generate the group
        while True:
            rest = sifted(self.levels, outside)
            is_outside = (rest != self._identity).any(axis=1)
            if not is_outside.any():
                break
            self._add(rest[is_outside.argmax()], 0)
            self._complete()
            outside = outside[is_outside]

    def strong_generators(self) -> Permutations:
        """Return a small set of strong generators ``(m, points)``.

        Beginning with the last level, only generators that the orbit of the level still needs are chosen.
        """
        chosen = np.empty((0, len(self._identity)), dtype=np.int16)
        for level, generators in zip(self.levels[::-1], self._generators[::-1], strict=True):
            known = extended(single(level.point, len(self._identity)), chosen)
            for each in generators:
                if (known.numbers[each[known.orbit]] < 0).any():
                    chosen = np.concatenate([each[np.newaxis], chosen])
                    known = extended(known, chosen)
        return chosen

    def _complete(self) -> None:
        at = len(self.levels) - 1
        while at >= 0:
            residue = self._residue(at)
            at = at - 1 if residue is None else self._add(residue, at + 1)

    def _add(self, generator: Permutations, first: int) -> int:
        """Add a generator to the levels from ``first`` to the one whose base point it moves; return the last level."""
        point = int(np.argmax(generator != self._identity))
        at = bisect_left([level.point for level in self.levels], point)
        if at == len(self.levels) or self.levels[at].point != point:
            below = self._generators[at] if at < len(self.levels) else generator[np.newaxis][:0]
            self.levels.insert(at, single(point, len(self._identity)))
            self._generators.insert(at, below)
            self._checked.insert(at, np.zeros((0, 0), dtype=np.bool_))
        for number in range(first, at + 1):
            self._generators[number] = np.concatenate([self._generators[number], generator[np.newaxis]])
            self.levels[number] = extended(self.levels[number], self._generators[number])
        order = prod(len(level.transversal) for level in self.levels)
        if self.max_order is not None and order > self.max_order:
            raise ResourceLimitError(
                f"expected a group of at most {self.max_order:,} elements, found at least {order:,}"
            )
        return at

    def _residue(self, at: int) -> Permutations | None:
        """Return the residue ``(points,)`` of a Schreier generator that is not in the level below, or None."""
        level, generators = self.levels[at], self._generators[at]
        checked = np.zeros((len(level.transversal), len(generators)), dtype=np.bool_)
        before = self._checked[at]
        checked[: before.shape[0], : before.shape[1]] = before
        self._checked[at] = checked
        pairs = np.argwhere(~checked)
        step = max(16, BATCH // len(self._identity))
        for begin in range(0, len(pairs), step):
            found, by = pairs[begin : begin + step].T
            rest = sifted(self.levels[at:], compose(generators[by], level.transversal[found]))
            wrong = np.flatnonzero((rest != self._identity).any(axis=1))
            right = wrong[0] if len(wrong) else len(found)
            checked[found[:right], by[:right]] = True
            if len(wrong):
                residue: Permutations = rest[wrong[0]]
                return residue
        return None
