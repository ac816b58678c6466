"""The search of one partition: from a problem and a number to all tilings that the partition owns, or their number."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from antipodes.errors import InputError
from antipodes.exact_cover.boards import Board
from antipodes.exact_cover.fillers import MOST_OPTIONS, FewestFirst, Filler, FirstEmpty, check_options
from antipodes.exact_cover.options import options_of
from antipodes.exact_cover.partitions import PLAIN, PRUNING, allowed_beside, partitions_of
from antipodes.exact_cover.pieces import Piece
from antipodes.exact_cover.placements import placements_of
from antipodes.exact_cover.problem import TilingProblem
from antipodes.exact_cover.symmetry import Tilings, distinct, orbit_sizes, symmetry_of

DOMINO = Piece("domino", ((0, 0, 0), (0, 0, 1)), count=2)
MOST_SCANNED = 80
"""The largest product of a board's cross-section and the number of different pieces that is searched in scan order;
measured, see docs/explanation/tilings.md."""
SCANNED_CELLS = 128
"""The largest board that is searched in scan order, two machine words."""
BATCH = 1 << 15
"""Tilings that are taken from a search at a time, if their symmetric copies fit."""
BATCH_BYTES = 1 << 26
"""Memory for the symmetric copies of a batch, and for what is computed of each placement in them."""
BYTES_OF_PLACEMENT = 8
"""The number of a placement, and one-byte arrays of the same shape beside it."""


@dataclass(frozen=True, eq=False)
class Found:
    """The result of one partition, the same each time that it is computed."""

    tilings: Tilings
    """Canonical, distinct and sorted, ``(tilings, copies)``; no other partition has any of them."""
    placements: int
    """Placements tried, the first one included."""


@dataclass(frozen=True)
class Counted:
    """The numbers of the tilings that one partition owns."""

    tilings: int
    """Up to the symmetries of the problem."""
    raw_tilings: int
    """Symmetric copies counted as different."""
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
        There is no such method, or it does not take such boards.
    """
    partitions, symmetry = partitions_of(problem, method), symmetry_of(problem)
    search = PartitionSearch(problem, number, method)
    batches = [symmetry.canonical(batch[partitions.owned(symmetry.copies(batch))]) for batch in search]
    none = np.empty((0, problem.copies), dtype=np.int32)
    return Found(distinct(np.concatenate([none, *batches])), search.placements)


def count_partition(problem: TilingProblem, number: int, method: str = PRUNING) -> Counted:
    """The numbers of the tilings that belong to a partition; parameters and errors as for `search_partition`.

    It holds one batch of tilings at a time. A partition may find several symmetric copies of a tiling: each counts as
    one part of as many.
    """
    partitions, symmetry = partitions_of(problem, method), symmetry_of(problem)
    search = PartitionSearch(problem, number, method)
    tilings, raw = np.zeros(len(symmetry) + 1, dtype=np.int64), np.zeros(len(symmetry) + 1, dtype=np.int64)
    for batch in search:
        copies = symmetry.copies(batch)
        owned, orbits = partitions.owned(copies), orbit_sizes(copies)
        finds = (search.finds(copies).sum(axis=0) * orbits) // len(symmetry)
        finds, orbits = finds[owned], orbits[owned]
        tilings += np.bincount(finds, minlength=len(tilings))
        np.add.at(raw, finds, orbits)
    parts = np.maximum(np.arange(len(tilings)), 1)
    return Counted(int((tilings // parts).sum()), int((raw // parts).sum()), search.placements)


class PartitionSearch:
    """The search of a partition; iteration gives the tilings that it finds in batches, ``(tilings, copies)``."""

    def __init__(self, problem: TilingProblem, number: int, method: str) -> None:
        placements = placements_of(problem)
        partitions, symmetry = partitions_of(problem, method), symmetry_of(problem)
        self._problem = problem
        self._anchor = int(partitions.anchors[number])
        allowed = allowed_beside(self._anchor, problem, partitions, placements, symmetry)
        self._allowed = allowed
        self._options = options_of(placements, allowed)
        self._filler = self._search(method)

    @property
    def placements(self) -> int:
        """The placements tried, the first one included."""
        return 1 + (self._filler.placements if self._filler else 0)

    def finds(self, tilings: Tilings) -> NDArray[np.bool_]:
        """Which tilings the search finds, of ``(..., copies)``, ``(...)``."""
        anchored = tilings == self._anchor
        result: NDArray[np.bool_] = anchored.any(axis=-1) & (self._allowed[tilings] | anchored).all(axis=-1)
        return result

    def __iter__(self) -> Iterator[Tilings]:
        if self._filler is None:
            yield np.array([[self._anchor]], dtype=np.int32)
            return
        found = np.empty((batch_size(self._problem), self._problem.copies - 1), dtype=np.int32)
        count = len(found)
        while count == len(found):
            count = self._filler.fill(found)
            yield self._tilings(found[:count])

    def _tilings(self, found: Tilings) -> Tilings:
        tilings = np.full((len(found), self._problem.copies), self._anchor, dtype=np.int32)
        tilings[:, 1:] = self._options.number[found]
        tilings.sort(axis=1)
        return tilings

    def _search(self, method: str) -> Filler | None:
        """The search beside the anchor; None if the anchor is the only piece."""
        problem, placements = self._problem, placements_of(self._problem)
        if problem.copies == 1:
            return None
        if in_scan_order(problem, method):
            prune = method != PLAIN and all(piece.connected for piece in problem.pieces)
            return FirstEmpty(problem, self._options, placements, self._anchor, prune)
        return FewestFirst(problem, self._options, placements, self._anchor)


def batch_size(problem: TilingProblem) -> int:
    """How many tilings are taken from a search at a time: at most `BATCH`, fewer where tilings are long."""
    each = BYTES_OF_PLACEMENT * len(symmetry_of(problem)) * problem.copies
    return max(1, min(BATCH, BATCH_BYTES // each))


def in_scan_order(problem: TilingProblem, method: str) -> bool:
    """Whether a problem is searched by filling the first empty cell, and not the item with the fewest options.

    Raises
    ------
    InputError
        The method "plain", which fills the first empty cell, does not take such boards.
    """
    scannable = problem.board.size <= SCANNED_CELLS and problem.area == problem.board.size
    if method == PLAIN and not scannable:
        raise InputError(
            f"the method {PLAIN} takes boards of at most {SCANNED_CELLS} cells, all of which the pieces fill; "
            f"found {problem.board.size:,} cells, and pieces that fill {problem.area:,}"
        )
    return scannable and (method == PLAIN or problem.board.cross_section * len(problem.pieces) <= MOST_SCANNED)


def check_size(problem: TilingProblem, method: str = PRUNING) -> None:
    """Raise ResourceLimitError if some partition has more placements than a search of it has memory for."""
    placements = placements_of(problem)
    if len(placements) <= MOST_OPTIONS or in_scan_order(problem, method):
        return
    partitions, symmetry = partitions_of(problem, method), symmetry_of(problem)
    for anchor in partitions.anchors.tolist():
        check_options(int(allowed_beside(anchor, problem, partitions, placements, symmetry).sum()))


def warm_up(problem: TilingProblem, method: str = PRUNING) -> None:
    """Compile or load the kernels that the search of a problem takes, so that no partition waits for them."""
    optional = () if in_scan_order(problem, method) else ((0, 0, 4),)
    small = TilingProblem("small", Board(1, 1, 4 + len(optional), optional=frozenset(optional)), (DOMINO,))
    for number in range(len(partitions_of(small))):
        for _ in PartitionSearch(small, number, PRUNING):
            pass
