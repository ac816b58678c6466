"""The search of one partition: from a problem and a number to all tilings that the partition has, or their number."""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from antipodes_tasks.exact_cover.boards import Board
from antipodes_tasks.exact_cover.fillers import MOST_OPTIONS, FewestFirst, Filler, FirstEmpty, check_options
from antipodes_tasks.exact_cover.options import options_of
from antipodes_tasks.exact_cover.partitions import PLAIN, PRUNING, Partition, in_scan_order, partitions_of
from antipodes_tasks.exact_cover.pieces import Piece
from antipodes_tasks.exact_cover.placements import placements_of
from antipodes_tasks.exact_cover.problem import TilingProblem
from antipodes_tasks.exact_cover.symmetry import Tilings, distinct, orbit_sizes, smallest, symmetry_of

DOMINO = Piece("domino", ((0, 0, 0), (0, 0, 1)), count=2)
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

    tilings: Tilings
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
        self.partition: Partition = partitions_of(problem, method)[number]
        self._problem, self._on_progress = problem, on_progress
        self._options = options_of(placements_of(problem), self.partition.allowed)
        self._filler = self._search(method)

    @property
    def placements(self) -> int:
        """The placements tried, those included that no partition before has fixed, too."""
        return self.partition.new + (self._filler.placements if self._filler else 0)

    def __iter__(self) -> Iterator[Tilings]:
        if self._filler is None:
            yield np.sort(self.partition.fixed)[np.newaxis]
            return
        found = np.empty((batch_size(self._problem), self._problem.copies - len(self.partition.fixed)), dtype=np.int32)
        count = total = 0
        for more in self._slices(self._filler, found):
            count, total = count + more, total + more
            if count == len(found) or (count and self._filler.ended):
                yield self._tilings(found[:count])
                count = 0
            if not self._filler.ended:
                self._on_progress(self.placements, total)

    def _slices(self, filler: Filler, found: Tilings) -> Iterator[int]:
        """Search, into the room that is left in a batch; the tilings found by each slice."""
        at, most = 0, FIRST_SLICE
        while not filler.ended:
            begin = time.perf_counter()
            count = filler.fill(found[at:], most)
            at = (at + count) % len(found)
            yield count
            faster = SLICE_SECONDS / max(time.perf_counter() - begin, 1e-6)
            most = min(int(most * min(2.0, max(0.1, faster))) + 1, LAST_SLICE)

    def _tilings(self, found: Tilings) -> Tilings:
        fixed = len(self.partition.fixed)
        tilings = np.empty((len(found), self._problem.copies), dtype=np.int32)
        tilings[:, :fixed] = self.partition.fixed
        tilings[:, fixed:] = self._options.number[found]
        tilings.sort(axis=1)
        return tilings

    def _search(self, method: str) -> Filler | None:
        """The search beside the fixed placements; None if these are a tiling."""
        problem, placements, fixed = self._problem, placements_of(self._problem), self.partition.fixed
        if problem.copies == len(fixed):
            return None
        if in_scan_order(problem, method):
            prune = method != PLAIN and problem.connected
            return FirstEmpty(problem, self._options, placements, fixed, prune)
        return FewestFirst(problem, self._options, placements, fixed)


def batch_size(problem: TilingProblem) -> int:
    """How many tilings are taken from a search at a time: at most `BATCH`, fewer where tilings are long."""
    each = BYTES_OF_PLACEMENT * len(symmetry_of(problem)) * problem.copies
    return max(1, min(BATCH, BATCH_BYTES // each))


def check_size(problem: TilingProblem, method: str = PRUNING) -> None:
    """Raise ResourceLimitError if some partition has more placements than a search of it has memory for."""
    if len(placements_of(problem)) <= MOST_OPTIONS or in_scan_order(problem, method):
        return
    for partition in partitions_of(problem, method):
        check_options(int(partition.allowed.sum()))


def warm_up(problem: TilingProblem, method: str = PRUNING) -> None:
    """Compile or load the kernels that the search of a problem takes, so that no partition waits for them."""
    small = TilingProblem("small", Board(1, 1, 4), (DOMINO,))
    placements, none = placements_of(small), np.empty(0, dtype=np.int32)
    options = options_of(placements, np.ones(len(placements), dtype=np.bool_))
    found = np.empty((2, small.copies), dtype=np.int32)
    if in_scan_order(problem, method):
        FirstEmpty(small, options, placements, none, prune=True).fill(found, FIRST_SLICE)
    else:
        FewestFirst(small, options, placements, none).fill(found, FIRST_SLICE)
