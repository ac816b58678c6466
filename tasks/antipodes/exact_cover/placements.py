"""Placements: every position and orientation of a piece on the board, numbered, with its cells as bits."""

from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import NDArray

from antipodes.exact_cover.boards import Board
from antipodes.exact_cover.isometries import Coordinates
from antipodes.exact_cover.problem import TilingProblem

WORDS, WORD = 2, 64


@dataclass(frozen=True, eq=False)
class Placements:
    """All placements of all pieces on a board, in an order that the stored tilings depend on.

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
        """The cells as bits, ``(placements, 2)``: cell ``c`` is bit ``c % 64`` of word ``c // 64``."""
        masks = np.zeros((len(self), WORDS), dtype=np.uint64)
        for cell in self.cells.T:
            bit = np.uint64(1) << (cell % WORD).astype(np.uint64)
            for word in range(WORDS):
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
        """Which placements share a cell with this one, or are of the same piece, ``(placements,)``."""
        shared = (self.masks & self.masks[placement]).any(axis=1)
        result: NDArray[np.bool_] = shared | (self.piece == self.piece[placement])
        return result


@lru_cache(maxsize=8)
def placements_of(problem: TilingProblem) -> Placements:
    """All placements of the problem's pieces on its board."""
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
