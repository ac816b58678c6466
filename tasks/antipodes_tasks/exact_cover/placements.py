"""Placements: the ways to lay a piece on the board, numbered, with their cells as bits; the options of a search, which
are some of them; and how the symmetries of the board act on them and on tilings.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from antipodes_tasks.errors import ResourceLimitError
from antipodes_tasks.exact_cover.pieces import Coordinates
from antipodes_tasks.exact_cover.problem import Board, TilingProblem

WORD = 64
LEAST_WORDS = 2
"""Words of a mask on small boards, for the kernels that take boards of at most two words."""
MAX_COLUMNS = np.iinfo(np.uint16).max

Fill = Callable[[int, NDArray[np.int32]], int]
"""Writes the options of further tilings into ``(room, copies)``, in any order, and returns how many it found.

It returns when there is no more room, when as many placements are made in all as the first argument says, or when the
search has ended.
"""
DEPTH, PLACEMENTS = range(2)
"""The places of the counters of a search: its depth, -1 when it has ended, and the placements tried."""

TilingArray = NDArray[np.int32]
"""Tilings as ``(tilings, copies)``: the numbers of their placements, ascending, so by pieces and their copies."""


@dataclass(frozen=True, eq=False)
class Placements:
    """All placements of all pieces on a board that the conditions allow, in an order that the stored tilings depend on.

    Sorted by the piece, then by its orientation (the sorted list of `Piece.orientations` along the axes of
    the board), then by its position (layer, row, column).
    """

    piece_count: int
    board_size: int
    piece: NDArray[np.int32]
    """The piece of each, ``(placements,)``, ascending."""
    orientation: NDArray[np.int32]
    """The orientation of each, ``(placements,)``."""
    cells: NDArray[np.int32]
    """The numbers of the cells of each, ascending, ``(placements, largest piece)``; -1 after the last."""

    def __len__(self) -> int:
        return len(self.piece)

    @cached_property
    def masks(self) -> NDArray[np.uint64]:
        """The cells as bits, ``(placements, words)``: cell ``c`` is bit ``c % 64`` of word ``c // 64``."""
        words = max(LEAST_WORDS, -(-self.board_size // WORD))
        masks = np.zeros((len(self), words), dtype=np.uint64)
        for cell in self.cells.T:
            bit = np.uint64(1) << (cell % WORD).astype(np.uint64)
            for word in range(words):
                masks[:, word] |= np.where(cell // WORD == word, bit, np.uint64(0))
        return masks

    @cached_property
    def first_of_piece(self) -> NDArray[np.int64]:
        """The number of the first placement of each piece, and of the end, ``(pieces + 1,)``."""
        return np.searchsorted(self.piece, np.arange(self.piece_count + 1))

    def of(self, piece: int) -> NDArray[np.int64]:
        """The numbers of the placements of a piece."""
        return np.arange(self.first_of_piece[piece], self.first_of_piece[piece + 1])

    def in_mask_order(self, piece: int) -> NDArray[np.int64]:
        """The numbers of the placements of a piece, sorted by their masks."""
        numbers = self.of(piece)
        return numbers[np.lexsort(self.masks[numbers].T)]

    def covers(self, cell: int) -> NDArray[np.bool_]:
        """Which placements cover a cell, ``(placements,)``."""
        result: NDArray[np.bool_] = (self.cells == cell).any(axis=1)
        return result

    def select(self, kept: NDArray[np.bool_]) -> "Placements":
        """Some of the placements, ``(placements,)``, numbered anew."""
        return Placements(self.piece_count, self.board_size, self.piece[kept], self.orientation[kept], self.cells[kept])


@lru_cache(maxsize=8)
def placements_of(problem: TilingProblem) -> Placements:
    """All placements of the problem's pieces on its board that its conditions allow."""
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


def _positions(board: Board, cells: Coordinates) -> NDArray[np.int64]:
    """The cells covered wherever the oriented piece fits, ``(positions, size)``."""
    room = np.array(board.shape) - cells.max(axis=0)
    if (room <= 0).any():
        return np.empty((0, len(cells)), dtype=np.int64)
    corners = np.argwhere(np.ones(room, dtype=bool))
    layer, row, column = np.moveaxis(corners[:, np.newaxis] + cells, 2, 0)
    covered: NDArray[np.int64] = board.numbers[layer, row, column]
    return covered[(covered >= 0).all(axis=1)]


class OptionTable(NamedTuple):
    """The placements that a partition may use, sorted by their first cell, then by their number."""

    number: NDArray[np.int32]
    """Their numbers, ``(options,)``."""
    masks: NDArray[np.uint64]
    """The cells they cover, ``(options, words)``."""
    columns: NDArray[np.uint16]
    """The columns of the exact cover that they cover, ``(options, largest piece + 1)``.

    Columns are cells, then pieces. One more column, which needs no cover, fills the rows of smaller pieces.
    """
    starts: NDArray[np.int32]
    """``starts[cell, piece]`` to ``starts[cell, piece + 1]``: the options of a piece whose first cell is ``cell``."""


def options_of(placements: Placements, allowed: NDArray[np.bool_]) -> OptionTable:
    """The allowed placements, ``(placements,)``, as options.

    Raises
    ------
    ResourceLimitError
        The board and the pieces are too many for the numbers of columns.
    """
    numbers = np.flatnonzero(allowed)
    numbers = numbers[np.argsort(placements.cells[numbers, 0], kind="stable")]
    cells, pieces = placements.cells[numbers], placements.piece[numbers]
    filler = placements.board_size + placements.piece_count
    if filler > MAX_COLUMNS:
        raise ResourceLimitError(f"expected a board of fewer than 65,535 cells and pieces, found {filler:,}")
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
    """How many copies of each piece are left beside fixed placements, ``(pieces,)``."""
    counts = np.array([piece.count for piece in problem.pieces], dtype=np.int64)
    left: NDArray[np.int64] = counts - np.bincount(placements.piece[fixed], minlength=len(counts))
    return left


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

    def copies(self, tilings: TilingArray) -> TilingArray:
        """The symmetric copies of the tilings, ``(symmetries, tilings, copies of pieces)``."""
        copies = self.placements[:, tilings]
        copies.sort(axis=2)
        return copies

    def expand(self, tilings: TilingArray) -> TilingArray:
        """All members of the orbits of the tilings, sorted, ``(all, copies)``."""
        return distinct(self.copies(tilings).reshape(-1, tilings.shape[1]))


def smallest(copies: NDArray[np.int32]) -> TilingArray:
    """The lexicographically smallest copy of each tiling, by its `Symmetry.copies`, ``(tilings, copies of pieces)``."""
    least: TilingArray = copies[0]
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


def distinct(tilings: TilingArray) -> TilingArray:
    """The different tilings among these, in lexicographic order."""
    as_bytes = tilings.astype(">i4", order="C").view(f"V{4 * tilings.shape[1]}")  # in the order of the numbers
    ordered = tilings[np.argsort(as_bytes.ravel(), kind="stable")]
    new = np.ones(len(tilings), dtype=np.bool_)
    new[1:] = (ordered[1:] != ordered[:-1]).any(axis=1)
    result: TilingArray = ordered[new]
    return result


def precedes(left: TilingArray, right: TilingArray) -> NDArray[np.bool_]:
    """Which rows of the left precede those of the right in lexicographic order, ``(tilings,)``."""
    first = (left != right).argmax(axis=1)[:, np.newaxis]
    before = np.take_along_axis(left, first, axis=1) < np.take_along_axis(right, first, axis=1)
    result: NDArray[np.bool_] = before[:, 0]
    return result


@lru_cache(maxsize=8)
def symmetry_of(problem: TilingProblem) -> Symmetry:
    """The symmetries of the problem's board that map its pieces to its pieces, and keep its conditions."""
    found = [
        (*action, cells)
        for cells in problem.board.symmetries
        if np.array_equal(problem.required[cells], problem.required)
        if (action := _action(problem, cells)) is not None
    ]
    placements, pieces, moved_cells = map(np.array, zip(*found, strict=True))
    return Symmetry(placements, pieces, moved_cells)


def _action(problem: TilingProblem, cells: NDArray[np.int64]) -> tuple[NDArray[np.int32], NDArray[np.int32]] | None:
    """What each placement and each piece becomes if cell ``c`` goes to ``cells[c]``; None if some copy is no placement.

    A piece becomes one with as many copies, whose placements are the moved ones. Of several such pieces, all of one
    shape, the first becomes the first.
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
