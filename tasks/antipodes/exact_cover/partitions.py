"""How a search is split: one partition for each placement that can come first, and who owns which tiling.

Symmetry is broken before the search, not after it. The *anchor* is a piece, or a cell, that a tiling covers
exactly once; a partition takes one of the allowed placements that cover the anchor, and finds the tilings
that contain it.
"""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from antipodes.errors import InputError
from antipodes.exact_cover.placements import Placements, placements_of
from antipodes.exact_cover.problem import TilingProblem
from antipodes.exact_cover.symmetry import Symmetry, Tilings, symmetry_of

PRUNING, PLAIN = "pruning", "plain"
METHODS = (PRUNING, PLAIN)
ENOUGH_PARTITIONS = 4
"""With fewer, a second worker soon has nothing to do."""


@dataclass(frozen=True, eq=False)
class Partitions:
    """The partitions of a search.

    Every orbit of tilings has a member of which all placements are allowed, hence is found in some partition.
    """

    anchors: NDArray[np.int64]
    """The placement that each partition starts from, ascending, ``(partitions,)``."""
    covers_anchor: NDArray[np.bool_]
    """Which placements cover the anchor, ``(placements,)``."""
    allowed: NDArray[np.bool_]
    """Which placements a search may use, ``(placements,)``."""
    second_piece: bool
    """Whether a second piece breaks the symmetries that leave an anchor where it is."""

    def __len__(self) -> int:
        return len(self.anchors)

    def owned(self, tilings: Tilings, symmetry: Symmetry) -> NDArray[np.bool_]:
        """Which of the tilings that a partition found are its own, ``(tilings,)``."""
        result: NDArray[np.bool_] = self._anchor(tilings) == self._first_anchor(tilings, symmetry)
        return result

    def counts(self, tilings: Tilings, symmetry: Symmetry) -> NDArray[np.int64]:
        """How many of the tilings belong to each partition, whichever of their images they are, ``(partitions,)``."""
        owners = np.searchsorted(self.anchors, self._first_anchor(tilings, symmetry))
        return np.bincount(owners, minlength=len(self))[: len(self)]

    def _anchor(self, tilings: Tilings) -> NDArray[np.int32]:
        """The placement that covers the anchor, on the last axis but one."""
        anchor: NDArray[np.int32] = np.where(self.covers_anchor[tilings], tilings, -1).max(axis=-1)
        return anchor

    def _first_anchor(self, tilings: Tilings, symmetry: Symmetry) -> NDArray[np.int32]:
        """The anchor of the first partition that finds an image of each tiling: that which owns it, ``(tilings,)``."""
        images = symmetry.images(tilings)
        reachable = self.allowed[images].all(axis=2)
        first: NDArray[np.int32] = np.where(reachable, self._anchor(images), np.iinfo(np.int32).max).min(axis=0)
        return first


@lru_cache(maxsize=8)
def partitions_of(problem: TilingProblem, method: str = PRUNING) -> Partitions:
    """The partitions of a search by one of the `METHODS`.

    Raises
    ------
    InputError
        There is no such method.
    """
    if method not in METHODS:
        raise InputError(f"expected a method among {', '.join(METHODS)}, found {method!r}")
    placements, symmetry = placements_of(problem), symmetry_of(problem)
    if method == PLAIN:
        allowed, covers = _plain(placements, symmetry), placements.covers(0)
        return Partitions(np.flatnonzero(allowed & covers), covers, allowed, second_piece=False)
    allowed, covers = _first_placements(problem)
    anchors = np.flatnonzero(allowed & covers & possible(problem))
    return Partitions(anchors, covers, allowed, second_piece=True)


def possible(problem: TilingProblem) -> bool:
    """Whether each piece fits somewhere, and a checkerboard's colours do not rule out that all fit together.

    Each placement covers so many more cells of one colour than of the other; over a tiling that sums up to
    what the board has.
    """
    placements, colours = placements_of(problem), np.append(problem.board.colours, 0)
    surplus = colours[placements.cells].sum(axis=1)
    sums = {0}
    for piece in range(placements.piece_count):
        own = set(surplus[placements.of(piece)].tolist())
        sums = {total + one for total in sums for one in own}
    return int(colours.sum()) in sums


def first_piece(problem: TilingProblem) -> int:
    """The piece whose placements split the search by the pruning method.

    Of the pieces that give enough partitions, one of the broadest, as they leave least room to the others
    wherever they lie; among these the one with the fewest placements up to symmetry. Of the pentominoes
    that is X.
    """
    placements, symmetry = placements_of(problem), symmetry_of(problem)
    smallest = smallest_images(symmetry.placements) == np.arange(len(placements))
    counts = np.bincount(placements.piece[smallest], minlength=len(problem.pieces)).tolist()
    enough = min(ENOUGH_PARTITIONS, max(counts))
    breadths = [piece.breadth for piece in problem.pieces]
    return min(range(len(counts)), key=lambda piece: (counts[piece] < enough, -breadths[piece], counts[piece]))


def _first_placements(problem: TilingProblem) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """What is allowed where the first piece keeps one placement of each class, and what is its own."""
    placements, symmetry, first = placements_of(problem), symmetry_of(problem), first_piece(problem)
    own = placements.piece == first
    fixing = symmetry.placements[symmetry.pieces[:, first] == first]
    return ~own | (smallest_images(fixing) == np.arange(len(placements))), own


def _plain(placements: Placements, symmetry: Symmetry) -> NDArray[np.bool_]:
    """What is allowed where one piece keeps one orientation of each class under the symmetries of the board.

    It is the first piece of which the smallest share of orientations is left. On 6x10 that is F with two of
    eight.
    """
    best, best_share = np.ones(len(placements), dtype=np.bool_), 1.0
    for piece in range(placements.piece_count):
        allowed = _kept_orientations(placements, symmetry, piece)
        share = float(allowed[placements.of(piece)].mean()) if len(placements.of(piece)) else 1.0
        if share < best_share:
            best, best_share = allowed, share
    return best


def _kept_orientations(placements: Placements, symmetry: Symmetry, piece: int) -> NDArray[np.bool_]:
    own = placements.of(piece)
    fixing = symmetry.placements[symmetry.pieces[:, piece] == piece]
    allowed = np.ones(len(placements), dtype=np.bool_)
    allowed[own] = placements.orientation[fixing[:, own]].min(axis=0) == placements.orientation[own]
    return allowed


def smallest_images(actions: NDArray[np.int32]) -> NDArray[np.int32]:
    """The smallest image of each placement, ``(placements,)``: the representative of its orbit."""
    smallest: NDArray[np.int32] = actions.min(axis=0)
    return smallest


def allowed_beside(
    anchor: int, partitions: Partitions, placements: Placements, symmetry: Symmetry
) -> NDArray[np.bool_]:
    """Which placements the partition of an anchor has to try, ``(placements,)``.

    Symmetries that leave the anchor where it is would find each tiling again in its images: a second piece,
    the one of which the smallest share is left, then keeps one placement of each class under them.
    """
    compatible = partitions.allowed & ~placements.overlaps(anchor)
    if not partitions.second_piece:
        return compatible
    fixing = symmetry.placements[:, anchor] == anchor
    representative = smallest_images(symmetry.placements[fixing]) == np.arange(len(placements))
    itself = (symmetry.pieces[fixing] == np.arange(placements.piece_count)).all(axis=0)
    available = np.bincount(placements.piece[compatible], minlength=placements.piece_count)
    kept = np.bincount(placements.piece[compatible & representative], minlength=placements.piece_count)
    share = np.where(itself & (available > 0), kept / np.maximum(available, 1), 1.0)
    result: NDArray[np.bool_] = compatible & (
        representative | (placements.piece != share.argmin()) | (share.min() == 1.0)
    )
    return result
