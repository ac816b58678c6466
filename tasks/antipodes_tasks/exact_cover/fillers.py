"""The two searches behind one interface: each fills the rest of a partition's board, in slices that end soon."""

from functools import lru_cache
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from antipodes_tasks.errors import ResourceLimitError
from antipodes_tasks.exact_cover import algorithm_x_kernels as algorithm_x
from antipodes_tasks.exact_cover import first_empty_kernels as first_empty
from antipodes_tasks.exact_cover import frame_kernels
from antipodes_tasks.exact_cover.options import Options
from antipodes_tasks.exact_cover.placements import Placements
from antipodes_tasks.exact_cover.problem import TilingProblem
from antipodes_tasks.exact_cover.regions import Regions, Words

MOST_OPTIONS = 1448 * 64
"""Placements beside the first in `FewestFirst`; the conflicts of so many are a matrix of 1 GiB."""


class Filler(Protocol):
    """A search under way."""

    @property
    def placements(self) -> int:
        """The placements tried so far."""

    @property
    def ended(self) -> bool:
        """Whether all tilings are found."""

    def fill(self, found: NDArray[np.int32], most: int) -> int:
        """Write the options of further tilings into ``(room, copies)``, after at most so many placements; their number.

        It returns when there is no more room, when it has made the placements, or when the search has ended.
        """


class FirstEmpty:
    """First-empty-cell backtracking, on boards of at most two words of cells without optional ones."""

    def __init__(
        self, problem: TilingProblem, options: Options, placements: Placements, fixed: NDArray[np.int32], prune: bool
    ) -> None:
        self._options, self._prune = options, prune
        self._regions, self._full = regions_of(problem), _full(problem.board.size)
        self._scan = self._start(problem, placements, fixed)

    def _start(self, problem: TilingProblem, placements: Placements, fixed: NDArray[np.int32]) -> first_empty.Scan:
        left = _left(problem, placements, fixed)
        depths = problem.copies - len(fixed)
        steps, filled = np.zeros((depths, 4), dtype=np.int64), np.zeros((depths, 2), dtype=np.uint64)
        after = _linked(left)
        filled[0] = np.bitwise_or.reduce(placements.masks[fixed], axis=0)
        covered = np.isin(np.arange(problem.board.size), placements.cells[fixed])
        cell, piece = int(covered.argmin()), int(after[-1])
        steps[0] = cell, len(left), piece, self._options.starts[cell, piece]
        return first_empty.Scan(left, after, steps, filled, np.zeros(2, dtype=np.int64))

    @property
    def placements(self) -> int:
        """The placements tried so far."""
        return int(self._scan.counters[first_empty.PLACEMENTS])

    @property
    def ended(self) -> bool:
        """Whether all tilings are found."""
        return bool(self._scan.counters[first_empty.DEPTH] < 0)

    def fill(self, found: NDArray[np.int32], most: int) -> int:
        """See `Filler.fill`."""
        if self.ended:
            return 0
        return first_empty.fill_first_empty(
            self._options, self._regions, self._full, self._scan, self._prune, self.placements + most, found
        )


class FewestFirst:
    """Algorithm X on bitsets, for any board."""

    def __init__(
        self, problem: TilingProblem, options: Options, placements: Placements, fixed: NDArray[np.int32]
    ) -> None:
        self._options = options
        needed = _needed(problem, placements, fixed)
        self._frames, self._search = _frames(len(options.number), needed, problem.copies - len(fixed) + 1)
        frame_kernels.build_frame(self._frames, 0, options.columns, needed)

    @property
    def placements(self) -> int:
        """The placements tried so far."""
        return int(self._search.counters[algorithm_x.PLACEMENTS])

    @property
    def ended(self) -> bool:
        """Whether all tilings are found."""
        return bool(self._search.counters[algorithm_x.DEPTH] < 0)

    def fill(self, found: NDArray[np.int32], most: int) -> int:
        """See `Filler.fill`."""
        return algorithm_x.fill_fewest_first(
            self._frames, self._options.columns, self._search, self.placements + most, found
        )


@lru_cache(maxsize=8)
def regions_of(problem: TilingProblem) -> Regions:
    """The regions of a board of at most two words of cells, for kernels."""
    sources = {1: 0}
    for low, high in problem.board.neighbours:
        sources[high - low] = sources.get(high - low, 0) | 1 << low
    sources = dict(sorted(sources.items()))
    masks = [[mask & (2**64 - 1), mask >> 64] for mask in sources.values()]
    return Regions(
        np.array(list(sources), dtype=np.uint64),
        np.array(masks, dtype=np.uint64).reshape(-1, 2),
        np.array([piece.size for piece in problem.pieces], dtype=np.uint64),
    )


def check_options(count: int) -> None:
    """Raise ResourceLimitError if these are more options than `FewestFirst` has memory for."""
    if count > MOST_OPTIONS:
        raise ResourceLimitError(
            f"expected a board and pieces with at most {MOST_OPTIONS:,} placements beside the first, found {count:,}"
        )


def _full(size: int) -> Words:
    cells = (1 << size) - 1
    return np.uint64(cells & (2**64 - 1)), np.uint64(cells >> 64)


def _linked(left: NDArray[np.int64]) -> NDArray[np.int64]:
    """The pieces of which copies are left, as a linked list; see `first_empty.Scan`."""
    listed = [len(left), *np.flatnonzero(left).tolist(), len(left)]
    after = np.full(len(left) + 1, len(left), dtype=np.int64)
    after[listed[:-1]] = listed[1:]
    return after


def _left(problem: TilingProblem, placements: Placements, fixed: NDArray[np.int32]) -> NDArray[np.int64]:
    """How many copies of each piece are left beside fixed placements, ``(pieces,)``."""
    counts = np.array([piece.count for piece in problem.pieces], dtype=np.int64)
    left: NDArray[np.int64] = counts - np.bincount(placements.piece[fixed], minlength=len(counts))
    return left


def _needed(problem: TilingProblem, placements: Placements, fixed: NDArray[np.int32]) -> NDArray[np.int32]:
    """How often each column is still to be covered: cells, pieces, and the column that fills rows."""
    cells = np.where(problem.required, 1, frame_kernels.OPTIONAL)
    covered = placements.cells[fixed]
    cells[covered[covered >= 0]] = frame_kernels.COVERED
    left = _left(problem, placements, fixed)
    return np.concatenate((cells, left, [frame_kernels.COVERED])).astype(np.int32)


def _frames(options: int, needed: NDArray[np.int32], depths: int) -> tuple[frame_kernels.Frames, algorithm_x.Search]:
    """Memory for the frames and the search, all options live."""
    check_options(options)
    words = max(1, -(-options // 64))
    sizes = [(options, words)]
    while sizes[-1][1] > 1:
        fewer = sizes[-1][0] // frame_kernels.SPARSE
        sizes.append((fewer, -(-fewer // 64)))
    frames = frame_kernels.Frames(
        conflicts=np.zeros(sum(count * width for count, width in sizes), dtype=np.uint64),
        rows=np.zeros(len(needed) * sum(width for _, width in sizes), dtype=np.uint64),
        options=np.zeros(sum(count for count, _ in sizes), dtype=np.int32),
        items=np.zeros(len(needed) * len(sizes), dtype=np.int32),
        shapes=np.zeros((len(sizes), 8), dtype=np.uint64),
        row_of=np.full((len(sizes), len(needed)), -1, dtype=np.int32),
    )
    frames.options[:options] = np.arange(options)
    frames.shapes[0, [frame_kernels.WORDS, frame_kernels.OPTIONS]] = words, options
    search = algorithm_x.Search(
        live=np.zeros((depths, words), dtype=np.uint64),
        untried=np.zeros((depths, words), dtype=np.uint64),
        needed=np.zeros((depths, len(needed)), dtype=np.int32),
        frame=np.zeros(depths, dtype=np.int64),
        chosen=np.zeros(depths, dtype=np.int32),
        counts=np.zeros(len(needed), dtype=np.uint64),
        common=np.zeros(words, dtype=np.uint64),
        counters=np.array([0, 0, 1], dtype=np.int64),
    )
    search.needed[0] = needed
    search.live[0] = np.packbits(np.arange(64 * words) < options, bitorder="little").view(np.uint64)
    return frames, search
