"""The partitions of a search: one for each placement that can come first, and the tilings that each owns.

Symmetry is broken before the search. Each placement has a *representative*, the smallest of its orbit. A partition has
an *anchor*, a placement of the first piece that represents its orbit. It finds the tilings that contain the anchor and
no placement of the first piece whose representative is smaller.
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
NO_ANCHOR = np.iinfo(np.int32).max


@dataclass(frozen=True, eq=False)
class Partitions:
    """The partitions of a search.

    Every orbit of tilings has a member whose placements are all allowed, so that some partition finds it.
    """

    anchors: NDArray[np.int64]
    """The first placement of each partition, ascending, ``(partitions,)``."""
    anchor_of: NDArray[np.int32]
    """The anchor that each placement leads to, or NO_ANCHOR, ``(placements,)``; that of a tiling is the smallest."""
    allowed: NDArray[np.bool_]
    """Which placements a search may use, ``(placements,)``."""
    second_piece: bool
    """Whether a second piece breaks the symmetries that map an anchor to itself."""

    def __len__(self) -> int:
        return len(self.anchors)

    def owned(self, copies: NDArray[np.int32]) -> NDArray[np.bool_]:
        """Which of the tilings found by a partition it owns, by their `Symmetry.copies`, ``(tilings,)``."""
        result: NDArray[np.bool_] = self._anchor(copies[0]) == self._first_anchor(copies)
        return result

    def counts(self, tilings: Tilings, symmetry: Symmetry) -> NDArray[np.int64]:
        """The number of the tilings whose orbits each partition owns, ``(partitions,)``."""
        owners = np.searchsorted(self.anchors, self._first_anchor(symmetry.copies(tilings)))
        return np.bincount(owners, minlength=len(self))[: len(self)]

    def _anchor(self, tilings: Tilings) -> NDArray[np.int32]:
        """The anchor of each tiling, ``(tilings,)``."""
        anchor: NDArray[np.int32] = self.anchor_of[tilings].min(axis=1)
        return anchor

    def _first_anchor(self, copies: NDArray[np.int32]) -> NDArray[np.int32]:
        """The anchor of the partition that owns each tiling: the first that finds a symmetric copy, ``(tilings,)``."""
        first = np.full(copies.shape[1], NO_ANCHOR, dtype=np.int32)
        for copy in copies:  # one by one, to need no further array of the size of all copies
            reachable = self.allowed[copy].all(axis=1)
            np.minimum(first, self._anchor(copy), out=first, where=reachable)
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
    numbers = np.arange(len(placements), dtype=np.int32)
    if method == PLAIN:
        allowed = _plain(problem, placements, symmetry)
        anchor_of = np.where(allowed & placements.covers(0), numbers, NO_ANCHOR)
    else:
        allowed, first = np.ones(len(placements), dtype=np.bool_), first_piece(problem)
        fixing = symmetry.placements[symmetry.pieces[:, first] == first]
        anchor_of = np.where(placements.piece == first, representatives(fixing), NO_ANCHOR)
    anchors = np.flatnonzero((anchor_of == numbers) & possible(problem) & _may_be_first(problem, placements))
    return Partitions(anchors, anchor_of.astype(np.int32), allowed, second_piece=method != PLAIN)


def _may_be_first(problem: TilingProblem, placements: Placements) -> NDArray[np.bool_]:
    """Which placements can be the first of a tiling, ``(placements,)``: an only piece covers all that has to be."""
    if problem.copies > 1:
        return np.ones(len(placements), dtype=np.bool_)
    needed = np.append(problem.required, False)  # the cell -1, after the last of a piece, is none
    covers_all: NDArray[np.bool_] = needed[placements.cells].sum(axis=1) == needed.sum()
    return covers_all


def possible(problem: TilingProblem) -> bool:
    """Whether each piece fits somewhere, and a checkerboard colouring does not rule out a tiling.

    The surplus of one colour over the other, summed over the placements of a tiling, is the surplus of the board.
    Where cells may stay empty, that says nothing.
    """
    placements, colours = placements_of(problem), np.append(problem.board.colours, 0)
    surplus = colours[placements.cells].sum(axis=1)
    sums = {0}
    for number, piece in enumerate(problem.pieces):
        own = set(surplus[placements.of(number)].tolist())
        for _ in range(piece.count):
            sums = {total + one for total in sums for one in own}
    return int(colours.sum()) in sums or (bool(sums) and problem.area < problem.board.size)


def first_piece(problem: TilingProblem) -> int:
    """The piece whose placements split the search by the pruning method.

    Of the pieces without copies that give enough partitions, it is one of the broadest, which leave the least room to
    the others; of these, the piece with the fewest orbits of placements. Of the pentominoes it is X.
    """
    placements, symmetry = placements_of(problem), symmetry_of(problem)
    smallest = representatives(symmetry.placements) == np.arange(len(placements))
    counts = np.bincount(placements.piece[smallest], minlength=len(problem.pieces)).tolist()
    enough = min(ENOUGH_PARTITIONS, max(counts))
    copied, breadths = ([piece.count > 1 for piece in problem.pieces], [piece.breadth for piece in problem.pieces])
    return min(
        range(len(counts)), key=lambda piece: (counts[piece] < enough, copied[piece], -breadths[piece], counts[piece])
    )


def _plain(problem: TilingProblem, placements: Placements, symmetry: Symmetry) -> NDArray[np.bool_]:
    """The placements allowed if one piece keeps one orientation of each orbit under the symmetries of the board.

    It is the first piece, of those without copies, that keeps the smallest share of its orientations. On 6x10 that is
    F, with two of eight.
    """
    best, best_share = np.ones(len(placements), dtype=np.bool_), 1.0
    for piece in np.flatnonzero([piece.count == 1 for piece in problem.pieces]).tolist():
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
    anchor: int, problem: TilingProblem, partitions: Partitions, placements: Placements, symmetry: Symmetry
) -> NDArray[np.bool_]:
    """The placements that the partition of an anchor tries, ``(placements,)``.

    Symmetries that map the anchor to itself would find symmetric copies of each tiling. To break them, a second piece
    keeps one placement of each orbit under them: the piece that keeps the smallest share, of those without copies.
    """
    compatible = partitions.allowed & ~placements.overlaps(anchor) & (partitions.anchor_of >= anchor)
    single = np.array([piece.count == 1 for piece in problem.pieces])
    if single[placements.piece[anchor]]:
        compatible &= placements.piece != placements.piece[anchor]
    if not partitions.second_piece:
        return compatible
    fixing = symmetry.placements[:, anchor] == anchor
    representative = representatives(symmetry.placements[fixing]) == np.arange(len(placements))
    itself = (symmetry.pieces[fixing] == np.arange(placements.piece_count)).all(axis=0) & single
    available = np.bincount(placements.piece[compatible], minlength=placements.piece_count)
    kept = np.bincount(placements.piece[compatible & representative], minlength=placements.piece_count)
    share = np.where(itself & (available > 0), kept / np.maximum(available, 1), 1.0)
    result: NDArray[np.bool_] = compatible & (
        representative | (placements.piece != share.argmin()) | (share.min() == 1.0)
    )
    return result
