"""The partitions of a search: one for each placement that can come first, and the tilings that each owns.

Symmetry is broken before the search. The *anchor* is a piece, or a cell, which every tiling covers exactly once. A
partition takes one of the allowed placements that cover the anchor, and finds the tilings that contain it.
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
"""Partitions that keep a second worker busy."""


@dataclass(frozen=True, eq=False)
class Partitions:
    """The partitions of a search.

    Every orbit of tilings has a member whose placements are all allowed, so that some partition finds it.
    """

    anchors: NDArray[np.int64]
    """The first placement of each partition, ascending, ``(partitions,)``."""
    covers_anchor: NDArray[np.bool_]
    """Which placements cover the anchor, ``(placements,)``."""
    allowed: NDArray[np.bool_]
    """Which placements a search may use, ``(placements,)``."""
    second_piece: bool
    """Whether a second piece breaks the symmetries that map an anchor to itself."""

    def __len__(self) -> int:
        return len(self.anchors)

    def owned(self, tilings: Tilings, symmetry: Symmetry) -> NDArray[np.bool_]:
        """Which of the tilings found by a partition it owns, ``(tilings,)``."""
        result: NDArray[np.bool_] = self._anchor(tilings) == self._first_anchor(tilings, symmetry)
        return result

    def counts(self, tilings: Tilings, symmetry: Symmetry) -> NDArray[np.int64]:
        """The number of the tilings whose orbits each partition owns, ``(partitions,)``."""
        owners = np.searchsorted(self.anchors, self._first_anchor(tilings, symmetry))
        return np.bincount(owners, minlength=len(self))[: len(self)]

    def _anchor(self, tilings: Tilings) -> NDArray[np.int32]:
        """The placement that covers the anchor in each of ``(..., pieces)`` tilings, ``(...)``."""
        anchor: NDArray[np.int32] = np.where(self.covers_anchor[tilings], tilings, -1).max(axis=-1)
        return anchor

    def _first_anchor(self, tilings: Tilings, symmetry: Symmetry) -> NDArray[np.int32]:
        """The anchor of the partition that owns each tiling: the first that finds a symmetric copy, ``(tilings,)``."""
        copies = symmetry.copies(tilings)
        reachable = self.allowed[copies].all(axis=2)
        first: NDArray[np.int32] = np.where(reachable, self._anchor(copies), np.iinfo(np.int32).max).min(axis=0)
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
    """Whether each piece fits somewhere, and a checkerboard colouring does not rule out a tiling.

    The surplus of one colour over the other, summed over the placements of a tiling, is the surplus of the board.
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

    Of the pieces that give enough partitions, it is one of the broadest, which leave the least room to the others; of
    these, the piece with the fewest orbits of placements. Of the pentominoes it is X.
    """
    placements, symmetry = placements_of(problem), symmetry_of(problem)
    smallest = representatives(symmetry.placements) == np.arange(len(placements))
    counts = np.bincount(placements.piece[smallest], minlength=len(problem.pieces)).tolist()
    enough = min(ENOUGH_PARTITIONS, max(counts))
    breadths = [piece.breadth for piece in problem.pieces]
    return min(range(len(counts)), key=lambda piece: (counts[piece] < enough, -breadths[piece], counts[piece]))


def _first_placements(problem: TilingProblem) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """The placements allowed if the first piece keeps one placement of each orbit, and the placements of that piece."""
    placements, symmetry, first = placements_of(problem), symmetry_of(problem), first_piece(problem)
    own = placements.piece == first
    fixing = symmetry.placements[symmetry.pieces[:, first] == first]
    return ~own | (representatives(fixing) == np.arange(len(placements))), own


def _plain(placements: Placements, symmetry: Symmetry) -> NDArray[np.bool_]:
    """The placements allowed if one piece keeps one orientation of each orbit under the symmetries of the board.

    It is the first piece that keeps the smallest share of its orientations. On 6x10 that is F, with two of eight.
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


def representatives(actions: NDArray[np.int32]) -> NDArray[np.int32]:
    """The representative of the orbit of each placement, its smallest symmetric copy, ``(placements,)``."""
    smallest: NDArray[np.int32] = actions.min(axis=0)
    return smallest


def allowed_beside(
    anchor: int, partitions: Partitions, placements: Placements, symmetry: Symmetry
) -> NDArray[np.bool_]:
    """The placements that the partition of an anchor tries, ``(placements,)``.

    Symmetries that map the anchor to itself would find symmetric copies of each tiling. To break them, a second piece
    keeps one placement of each orbit under them: the piece that keeps the smallest share.
    """
    compatible = partitions.allowed & ~placements.overlaps(anchor)
    if not partitions.second_piece:
        return compatible
    fixing = symmetry.placements[:, anchor] == anchor
    representative = representatives(symmetry.placements[fixing]) == np.arange(len(placements))
    itself = (symmetry.pieces[fixing] == np.arange(placements.piece_count)).all(axis=0)
    available = np.bincount(placements.piece[compatible], minlength=placements.piece_count)
    kept = np.bincount(placements.piece[compatible & representative], minlength=placements.piece_count)
    share = np.where(itself & (available > 0), kept / np.maximum(available, 1), 1.0)
    result: NDArray[np.bool_] = compatible & (
        representative | (placements.piece != share.argmin()) | (share.min() == 1.0)
    )
    return result
