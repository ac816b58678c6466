"""Long searches in blocks, by step tables or by bundles: one stage after another, each from several positions."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from antipodes_tasks.base.array_types import Labels, Numbers, Words
from antipodes_tasks.rules.rules import Rules
from antipodes_tasks.searches.block_dfs import descend_in_blocks
from antipodes_tasks.searches.block_path import BlockPath, Followers, MoveEffects, ViewArrays
from antipodes_tasks.searches.bundle_arrays import BundleArrays, BundleBlocks
from antipodes_tasks.searches.depth_first import DEPTH, FAR, FOUND, NEXT_BOUND, room_for_paths
from antipodes_tasks.searches.dual_lookups import DualBlocks, DualTables, Maps
from antipodes_tasks.searches.permutation_views import PermutationTable, TableLookup
from antipodes_tasks.searches.problem import Request
from antipodes_tasks.searches.progress import Heartbeat
from antipodes_tasks.searches.shares import Share
from antipodes_tasks.searches.step_lookups import PART, STEP_ROOM, StepArrays, StepWords
from antipodes_tasks.searches.step_tables import MAX_MOVES, step_table_of
from antipodes_tasks.searches.symmetric_starts import Stage, bits_of
from antipodes_tasks.searches.view_lookups import BestViews, best_views, find_entries


class Beginning(NamedTuple):
    """A stage, and the positions after its prefixes; all shares of a search begin with the same ones."""

    stage: Stage
    indices: Numbers
    """``(views, n)``: the index of each position in each view."""
    bounds: Numbers
    """``(views, n)``: the bound of each position in each view."""

    @classmethod
    def of(
        cls, stage: Stage, root: Labels, rules: Rules, views: Sequence[TableLookup], values: NDArray[np.uint8]
    ) -> "Beginning":
        """Return the positions after the prefixes of a stage from a position ``(places,)``."""
        labels = np.tile(root, (len(stage.beginnings), 1))
        for taken in stage.beginnings.T:
            for move in np.unique(taken).tolist():
                labels[taken == move] = rules.moves.move(move, labels[taken == move])[0]
        indices = [view.entries(labels) for view in views]
        bounds = [view.table.read(values, own) for view, own in zip(views, indices, strict=True)]
        return cls(stage, np.array(indices), np.array(bounds))


@dataclass(frozen=True, eq=False)
class StagedSearch:
    """A search for paths of one length, either by step tables, or by bundles and then by views."""

    rules: Rules
    views: Sequence[TableLookup]
    """The views of tables that are not clipped, and then the views of bundles."""
    arrays: ViewArrays
    """The views of tables that are not clipped."""
    values: NDArray[np.uint8]
    path: BlockPath
    by_steps: tuple[StepWords, StepArrays] | None = None
    by_bundles: tuple[BestViews, BundleBlocks, BundleArrays, DualBlocks | None] | None = None

    @classmethod
    def with_steps(
        cls,
        rules: Rules,
        views: Sequence[TableLookup],
        arrays: ViewArrays,
        values: NDArray[np.uint8],
        steps: StepArrays,
        root: Labels,
        depth: int,
        request: Request,
    ) -> "StagedSearch":
        """Return the search by step tables for paths of ``depth`` moves from a position, before its first stage."""
        path, each = _path(rules, arrays, root, depth, request), len(steps.begin)
        room = path.move.shape[1]
        words = StepWords(
            word=np.zeros((depth + 1, room, each), dtype=np.uint32),
            symmetry=np.zeros((depth + 1, room, each), dtype=np.uint16),
            changes=np.zeros((each, 2), dtype=np.uint64),
        )
        return cls(rules, views, arrays, values, path, by_steps=(words, steps))

    @classmethod
    def with_bundles(
        cls,
        rules: Rules,
        views: Sequence[TableLookup],
        arrays: ViewArrays,
        values: NDArray[np.uint8],
        bundles: BundleArrays,
        dual: tuple[DualTables, Maps] | None,
        root: Labels,
        depth: int,
        request: Request,
    ) -> "StagedSearch":
        """Return the search by bundles for paths of ``depth`` moves from a position, before its first stage.

        ``dual`` contains the tables for dual look-ups and the maps of the position; see `DualViews.maps_of`.
        """
        path = _path(rules, arrays, root, depth, request)
        room, exact = path.move.shape[1], views[: len(arrays.begin)]
        best = best_views(exact, len(rules.moves), depth, room)
        blocks = BundleBlocks.of(depth, room, bundles)
        inverses = None if dual is None else DualBlocks.of(*dual, depth, room)
        return cls(rules, views, arrays, values, path, by_bundles=(best, blocks, bundles, inverses))

    def chain_stages(
        self,
        beginnings: Sequence[Beginning],
        goal: Labels,
        effects: MoveEffects,
        every: bool,
        share: Share,
    ) -> Callable[[int], bool]:
        """Return a function that searches one stage after another until a path is found; see `Descent.advance`."""
        left = list(beginnings)
        self._begin(left[0])

        def advance(budget: int) -> bool:
            _, part, parts = share.words
            while True:
                stage = left[0].stage
                # Every share begins with all prefixes, so the tree has to be split below them.
                split = np.uint64(max(share.split, stage.moves + 1 if stage.moves else 0))
                tables, start = self._tables(stage), np.uint64(stage.moves)
                known = goal, effects, self.arrays, *tables, start, every
                over = descend_in_blocks(self.path, budget, *known, split, part, parts)
                if not over or self.path.tally[FOUND] or len(left) == 1:
                    return over
                left.pop(0)
                self._begin(left[0])

        return advance

    def _tables(
        self, stage: Stage
    ) -> tuple[
        tuple[BestViews, Followers, NDArray[np.uint8]] | None,
        tuple[StepWords, StepArrays, NDArray[np.uint32]] | None,
        tuple[BundleBlocks, BundleArrays, DualBlocks | None, int] | None,
    ]:
        """Return the arguments ``by_views``, ``by_steps`` and ``by_bundles`` of the kernel for a stage."""
        if self.by_bundles is None:
            assert self.by_steps is not None
            return None, (*self.by_steps, stage.follow), None
        best, blocks, bundles, dual = self.by_bundles
        return (best, _followers(stage), self.values), None, (blocks, bundles, dual, bundles.base)

    def _begin(self, beginning: Beginning) -> None:
        """Fill a block with the positions after a stage's prefixes, except those that the tables prune."""
        stage, indices, bounds = beginning
        path, depth = self.path, stage.moves
        lengths = depth + bounds.max(axis=0)
        near = lengths <= len(path.taken)
        path.tally[NEXT_BOUND] = min(path.tally[NEXT_BOUND], lengths[~near].min(initial=FAR))
        count = int(near.sum())
        for level in range(depth):
            path.size[level] = path.tried[level] = 0
            path.move[level + 1, :count] = stage.beginnings[near, level]
            path.parent[level + 1, :count] = np.arange(count)
        path.size[depth], path.tried[depth], path.tally[DEPTH] = count, 0, depth
        path.number[:count] = 0
        path.view_bounds[depth, :count] = bounds[: len(self.arrays.begin), near].T
        self._place(indices[:, near], depth)
        if self.by_bundles is not None:
            if self.by_bundles[3] is not None:
                self.by_bundles[3].forget(depth)
            place = np.uint64(depth), np.uint64(count)
            find_entries(path, self.by_bundles[0], *place, self.arrays, _followers(stage), self.values)

    def _place(self, of_views: Numbers, depth: int) -> None:
        """Write the digits of the positions with these indices ``(views, n)``, and where their entries are."""
        path, count, exact = self.path, of_views.shape[1], len(self.arrays.begin)
        for number, (view, indices) in enumerate(zip(self.views, of_views, strict=True)):
            if self.by_bundles is not None and number >= exact:
                assert view.table.bundles is not None
                self.by_bundles[1].put(depth, number - exact, view.table.bundles, indices)
                continue
            for k, digit in enumerate(view.table.digits, int(self.arrays.digit_at[number])):
                path.digits[depth, :count, k] = indices // digit.weight % digit.size
            if self.by_steps is not None:
                words, steps = self.by_steps
                assert view.table.quotient is not None
                entries, symmetries = view.table.quotient.located(indices)
                words.symmetry[depth, :count, number] = symmetries
                words.word[depth, :count, number] = steps.begin[number] + entries.astype(np.uint64)


def _path(rules: Rules, arrays: ViewArrays, root: Labels, depth: int, request: Request) -> BlockPath:
    room = max(STEP_ROOM, len(rules.moves))
    return BlockPath.of(root, depth, room, arrays, room_for_paths(depth, request, np.uint64, depth))


def _followers(stage: Stage) -> Followers:
    return Followers.of([bits_of(int(own)) for own in stage.follow])


def step_arrays(
    rules: Rules,
    views: Sequence[TableLookup],
    tables: Sequence[PermutationTable],
    values: NDArray[np.uint8],
    threads: int,
    pulse: Heartbeat,
) -> list[StepArrays]:
    """Return a list with the step tables of all pattern tables.

    The list is empty if they cannot be used: the puzzle or a table has too many moves, a move changes a distance by
    more than one, or the tables have too many words.
    """
    if len(rules.moves) > MAX_MOVES:
        return []
    words, begin, size = list[Words](), dict[PermutationTable, int](), 0
    for table in tables:
        assert table.quotient is not None
        own = values[table.begin : table.begin + table.encoding.size(table.entries)]
        made = step_table_of(table.quotient.space, own, table.encoding, threads, pulse)
        if made is None:
            return []
        begin[table], size = size, size + len(made)
        words.append(made)
    if size >= 1 << 32:
        return []
    firsts = np.array([begin[view.table] for view in views], dtype=np.uint64)
    joined = words[0] if len(words) == 1 else np.concatenate(words)
    return [StepArrays(firsts, *_moves_of_bits(views), joined)]


def _moves_of_bits(views: Sequence[TableLookup]) -> tuple[NDArray[np.uint32], NDArray[np.uint32]]:
    """Return the arrays ``moves`` and ``still`` of `StepArrays`."""
    quotients = [view.table.quotient for view in views]
    symmetries = max(len(quotient.moves) for quotient in quotients if quotient is not None)
    bits = np.arange(len(views[0].moves), dtype=np.uint32)
    parts = -(-max(len(view.table.rules.moves) for view in views) // int(PART))
    moves = np.zeros((len(views), symmetries, parts, 1 << int(PART)), dtype=np.uint32)
    still = np.zeros((len(views), symmetries), dtype=np.uint32)
    numbers = np.arange(1 << int(PART))
    for u, (view, quotient) in enumerate(zip(views, quotients, strict=True)):
        assert quotient is not None
        none = len(view.table.rules.moves)
        still[u] = np.bitwise_or.reduce(np.where(view.moves == none, np.uint32(1) << bits, np.uint32(0)))
        for number, images in enumerate(quotient.moves):
            for move, bit in zip(view.moves.tolist(), bits, strict=True):
                if move != none:
                    part, place = divmod(int(images[move]), int(PART))
                    moves[u, number, part] |= (numbers >> place & 1).astype(np.uint32) << bit
    return moves, still
