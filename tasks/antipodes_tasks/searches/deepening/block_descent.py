"""Depth-first search down to a depth by blocks of positions, for moves that numpy makes."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from antipodes_tasks.rules.moves import Labels
from antipodes_tasks.searches.problem import Problem

Numbers = NDArray[np.int64]
FAR = 1 << 62
DEPTH, EXPANDED, FOUND, NEXT_BOUND = range(4)
BLOCK = 1 << 12
"""Positions expanded at once, at most."""


@dataclass(slots=True)
class _Level:
    """Successors of some positions of the level above."""

    labels: Labels
    parent: Numbers
    """The row of each in the level above."""
    next: int = 0
    """The first row that is not expanded."""


class BlockDescent:
    """The search: it keeps the successors of one block at each depth, so the memory grows with the depth only.

    As in the other searches by depth, a goal counts at the greatest depth only.
    """

    tally: Numbers
    """``[DEPTH, EXPANDED, FOUND, NEXT_BOUND]``, as in `depth_first_kernels.Descent`."""
    paths: list[Labels]
    """The paths found, while there is room."""

    def __init__(self, problem: Problem, greatest: int, room: int, every: bool) -> None:
        self.tally = np.array([0, 0, 0, FAR])
        self.paths = []
        self._problem = problem
        self._greatest = greatest
        self._room = room
        self._every = every
        self._levels = [_Level(problem.position[np.newaxis], np.zeros(1, dtype=np.int64))]

    def advance(self, budget: int) -> bool:
        """Expand about ``budget`` more positions; return whether the search is over."""
        stop = self.tally[EXPANDED] + budget
        while self._levels and self.tally[EXPANDED] < stop:
            if self._levels[-1].next == len(self._levels[-1].labels):
                self._levels.pop()
                continue
            self._expand(min(BLOCK, int(stop - self.tally[EXPANDED])))
            if self.tally[FOUND] and not self._every:
                return True
        return not self._levels

    def _expand(self, most: int) -> None:
        """Expand a block of the deepest level."""
        level, depth = self._levels[-1], len(self._levels)
        first = level.next
        block = level.labels[first : first + most]
        level.next += len(block)
        self.tally[EXPANDED] += len(block)
        after, row = self._problem.steps.successors(block)
        new = self._new(after, row + first)
        below = _Level(after[new], row[new] + first)
        if depth < self._greatest:
            self._levels.append(below)
        elif len(new):
            self.tally[NEXT_BOUND] = self._greatest + 1
            self._take_goals(below)

    def _new(self, after: Labels, parent: Numbers) -> Numbers:
        """The successors that do not undo the last move, each once for a position."""
        keep = np.arange(len(after))
        if len(self._levels) > 1:
            level, above = self._levels[-1], self._levels[-2]
            keep = np.flatnonzero((after != above.labels[level.parent[parent]]).any(axis=1))
        keyed = np.column_stack((parent[keep, np.newaxis].view(np.uint64), self._problem.packing.pack(after[keep])))
        _, firsts = np.unique(keyed, axis=0, return_index=True)
        return keep[firsts]

    def _take_goals(self, below: _Level) -> None:
        """Count and list the paths that end at a goal."""
        for i in np.flatnonzero((below.labels[:, np.newaxis] == self._problem.goals).all(axis=2).any(axis=1)).tolist():
            if len(self.paths) < self._room:
                self.paths.append(self._path_to(below, i))
            self.tally[FOUND] += 1

    def _path_to(self, level: _Level, row: int) -> Labels:
        """The positions from the root to a row of the level below the deepest."""
        path = []
        for one in (level, *reversed(self._levels)):
            path.append(one.labels[row])
            row = int(one.parent[row])
        return np.array(path[::-1])
