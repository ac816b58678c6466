"""The Schreier-Sims algorithm: from the generators of a permutation group to a base and strong generators.

Deterministic and complete: every Schreier generator of every level is sifted, many at a time. Source: C. C. Sims,
Computational methods in the study of permutation groups (1970); A. Seress, Permutation Group Algorithms (2003), 4.2.
"""

from bisect import bisect_left
from collections.abc import Sequence
from math import prod

import numpy as np
from numpy.typing import ArrayLike, NDArray

from antipodes_tasks.errors import PermutationError, ResourceLimitError
from antipodes_tasks.spaces.group.stabiliser_chain import (
    MAX_POINTS,
    Level,
    Permutations,
    StabiliserChain,
    after,
    extended,
    inverted,
    sifted,
    single,
)

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
            rest = sifted(self.levels[at:], after(generators[by], level.transversal[found]))
            wrong = np.flatnonzero((rest != self._identity).any(axis=1))
            right = wrong[0] if len(wrong) else len(found)
            checked[found[:right], by[:right]] = True
            if len(wrong):
                residue: Permutations = rest[wrong[0]]
                return residue
        return None
