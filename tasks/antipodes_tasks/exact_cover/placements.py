"""Placements: every position and orientation of a piece on the board, numbered, with its cells as bits."""

from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import NDArray

from antipodes_tasks.exact_cover.boards import Board
from antipodes_tasks.exact_cover.isometries import Coordinates
from antipodes_tasks.exact_cover.problem import TilingProblem

WORD = 64
LEAST_WORDS = 2
"""Words of a mask on small boards, for the kernels that take boards of at most two words."""


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

    def covers(self, cell: int) -> NDArray[np.bool_]:
        """Which placements cover a cell, ``(placements,)``."""
        result: NDArray[np.bool_] = (self.cells == cell).any(axis=1)
        return result

    def overlaps(self, placement: int) -> NDArray[np.bool_]:
        """Which placements share a cell with this one, ``(placements,)``."""
        result: NDArray[np.bool_] = (self.masks & self.masks[placement]).any(axis=1)
        return result

    def only(self, kept: NDArray[np.bool_]) -> "Placements":
        """Some of the placements, ``(placements,)``, numbered anew."""
        return Placements(self.piece_count, self.board_size, self.piece[kept], self.orientation[kept], self.cells[kept])


@lru_cache(maxsize=8)
def placements_of(problem: TilingProblem) -> Placements:
    """All placements of the problem's pieces on its board that its conditions allow."""
    placements = _all_placements(problem)
    kept = np.ones(len(placements), dtype=np.bool_)
    for condition in problem.where:
        kept &= ~condition.excluded(of_name(problem, placements, condition.piece), placements.cells)
    return placements.only(kept)


def of_name(problem: TilingProblem, placements: Placements, name: str) -> NDArray[np.bool_]:
    """Which placements are of the piece of this name, ``(placements,)``."""
    result: NDArray[np.bool_] = placements.piece == [piece.name for piece in problem.pieces].index(name)
    return result


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
