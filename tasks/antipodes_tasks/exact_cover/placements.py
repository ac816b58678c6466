"""Placements of pieces on a board.

A *placement* is a piece in one orientation on certain cells. Placements are numbered, and their cells are stored as
bits. The *options* of a search are the placements that it may use. This module also contains the action of the board's
symmetries on placements and tilings.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from antipodes_tasks.base.errors import ResourceLimitError
from antipodes_tasks.exact_cover.pieces import Coordinates
from antipodes_tasks.exact_cover.tiling_problem import TilingBoard, TilingProblem

WORD = 64
LEAST_WORDS = 2
"""Minimum number of words of a mask, since the kernels for small boards expect two words."""
MAX_COLUMNS = np.iinfo(np.uint16).max

Fill = Callable[[int, NDArray[np.int32]], int]
"""Function that continues a search. It writes the options of further tilings to an array ``(room, copies)``, in any
order, and returns the number of these tilings.

It returns when the array is full, when the total number of placements reaches its first argument, or when the search
is complete.
"""
DEPTH, PLACEMENTS = range(2)
"""Indices of a search's counters: its depth (-1 when the search is complete), and the number of placements tried."""

TilingArray = NDArray[np.int32]
"""``(tilings, copies)``: the numbers of each tiling's placements, ascending and therefore ordered by piece."""


@dataclass(frozen=True, eq=False)
class Placements:
    """All placements of all pieces on a board that the conditions allow. Stored tilings depend on their order.

    Placements are sorted by piece, then by orientation (in the order of `Piece.orientations` along the axes of the
    board), then by layer, row and column.
    """

    piece_count: int
    board_size: int
    piece: NDArray[np.int32]
    """``(placements,)``: the piece of each placement, ascending."""
    orientation: NDArray[np.int32]
    """``(placements,)``: the orientation of each placement."""
    cells: NDArray[np.int32]
    """``(placements, largest piece)``: the cells of each placement, ascending, followed by -1 if the piece is smaller.
    """

    def __len__(self) -> int:
        return len(self.piece)

    @cached_property
    def masks(self) -> NDArray[np.uint64]:
        """``(placements, words)``: the cells as bits; cell ``c`` is bit ``c % 64`` of word ``c // 64``."""
        words = max(LEAST_WORDS, -(-self.board_size // WORD))
        masks = np.zeros((len(self), words), dtype=np.uint64)
        for cell in self.cells.T:
            bit = np.uint64(1) << (cell % WORD).astype(np.uint64)
            for word in range(words):
                masks[:, word] |= np.where(cell // WORD == word, bit, np.uint64(0))
        return masks

    @cached_property
    def first_of_piece(self) -> NDArray[np.int64]:
        """``(pieces + 1,)``: the number of the first placement of each piece, and the number of placements."""
        return np.searchsorted(self.piece, np.arange(self.piece_count + 1))

    def of(self, piece: int) -> NDArray[np.int64]:
        """Return the numbers of the placements of a piece."""
        return np.arange(self.first_of_piece[piece], self.first_of_piece[piece + 1])

    def in_mask_order(self, piece: int) -> NDArray[np.int64]:
        """Return the numbers of the placements of a piece, sorted by their masks."""
        numbers = self.of(piece)
        return numbers[np.lexsort(self.masks[numbers].T)]

    def covers(self, cell: int) -> NDArray[np.bool_]:
        """Return a mask ``(placements,)`` of the placements that cover a cell."""
        result: NDArray[np.bool_] = (self.cells == cell).any(axis=1)
        return result

    def select(self, kept: NDArray[np.bool_]) -> "Placements":
        """Return the placements selected by a mask ``(placements,)``, renumbered."""
        return Placements(self.piece_count, self.board_size, self.piece[kept], self.orientation[kept], self.cells[kept])


@lru_cache(maxsize=8)
def placements_of(problem: TilingProblem) -> Placements:
    """Return all placements of the problem's pieces on its board that the conditions allow."""
    placements = _all_placements(problem)
    kept = np.ones(len(placements), dtype=np.bool_)
    for condition in problem.where:
        kept &= ~condition.excluded(placements.piece, placements.cells)
    return placements.select(kept)


def _all_placements(problem: TilingProblem) -> Placements:
    largest = max(piece.size for piece in problem.pieces)
    rows, pieces, orientations = [], [], []
    for number, piece in enumerate(problem.pieces):
        for orientation, cells in enumerate(piece.orientations(problem.board.axes)):
            found = _positions(problem.board, cells)
            rows.append(np.pad(found, ((0, 0), (0, largest - piece.size)), constant_values=-1))
            pieces.append(np.full(len(found), number))
            orientations.append(np.full(len(found), orientation))
    return Placements(
        len(problem.pieces),
        problem.board.size,
        np.concatenate(pieces).astype(np.int32),
        np.concatenate(orientations).astype(np.int32),
        np.concatenate(rows).astype(np.int32),
    )


def _positions(board: TilingBoard, cells: Coordinates) -> NDArray[np.int64]:
    """Return the cells ``(positions, size)`` that an oriented piece covers in each position in which it fits."""
    room = np.array(board.shape) - cells.max(axis=0)
    if (room <= 0).any():
        return np.empty((0, len(cells)), dtype=np.int64)
    corners = np.argwhere(np.ones(room, dtype=bool))
    layer, row, column = np.moveaxis(corners[:, np.newaxis] + cells, 2, 0)
    covered: NDArray[np.int64] = board.numbers[layer, row, column]
    return covered[(covered >= 0).all(axis=1)]


class OptionTable(NamedTuple):
    """The options of a partition: the placements it may use, sorted by their first cell, then by their number."""

    number: NDArray[np.int32]
    """``(options,)``: the placement number of each option."""
    masks: NDArray[np.uint64]
    """``(options, words)``: the cells that each option covers."""
    columns: NDArray[np.uint16]
    """``(options, largest piece + 1)``: the items of the exact cover that each option covers.

    The items are the cells, then the pieces. An extra item, which need not be covered, pads the rows of smaller pieces.
    """
    starts: NDArray[np.int32]
    """``(cells, pieces + 1)``: the options of a piece whose first cell is ``cell`` are numbered from
    ``starts[cell, piece]`` to ``starts[cell, piece + 1] - 1``.
    """


def options_of(placements: Placements, allowed: NDArray[np.bool_]) -> OptionTable:
    """Return the placements allowed by a mask ``(placements,)`` as options.

    Raises
    ------
    ResourceLimitError
        The board has too many cells and pieces for 16-bit item numbers.
    """
    numbers = np.flatnonzero(allowed)
    numbers = numbers[np.argsort(placements.cells[numbers, 0], kind="stable")]
    cells, pieces = placements.cells[numbers], placements.piece[numbers]
    filler = placements.board_size + placements.piece_count
    if filler > MAX_COLUMNS:
        raise ResourceLimitError(f"the board has {filler:,} cells and pieces; the limit is 65,535")
    columns = np.column_stack((np.where(cells < 0, filler, cells), pieces + placements.board_size))
    shape = placements.board_size, placements.piece_count + 1
    starts = np.searchsorted(cells[:, 0].astype(np.int64) * shape[1] + pieces, np.arange(shape[0] * shape[1]))
    return OptionTable(
        numbers.astype(np.int32),
        placements.masks[numbers],
        columns.astype(np.uint16),
        starts.reshape(shape).astype(np.int32),
    )


def copies_left(problem: TilingProblem, placements: Placements, fixed: NDArray[np.integer[Any]]) -> NDArray[np.int64]:
    """Return the number of copies of each piece that the fixed placements leave, ``(pieces,)``."""
    counts = np.array([piece.count for piece in problem.pieces], dtype=np.int64)
    left: NDArray[np.int64] = counts - np.bincount(placements.piece[fixed], minlength=len(counts))
    return left


@dataclass(frozen=True, eq=False)
class PlacementSymmetries:
    """The symmetries of a tiling problem and their action on its placements; the first is the identity.

    A symmetry of the board is a symmetry of the problem if it maps pieces to pieces and preserves the conditions. A
    reflection of a box turns a piece that is not flat into its mirror image. So it is a symmetry of the problem only if
    the mirror image is one of the pieces.
    """

    placements: NDArray[np.int32]
    """``(symmetries, placements)``: the image of each placement."""
    pieces: NDArray[np.int32]
    """``(symmetries, pieces)``: the image of each piece, which is itself or its mirror image."""
    cells: NDArray[np.int64]
    """``(symmetries, cells)``: the image of each cell."""

    def __len__(self) -> int:
        return len(self.placements)

    def copies(self, tilings: TilingArray) -> TilingArray:
        """Return the symmetric copies ``(symmetries, tilings, copies of pieces)`` of tilings."""
        copies = self.placements[:, tilings]
        copies.sort(axis=2)
        return copies

    def expand(self, tilings: TilingArray) -> TilingArray:
        """Return all members of the orbits of tilings, sorted, ``(all, copies)``."""
        return distinct(self.copies(tilings).reshape(-1, tilings.shape[1]))


def smallest(copies: NDArray[np.int32]) -> TilingArray:
    """Return the lexicographically smallest copy of each tiling, from `PlacementSymmetries.copies`."""
    minimum: TilingArray = copies[0]
    for copy in copies[1:]:
        minimum = np.where(precedes(copy, minimum)[:, np.newaxis], copy, minimum)
    return minimum


def orbit_sizes(copies: NDArray[np.int32]) -> NDArray[np.int64]:
    """Return the number ``(tilings,)`` of distinct copies of each tiling, from `PlacementSymmetries.copies`.

    By the orbit-stabiliser theorem, it is the number of symmetries divided by the number that map the tiling to itself.
    """
    fixed = (copies == copies[0]).all(axis=2).sum(axis=0)
    sizes: NDArray[np.int64] = len(copies) // fixed
    return sizes


def distinct(tilings: TilingArray) -> TilingArray:
    """Return the distinct tilings in lexicographic order."""
    as_bytes = tilings.astype(">i4", order="C").view(f"V{4 * tilings.shape[1]}")  # big-endian: sorts like the numbers
    ordered = tilings[np.argsort(as_bytes.ravel(), kind="stable")]
    new = np.ones(len(tilings), dtype=np.bool_)
    new[1:] = (ordered[1:] != ordered[:-1]).any(axis=1)
    result: TilingArray = ordered[new]
    return result


def precedes(left: TilingArray, right: TilingArray) -> NDArray[np.bool_]:
    """Return a mask ``(tilings,)`` of the rows of ``left`` that lexicographically precede the rows of ``right``."""
    first = (left != right).argmax(axis=1)[:, np.newaxis]
    before = np.take_along_axis(left, first, axis=1) < np.take_along_axis(right, first, axis=1)
    result: NDArray[np.bool_] = before[:, 0]
    return result


@lru_cache(maxsize=8)
def symmetry_of(problem: TilingProblem) -> PlacementSymmetries:
    """Return the symmetries of the problem's board that map pieces to pieces and preserve the conditions."""
    found = [
        (*action, cells)
        for cells in problem.board.symmetries
        if np.array_equal(problem.required[cells], problem.required)
        if (action := _action(problem, cells)) is not None
    ]
    placements, pieces, moved_cells = map(np.array, zip(*found, strict=True))
    return PlacementSymmetries(placements, pieces, moved_cells)


def _action(problem: TilingProblem, cells: NDArray[np.int64]) -> tuple[NDArray[np.int32], NDArray[np.int32]] | None:
    """Return the images of all placements and pieces if cell ``c`` is mapped to ``cells[c]``.

    The image of a piece is a piece with the same number of copies whose placements are the images of the piece's
    placements. If several pieces have the same shape, they are mapped in order. Returns None if some piece has no
    image.
    """
    placements = placements_of(problem)
    moved = replace(placements, cells=np.where(placements.cells >= 0, cells[placements.cells], -1).astype(np.int32))

    def key(placements: Placements, piece: int) -> tuple[bytes, int]:
        return placements.masks[placements.in_mask_order(piece)].tobytes(), problem.pieces[piece].count

    pieces: dict[tuple[bytes, int], list[int]] = {}
    for piece in range(len(problem.pieces)):
        pieces.setdefault(key(placements, piece), []).append(piece)
    action, becomes = np.empty(len(placements), dtype=np.int32), np.empty(len(problem.pieces), dtype=np.int32)
    for piece in range(len(problem.pieces)):
        images = pieces.get(key(moved, piece))
        if not images:
            return None
        becomes[piece] = images.pop(0)
        action[moved.in_mask_order(piece)] = placements.in_mask_order(becomes[piece])
    return action, becomes
