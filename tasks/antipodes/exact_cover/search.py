"""The search of one partition: from a problem and a number to all tilings that the partition owns."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from antipodes.errors import ResourceLimitError
from antipodes.exact_cover.algorithm_x_kernels import fill_fewest_first
from antipodes.exact_cover.boards import Board
from antipodes.exact_cover.first_empty_kernels import fill_first_empty
from antipodes.exact_cover.options import Options
from antipodes.exact_cover.partitions import PLAIN, PRUNING, allowed_beside, partitions_of
from antipodes.exact_cover.pieces import Piece
from antipodes.exact_cover.placements import WORDS, Placements, placements_of
from antipodes.exact_cover.problem import TilingProblem
from antipodes.exact_cover.regions import Regions, Words
from antipodes.exact_cover.symmetry import Tilings, distinct, symmetry_of

Kernel = Callable[[NDArray[np.int32], Options, Regions, Words, Words, bool], tuple[Tilings, int]]
DOMINOES = TilingProblem(
    "2x2", Board(1, 2, 2), (Piece("a", ((0, 0, 0), (0, 0, 1))), Piece("b", ((0, 0, 0), (0, 0, 1))))
)
"""The problem that the kernels are compiled with."""
WIDEST_SCAN = 8
"""The largest cross-section of a board that is searched in scan order; measured, see docs/explanation/tilings.md."""


@dataclass(frozen=True, eq=False)
class Found:
    """The result of one partition, the same each time that it is computed."""

    tilings: Tilings
    """Canonical, distinct and sorted, ``(tilings, pieces)``; no other partition has any of them."""
    placements: int
    """Placements tried, the first one included."""


def search_partition(problem: TilingProblem, number: int, method: str = PRUNING) -> Found:
    """All tilings, up to the symmetries of the problem, that belong to a partition.

    Parameters
    ----------
    problem
        Board and pieces.
    number
        0 to ``len(partitions_of(problem, method)) - 1``.
    method
        One of `METHODS`: "pruning" (the default), or "plain", first-empty-cell backtracking.

    Raises
    ------
    InputError
        There is no such method.
    """
    partitions, symmetry = partitions_of(problem, method), symmetry_of(problem)
    anchor = int(partitions.anchors[number])
    tilings, placements = _containing(problem, anchor, method)
    own = tilings[partitions.owned(tilings, symmetry)]
    return Found(distinct(symmetry.canonical(own)), placements)


def _containing(problem: TilingProblem, anchor: int, method: str) -> tuple[Tilings, int]:
    """All tilings of the anchor and the placements allowed beside it, and the number of placements tried."""
    placements = placements_of(problem)
    partitions, symmetry = partitions_of(problem, method), symmetry_of(problem)
    placed = np.full(len(problem.pieces), -1, dtype=np.int32)
    placed[placements.piece[anchor]] = anchor
    if len(placed) == 1:
        return placed[np.newaxis], 1
    options = options_of(placements, allowed_beside(anchor, partitions, placements, symmetry))
    fill = _kernel(problem, method)
    prune = method != PLAIN and all(piece.connected for piece in problem.pieces)
    filled = _words(placements.masks[anchor])
    tilings, tried = fill(placed, options, regions_of(problem), _full(problem.board), filled, prune)
    return tilings, int(tried) + 1


def warm_up(problem: TilingProblem, method: str = PRUNING) -> None:
    """Compile or load the kernels that the search of a problem takes, so that no partition waits for them."""
    placements, none = placements_of(DOMINOES), (np.uint64(0), np.uint64(0))
    options = options_of(placements, np.ones(len(placements), dtype=np.bool_))
    placed = np.full(len(DOMINOES.pieces), -1, dtype=np.int32)
    _kernel(problem, method)(placed, options, regions_of(DOMINOES), _full(DOMINOES.board), none, True)


def _kernel(problem: TilingProblem, method: str) -> Kernel:
    wide = method != PLAIN and problem.board.cross_section > WIDEST_SCAN
    return fill_fewest_first if wide else fill_first_empty


def options_of(placements: Placements, allowed: NDArray[np.bool_]) -> Options:
    """The allowed placements as the kernels take them."""
    numbers = np.flatnonzero(allowed)
    first_cell = placements.cells[numbers, 0]
    numbers = numbers[np.argsort(first_cell, kind="stable")]
    cells, pieces = placements.cells[numbers], placements.piece[numbers]
    filler = placements.board_size + placements.piece_count
    if filler > np.iinfo(np.uint16).max:
        raise ResourceLimitError(f"expected a board of fewer than 65,535 cells and pieces, found {filler:,}")
    columns = np.column_stack((np.where(cells < 0, filler, cells), pieces + placements.board_size))
    return Options(
        numbers.astype(np.int32),
        pieces,
        placements.masks[numbers],
        columns.astype(np.uint16),
        _starts(placements, cells[:, 0], pieces),
    )


def _starts(placements: Placements, first_cell: NDArray[np.int32], pieces: NDArray[np.int32]) -> NDArray[np.int32]:
    """The first option of each first cell and piece, ``(cells, pieces + 1)``."""
    keys = first_cell.astype(np.int64) * (placements.piece_count + 1) + pieces
    wanted = np.arange(placements.board_size * (placements.piece_count + 1))
    starts = np.searchsorted(keys, wanted).reshape(placements.board_size, placements.piece_count + 1)
    return starts.astype(np.int32)


def regions_of(problem: TilingProblem) -> Regions:
    """The regions of a board, for kernels."""
    sources = {1: 0}
    for low, high in problem.board.neighbours:
        sources[high - low] = sources.get(high - low, 0) | 1 << low
    sources = dict(sorted(sources.items()))
    masks = [[mask & (2**64 - 1), mask >> 64] for mask in sources.values()]
    return Regions(
        np.array(list(sources), dtype=np.uint64),
        np.array(masks, dtype=np.uint64).reshape(-1, WORDS),
        np.array([piece.size for piece in problem.pieces], dtype=np.uint64),
    )


def _full(board: Board) -> Words:
    cells = (1 << board.size) - 1
    return np.uint64(cells & (2**64 - 1)), np.uint64(cells >> 64)


def _words(mask: NDArray[np.uint64]) -> Words:
    return mask[0], mask[1]
