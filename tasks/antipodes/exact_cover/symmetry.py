"""The symmetries of a board on tilings: symmetric copies, orbits, and a representative of each orbit."""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from antipodes.exact_cover.placements import Placements, placements_of
from antipodes.exact_cover.problem import TilingProblem

Tilings = NDArray[np.int32]
"""Tilings as ``(tilings, pieces)``: the number of the placement of each piece."""


@dataclass(frozen=True, eq=False)
class Symmetry:
    """The symmetries of a tiling problem, as they act on its placements; the first is the identity.

    A symmetry of the board is one of the problem when it maps the pieces to pieces. A reflection of a box
    turns a piece that is not flat into its mirror image, so it counts only where that is among the pieces
    too.
    """

    placements: NDArray[np.int32]
    """Where each placement goes, ``(symmetries, placements)``."""
    pieces: NDArray[np.int32]
    """Which piece each piece becomes, ``(symmetries, pieces)``: itself, or its mirror image."""

    def __len__(self) -> int:
        return len(self.placements)

    def copies(self, tilings: Tilings) -> Tilings:
        """The symmetric copies of the tilings, ``(symmetries, tilings, pieces)``."""
        copies = np.empty((len(self), *tilings.shape), dtype=np.int32)
        for copy, placements, pieces in zip(copies, self.placements, self.pieces, strict=True):
            copy[:, pieces] = placements[tilings]
        return copies

    def canonical(self, tilings: Tilings) -> Tilings:
        """The lexicographically smallest copy of each tiling, ``(tilings, pieces)``, which stands for its orbit."""
        copies = self.copies(tilings)
        smallest: Tilings = copies[0]
        for copy in copies[1:]:
            smallest = np.where(_precedes(copy, smallest)[:, np.newaxis], copy, smallest)
        return smallest

    def orbit_sizes(self, tilings: Tilings) -> NDArray[np.int64]:
        """The size of the orbit of each tiling, ``(tilings,)``: the number of its different symmetric copies.

        By the orbit-stabiliser theorem, it is the number of symmetries divided by those that map the tiling to itself.
        """
        fixed = (self.copies(tilings) == tilings).all(axis=2).sum(axis=0)
        sizes: NDArray[np.int64] = len(self) // fixed
        return sizes

    def expand(self, tilings: Tilings) -> Tilings:
        """All members of the orbits of the tilings, sorted, ``(all, pieces)``."""
        return distinct(self.copies(tilings).reshape(-1, tilings.shape[1]))


def distinct(tilings: Tilings) -> Tilings:
    """The different tilings among these, in lexicographic order."""
    return np.unique(tilings, axis=0)


def _precedes(left: Tilings, right: Tilings) -> NDArray[np.bool_]:
    """Which rows of the left precede those of the right in lexicographic order, ``(tilings,)``."""
    first = (left != right).argmax(axis=1)[:, np.newaxis]
    before = np.take_along_axis(left, first, axis=1) < np.take_along_axis(right, first, axis=1)
    result: NDArray[np.bool_] = before[:, 0]
    return result


@lru_cache(maxsize=8)
def symmetry_of(problem: TilingProblem) -> Symmetry:
    """The symmetries of the problem's board that map its pieces to its pieces."""
    placements = placements_of(problem)
    if len(np.unique(placements.piece)) < len(problem.pieces):
        return _identity(placements)
    actions = [_action(placements, cells) for cells in problem.board.symmetries]
    kept = np.array([action for action in actions if action is not None], dtype=np.int32)
    return Symmetry(kept, placements.piece[kept[:, placements.first_of_piece[:-1]]])


def _identity(placements: Placements) -> Symmetry:
    """The trivial symmetry, if a piece does not fit at all and there are no tilings."""
    pieces = np.arange(placements.piece_count, dtype=np.int32)
    return Symmetry(np.arange(len(placements), dtype=np.int32)[np.newaxis], pieces[np.newaxis])


def _action(placements: Placements, cells: NDArray[np.int64]) -> NDArray[np.int32] | None:
    """The placement that each placement becomes if cell ``c`` goes to ``cells[c]``; None if some copy is no placement.

    The copies are all the placements again if and only if both lists of masks, sorted, are equal. Pieces of the same
    shape have the same masks; as the sort is stable, the first of them becomes the first.
    """
    before, after = placements.masks, _permuted(placements, cells)
    order, image_order = _mask_order(before), _mask_order(after)
    if not np.array_equal(before[order], after[image_order]):
        return None
    action = np.empty(len(placements), dtype=np.int32)
    action[image_order] = order
    return action


def _mask_order(masks: NDArray[np.uint64]) -> NDArray[np.int64]:
    return np.lexsort((masks[:, 0], masks[:, 1]))


def _permuted(placements: Placements, cells: NDArray[np.int64]) -> NDArray[np.uint64]:
    """The masks of the placements moved by the symmetry, ``(placements, 2)``."""
    moved = np.where(placements.cells >= 0, cells[placements.cells], -1).astype(np.int32)
    image = Placements(placements.piece_count, placements.board_size, placements.piece, placements.orientation, moved)
    return image.masks
