"""A permutation group as a chain of stabilisers: each element is a product of one representative of each level.

Level ``i`` is the group of the elements that fix the first ``i`` points of the *base*. The *orbit* of a level is the
set of points to which its elements take the next base point; its *transversal* has a representative for each of them.
Source: A. Seress, Permutation Group Algorithms (2003), chapter 4.
"""

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from antipodes_tasks.errors import FieldError, PermutationError, ResourceLimitError
from antipodes_tasks.quoting import quote

Permutations = NDArray[np.int16]
"""``(n, points)``: the image of each point."""
MAX_POINTS = np.iinfo(np.int16).max


@dataclass(frozen=True, eq=False)
class Level:
    """A group of the chain: the orbit of its base point, and representatives."""

    point: int
    """The base point."""
    numbers: NDArray[np.int16]
    """``(points,)``: the number of each point in the orbit, -1 outside. The base point has number 0."""
    transversal: Permutations
    """``(orbit, points)``: the representative that takes the base point to each point of the orbit."""
    inverse: Permutations
    """``(orbit, points)``: the inverse of each representative."""

    @property
    def orbit(self) -> NDArray[np.int16]:
        """The points of the orbit, ``(orbit,)``, in the order of their numbers."""
        return self.transversal[:, self.point]


@dataclass(frozen=True)
class StabiliserChain:
    """A group, given by a base and strong generators, which determine all orbits and representatives."""

    points: int
    base: tuple[int, ...]
    generators: tuple[tuple[int, ...], ...]
    """Strong generators: those that fix the first base points generate all elements that do."""

    @cached_property
    def levels(self) -> tuple[Level, ...]:
        """The levels, one a base point, the whole group first; representatives keep the order of later base points."""
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
        """Where each point stands among all, ``(points,)``: the base, in its order, comes before the other points."""
        others = sorted(set(range(self.points)) - set(self.base))
        places = np.empty(self.points, dtype=np.int64)
        places[[*self.base, *others]] = np.arange(self.points)
        return places

    @cached_property
    def radices(self) -> tuple[int, ...]:
        """The number of representatives of each level."""
        return tuple(len(level.transversal) for level in self.levels)

    @property
    def order(self) -> int:
        """The number of elements."""
        return prod(self.radices)

    @property
    def is_complete(self) -> bool:
        """Whether the generators are strong, so that products of representatives are all elements of their group.

        They are if each generator of a level times each representative is again a product of representatives.
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
        """Send the generators alone to other processes, not the levels that follow from them."""
        return StabiliserChain, (self.points, self.base, self.generators)


def single(point: int, points: int) -> Level:
    """The level of the group that has the identity alone."""
    identity = np.arange(points, dtype=np.int16)[np.newaxis]
    numbers = np.full(points, -1, dtype=np.int16)
    numbers[point] = 0
    return Level(point, numbers, identity, identity)


def extended(level: Level, generators: Permutations) -> Level:
    """The level of the group with these generators ``(m, points)``; the known representatives keep their numbers.

    The orbit is found breadth first, by points in the order of their numbers and by generators in their order.
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
    """The level with those representatives that take the base points of the levels ``below`` to the first places.

    Each representative may be multiplied by any element of the levels below, and the first of these products is taken.
    Products of representatives that keep the order differ little from row to row, which makes column maps few: one for
    each move and place of the moved pieces among the others, as for arrangements; and where the group is a product of
    groups, one for each move. With digits in the order of places, the levels depend on the group and the base alone.
    """
    transversal = level.transversal[np.argsort(places[level.orbit])]
    for lower in below:
        best = places[transversal[:, lower.orbit]].argmin(axis=1)
        transversal = compose(transversal, lower.transversal[best])
    numbers = np.full_like(level.numbers, -1)
    numbers[transversal[:, level.point]] = np.arange(len(transversal))
    return Level(level.point, numbers, transversal, inverted(transversal))


def compose(second: Permutations, first: Permutations) -> Permutations:
    """The products ``(n, points)`` that apply ``first`` and then ``second``."""
    return np.take_along_axis(second, first.astype(np.intp), axis=1)


def inverted(permutations: Permutations) -> Permutations:
    """The inverses ``(n, points)``."""
    inverse = np.empty_like(permutations)
    identity = np.broadcast_to(np.arange(permutations.shape[1], dtype=np.int16), permutations.shape)
    np.put_along_axis(inverse, permutations.astype(np.intp), identity, axis=1)
    return inverse


def sifted(levels: Sequence[Level], permutations: Permutations) -> Permutations:
    """The permutations ``(n, points)`` divided by the representative of each level in turn.

    The identity is left of exactly those that are a product of representatives.
    """
    rest = permutations
    for level in levels:
        numbers = np.maximum(level.numbers[rest[:, level.point]], 0)  # number 0 is the identity
        if numbers.any():
            rest = compose(level.inverse[numbers], rest)
    return rest


def checked_chain(points: int, base: object, generators: object) -> StabiliserChain:
    """The chain on so many points of a record that comes from a file.

    Raises
    ------
    FieldError
        The numbers are no base and strong generators of a group.
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
        raise FieldError("generators: expected strong generators for the base, found others")
    return chain


def _integers(name: str, values: object) -> tuple[int, ...]:
    if not isinstance(values, list | tuple) or not all(type(value) is int for value in values):
        raise FieldError(f"{name}: expected lists of integers, found {quote(values)}")
    return tuple(values)


BATCH = 1 << 16
"""Images of points that are sifted together."""


def stabiliser_chain(
    generators: ArrayLike, preferred: Sequence[int] | None = None, most: int | None = None
) -> StabiliserChain:
    """The chain of the group that permutations ``(moves, points)`` generate.

    The base has those of the ``preferred`` points, all points in some order, that elements move which fix all points
    before; they are 0, 1, 2, ... by default. It depends on the group alone, the generators on the order of the moves.

    Raises
    ------
    PermutationError
        An array is no permutation, or the preferred points are not all points.
    ResourceLimitError
        The group has more than ``most`` elements.
    """
    given = _checked(generators)
    points = given.shape[1]
    order = np.arange(points, dtype=np.int16) if preferred is None else _checked([preferred])[0]
    if len(order) != points:
        raise PermutationError(f"expected all of {points} points in some order, found {len(order)}")
    place = inverted(order[np.newaxis])[0]
    search = _Search(place[given[:, order]], most)
    strong = order[search.strong_generators()[:, place]]
    base = tuple(order[[level.point for level in search.levels]].tolist())
    return StabiliserChain(points, base, tuple(tuple(each) for each in strong.tolist()))


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
    """Levels that grow until all Schreier generators of each lie in the level below it.

    The points are numbered in the order of preference, so base points ascend, and the generators of a level fix all
    points before its base point.
    """

    def __init__(self, generators: Permutations, most: int | None) -> None:
        self.levels: list[Level] = []
        self.most = most
        self._generators: list[Permutations] = []
        self._checked: list[NDArray[np.bool_]] = []
        """For each level ``(orbit, generators)``: whether this Schreier generator is known to lie below."""
        self._identity = np.arange(generators.shape[1], dtype=np.int16)
        moved = (generators != self._identity).sum(axis=1)
        for each in generators[np.argsort(-moved, kind="stable")]:  # the first few often generate the group
            rest = sifted(self.levels, each[np.newaxis])[0]
            if (rest != self._identity).any():
                self._add(rest, 0)
                self._complete()

    def strong_generators(self) -> Permutations:
        """Strong generators ``(m, points)``, few of them: from the last level up those that its orbit still needs."""
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
        """Give a generator to the levels from ``first`` to the one whose base point it moves; the number of that."""
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
        if self.most is not None and order > self.most:
            raise ResourceLimitError(f"expected a group of at most {self.most:,} elements, found at least {order:,}")
        return at

    def _residue(self, at: int) -> Permutations | None:
        """What is left of a Schreier generator of a level that does not lie below it, ``(points,)``; None: all do."""
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
