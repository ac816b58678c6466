"""The stages of a search with step tables, and the arrays of all step tables."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from antipodes_tasks.rules.moves import Labels
from antipodes_tasks.rules.rules import Rules
from antipodes_tasks.searches.depth_first import DEPTH, FAR, FOUND, NEXT_BOUND, room_for_paths
from antipodes_tasks.searches.move_sequences import followers_as_bits
from antipodes_tasks.searches.packed import packed_size
from antipodes_tasks.searches.permutation_dfs import TALLY, MoveEffects, ViewArrays
from antipodes_tasks.searches.permutation_views import PermutationTable, TableLookup, in_order
from antipodes_tasks.searches.problem import Request
from antipodes_tasks.searches.progress import Heartbeat
from antipodes_tasks.searches.shares import Share
from antipodes_tasks.searches.step_table_dfs import PART, STEP_ROOM, StepArrays, StepPath, descend_by_steps
from antipodes_tasks.searches.step_tables import MAX_MOVES, Steps, steps_of
from antipodes_tasks.searches.symmetric_starts import Stage


@dataclass(frozen=True, eq=False)
class StepSearch:
    """A search for paths of one length."""

    rules: Rules
    views: Sequence[TableLookup]
    arrays: ViewArrays
    steps: StepArrays
    path: StepPath

    @classmethod
    def begun(
        cls,
        rules: Rules,
        views: Sequence[TableLookup],
        arrays: ViewArrays,
        steps: StepArrays,
        root: Labels,
        depth: int,
        request: Request,
    ) -> "StepSearch":
        """Return the search for paths of ``depth`` moves from a position ``(places,)``, before its first stage."""
        shape = depth + 1, max(STEP_ROOM, len(rules.moves))
        path = StepPath(
            size=np.zeros(depth + 1, dtype=np.uint64),
            tried=np.zeros(depth + 1, dtype=np.uint64),
            parent=np.zeros(shape, dtype=np.uint32),
            move=np.zeros(shape, dtype=np.uint32),
            number=np.zeros(shape[1], dtype=np.int64),
            digits=np.zeros((*shape, len(arrays.digits)), dtype=np.uint32),
            view_bounds=np.zeros((*shape, len(views)), dtype=np.uint8),
            word=np.zeros((*shape, len(views)), dtype=np.uint32),
            map=np.zeros((*shape, len(views)), dtype=np.uint8),
            changes=np.zeros((len(views), 2), dtype=np.uint64),
            taken=np.zeros(depth, dtype=np.uint64),
            labels=np.tile(root, (3, 1)),
            tally=np.array(TALLY),
            found=room_for_paths(depth, request, np.uint64, depth),
        )
        return cls(rules, views, arrays, steps, path)

    def chain_stages(
        self,
        stages: Sequence[Stage],
        values: NDArray[np.uint8],
        goal: Labels,
        effects: MoveEffects,
        every: bool,
        share: Share,
    ) -> Callable[[int], bool]:
        """Return a function that searches one stage after another until a path is found; see `Descent.advance`."""
        left = list(stages)
        self._begin(left[0], values)

        def advance(budget: int) -> bool:
            _, part, parts = share.words
            while True:
                # Every share begins with all prefixes, so the tree has to be split below them.
                split = np.uint64(max(share.split, left[0].moves + 1 if left[0].moves else 0))
                steps = self.steps._replace(follow=np.stack([left[0].follow] * 2))
                over = descend_by_steps(self.path, budget, goal, self.arrays, effects, steps, every, split, part, parts)
                if not over or self.path.tally[FOUND] or len(left) == 1:
                    return over
                left.pop(0)
                self._begin(left[0], values)

        return advance

    def _begin(self, stage: Stage, values: NDArray[np.uint8]) -> None:
        """Fill a block with the positions after a stage's prefixes, except those that the tables prune."""
        path, depth = self.path, stage.moves
        begun = np.tile(path.labels[0], (len(stage.beginnings), 1))
        for taken in stage.beginnings.T:
            for move in np.unique(taken).tolist():
                begun[taken == move] = self.rules.moves.move(move, begun[taken == move])[0]
        said = np.array([view.table.read(values, view.entries(begun)) for view in self.views])
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

    def _place(self, labels: Labels, depth: int) -> None:
        """Write the digits of the positions of a block, and the indices of their words in the step tables."""
        path, count = self.path, len(labels)
        for number, view in enumerate(self.views):
            folding, entries = view.table.folding, view.entries(labels)
            assert folding is not None
            digits = in_order(view.table.digits, folding)
            for k, digit in enumerate(digits, int(self.arrays.digit_at[number])):
                path.digits[depth, :count, k] = entries // digit.weight % digit.size
            rows, _ = folding.rows_and_columns(entries, view.table.digits)
            path.map[depth, :count, number] = folding.class_of[rows] & np.uint32((1 << folding.bits) - 1)
            path.word[depth, :count, number] = self.steps.begin[number] + view.table.places_of(entries).astype(
                np.uint64
            )


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
        assert table.folding is not None
        own = values[table.begin : table.begin + packed_size(table.entries, table.packed)]
        made = steps_of(table.folding, table.digits, own, table.packed, threads, pulse)
        if made is None:
            return []
        begin[table], size = size, size + len(made)
        words.append(made)
    if size >= 1 << 32:
        return []
    firsts = np.array([begin[view.table] for view in views], dtype=np.uint64)
    follow = np.array([followers_as_bits(rules, every) for every in (False, True)])
    joined = words[0] if len(words) == 1 else np.concatenate(words)
    return [StepArrays(firsts, *_moves_of_bits(views), joined, follow)]


def _moves_of_bits(views: Sequence[TableLookup]) -> tuple[NDArray[np.uint32], NDArray[np.uint32]]:
    """Return the arrays ``moves`` and ``still`` of `StepArrays`."""
    foldings = [view.table.folding for view in views]
    maps = max(len(folding.maps) for folding in foldings if folding is not None)
    bits = np.arange(len(views[0].moves), dtype=np.uint32)
    parts = -(-max(len(view.table.rules.moves) for view in views) // int(PART))
    moves = np.zeros((len(views), maps, parts, 1 << int(PART)), dtype=np.uint32)
    still = np.zeros((len(views), maps), dtype=np.uint32)
    numbers = np.arange(1 << int(PART))
    for u, (view, folding) in enumerate(zip(views, foldings, strict=True)):
        assert folding is not None
        none = len(view.table.rules.moves)
        still[u] = np.bitwise_or.reduce(np.where(view.moves == none, np.uint32(1) << bits, np.uint32(0)))
        for number, images in enumerate(folding.moves):
            for move, bit in zip(view.moves.tolist(), bits, strict=True):
                if move != none:
                    part, place = divmod(int(images[move]), int(PART))
                    moves[u, number, part] |= (numbers >> place & 1).astype(np.uint32) << bit
    return moves, still
