"""Searches by several threads: which shares go on, and what they find together."""

from collections.abc import Iterator

import numpy as np
import pytest

from antipodes_tasks.searches.depth_first import EXPANDED, FOUND, Descent, Pass
from antipodes_tasks.searches.problem import Request
from antipodes_tasks.searches.shares import NODE, Share, shared

NODES = 4096


def walk(share: Share, wanted: set[int]) -> Descent:
    """A search that expands one position at each node of its share, and finds a path at those wanted."""
    tally = np.zeros(NODE + 2, dtype=np.int64)
    left: Iterator[int] = iter(range(share.part, NODES, share.parts))

    def advance(budget: int) -> bool:
        for _ in range(budget):
            node = next(left, None)
            if node is None or tally[FOUND]:
                return True
            tally[NODE], tally[EXPANDED] = node, tally[EXPANDED] + 1
            tally[FOUND] += node in wanted
        return bool(tally[FOUND])

    found = np.zeros((2, 1), dtype=np.uint8)
    return Descent(advance, tally, lambda: Pass([found + tally[NODE] % 251] * int(tally[FOUND]), int(tally[FOUND]), 9))


@pytest.mark.parametrize("wanted", [{1000}, {700, 701, 3000}, set()])
def test_the_leftmost_path_is_found_and_little_is_searched_right_of_it(wanted: set[int]) -> None:
    request = Request(False, None, 1, 1 << 20, threads=2)
    together = shared(20, 2, request, lambda share: walk(share, wanted))
    while not together.advance(32):
        pass
    result = together.result()
    assert [int(path[0, 0]) for path in result.paths] == [one % 251 for one in sorted(wanted)[:1]]
    leftmost = min(wanted, default=NODES - 1)
    assert leftmost < together.expanded <= min(leftmost + 16 * 16 * 2, NODES)
