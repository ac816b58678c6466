"""The symmetries of a board on tilings: symmetric copies, orbits, and a representative of each orbit."""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from antipodes_tasks.exact_cover.placements import Placements, placements_of
from antipodes_tasks.exact_cover.problem import TilingProblem

Tilings = NDArray[np.int32]
"""Tilings as ``(tilings, copies)``: the numbers of their placements, ascending, so by pieces and their copies."""


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
    cells: NDArray[np.int64]
    """Where each cell goes, ``(symmetries, cells)``."""

    def __len__(self) -> int:
        return len(self.placements)

    def copies(self, tilings: Tilings) -> Tilings:
        """The symmetric copies of the tilings, ``(symmetries, tilings, copies of pieces)``."""
        copies = self.placements[:, tilings]
        copies.sort(axis=2)
        return copies

    def canonical(self, tilings: Tilings) -> Tilings:
        """The lexicographically smallest copy of each tiling, ``(tilings, copies)``, which stands for its orbit."""
        return smallest(self.copies(tilings))

    def orbit_sizes(self, tilings: Tilings) -> NDArray[np.int64]:
        """The size of the orbit of each tiling, ``(tilings,)``; see `orbit_sizes`."""
        return orbit_sizes(self.copies(tilings))

    def expand(self, tilings: Tilings) -> Tilings:
        """All members of the orbits of the tilings, sorted, ``(all, copies)``."""
        return distinct(self.copies(tilings).reshape(-1, tilings.shape[1]))


def smallest(copies: NDArray[np.int32]) -> Tilings:
    """The lexicographically smallest copy of each tiling, by its `Symmetry.copies`, ``(tilings, copies of pieces)``."""
    least: Tilings = copies[0]
    for copy in copies[1:]:
        least = np.where(precedes(copy, least)[:, np.newaxis], copy, least)
    return least


def orbit_sizes(copies: NDArray[np.int32]) -> NDArray[np.int64]:
    """The number of different symmetric copies of each tiling, by its `Symmetry.copies`, ``(tilings,)``.

    By the orbit-stabiliser theorem, it is the number of symmetries divided by those that map the tiling to itself.
    """
    fixed = (copies == copies[0]).all(axis=2).sum(axis=0)
    sizes: NDArray[np.int64] = len(copies) // fixed
    return sizes


def distinct(tilings: Tilings) -> Tilings:
    """The different tilings among these, in lexicographic order."""
    as_bytes = tilings.astype(">i4", order="C").view(f"V{4 * tilings.shape[1]}")  # which are ordered as the numbers are
    ordered = tilings[np.argsort(as_bytes.ravel(), kind="stable")]
    new = np.ones(len(tilings), dtype=np.bool_)
    new[1:] = (ordered[1:] != ordered[:-1]).any(axis=1)
    result: Tilings = ordered[new]
    return result


def precedes(left: Tilings, right: Tilings) -> NDArray[np.bool_]:
    """Which rows of the left precede those of the right in lexicographic order, ``(tilings,)``."""
    first = (left != right).argmax(axis=1)[:, np.newaxis]
    before = np.take_along_axis(left, first, axis=1) < np.take_along_axis(right, first, axis=1)
    result: NDArray[np.bool_] = before[:, 0]
    return result


@lru_cache(maxsize=8)
def symmetry_of(problem: TilingProblem) -> Symmetry:
    """The symmetries of the problem's board that map its pieces to its pieces, and keep its conditions."""
    placements = placements_of(problem)
    if len(np.unique(placements.piece)) < len(problem.pieces):
        return _identity(problem, placements)
    counts = np.array([piece.count for piece in problem.pieces])
    found = [
        (action, cells)
        for cells in problem.board.symmetries
        if np.array_equal(problem.required[cells], problem.required)
        if (action := _action(placements, counts, cells)) is not None
    ]
    kept = np.array([action for action, _ in found], dtype=np.int32)
    pieces = placements.piece[kept[:, placements.first_of_piece[:-1]]]
    return Symmetry(kept, pieces, np.array([cells for _, cells in found]))


def _identity(problem: TilingProblem, placements: Placements) -> Symmetry:
    """The trivial symmetry, if a piece does not fit at all and there are no tilings."""
    numbers, pieces = np.arange(len(placements), dtype=np.int32), np.arange(placements.piece_count, dtype=np.int32)
    return Symmetry(numbers[np.newaxis], pieces[np.newaxis], np.arange(problem.board.size)[np.newaxis])


def _action(placements: Placements, counts: NDArray[np.int64], cells: NDArray[np.int64]) -> NDArray[np.int32] | None:
    """The placement that each placement becomes if cell ``c`` goes to ``cells[c]``; None if some copy is no placement.

    A piece becomes one with as many copies, whose placements are the moved ones. Of several such pieces, all of one
    shape, the first becomes the first.
    """
    becomes: dict[bytes, list[int]] = {}
    for piece, count in enumerate(counts.tolist()):
        becomes.setdefault(_key(placements, piece, count), []).append(piece)
    moved, action = _moved(placements, cells), np.empty(len(placements), dtype=np.int32)
    for piece, count in enumerate(counts.tolist()):
        images = becomes.get(_key(moved, piece, count))
        if not images:
            return None
        action[_in_mask_order(moved, piece)] = _in_mask_order(placements, images.pop(0))
    return action


def _key(placements: Placements, piece: int, count: int) -> bytes:
    """The same for pieces with the same masks and as many copies."""
    return placements.masks[_in_mask_order(placements, piece)].tobytes() + b"%d" % count


def _in_mask_order(placements: Placements, piece: int) -> NDArray[np.int64]:
    """The placements of a piece, sorted by their masks."""
    own = placements.of(piece)
    result: NDArray[np.int64] = own[np.lexsort(placements.masks[own].T)]
    return result


def _moved(placements: Placements, cells: NDArray[np.int64]) -> Placements:
    """The placements moved by the symmetry."""
    moved = np.where(placements.cells >= 0, cells[placements.cells], -1).astype(np.int32)
    return Placements(placements.piece_count, placements.board_size, placements.piece, placements.orientation, moved)
