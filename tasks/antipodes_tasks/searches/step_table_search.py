"""The stages of a search with step tables, and the arrays of all step tables."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from antipodes_tasks.rules.moves import Labels
from antipodes_tasks.rules.rules import Rules
from antipodes_tasks.searches.block_dfs import descend_in_blocks
from antipodes_tasks.searches.block_path import BlockPath, Followers, MoveEffects, ViewArrays
from antipodes_tasks.searches.depth_first import DEPTH, FAR, FOUND, NEXT_BOUND, room_for_paths
from antipodes_tasks.searches.permutation_views import PermutationTable, TableLookup
from antipodes_tasks.searches.problem import Request
from antipodes_tasks.searches.progress import Heartbeat
from antipodes_tasks.searches.shares import Share
from antipodes_tasks.searches.step_lookups import PART, STEP_ROOM, StepArrays, StepWords
from antipodes_tasks.searches.step_tables import MAX_MOVES, Steps, steps_of
from antipodes_tasks.searches.symmetric_starts import Stage, bits_of
from antipodes_tasks.searches.view_lookups import BestViews, best_views, find_entries


@dataclass(frozen=True, eq=False)
class StepSearch:
    """A search for paths of one length. Positions far from the goal are expanded by clipped views, if there are any."""

    rules: Rules
    views: Sequence[TableLookup]
    arrays: ViewArrays
    values: NDArray[np.uint8]
    steps: StepArrays
    path: BlockPath
    looked: StepWords
    far: BestViews | None
    """What the search knows of positions expanded by clipped views; None if there are none."""
    near: int
    """Maximum number of moves left for which positions are expanded by steps."""

    @classmethod
    def begun(
        cls,
        rules: Rules,
        views: Sequence[TableLookup],
        arrays: ViewArrays,
        values: NDArray[np.uint8],
        steps: StepArrays,
        root: Labels,
        depth: int,
        request: Request,
    ) -> "StepSearch":
        """Return the search for paths of ``depth`` moves from a position ``(places,)``, before its first stage."""
        moves, each = len(rules.moves), len(steps.begin)
        room, clipped = max(STEP_ROOM, moves), [view.table.encoding.base for view in views[each:]]
        path = BlockPath.of(root, depth, room, arrays, room_for_paths(depth, request, np.uint64, depth))
        looked = StepWords(
            word=np.zeros((depth + 1, room, each), dtype=np.uint32),
            symmetry=np.zeros((depth + 1, room, each), dtype=np.uint16),
            changes=np.zeros((each, 2), dtype=np.uint64),
        )
        far = best_views(views, moves, depth, room) if clipped else None
        return cls(rules, views, arrays, values, steps, path, looked, far, min(clipped, default=depth))

    def chain_stages(
        self,
        stages: Sequence[Stage],
        goal: Labels,
        effects: MoveEffects,
        every: bool,
        share: Share,
    ) -> Callable[[int], bool]:
        """Return a function that searches one stage after another until a path is found; see `Descent.advance`."""
        left = list(stages)
        by_views = self._begin(left[0])

        def advance(budget: int) -> bool:
            nonlocal by_views
            _, part, parts = share.words
            while True:
                # Every share begins with all prefixes, so the tree has to be split below them.
                split = np.uint64(max(share.split, left[0].moves + 1 if left[0].moves else 0))
                steps = self.looked, self.steps, left[0].follow
                known = goal, effects, self.arrays, by_views, steps, self.near, every
                over = descend_in_blocks(self.path, budget, *known, split, part, parts)
                if not over or self.path.tally[FOUND] or len(left) == 1:
                    return over
                left.pop(0)
                by_views = self._begin(left[0])

        return advance

    def _begin(self, stage: Stage) -> tuple[BestViews, Followers, NDArray[np.uint8]] | None:
        """Fill a block with the positions after a stage's prefixes, except those that the tables prune.

        Return what the search by clipped views needs, or None if there are none.
        """
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
        self._place(kept, depth)
        if self.far is None:
            return None
        follow = Followers.of([bits_of(int(own)) for own in stage.follow])
        first = np.uint64(len(self.steps.begin))
        find_entries(path, self.far, np.uint64(depth), np.uint64(count), first, self.arrays, follow, self.values)
        return self.far, follow, self.values

    def _place(self, labels: Labels, depth: int) -> None:
        """Write the digits of the positions of a block, and the indices of their words in the step tables."""
        path, count = self.path, len(labels)
        for number, view in enumerate(self.views):
            quotient, indices = view.table.quotient, view.entries(labels)
            assert quotient is not None
            for k, digit in enumerate(view.table.digits, int(self.arrays.digit_at[number])):
                path.digits[depth, :count, k] = indices // digit.weight % digit.size
            if number >= len(self.steps.begin):
                continue
            entries, symmetries = quotient.located(indices)
            self.looked.symmetry[depth, :count, number] = symmetries
            self.looked.word[depth, :count, number] = self.steps.begin[number] + entries.astype(np.uint64)


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
