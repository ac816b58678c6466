"""The options of a partition: the placements that its search may use, as both kernels take them."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from antipodes_tasks.errors import ResourceLimitError
from antipodes_tasks.exact_cover.placements import Placements

MOST_COLUMNS = np.iinfo(np.uint16).max


class Options(NamedTuple):
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


def options_of(placements: Placements, allowed: NDArray[np.bool_]) -> Options:
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
    if filler > MOST_COLUMNS:
        raise ResourceLimitError(f"expected a board of fewer than 65,535 cells and pieces, found {filler:,}")
    columns = np.column_stack((np.where(cells < 0, filler, cells), pieces + placements.board_size))
    return Options(
        numbers.astype(np.int32),
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
