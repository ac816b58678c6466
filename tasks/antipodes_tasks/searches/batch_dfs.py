"""Depth-first search to a fixed depth without a kernel, by blocks of positions.

It is used for moves that are numpy functions, and for lower bounds that are not sums of tables.
"""

from dataclasses import dataclass

import numpy as np

from antipodes_tasks.base.array_types import Labels, Numbers
from antipodes_tasks.properties.lower_bounds import LowerBound
from antipodes_tasks.searches.answer import check_listing
from antipodes_tasks.searches.depth_first import EXPANDED, FAR, FOUND, NEXT_BOUND, Descent, Pass, room_for_paths
from antipodes_tasks.searches.problem import Problem, Request

BLOCK = 1 << 12
"""Maximum number of positions that functions expand at a time."""


@dataclass(slots=True)
class _Level:
    """Positions at one depth: the successors of a block of positions of the previous level."""

    labels: Labels
    parent: Numbers
    """The row of each position's predecessor in the previous level."""
    next: int = 0
    """The first row that has not been expanded."""


def descent_by_blocks(depth: int, problem: Problem, lower: LowerBound | None, request: Request) -> Descent:
    """Return the search for paths of ``depth`` moves, by blocks of positions, pruned by a lower bound if given."""
    search = _Blocks(problem, lower, depth, len(room_for_paths(depth, request, np.uint8, 0)), request.every)

    def result() -> Pass:
        check_listing(len(search.paths), depth, problem.rules.places, request.memory_limit)
        _, _, found, following = search.tally.tolist()
        return Pass(search.paths, found, following)

    return Descent(search.advance, search.tally, result)


class _Blocks:
    """A search by blocks: it keeps the successors of one block per depth, so memory is proportional to the depth."""

    def __init__(self, problem: Problem, lower: LowerBound | None, max_depth: int, room: int, every: bool) -> None:
        self.tally = np.array([0, 0, 0, FAR])
        self.paths: list[Labels] = []
        """The paths found, as far as there is room."""
        self._problem = problem
        self._lower = lower
        self._max_depth = max_depth
        self._room = room
        self._every = every
        self._levels = [_Level(problem.position[np.newaxis], np.zeros(1, dtype=np.int64))]

    def advance(self, budget: int) -> bool:
        """Expand about ``budget`` more positions; return whether the search is complete."""
        stop = self.tally[EXPANDED] + budget
        while self._levels and self.tally[EXPANDED] < stop:
            if self._levels[-1].next == len(self._levels[-1].labels):
                self._levels.pop()
                continue
            self._expand(min(BLOCK, int(stop - self.tally[EXPANDED])))
            if self.tally[FOUND] and not self._every:
                return True
        return not self._levels

    def _expand(self, max_positions: int) -> None:
        """Expand a block of the deepest level."""
        level, depth = self._levels[-1], len(self._levels)
        first = level.next
        block = level.labels[first : first + max_positions]
        level.next += len(block)
        self.tally[EXPANDED] += len(block)
        after, row = self._problem.steps.successors(block)
        new = self._keep_near(after, self._new_successors(after, row + first), depth)
        below = _Level(after[new], row[new] + first)
        if depth < self._max_depth:
            self._levels.append(below)
        elif len(new):
            self.tally[NEXT_BOUND] = min(self.tally[NEXT_BOUND], self._max_depth + 1)
            self._take_goals(below)

    def _new_successors(self, after: Labels, parent: Numbers) -> Numbers:
        """Return the rows of the distinct successors of each position, without those that undo the last move."""
        keep = np.arange(len(after))
        if len(self._levels) > 1:
            level, above = self._levels[-1], self._levels[-2]
            keep = np.flatnonzero((after != above.labels[level.parent[parent]]).any(axis=1))
        keyed = np.column_stack((parent[keep, np.newaxis].view(np.uint64), self._problem.packing.pack(after[keep])))
        _, firsts = np.unique(keyed, axis=0, return_index=True)
        return keep[firsts]

    def _keep_near(self, after: Labels, new: Numbers, depth: int) -> Numbers:
        """Return those of the rows ``new``, of successors at a depth, that the lower bound does not prune."""
        if self._lower is None or not len(new):
            return new
        lengths = depth + self._lower.bounds(after[new])
        near = lengths <= self._max_depth
        self.tally[NEXT_BOUND] = min(self.tally[NEXT_BOUND], int(lengths[~near].min(initial=FAR)))
        return new[near]

    def _take_goals(self, below: _Level) -> None:
        """Count and list the paths that end at a goal."""
        for i in np.flatnonzero((below.labels[:, np.newaxis] == self._problem.goals).all(axis=2).any(axis=1)).tolist():
            if len(self.paths) < self._room:
                self.paths.append(self._path_to(below, i))
            self.tally[FOUND] += 1
            if not self._every:
                return

    def _path_to(self, level: _Level, row: int) -> Labels:
        """Return the positions from the root to a row of ``level``, which is below the deepest level."""
        path = []
        for one in (level, *reversed(self._levels)):
            path.append(one.labels[row])
            row = int(one.parent[row])
        return np.array(path[::-1])
