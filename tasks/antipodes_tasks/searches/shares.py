"""One search down to one depth by several threads: the tree is split at a shallow depth, and each takes its share.

Every share walks through the shallow tree, which is small, and searches below only what is its own. So no position is
handed over, and together the shares expand what one search would.
"""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from antipodes_tasks.reachability.position_set import Numbers
from antipodes_tasks.searches.depth_first import GENERATED, Descent, Pass
from antipodes_tasks.searches.problem import Request

NODE = GENERATED + 1
"""The entry of a kernel's tally that counts the positions that it has passed at the depth where the tree is split."""
SHARES_EACH = 8
"""Shares for each thread: some are larger than others."""
SHALLOW, DEEPEST_SPLIT = 5, 10
"""The tree is split at this part of its depth, at most at this depth."""


class Share(NamedTuple):
    """Of the positions at depth ``split`` those whose number, modulo ``parts``, is ``part``; the first is 0."""

    split: int
    part: int
    parts: int

    @property
    def words(self) -> tuple[np.uint64, np.uint64, np.uint64]:
        """The three numbers as kernels take them."""
        return np.uint64(self.split), np.uint64(self.part), np.uint64(self.parts)


WHOLE = Share(0, 0, 1)
"""The whole tree: the root is its only position at depth 0."""


@dataclass(eq=False, slots=True)
class _Shares:
    """The searches of all shares."""

    descents: Sequence[Descent]
    threads: int
    request: Request
    over: list[bool]
    tally: Numbers
    """The sums of those of all shares."""

    @property
    def waiting(self) -> list[int]:
        """The shares that are not over. Where one path is enough, only those that may find one further left."""
        best = None if self.request.every else self.best
        return [
            number
            for number, descent in enumerate(self.descents)
            if not self.over[number] and (best is None or descent.tally[NODE] < best[0])
        ]

    @property
    def best(self) -> tuple[int, int] | None:
        """The place in the tree of the leftmost path that was found, and the share that found it."""
        found = ((int(one.tally[NODE]), number) for number, one in enumerate(self.descents) if one.found)
        return min(found, default=None)

    def advance(self, budget: int) -> bool:
        """Expand about ``budget`` more positions on all threads; return whether the search is over.

        The shares that are furthest left come first. So when a path is found, little has been searched right of it.
        """
        turn = sorted(self.waiting, key=lambda number: int(self.descents[number].tally[NODE]))[: self.threads]
        with ThreadPoolExecutor(self.threads) as pool:
            each = max(1, budget // self.threads)
            for number, over in zip(turn, pool.map(lambda k: self.descents[k].advance(each), turn), strict=True):
                self.over[number] = over
        self.tally[:] = sum(one.tally for one in self.descents)
        return not self.waiting

    def result(self) -> Pass:
        """The paths that were found: all of them, or the leftmost one, as one thread would find it."""
        results = [descent.result() for descent in self.descents]
        following = min(one.following for one in results)
        if self.request.every or self.best is None:
            paths = [path for one in results for path in one.paths]
            return Pass(paths[: self.request.listed], sum(one.found for one in results), following)
        return results[self.best[1]]._replace(following=following)


def shared(depth: int, threads: int, request: Request, descent: Callable[[Share], Descent]) -> Descent:
    """The search down to a depth by several threads; ``descent`` begins that of a share."""
    split, parts = min(depth // SHALLOW, DEEPEST_SPLIT), SHARES_EACH * threads
    if split == 0:
        return descent(WHOLE)
    descents = [descent(Share(split, part, parts)) for part in range(parts)]
    tally = np.zeros_like(descents[0].tally)
    shares = _Shares(descents, threads, request, [False] * parts, tally)
    return Descent(shares.advance, tally, shares.result)
