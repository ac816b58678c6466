"""The symmetric copies of tilings that satisfy conditions.

A store contains one tiling of each symmetry class. A condition names cells, so it may be true of one copy of a tiling
and false of another; only a count of all copies does not depend on the copy that is stored.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from antipodes_tasks.exact_cover.placements import (
    Placements,
    PlacementSymmetries,
    TilingArray,
    distinct,
    precedes,
    smallest,
)
from antipodes_tasks.exact_cover.tiling_problem import AVOIDS, Condition


class Requirement(NamedTuple):
    """A requirement that a tiling contains one of some placements, or none of them."""

    placements: NDArray[np.bool_]
    """``(placements,)``: mask of these placements."""
    wanted: bool
    """Whether a tiling has to contain one of them."""

    def under(self, images: NDArray[np.int32]) -> "Requirement":
        """Return the requirement that a tiling meets if its image, by ``images`` ``(placements,)``, meets this one."""
        return Requirement(self.placements[images], self.wanted)


def requirement_of(condition: Condition, placements: Placements) -> Requirement:
    """Return a condition as a requirement."""
    avoids = condition.verb == AVOIDS
    decisive = condition.excluded if avoids else condition.covering
    return Requirement(decisive(placements.piece, placements.cells), not avoids)


def fitting(tilings: TilingArray, requirements: Sequence[Requirement]) -> NDArray[np.bool_]:
    """Return a mask ``(tilings,)`` of the tilings that meet all requirements as they are, without their copies."""
    fit = np.ones(len(tilings), dtype=np.bool_)
    for placements, wanted in requirements:
        fit &= placements[tilings].any(axis=1) == wanted
    return fit


def count_fitting_copies(
    tilings: TilingArray, symmetries: PlacementSymmetries, requirements: Sequence[Requirement]
) -> NDArray[np.int64]:
    """Return the number ``(tilings,)`` of distinct copies of each tiling that meet all requirements.

    Each copy is the image of the tiling under equally many symmetries: as many as leave the tiling unchanged.
    """
    images, unchanged = np.zeros((2, len(tilings)), dtype=np.int64)
    sums = tilings.sum(axis=1)
    for number, fit in _fitting_images(tilings, symmetries, requirements):
        images += fit
        unchanged += _unchanged(tilings, sums, symmetries.placements[number])
    copies: NDArray[np.int64] = images // unchanged
    return copies


def smallest_fitting_copies(
    tilings: TilingArray, symmetries: PlacementSymmetries, requirements: Sequence[Requirement]
) -> TilingArray:
    """Return, for each tiling, the lexicographically smallest copy that meets all requirements.

    Each tiling must have such a copy. Stored tilings are the smallest of all their copies, so they are returned
    unchanged if they meet the requirements.
    """
    best, found = tilings.copy(), np.zeros(len(tilings), dtype=np.bool_)
    for number, fit in _fitting_images(tilings, symmetries, requirements):
        copies = np.sort(symmetries.placements[number][tilings], axis=1)
        better = fit & (~found | precedes(copies, best))
        best[better] = copies[better]
        found |= fit
    return best


def count_classes(tilings: TilingArray, symmetries: PlacementSymmetries) -> int:
    """Return the number of symmetry classes to which the tilings belong."""
    return len(distinct(smallest(symmetries.copies(tilings))))


def _fitting_images(
    tilings: TilingArray, symmetries: PlacementSymmetries, requirements: Sequence[Requirement]
) -> Iterator[tuple[int, NDArray[np.bool_]]]:
    """Yield the number of each symmetry, and a mask of the tilings whose images under it meet all requirements."""
    for number, images in enumerate(symmetries.placements):
        yield number, fitting(tilings, [one.under(images) for one in requirements])


def _unchanged(tilings: TilingArray, sums: NDArray[np.int64], images: NDArray[np.int32]) -> NDArray[np.bool_]:
    """Return a mask of the tilings that a symmetry leaves unchanged. Most other images differ in their ``sums``."""
    unchanged: NDArray[np.bool_] = images[tilings].sum(axis=1) == sums
    candidates = np.flatnonzero(unchanged)
    copies = np.sort(images[tilings[candidates]], axis=1)
    unchanged[candidates] = (copies == tilings[candidates]).all(axis=1)
    return unchanged
