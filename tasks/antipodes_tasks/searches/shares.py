"""One depth-first search on several threads: the search tree is split at a shallow depth into shares.

The search of a share walks through the small part of the tree above this depth, and then searches only below the nodes
of the share. So threads never exchange positions, and together the shares expand as many positions as a single search.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from antipodes_tasks.base.array_types import Numbers
from antipodes_tasks.base.parallel import on_threads
from antipodes_tasks.searches.depth_first import GENERATED, Descent, Pass
from antipodes_tasks.searches.problem import Request

NODE = GENERATED + 1
"""Index, in a kernel's tally, of the number of positions passed at the split depth."""
SHARES_EACH = 8
"""Number of shares per thread; with several shares, the threads finish at about the same time."""
PIECES = 8
"""Number of pieces of a thread's budget. A thread continues until all threads together have used up their budgets, so
that they end at about the same time.
"""
SHALLOW, DEEPEST_SPLIT = 5, 10
"""The tree is split at depth ``depth // SHALLOW``, but at most at ``DEEPEST_SPLIT``."""


class Share(NamedTuple):
    """The positions at depth ``split``, numbered from 0, whose number is ``part`` modulo ``parts``."""

    split: int
    part: int
    parts: int

    @property
    def words(self) -> tuple[np.uint64, np.uint64, np.uint64]:
        """The three numbers in the types that kernels take."""
        return np.uint64(self.split), np.uint64(self.part), np.uint64(self.parts)


WHOLE = Share(0, 0, 1)
"""The whole tree; its only node at depth 0 is the root."""


@dataclass(eq=False, slots=True)
class _Shares:
    """The searches of all shares."""

    descents: Sequence[Descent]
    threads: int
    request: Request
    over: list[bool]
    tally: Numbers
    """Sum of the tallies of all shares."""

    @property
    def waiting(self) -> list[int]:
        """Numbers of the shares that are still to be searched.

        If one path is enough, shares that can no longer find a path left of the best one are left out.
        """
        best = None if self.request.every else self.best
        return [
            number
            for number, descent in enumerate(self.descents)
            if not self.over[number] and (best is None or descent.tally[NODE] < best[0])
        ]

    @property
    def expanded(self) -> int:
        """Number of positions expanded so far."""
        return sum(descent.expanded for descent in self.descents)

    @property
    def best(self) -> tuple[int, int] | None:
        """The leftmost path: the index of its node at the split depth, and the share that found it."""
        found = ((int(one.tally[NODE]), number) for number, one in enumerate(self.descents) if one.found)
        return min(found, default=None)

    def advance(self, budget: int) -> bool:
        """Expand about ``budget`` more positions on all threads; return whether the search is complete.

        The shares that are furthest left are advanced first, so little is searched right of the first path found.
        """
        turn = sorted(self.waiting, key=lambda number: int(self.descents[number].tally[NODE]))[: self.threads]
        piece, most = max(1, budget // (self.threads * PIECES)), self.expanded + budget

        def run(number: int) -> bool:
            over = self.descents[number].advance(piece)
            while not over and self.expanded < most:
                over = self.descents[number].advance(piece)
            return over

        found = on_threads(run, turn, self.threads)
        for number, over in zip(turn, found, strict=True):
            self.over[number] = over
        self.tally[:] = sum(one.tally for one in self.descents)
        return not self.waiting

    def result(self) -> Pass:
        """Return all paths found, or only the leftmost path, which a single thread would also find."""
        results = [descent.result() for descent in self.descents]
        following = min(one.following for one in results)
        if self.request.every or self.best is None:
            paths = [path for one in results for path in one.paths]
            return Pass(paths[: self.request.listed], sum(one.found for one in results), following)
        return results[self.best[1]]._replace(following=following)


def shared(depth: int, threads: int, request: Request, descent: Callable[[Share], Descent]) -> Descent:
    """Return a search for paths of ``depth`` moves on several threads; ``descent`` creates the search of a share."""
    split, parts = min(depth // SHALLOW, DEEPEST_SPLIT), SHARES_EACH * threads
    if split == 0:
        return descent(WHOLE)
    descents = [descent(Share(split, part, parts)) for part in range(parts)]
    tally = np.zeros_like(descents[0].tally)
    shares = _Shares(descents, threads, request, [False] * parts, tally)
    return Descent(shares.advance, tally, shares.result)
