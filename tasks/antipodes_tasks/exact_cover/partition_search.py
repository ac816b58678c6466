"""The search of one partition: from a problem and a number to all tilings that the partition has, or their number."""

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
from antipodes_tasks.exact_cover.problem import Board, TilingProblem

BATCH = 1 << 15
"""Tilings that are taken from a search at a time, if their symmetric copies fit."""
BATCH_BYTES = 1 << 26
"""Memory for the symmetric copies of a batch, and for what is computed of each placement in them."""
BYTES_OF_PLACEMENT = 8
"""The number of a placement, and one-byte arrays of the same shape beside it."""
FIRST_SLICE, LAST_SLICE = 1 << 12, 1 << 24
"""Placements after which a search first answers for its progress, and at most."""
SLICE_SECONDS = 0.1
"""Seconds between two such answers, about."""

OnProgress = Callable[[int, int], None]
"""Told now and then the placements tried and the tilings found so far; what it raises ends the search."""


def unwatched(placements: int, tilings: int) -> None:
    """Tell nobody of the progress."""


@dataclass(frozen=True, eq=False)
class PartitionResult:
    """The result of one partition, the same each time that it is computed."""

    tilings: TilingArray
    """Canonical, distinct and sorted, ``(tilings, copies)``, in no other partition; none if they are only counted."""
    count: int
    """The number of tilings, up to the symmetries of the problem."""
    raw_count: int
    """The number of tilings, symmetric copies counted as different."""
    placements: int
    """Placements tried, fixed ones included."""


def search_partition(
    problem: TilingProblem,
    number: int,
    method: str = PRUNING,
    on_progress: OnProgress = unwatched,
    keep: bool = True,
) -> PartitionResult:
    """All tilings, up to the symmetries of the problem, that belong to a partition, or only their number.

    Parameters
    ----------
    problem
        Board and pieces.
    number
        0 to ``len(partitions_of(problem, method)) - 1``.
    method
        One of `METHODS`: "pruning" (the default), or "plain", first-empty-cell backtracking.
    on_progress
        Told of the progress.
    keep
        Whether the result has the tilings. If not, no more than a batch of them is in memory.

    Raises
    ------
    InputError
        There is no such method, or it does not take such boards.
    """
    symmetry, search = symmetry_of(problem), PartitionSearch(problem, number, method, on_progress)
    root, count, raw = search.partition.root, 0, 0
    found = [np.empty((0, problem.copies), dtype=np.int32)]
    for batch in search:
        if root.unique and not keep:  # no symmetry maps one of these tilings to itself
            count, raw = count + len(batch), raw + len(batch) * len(symmetry)
            continue
        copies = symmetry.copies(batch)
        copies = copies[:, root.keeps(copies)]
        count, raw = count + copies.shape[1], raw + int(orbit_sizes(copies).sum())
        if keep:
            found.append(smallest(copies))
    return PartitionResult(distinct(np.concatenate(found)), count, raw, search.placements)


class PartitionSearch:
    """The search of a partition; iteration gives the tilings that it finds in batches, ``(tilings, copies)``."""

    def __init__(self, problem: TilingProblem, number: int, method: str, on_progress: OnProgress = unwatched) -> None:
        self.partition = partitions_of(problem, method)[number]
        self._problem, self._on_progress = problem, on_progress
        placements, fixed = placements_of(problem), self.partition.fixed
        self._options = options_of(placements, self.partition.allowed)
        self._counters = np.array([-1, 0])
        """Those of a search that has ended, if the fixed placements are a tiling."""
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
        """The placements tried, those included that no partition before has fixed, too."""
        return self.partition.new + int(self._counters[PLACEMENTS])

    @property
    def ended(self) -> bool:
        """Whether all tilings are found."""
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
        """Search, into the room that is left in a batch; the tilings found by each slice."""
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
    """How many tilings are taken from a search at a time: at most `BATCH`, fewer where tilings are long."""
    each = BYTES_OF_PLACEMENT * len(symmetry_of(problem)) * problem.copies
    return max(1, min(BATCH, BATCH_BYTES // each))


def check_size(problem: TilingProblem, method: str = PRUNING) -> None:
    """Raise ResourceLimitError if some partition has more placements than a search of it has memory for."""
    if not in_scan_order(problem, method):
        for partition in partitions_of(problem, method):
            fewest_first.check_options(int(partition.allowed.sum()))


def warm_up(problem: TilingProblem, method: str = PRUNING) -> None:
    """Compile or load the kernels that the search of a problem takes, so that no partition waits for them."""
    dominoes = 2 if problem.board.size <= first_empty.WORD else 33  # kernels differ by the words of a board
    small = TilingProblem("small", Board(1, 1, 2 * dominoes), (Piece("domino", ((0, 0, 0), (0, 0, 1)), dominoes),))
    placements, none = placements_of(small), np.empty(0, dtype=np.int32)
    options = options_of(placements, np.ones(len(placements), dtype=np.bool_))
    if in_scan_order(problem, method):
        prune = method != PLAIN and problem.connected
        fill, _ = first_empty.start(small, options, placements, none, prune)
    else:
        fill, _ = fewest_first.start(small, options, placements, none)
    fill(FIRST_SLICE, np.empty((2, small.copies), dtype=np.int32))
