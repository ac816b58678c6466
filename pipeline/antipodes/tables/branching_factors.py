"""Branching factors: how many moves a position has at each depth, and how many of them lead farther or nearer."""

from collections.abc import Iterator, Sequence
from dataclasses import astuple, dataclass, fields
from functools import partial

import numpy as np
from numpy.typing import NDArray

from antipodes.tables.drawing import draw_columns
from antipodes.tables.evaluation import draw
from antipodes.tables.reached_positions import ReachedPositions
from antipodes.tables.store.chunks import UNKNOWN, UNREACHABLE, TableChunks
from antipodes_tasks.base.array_types import Labels
from antipodes_tasks.base.errors import StoreDamagedError
from antipodes_tasks.base.parallel import check_wanted, in_threads
from antipodes_tasks.spaces.space import Space

MAX_ENTRIES = 2_000_000
"""Maximum number of entries of a table in which the moves of all positions are counted by default."""
DEFAULT_SAMPLE = 100_000
"""Number of positions in the sample of a larger table."""
MAX_TRIED = 1 << 20
"""Maximum number of moves, legal or not, that are tried together."""
FARTHER, SAME, NEARER = range(3)


@dataclass(frozen=True, slots=True)
class BranchingAtDepth:
    """The mean number of moves of a position at a depth, and how many lead farther, to the same depth, or nearer."""

    depth: int
    """The depth, from 0."""
    positions: int
    """Number of positions at the depth."""
    counted: int
    """Number of these positions whose moves were counted."""
    moves: float
    """Mean number of legal moves of these positions."""
    farther: float
    """Mean number of moves that lead to a greater depth."""
    same: float
    """Mean number of moves that lead to the same depth."""
    nearer: float
    """Mean number of moves that lead to a smaller depth."""


@dataclass(frozen=True, slots=True)
class BranchingFactors:
    """The mean number of moves of a position, and how many lead farther, to the same depth, or nearer."""

    complete: bool
    """Whether the table is finished."""
    exact: bool
    """Whether the moves of all positions were counted; otherwise the means are estimates from a random sample."""
    positions: int
    """Number of positions in the table."""
    counted: int
    """Number of positions whose moves were counted."""
    moves: float
    """Mean number of legal moves of a position."""
    farther: float
    """Mean number of moves that lead to a greater depth."""
    same: float
    """Mean number of moves that lead to the same depth."""
    nearer: float
    """Mean number of moves that lead to a smaller depth."""
    depths: list[BranchingAtDepth]
    """A list with the numbers of each depth."""

    def rows(self) -> Iterator[tuple[object, ...]]:
        """Return the values of each depth, after the names of the columns."""
        yield tuple(one.name for one in fields(BranchingAtDepth))
        yield from map(astuple, self.depths)

    def lines(self) -> Iterator[str]:
        """Return a line for each depth, one for all positions, and a remark if the numbers come from a sample."""
        names, *rows = self.rows()
        rows.append(("all", self.positions, self.counted, self.moves, self.farther, self.same, self.nearer))
        shown = [number for number, name in enumerate(names) if name != "counted" or not self.exact]
        yield from draw_columns([[row[number] for number in shown] for row in (names, *rows)])
        if not self.exact:
            yield f"estimates from a random sample of {self.counted:,} of {self.positions:,} positions"


@dataclass(frozen=True, eq=False)
class MoveCounter:
    """The moves of the positions of a table, counted by depth in several threads."""

    space: Space
    chunks: TableChunks
    reached: ReachedPositions
    layers: Sequence[int]
    """The number of positions at each depth."""
    complete: bool

    def count(self, exact: bool, sample: int | None, seed: int) -> BranchingFactors:
        """Return the branching factors of all positions, or of a sample; see `TableQuestions.branching`.

        Raises StoreDamagedError if a move leads from a reached position to an unreachable one.
        """
        if sample is None and (exact or int(self.chunks.layer_counts.sum()) <= MAX_ENTRIES):
            calls = [partial(self._in_chunk, number) for number in self.chunks.numbers_at()]
        else:
            size = min(sum(self.layers), max(sample or DEFAULT_SAMPLE, len(self.layers)))
            rng = np.random.default_rng(seed)
            drawn = draw(self.reached, self.layers, range(len(self.layers)), size, rng, balanced=True)
            ones = np.ones(size, dtype=np.int64)
            batches = [slice(first, first + self._at_once) for first in range(0, size, self._at_once)]
            calls = [partial(self._sums, drawn.positions[here], drawn.distances[here], ones[here]) for here in batches]
        total = np.sum(in_threads("counting moves", calls), axis=0)
        return self._factors(total[0], total[1:])

    @property
    def _at_once(self) -> int:
        """Number of positions whose moves are counted together."""
        return max(1, MAX_TRIED // max(1, len(self.space.rules.moves)))

    def _in_chunk(self, number: int) -> NDArray[np.int64]:
        """Return the `_sums` of the positions in a chunk."""
        return sum((self._sums(*batch) for batch in self.reached.entries_in(number, self._at_once)), self._no_sums())

    def _no_sums(self) -> NDArray[np.int64]:
        return np.zeros((4, len(self.layers)), dtype=np.int64)

    def _sums(self, labels: Labels, depths: NDArray[np.int32], weights: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return sums over positions ``(n, places)`` with depths and weights ``(n,)``, by depth: ``(4, depths)``.

        They are the number of positions, and the number of moves that lead farther, to the same depth, and nearer.
        """
        check_wanted()
        sources, _, after = self.space.rules.moves.steps(labels)
        there, here = self.chunks.distances(self.space.rank(after)), depths[sources]
        if (there == UNREACHABLE).any():
            raise StoreDamagedError(f"{self.chunks.address} is corrupt: a move leads to a position that is not reached")
        # the successors that an unfinished table does not reach yet follow its last layer
        row = np.where(there == UNKNOWN, FARTHER, SAME - np.sign(there - here)) + 1
        size = len(self.layers)
        cells = np.concatenate((depths, row * size + here))
        sums = np.bincount(cells, np.concatenate((weights, weights[sources])), minlength=4 * size)
        return sums.reshape(4, size).astype(np.int64)

    def _factors(self, counted: NDArray[np.int64], sums: NDArray[np.int64]) -> BranchingFactors:
        """Return the means, by the number of positions counted at each depth and the sums ``(3, depths)``."""
        means = sums / counted
        positions = sum(self.layers)
        overall = (means @ (np.array(self.layers) / positions)).tolist()
        return BranchingFactors(
            complete=self.complete,
            exact=counted.tolist() == list(self.layers),
            positions=positions,
            counted=int(counted.sum()),
            moves=sum(overall),
            farther=overall[FARTHER],
            same=overall[SAME],
            nearer=overall[NEARER],
            depths=[
                BranchingAtDepth(depth, size, number, sum(mean), *mean)
                for depth, (size, number, mean) in enumerate(
                    zip(self.layers, counted.tolist(), means.T.tolist(), strict=True)
                )
            ],
        )
