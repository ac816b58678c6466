"""The search of one partition: it returns all tilings of the partition, or their number."""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from antipodes_tasks.exact_cover import fewest_first, first_empty
from antipodes_tasks.exact_cover.partitions import PLAIN, PRUNING, in_scan_order, partitions_of
from antipodes_tasks.exact_cover.pieces import Piece
from antipodes_tasks.exact_cover.placements import (
    DEPTH,
    PLACEMENTS,
    TilingArray,
    distinct,
    options_of,
    orbit_sizes,
    placements_of,
    smallest,
    symmetry_of,
)
from antipodes_tasks.exact_cover.tiling_problem import TilingBoard, TilingProblem

BATCH = 1 << 15
"""Maximum number of tilings taken from a search at a time; fewer if their symmetric copies would take more memory than
BATCH_BYTES."""
BATCH_BYTES = 1 << 26
"""Maximum memory for the symmetric copies of a batch and for intermediate values, in bytes."""
BYTES_OF_PLACEMENT = 8
"""Memory per placement of a symmetric copy, in bytes: its number, and arrays of the same shape with one-byte items."""
FIRST_SLICE, LAST_SLICE = 1 << 12, 1 << 24
"""Number of placements after which a search first reports its progress, and the maximum between two reports."""
SLICE_SECONDS = 0.1
"""Approximate number of seconds between two reports."""

OnProgress = Callable[[int, int], None]
"""Function called regularly with the numbers of placements tried and of tilings found; an exception ends the search."""


def unwatched(placements: int, tilings: int) -> None:
    """Ignore the progress."""


@dataclass(frozen=True, eq=False)
class PartitionResult:
    """The result of one partition; it is deterministic."""

    tilings: TilingArray
    """``(tilings, copies)``: the canonical tilings, distinct and sorted; empty if tilings are only counted.

    No other partition has one of these tilings in its result.
    """
    count: int
    """Number of tilings up to symmetry of the problem."""
    raw_count: int
    """Number of tilings, counting symmetric copies separately."""
    placements: int
    """Number of placements tried, including fixed ones."""


def search_partition(
    problem: TilingProblem,
    number: int,
    method: str = PRUNING,
    on_progress: OnProgress = unwatched,
    keep: bool = True,
) -> PartitionResult:
    """Find, or only count, all tilings up to symmetry that belong to a partition.

    Parameters
    ----------
    problem
        The board and the pieces.
    number
        The number of the partition, 0 to ``len(partitions_of(problem, method)) - 1``.
    method
        One of `METHODS`: "pruning" (the default), or "plain", which is first-empty-cell backtracking.
    on_progress
        Called with the progress.
    keep
        Whether the result contains the tilings. If not, at most one batch of tilings is in memory.

    Raises
    ------
    InputError
        The method does not exist, or does not support the board.
    """
    symmetry, search = symmetry_of(problem), PartitionSearch(problem, number, method, on_progress)
    root, count, raw = search.partition.root, 0, 0
    found = [np.empty((0, problem.copies), dtype=np.int32)]
    for batch in search:
        if root.unique and not keep:  # no tiling in this root is symmetric, so orbits need not be computed
            count, raw = count + len(batch), raw + len(batch) * len(symmetry)
            continue
        copies = symmetry.copies(batch)
        copies = copies[:, root.keeps(copies)]
        count, raw = count + copies.shape[1], raw + int(orbit_sizes(copies).sum())
        if keep:
            found.append(smallest(copies))
    return PartitionResult(distinct(np.concatenate(found)), count, raw, search.placements)


class PartitionSearch:
    """The search of a partition. Iterating over it yields the tilings in batches ``(tilings, copies)``."""

    def __init__(self, problem: TilingProblem, number: int, method: str, on_progress: OnProgress = unwatched) -> None:
        self.partition = partitions_of(problem, method)[number]
        self._problem, self._on_progress = problem, on_progress
        placements, fixed = placements_of(problem), self.partition.fixed
        self._options = options_of(placements, self.partition.allowed)
        self._counters = np.array([-1, 0])
        """The counters; initially those of a finished search, for the case that the fixed placements are a tiling."""
        if len(fixed) == problem.copies:
            return
        if in_scan_order(problem, method):
            prune = method != PLAIN and problem.connected
            started = first_empty.start(problem, self._options, placements, fixed, prune)
        else:
            started = fewest_first.start(problem, self._options, placements, fixed)
        self._fill, self._counters = started

    @property
    def placements(self) -> int:
        """Number of placements tried, including the fixed placements that are new in this partition."""
        return self.partition.new + int(self._counters[PLACEMENTS])

    @property
    def ended(self) -> bool:
        """Whether all tilings have been found."""
        return bool(self._counters[DEPTH] < 0)

    def __iter__(self) -> Iterator[TilingArray]:
        fixed = self.partition.fixed
        if len(fixed) == self._problem.copies:
            yield np.sort(fixed)[np.newaxis]
            return
        found = np.empty((batch_size(self._problem), self._problem.copies - len(fixed)), dtype=np.int32)
        count = total = 0
        for more in self._slices(found):
            count, total = count + more, total + more
            if count == len(found) or (count and self.ended):
                yield self._tilings(found[:count])
                count = 0
            if not self.ended:
                self._on_progress(self.placements, total)

    def _slices(self, found: TilingArray) -> Iterator[int]:
        """Search in slices of about SLICE_SECONDS, and write tilings to ``found``; yield their number in each slice."""
        at, most = 0, FIRST_SLICE
        while not self.ended:
            begin = time.perf_counter()
            count = self._fill(int(self._counters[PLACEMENTS]) + most, found[at:])
            at = (at + count) % len(found)
            yield count
            faster = SLICE_SECONDS / max(time.perf_counter() - begin, 1e-6)
            most = min(int(most * min(2.0, max(0.1, faster))) + 1, LAST_SLICE)

    def _tilings(self, found: TilingArray) -> TilingArray:
        fixed = np.broadcast_to(self.partition.fixed, (len(found), len(self.partition.fixed)))
        tilings = np.hstack((fixed, self._options.number[found]))
        tilings.sort(axis=1)
        return tilings


def batch_size(problem: TilingProblem) -> int:
    """Return the number of tilings taken from a search at a time: at most BATCH, fewer if they take much memory."""
    each = BYTES_OF_PLACEMENT * len(symmetry_of(problem)) * problem.copies
    return max(1, min(BATCH, BATCH_BYTES // each))


def check_size(problem: TilingProblem, method: str = PRUNING) -> None:
    """Raise ResourceLimitError if some partition has more placements than its search can handle."""
    if not in_scan_order(problem, method):
        for partition in partitions_of(problem, method):
            fewest_first.check_options(int(partition.allowed.sum()))


def warm_up(problem: TilingProblem, method: str = PRUNING) -> None:
    """Compile or load the kernels that the search of a problem needs, so that no partition waits for them."""
    dominoes = 2 if problem.board.size <= first_empty.WORD else 33  # 4 or 66 cells: one word has its own kernels
    small = TilingProblem(
        "small", TilingBoard(1, 1, 2 * dominoes), (Piece("domino", ((0, 0, 0), (0, 0, 1)), dominoes),)
    )
    placements, none = placements_of(small), np.empty(0, dtype=np.int32)
    options = options_of(placements, np.ones(len(placements), dtype=np.bool_))
    if in_scan_order(problem, method):
        prune = method != PLAIN and problem.connected
        fill, _ = first_empty.start(small, options, placements, none, prune)
    else:
        fill, _ = fewest_first.start(small, options, placements, none)
    fill(FIRST_SLICE, np.empty((2, small.copies), dtype=np.int32))
