"""Long searches in blocks, by step tables or by bundles: one stage after another, each from several positions."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from antipodes_tasks.keys.position_set import Numbers
from antipodes_tasks.rules.moves import Labels
from antipodes_tasks.rules.rules import Rules
from antipodes_tasks.searches.block_dfs import descend_in_blocks
from antipodes_tasks.searches.block_path import BlockPath, Followers, MoveEffects, ViewArrays
from antipodes_tasks.searches.bundle_lookups import BundleArrays, BundleBlocks
from antipodes_tasks.searches.depth_first import DEPTH, FAR, FOUND, NEXT_BOUND, room_for_paths
from antipodes_tasks.searches.permutation_views import PermutationTable, TableLookup
from antipodes_tasks.searches.problem import Request
from antipodes_tasks.searches.progress import Heartbeat
from antipodes_tasks.searches.shares import Share
from antipodes_tasks.searches.step_lookups import PART, STEP_ROOM, StepArrays, StepWords
from antipodes_tasks.searches.step_tables import MAX_MOVES, Steps, steps_of
from antipodes_tasks.searches.symmetric_starts import Stage, bits_of


@dataclass(frozen=True, eq=False)
class StagedSearch:
    """A search for paths of one length by step tables or by bundles; one of the two is None."""

    rules: Rules
    views: Sequence[TableLookup]
    values: NDArray[np.uint8]
    """The values of the tables, unless they have bundles."""
    path: BlockPath
    by_steps: tuple[StepWords, ViewArrays, StepArrays] | None
    by_bundles: tuple[BundleBlocks, BundleArrays] | None

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
        room, each, found = max(STEP_ROOM, len(rules.moves)), len(views), _room_for_paths(depth, request)
        words = StepWords(
            word=np.zeros((depth + 1, room, each), dtype=np.uint32),
            symmetry=np.zeros((depth + 1, room, each), dtype=np.uint16),
            changes=np.zeros((each, 2), dtype=np.uint64),
        )
        path = BlockPath.of(root, depth, room, len(arrays.digits), each, found)
        return cls(rules, views, values, path, (words, arrays, steps), None)

    @classmethod
    def with_bundles(
        cls,
        rules: Rules,
        views: Sequence[TableLookup],
        bundles: BundleArrays,
        root: Labels,
        depth: int,
        request: Request,
    ) -> "StagedSearch":
        """Return the search by bundles for paths of ``depth`` moves from a position, before its first stage."""
        room = max(1024, len(rules.moves))
        path = BlockPath.of(root, depth, room, 0, len(views), _room_for_paths(depth, request))
        blocks = BundleBlocks.of(depth, room, bundles)
        return cls(rules, views, np.empty(0, dtype=np.uint8), path, None, (blocks, bundles))

    def chain_stages(
        self,
        stages: Sequence[Stage],
        goal: Labels,
        effects: MoveEffects,
        linked: NDArray[np.bool_],
        every: bool,
        share: Share,
    ) -> Callable[[int], bool]:
        """Return a function that searches one stage after another until a path is found; see `Descent.advance`."""
        left = list(stages)
        self._begin(left[0])

        def advance(budget: int) -> bool:
            _, part, parts = share.words
            while True:
                # Every share begins with all prefixes, so the tree has to be split below them.
                split = np.uint64(max(share.split, left[0].moves + 1 if left[0].moves else 0))
                known = goal, effects, linked, None, *self._tables(left[0]), every
                over = descend_in_blocks(self.path, budget, *known, split, part, parts)
                if not over or self.path.tally[FOUND] or len(left) == 1:
                    return over
                left.pop(0)
                self._begin(left[0])

        return advance

    def _tables(
        self, stage: Stage
    ) -> tuple[
        tuple[StepWords, NDArray[np.uint32], ViewArrays, StepArrays] | None,
        tuple[BundleBlocks, Followers, BundleArrays] | None,
    ]:
        """Return the arguments ``by_steps`` and ``by_bundles`` of the kernel for a stage."""
        by_steps = by_bundles = None
        if self.by_steps is not None:
            words, arrays, steps = self.by_steps
            by_steps = words, stage.follow, arrays, steps
        if self.by_bundles is not None:
            blocks, bundles = self.by_bundles
            by_bundles = blocks, Followers.of([bits_of(int(own)) for own in stage.follow]), bundles
        return by_steps, by_bundles

    def _begin(self, stage: Stage) -> None:
        """Fill a block with the positions after a stage's prefixes, except those that the tables prune."""
        path, depth = self.path, stage.moves
        begun = np.tile(path.labels[0], (len(stage.beginnings), 1))
        for taken in stage.beginnings.T:
            for move in np.unique(taken).tolist():
                begun[taken == move] = self.rules.moves.move(move, begun[taken == move])[0]
        said = np.array([view.table.read(self.values, view.entries(begun)) for view in self.views])
        bound = depth + said.max(axis=0)
        near = bound <= len(path.taken)
        path.tally[NEXT_BOUND] = min(path.tally[NEXT_BOUND], bound[~near].min(initial=FAR))
        kept, count = begun[near], int(near.sum())
        for level in range(depth):
            path.size[level] = path.tried[level] = 0
            path.move[level + 1, :count] = stage.beginnings[near, level]
            path.parent[level + 1, :count] = np.arange(count)
        path.size[depth], path.tried[depth], path.tally[DEPTH] = count, 0, depth
        path.number[:count] = 0
        path.view_bounds[depth, :count] = said[:, near].T
        for number, view in enumerate(self.views):
            self._place(depth, number, view.table, view.entries(kept))

    def _place(self, depth: int, number: int, table: PermutationTable, indices: Numbers) -> None:
        """Write what the search knows of the positions of a block with these indices in a view."""
        path, count = self.path, len(indices)
        if self.by_bundles is not None:
            assert table.bundles is not None
            self.by_bundles[0].put(depth, number, table.bundles, indices)
        if self.by_steps is not None:
            words, arrays, steps = self.by_steps
            assert table.quotient is not None
            for k, digit in enumerate(table.digits, int(arrays.digit_at[number])):
                path.digits[depth, :count, k] = indices // digit.weight % digit.size
            entries, symmetries = table.quotient.located(indices)
            words.symmetry[depth, :count, number] = symmetries
            words.word[depth, :count, number] = steps.begin[number] + entries.astype(np.uint64)


def _room_for_paths(depth: int, request: Request) -> NDArray[np.uint64]:
    return room_for_paths(depth, request, np.uint64, depth)


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
    words, begin, size = list[Steps](), dict[PermutationTable, int](), 0
    for table in tables:
        assert table.quotient is not None
        own = values[table.begin : table.begin + table.encoding.size(table.entries)]
        made = steps_of(table.quotient.space, own, table.encoding, threads, pulse)
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
